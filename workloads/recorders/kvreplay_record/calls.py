"""The file a recorder writes: a JSON object a line, each written whole when it happens, so that a killed process has lost
nothing but the call it was in. The format is the second form of calls-jsonl (docs/recorders.md)."""

import datetime
import json
import os
import time

from .privacy import MASKS


TEXTS = ("policy", "new_storage", "error")  # of what is observed; all else are whole numbers


class RecordingError(RuntimeError):
    """What the program does cannot be recorded faithfully; the message says what to change."""


def common_prefix(a, b, low=0):
    """How many leading elements two lists share, at least `low`; compares slices, since lists mostly differ at the end."""
    high = min(len(a), len(b))
    if low == high or (a == b[:high] if low == 0 and high == len(a) else a[low:high] == b[low:high]):
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


class Sequence:
    """The last list of one sequence, as asked for and as shown. Its list is changed in place: copying it at every step would
    touch every token's object, most of which the engine's step has driven out of the processor's caches."""

    def __init__(self, name, tokens, shown):
        self.name, self.tokens, self.shown = name, tokens, shown
        self.is_written = False  # whether the file has a call or fork that made it


class CallLog:
    """Writes one recording. `engine`, `vocab` and the rest describe what is recorded and go into the header."""

    def __init__(self, path, engine, vocab, model=None, tokenizer="unnamed", content="block-hashes", title=None,
                 key=None, block=None):
        if content not in MASKS:
            raise ValueError(f"content={content!r}: expected one of {', '.join(MASKS)}")
        self._mask = MASKS[content](vocab, key, block)
        self._hides = content != "exact-ids"
        self.path = os.fspath(path) if path is not None else self._new_name()
        self.calls = 0
        self._names = 0
        self._forms = {}  # by the keys of what was observed: its text but for the values, and which of them are text
        try:
            self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        except FileExistsError:
            raise FileExistsError(f"{self.path} exists; a recording never overwrites a file: name another one") from None
        header = {"format": "kv-calls/1", "recorder": {"name": "kvreplay-record", "version": "1"}, "engine": engine,
                  "content": content, "recorded": datetime.date.today().isoformat(),
                  "tokenizer": {"name": tokenizer, "vocab": vocab}}
        if model:
            header["model"] = model
        if title:
            header["title"] = title
        self._write(json.dumps(header))

    @staticmethod
    def _new_name():
        return f"kvreplay-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.jsonl"

    def _write(self, row):
        line = (row + "\n").encode()
        written = os.write(self._file, line)
        if written != len(line):
            raise OSError(f"{self.path}: only {written} of {len(line)} bytes could be written; is the disk full?")

    def sequence(self, prefix="s"):
        """A new, empty sequence; the first one is called main."""
        name = "main" if self._names == 0 else f"{prefix}{self._names}"
        self._names += 1
        return Sequence(name, [], self._mask.new_state())

    def call(self, sequence, tokens, observed=None, drafts=0, shared=0):
        """The engine evaluated the list `tokens`, the last `drafts` of which were guesses. It shares at least `shared` tokens
        with the sequence's last list."""
        keep = common_prefix(sequence.tokens, tokens, shared)
        self.step(sequence, keep, tokens[keep:], observed, drafts)

    def step(self, sequence, keep, feed, observed=None, drafts=0):
        """The same for the list of the first `keep` tokens of the sequence's last one and `feed`; takes time for `feed` and
        not for the list."""
        tokens = sequence.tokens
        if keep < len(tokens):
            again = common_prefix(tokens[keep:keep + len(feed)], feed)
            keep, feed = keep + again, feed[again:]
            del tokens[keep:]
        tokens += feed
        keep, feed = self._mask.show(sequence.shown, tokens, keep)
        row = f'{{"sequence":"{sequence.name}","keep":{keep},"feed":{feed}'
        if 0 < drafts < len(feed):  # the token before the drafts is fed with them
            row += f',"drafts":{drafts}'
        if observed is not None and self._mask.keeps_prefixes:
            row += self._observed_text(observed)
        self._write(row + "}")
        sequence.is_written = True
        self.calls += 1

    def _observed_text(self, observed):
        """Put together by hand from few pieces: this runs at every step of the engine."""
        keys = tuple(observed)
        form = self._forms.get(keys)
        if form is None:
            form = self._forms[keys] = (',"observed":{' + ",".join(f'"{key}":%s' for key in keys) + "}",
                                        [key for key in keys if key in TEXTS])
        text, texts = form
        if texts:
            observed = dict(observed)
            if self._hides and "error" in observed:
                observed["error"] = observed["error"].split(":")[0]  # a message may quote the prompt
            observed.update((key, json.dumps(observed[key])) for key in texts)
        return text % (*observed.values(),)

    def fork(self, sequence):
        """A copy of `sequence` under a new name."""
        copy = self.sequence("f")
        copy.tokens, copy.shown = list(sequence.tokens), self._mask.copy_state(sequence.shown)
        if sequence.is_written:
            self._write(json.dumps({"fork": {"from": sequence.name, "as": copy.name}}))
            copy.is_written = True
        return copy

    def end(self, sequence):
        if sequence.is_written:
            self._write(json.dumps({"end": sequence.name}))

    def close(self):
        os.close(self._file)
