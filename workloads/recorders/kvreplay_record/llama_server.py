"""Turns what llama-server leaves behind into a recording: its log, or answers of /completion as JSON lines.

A request is one call for its prompt and one for each sampled token but the last, whose list is never evaluated; requests of
one slot share its cache and are one sequence. Requests under way at the same time are written one after the other. The log has
no ids, so it gives lengths; neither has the single steps of a draft model, which become plain steps. What was kept of a prompt
is in lines of its own (all versions until 2026, later ones with -lv 4) or follows from the timings, which give the tokens fed
and generated, and the length at the end.
"""

import itertools
import json
import os
import re

from .calls import CallLog

LAUNCHED = re.compile(r"processing task")
SLOT_LINE = re.compile(r"\bslot\s+\S+\s*id\s+(\d+) \| task (-?\d+) \| (.*)")
NEW_PROMPT = re.compile(r"new prompt,.*\b(?:task\.n_tokens|n_prompt_tokens) = (\d+)")
KEPT = re.compile(r"(?:memory_seq_rm|kv cache rm) \[(\d+), end\)")
RELEASED = re.compile(r"stop processing: (?:n_tokens|n_past) = (\d+), truncated = (\d)")
FED = re.compile(r"\s*prompt eval time = .*/ +(\d+) tokens")
GENERATED = re.compile(r"\s*eval time = .*/ +(\d+) (?:tokens|runs)")
DRAFTS = re.compile(r"draft acceptance")
SWAPPED = re.compile(r"found better prompt")


# What people are told, with a number before it.
DRAFTED = "requests with a draft model, whose steps a log does not tell: counted as plain steps"
TAKEN_BACK = ("prompts taken back from the server's own store, which may begin otherwise than the slot's last list: counted as "
              "if they did not")
SHIFTED = "requests whose context was shifted, which a workload cannot say: left out"
UNTOLD = "requests without their timings, and without the line of their prompt: left out"
UNENDED = "requests that had not ended when the log did: left out"
NOTES = (DRAFTED, TAKEN_BACK, SHIFTED, UNTOLD, UNENDED)


class _Request:
    def __init__(self, slot, line, prompt=None):
        self.slot, self.line, self.prompt = slot, line, prompt
        self.kept = self.end = None  # tokens of the prompt served from the cache; length of the last list evaluated
        self.fed = self.generated = None  # as the timings say
        self.prompt_ids = self.ids = None

    def ends(self, end):
        """Whether all is known with the length at the end."""
        self.end = end
        if self.prompt is None and None not in (self.fed, self.generated):
            self.prompt = end - max(self.generated - 1, 0)
            self.kept = self.prompt - self.fed
        return self.prompt is not None and (self.kept or 0) >= 0


def requests_of_log(lines, notes):
    """The requests of a log in the order in which they ended. `lines`: an iterable of (number, text)."""
    under_way = {}
    for number, line in lines:
        if DRAFTS.search(line):
            notes[DRAFTED] += 1
        if SWAPPED.search(line):
            notes[TAKEN_BACK] += 1
        found = SLOT_LINE.search(line)
        if not found:
            continue
        slot, task, text = int(found[1]), int(found[2]), found[3]
        prompt = NEW_PROMPT.search(text)
        if prompt:
            under_way[slot, task] = _Request(slot, number, int(prompt[1]))
        elif LAUNCHED.search(text):
            under_way[slot, task] = _Request(slot, number)
        request = under_way.get((slot, task))
        if request is None:
            continue
        kept, released = KEPT.search(text), RELEASED.search(text)
        fed, generated = FED.match(text), GENERATED.match(text)
        if kept and request.kept is None:  # later ones are further pieces of the same prompt
            request.kept = int(kept[1])
        elif fed:
            request.fed = int(fed[1])
        elif generated:
            request.generated = int(generated[1])
        elif released:
            del under_way[slot, task]
            if int(released[2]):
                notes[SHIFTED] += 1
            elif request.ends(int(released[1])):
                yield request
            else:
                notes[UNTOLD] += 1
    notes[UNENDED] += len(under_way)


def _whole(value, line, what):
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{line}: {what}: expected a whole number, found {json.dumps(value)[:40]}")
    return value


def _ids(value):
    is_ids = isinstance(value, list) and value and all(type(token) is int and token >= 0 for token in value)
    return value if is_ids else None


