"""Records a llama.cpp context of this process, through llama-cpp-python: each llama_decode is a call for every sequence in its
batch, seq_rm shortens a list, seq_cp copies one, seq_keep and clear end the others.

The functions are wrapped in the modules that hold them, since llama_cpp.Llama, guidance and programs of one's own all call
them there.
"""

import sys

from .calls import RecordingError
from .recorder import Recorder, version_of

MODULES = ("llama_cpp", "llama_cpp.llama_cpp")
CHANGES = ("seq_rm", "seq_cp", "seq_keep", "seq_add", "seq_div", "clear")


def address(pointer):
    """A pointer as a number, whether ctypes gives it as one or as an object."""
    return getattr(pointer, "value", pointer)


class _Held:
    """What the memory holds of one sequence: the first `length` tokens of the sequence's last list, or of `other` if that
    list was not stored."""

    __slots__ = ("sequence", "length", "other")

    def __init__(self, sequence, length=0, other=None):
        self.sequence, self.length, self.other = sequence, length, other

    def tokens(self):
        return (self.sequence.tokens if self.other is None else self.other)[:self.length]


class LlamaRecorder(Recorder):
    """`llm`: a llama_cpp.Llama. Options: those of the package."""

    def __init__(self, llm, path=None, **options):
        if not all(hasattr(llm, name) for name in ("ctx", "context_params", "n_vocab")):
            raise RecordingError(f"{type(llm).__name__} is no llama_cpp.Llama: give the object llama-cpp-python made")
        self._llm = llm
        self._context = address(llm.ctx)
        parameters = llm.context_params
        names = {"n_ctx": parameters.n_ctx, "n_batch": parameters.n_batch, "n_ubatch": parameters.n_ubatch}
        names["swa_full"] = "true" if getattr(parameters, "swa_full", True) else "false"
        self._policy = "llama.cpp:" + ",".join(f"{key}={value}" for key, value in names.items())
        engine = f"llama.cpp (llama-cpp-python {version_of('llama-cpp-python')})"
        super().__init__(dict(options, path=path, engine=engine, vocab=llm.n_vocab()))

    def __enter__(self):
        modules = [sys.modules[name] for name in MODULES if name in sys.modules]
        if not modules:
            raise RecordingError("the module llama_cpp is not loaded, so nothing of it can be recorded")
        self._open_log()
        self._sequences = {}  # _Held by sequence id
        self._policy_is_known = False  # the file says which one it is
        self._wrapped = []
        self._depth = 0
        get_memory = getattr(modules[-1], "llama_get_memory", None)
        self._memory = address(get_memory(self._llm.ctx)) if get_memory else None
        for module in modules:
            self._wrap(module, "llama_decode", self._decodes)
            for change in CHANGES:
                self._wrap(module, f"llama_memory_{change}", getattr(self, f"_{change}"), self._memory)
                self._wrap(module, f"llama_kv_self_{change}", getattr(self, f"_{change}"), self._context)
        return self

    def __exit__(self, *error):
        for module, name, original in self._wrapped:
            setattr(module, name, original)
        self._close_log()
        return False

    def _wrap(self, module, name, listener, handle=None):
        """Calls `listener(arguments, result)` after each call whose first argument is our context or memory."""
        original = getattr(module, name, None)
        if original is None:
            return
        handle = self._context if handle is None else handle

        def wrapped(first, *arguments):
            self._depth += 1
            try:
                result = original(first, *arguments)
            finally:
                self._depth -= 1
            if self._depth == 0 and address(first) == handle:
                listener(arguments, result)
            return result

        self._wrapped.append((module, name, original))
        setattr(module, name, wrapped)

    def _decodes(self, arguments, result):
        batch = arguments[0]
        count, pointer = batch.n_tokens, batch.token  # each look at a field of a ctypes structure makes an object
        if count == 0:
            return
        if not pointer:
            raise RecordingError("the batch has embeddings instead of tokens")
        tokens, numbers = pointer[:count], batch.seq_id
        fed = {}  # tokens and the position of the first of them by sequence id
        for i, num_sequences in enumerate(batch.n_seq_id[:count]):
            for number in numbers[i][:num_sequences]:
                if number not in fed:
                    fed[number] = batch.pos[i], []
                fed[number][1].append(tokens[i])
        for number, (first, feed) in fed.items():
            self._evaluate(number, first, feed, result)

    def _evaluate(self, number, first, feed, result):
        held = self._sequences.get(number)
        if held is None:
            held = self._sequences[number] = _Held(self._log.sequence())
        sequence, length = held.sequence, held.length
        if first > length:
            raise RecordingError(f"sequence {number} is fed at position {first}, but the recording has seen {length} tokens "
                                 "of it: begin to record before its first llama_decode")
        observed = {"fed": len(feed) if result == 0 else 0, "first_position": first, "held_before": length,
                    "held_after": first + len(feed) if result == 0 else length}
        if not self._policy_is_known:
            observed["policy"], self._policy_is_known = self._policy, True
        if len(sequence.tokens) > first:
            observed["crop_to"] = first
        if result != 0:
            observed["error"] = f"llama_decode returned {result}"
        if held.other is None and result == 0:
            held.length = first + len(feed)
            self._log.step(sequence, first, feed, observed)
            return
        before = held.tokens()
        self._log.call(sequence, before[:first] + feed, observed)
        if result == 0:
            held.length, held.other = first + len(feed), None
        else:
            held.other = before

    def _numbers(self, number):
        return [number] if number >= 0 else list(self._sequences)

    def _seq_rm(self, arguments, result):
        number, begin, end = (*map(int, arguments), )
        begin = max(begin, 0)
        for each in self._numbers(number):
            if each not in self._sequences or result is False:
                continue
            length = self._sequences[each].length
            if begin < length and 0 <= end < length and end > begin:
                raise RecordingError(f"seq_rm({number}, {begin}, {end}) takes tokens out of the middle of a list of "
                                     f"{length}: a workload's lists only get shorter at their end")
            self._sequences[each].length = min(begin, length)

    def _seq_cp(self, arguments, result):
        source, target, begin, end = map(int, arguments)
        if source not in self._sequences or source == target:
            return
        if begin > 0:
            raise RecordingError(f"seq_cp({source}, {target}, {begin}, {end}) copies a list without its beginning")
        if target in self._sequences:
            self._log.end(self._sequences.pop(target).sequence)
        held = self._sequences[source]
        length = min(end, held.length) if end >= 0 else held.length
        self._sequences[target] = _Held(self._log.fork(held.sequence), length, held.other)

    def _seq_keep(self, arguments, result):
        for number in [number for number in self._sequences if number != int(arguments[0])]:
            self._log.end(self._sequences.pop(number).sequence)

    def _clear(self, arguments, result):
        for held in self._sequences.values():
            held.length = 0

    def _seq_add(self, arguments, result):
        raise RecordingError("llama_memory_seq_add shifts positions (context shift), which a workload cannot say: take a "
                             "larger n_ctx")

    _seq_div = _seq_add
