"""Records the forward passes of a transformers model: generate() in all its ways, or a loop of one's own.

Positions say what of a list is kept, ids what is fed. Each cache object is a sequence, or one for each row of its batch;
beam search, which exchanges rows, becomes forks and ends. Drafts that a forward pass verifies are the rows of logits asked
for besides the last one.
"""

import sys
import weakref

from .cache_facts import CacheWatch, Storage, capacity_of, held_by, is_static, model_map, policy_of
from .calls import RecordingError
from .recorder import Recorder, version_of


class _Tracked:
    """A cache with the sequences of its rows and what was seen of it last (None: something happened since)."""

    def __init__(self, cache, rows):
        self.reference = weakref.ref(cache)
        self.rows = rows
        self.seen = None
        self.resets = 0
        self.was_used = False
        self.policy_is_known = False  # the file says which one it is


class TransformersRecorder(Recorder):
    """`model`: what generate() is called on. Options: those of the package."""

    def __init__(self, model, path=None, **options):
        if not hasattr(model, "register_forward_pre_hook"):
            raise RecordingError(f"{type(model).__name__} is no model of torch")
        config = model.config.get_text_config() if hasattr(model.config, "get_text_config") else model.config
        self._model, self._version = model, version_of("transformers")
        options.setdefault("model", model_map(config, model.dtype))
        super().__init__(dict(options, path=path, engine=f"transformers {self._version}", vocab=config.vocab_size))

    def __enter__(self):
        self._open_log()
        self._caches = {}  # by id; ids of caches that are gone are swept out before a new one is taken in
        self._cacheless = []  # sequences of forward passes without a cache
        self._call = None
        self._watch = CacheWatch(self._changes)
        self._hooks = [self._model.register_forward_pre_hook(self._before, with_kwargs=True),
                       self._model.register_forward_hook(self._after, with_kwargs=True)]
        return self

    def __exit__(self, *error):
        for hook in self._hooks:
            hook.remove()
        self._watch.close()
        if self._call is not None:  # the forward pass that an exception ended
            self._write({"error": f"{type(error[1]).__name__}: {error[1]}"})
        self._close_log()
        return False

    @staticmethod
    def _cache_in(arguments):
        cache = arguments.get("past_key_values")
        cache = arguments.get("cache") if cache is None else cache  # its name in 5.x
        if isinstance(cache, (tuple, list)):
            raise RecordingError("a cache given as tuples is not recorded: give a cache object, such as DynamicCache()")
        return cache

    def _before(self, model, args, kwargs):
        torch_compiles()
        if self._call is not None:  # an exception that the program caught ended the one before
            self._write({"error": "the forward pass did not return"})
        ids = kwargs.get("input_ids", args[0] if args else None)
        if ids is None:
            raise RecordingError("the model is given embeddings instead of input_ids, whose tokens cannot be known")
        cache = self._cache_in(kwargs)
        tracked = self._tracked(cache, len(ids)) if cache is not None else None
        seen = (None if tracked is None else tracked.seen) or (Storage(cache), held_by(cache))
        rows = self._lists(ids.tolist(), kwargs, cache, tracked, seen)
        keep = kwargs.get("logits_to_keep", kwargs.get("num_logits_to_keep", 1))
        drafts = keep - 1 if isinstance(keep, int) and keep > 1 else 0
        self._call = {"rows": rows, "tracked": tracked, "before": seen, "drafts": drafts}

    def _lists(self, ids, kwargs, cache, tracked, seen):
        """For each row of the batch: its sequence (None: to be made), the tokens fed, the first position fed."""
        positions = kwargs.get("position_ids")
        if positions is None and kwargs.get("cache_position") is not None:
            positions = kwargs["cache_position"][None]
        positions = None if positions is None else positions.tolist()
        sequences = tracked.rows if tracked else self._cacheless if cache is None and kwargs.get("use_cache") is False \
            else [None] * len(ids)
        if sequences is self._cacheless:
            while len(sequences) < len(ids):
                sequences.append(self._log.sequence())
        rows = []
        for row, tokens in enumerate(ids):
            at = positions[min(row, len(positions) - 1)] if positions else None
            padding = padding_of(at) if at and len(at) > 1 else 0
            held = at[padding] if at else held_by_rows(cache, seen[1])
            known = len(sequences[row].tokens) if sequences[row] else 0
            if cache is None:
                held = 0
            if held > known:
                raise RecordingError(f"the cache holds {held} tokens of which the recording has seen {known}: begin to "
                                     "record before the first forward pass that uses this cache")
            rows.append((sequences[row], tokens[padding:] if padding else tokens, held))
        return rows

    def _tracked(self, cache, num_rows):
        tracked = self._caches.get(id(cache))
        if tracked is None or tracked.reference() is not cache:
            self._sweep()
            tracked = self._caches[id(cache)] = _Tracked(cache, [self._log.sequence() for _ in range(num_rows)])
            self._watch.track(cache)
        if len(tracked.rows) != num_rows:
            raise RecordingError(f"a cache of {len(tracked.rows)} rows is used for {num_rows}")
        return tracked

    def _sweep(self):
        for key in [key for key, tracked in self._caches.items() if tracked.reference() is None]:
            for sequence in self._caches.pop(key).rows:
                self._log.end(sequence)

    def _after(self, model, args, kwargs, output):
        call = self._call
        if call["tracked"] is None and kwargs.get("use_cache") is not False:
            cache = self._cache_in({name: getattr(output, name, None) for name in ("past_key_values", "cache")})
            if cache is not None:
                call["tracked"] = self._tracked(cache, len(call["rows"]))
        self._write({})

    def _write(self, happened):
        call, self._call = self._call, None
        tracked = call["tracked"]
        observed = None
        if len(call["rows"]) == 1:
            observed = self._observed(call, tracked, happened)
        sequences = tracked.rows if tracked else [row[0] or self._log.sequence() for row in call["rows"]]
        for sequence, (_, feed, position) in zip(sequences, call["rows"]):
            self._log.step(sequence, position, feed, observed, call["drafts"])

    def _observed(self, call, tracked, happened):
        (storage, held), (_, feed, position) = call["before"], call["rows"][0]
        observed = happened or {"fed": len(feed), "first_position": position}
        observed.setdefault("fed", 0)  # of a pass that failed
        if held is not None:
            observed["held_before"] = held
        cache = None if tracked is None else tracked.reference()
        if cache is None:
            return observed
        after, held_after = tracked.seen = Storage(cache, storage if storage.bytes else None), held_by(cache)
        observed["bytes_before"], observed["bytes_after"] = storage.bytes, after.bytes
        if tracked.resets:
            observed["resets"], tracked.resets = tracked.resets, 0
        if not tracked.policy_is_known:
            observed["policy"] = policy_of(cache, self._version, after.rows)
            tracked.policy_is_known = True
            tracked.is_static = is_static(cache)
        if held_after is not None:
            observed["held_after"] = held_after
        if not tracked.was_used or after.places != storage.places:
            observed["new_storage"] = "yes" if tracked.was_used and storage.bytes else "first"
        tracked.was_used = True
        if tracked.is_static:
            observed["peak_bytes"] = after.bytes
        return observed

    def _changes(self, cache, method, arguments):
        tracked = self._caches.get(id(cache))
        if tracked is None or tracked.reference() is not cache:
            return
        tracked.seen = None
        if method == "reset":
            tracked.resets += 1
        elif method == "activate_past_recording":
            tracked.policy_is_known = False
        elif method in ("reorder_cache", "batch_select_indices"):
            self._exchange(tracked, arguments[0].tolist())
        elif method == "batch_repeat_interleave":
            self._exchange(tracked, [row for row in range(len(tracked.rows)) for _ in range(int(arguments[0]))])

    def _exchange(self, tracked, sources):
        """Row i becomes what row sources[i] was."""
        old, stays = tracked.rows, {}
        for row, source in enumerate(sources):  # a row that keeps its place keeps its name, else the first that wants it
            if source not in stays or source == row:
                stays[source] = row
        tracked.rows = [old[source] if stays[source] == row else self._log.fork(old[source])
                        for row, source in enumerate(sources)]
        for source, sequence in enumerate(old):
            if source not in stays:
                self._log.end(sequence)


def padding_of(positions):
    """How many tokens stand before the list: their positions do not lead up to those of the list, which follow one
    another."""
    return next((i for i in range(len(positions) - 1, 0, -1) if positions[i] != positions[i - 1] + 1), 0)


def held_by_rows(cache, held):
    """Where the model itself puts tokens that come without positions."""
    return int(cache.get_seq_length()) if held is None else held


def torch_compiles():
    """Raises where a hook would only be traced, not run."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.compiler.is_compiling():
        raise RecordingError("the model is being compiled, and a compiled graph calls no recorder: pass "
                             "disable_compile=True to generate(), or record the model as it is")