def requests_of_answers(lines):
    """The requests of JSON lines, each an answer of /completion or {"request": ..., "response": ...}."""
    for number, line in lines:
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            raise ValueError(f"{number}: not valid JSON; cut off?") from None
        answer = row.get("response", row) if isinstance(row, dict) else None
        if not isinstance(answer, dict) or not isinstance(answer.get("timings"), dict):
            raise ValueError(f"{number}: expected an answer of /completion, with its timings")
        timings = answer["timings"]
        asked = row.get("request") if isinstance(row.get("request"), dict) else answer
        prompt_ids, ids = _ids(asked.get("prompt")), _ids(answer.get("tokens"))
        fed = _whole(timings.get("prompt_n"), number, "timings.prompt_n")
        predicted = _whole(timings.get("predicted_n"), number, "timings.predicted_n")
        prompt = len(prompt_ids) if prompt_ids else _whole(answer.get("tokens_evaluated"), number, "tokens_evaluated")
        if fed > prompt:
            raise ValueError(f"{number}: timings.prompt_n {fed} is more than the {prompt} tokens of the prompt")
        request = _Request(_whole(answer.get("id_slot", 0), number, "id_slot"), number, prompt)
        request.kept, request.end = prompt - fed, prompt + max(predicted - 1, 0)
        if prompt_ids and ids and len(ids) >= request.end - prompt:
            request.prompt_ids, request.ids = prompt_ids, ids
        yield request


def _write(log, sequence, request, fresh):
    if request.ids:
        tokens = list(request.prompt_ids)
        later = request.ids
    else:
        kept = min(request.kept or 0, len(sequence.tokens), request.prompt)
        tokens = sequence.tokens[:kept] + list(itertools.islice(fresh, request.prompt - kept))
        later = list(itertools.islice(fresh, max(request.end - request.prompt, 0)))
    kept = request.kept or 0
    log.call(sequence, tokens, {"fed": request.prompt - kept, "first_position": kept})
    for at, token in enumerate(later[:request.end - request.prompt], len(tokens)):
        log.step(sequence, at, [token], {"fed": 1, "first_position": at})


def convert(path, output, vocab, content="block-hashes"):
    """Writes recording `output`, whole or not at all. Gives notes for people. Raises ValueError with file and line."""
    notes = dict.fromkeys(NOTES, 0)
    temporary = f"{output}.{os.getpid()}.tmp"
    if os.path.exists(output):
        raise ValueError(f"{output} exists; a recording never overwrites a file: name another one")
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        first = next((line for line in file if line.strip()), "")
        is_json = first.lstrip().startswith("{")
        file.seek(0)
        lines = enumerate(file, 1)
        try:
            requests = requests_of_answers(lines) if is_json else requests_of_log(lines, notes)
            num = _write_all(requests, temporary, vocab, content)
            if num == 0:
                raise ValueError("no finished request in it: is it the log of llama-server with its slot lines, or answers "
                                 "of /completion?")
            os.replace(temporary, output)
        except ValueError as error:
            raise ValueError(f"{path}:{error}" if str(error)[:1].isdigit() else f"{path}: {error}") from None
        finally:
            if os.path.exists(temporary):
                os.unlink(temporary)
    return [f"{count} {what}" for what, count in notes.items() if count] + [f"{num} requests taken"]


def _write_all(requests, path, vocab, content):
    log, slots, fresh, num = None, {}, itertools.count(), 0
    try:
        for request in requests:
            if log is None:
                with_ids = request.ids is not None
                log = CallLog(path, "llama.cpp server", vocab, content=content if with_ids else "lengths")
            if with_ids and request.ids is None:
                raise ValueError(f"{request.line}: no ids here, unlike in the rows before (ask with return_tokens, and with "
                                 "the prompt as ids): convert such rows apart")
            if request.ids and max(*request.prompt_ids, *request.ids) >= vocab:
                raise ValueError(f"{request.line}: an id is not below the vocabulary of {vocab}: give the model's with --vocab")
            if not with_ids:
                request.ids = None
            if request.slot not in slots:
                slots[request.slot] = log.sequence()
            _write(log, slots[request.slot], request, fresh)
            num += 1
    finally:
        if log is not None:
            log.close()
    return num
