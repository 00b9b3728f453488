"""Records a guidance engine: every list its get_logits is asked for, and what its cache did meanwhile.

One engine serves all lm objects and has one cache, so everything is one sequence; a switch between two programs shows as a
short common prefix.
"""

from .cache_facts import CacheWatch, Storage, capacity_of, held_by, is_static, model_map, nothing, policy_of, weak
from .calls import RecordingError, common_prefix
from .recorder import Recorder, version_of


def engine_of(lm):
    for holder in (lm, getattr(lm, "_client", None), getattr(lm, "_interpreter", None)):
        engine = getattr(holder, "engine", holder)
        if hasattr(engine, "get_logits"):
            return engine
    raise RecordingError(f"{type(lm).__name__} has no engine with get_logits: give a guidance model that runs here "
                         "(models.Transformers, models.LlamaCpp)")


class GuidanceRecorder(Recorder):
    """`lm`: a guidance model, or its engine. Options: those of the package."""

    def __init__(self, lm, path=None, **options):
        self._engine = engine_of(lm)
        self._has_cache = hasattr(self._engine, "_past_key_values")  # guidance's own engine on transformers
        self._model = self._engine.model_obj if self._has_cache else None
        backend = "transformers" if self._has_cache else type(self._engine).__name__
        self._versions = version_of("guidance"), version_of("transformers")
        engine = f"guidance {self._versions[0]} + {backend}" + (f" {self._versions[1]}" if self._has_cache else "")
        tokenizer = self._engine.tokenizer
        vocab = len(getattr(tokenizer, "tokens", ())) or getattr(tokenizer, "_vocab_size", 0)
        vocab = vocab or getattr(self._engine, "_n_vocab", 0)  # guidance 0.3 on llama.cpp
        if self._has_cache:
            vocab = max(vocab, self._model.config.vocab_size)
        if not vocab:
            raise RecordingError(f"{type(self._engine).__name__} does not tell the size of its vocabulary")
        if self._has_cache:
            options.setdefault("model", model_map(self._model.config, self._model.dtype))
        super().__init__(dict(options, path=path, engine=engine, vocab=vocab))
        self._hook = self._watch = None

    def __enter__(self):
        self._open_log()
        self._main = self._log.sequence()
        self._own = vars(self._engine).get("get_logits")  # somebody else may have wrapped it
        self._original = self._engine.get_logits
        self._last = nothing  # the cache as the call before left it, with what was seen then
        self._last_seen = None
        self._kind = None  # the policy text said last
        self._is_static = False
        self._began_empty = not self._has_cache or self._engine._past_key_values is None
        self._call = None  # what happens during a call
        self._engine.get_logits = self._get_logits
        if self._has_cache:
            self._hook = self._model.register_forward_pre_hook(self._before_pass, with_kwargs=True)
            self._watch = CacheWatch(self._changes, self._asked)
        return self

    def __exit__(self, *error):
        if self._own is None:
            del self._engine.get_logits  # the class's own shows again
        else:
            self._engine.get_logits = self._own
        if self._hook is not None:
            self._hook.remove()
            self._watch.close()
        self._close_log()
        return False

    def _look(self):
        cache = self._engine._past_key_values if self._has_cache else None
        if isinstance(cache, tuple):
            raise RecordingError("this model gives its cache as tuples, which are not recorded: use a model of "
                                 "transformers with cache objects")
        if cache is not None and cache is self._last():
            return cache, self._last_seen
        return cache, self._see(cache)

    def _see(self, cache):
        if cache is not None:
            self._watch.track(cache)
        return Storage(cache), held_by(cache), capacity_of(cache)

    def _get_logits(self, token_ids, *args, **kwargs):
        cache, (storage, held, capacity) = self._look()
        call = self._call = {"fed": 0}
        self._before = weak(cache)
        del cache  # a reference of ours would keep an old cache from being freed
        tokens = token_ids if type(token_ids) is list else list(token_ids)
        keep = common_prefix(self._main.tokens, tokens)
        feed = tokens[keep:]  # the engine may change its list, and a copy of all of it would be work for all of it
        try:
            result = self._original(token_ids, *args, **kwargs)
        except Exception as error:
            call["error"] = f"{type(error).__name__}: {error}"
            call["fed"] = 0
            call.pop("first_position", None)
            raise
        finally:
            if not self._has_cache:
                if "error" not in call:
                    call["fed"] = result["n_tokens"] - result["n_cached"] if isinstance(result, dict) else 0
            else:
                self._finish(call, storage, held, capacity)
            self._call = None
            self._log.step(self._main, keep, feed, call)
        return result

    def _finish(self, call, storage, held, capacity):
        cache = self._engine._past_key_values
        same = cache is not None and cache is self._before()
        self._last = weak(cache)
        seen = (Storage(cache, storage), held_by(cache), capacity) if same else self._see(cache)
        self._last_seen = after, held_after, capacity_after = seen
        call.update(bytes_before=storage.bytes, bytes_after=after.bytes)
        for key, value in (("held_before", held), ("held_after", held_after), ("capacity_before", capacity),
                           ("capacity_after", capacity_after)):
            if value is not None:
                call[key] = value
        if after.places != storage.places:
            call["new_storage"] = "yes" if storage.bytes else "first"
        if cache is not None:
            if not same or self._kind is None:
                self._is_static = is_static(cache)
            if self._is_static:  # old and new are there while the forward pass runs, if the engine still held the old one
                call["peak_bytes"] = after.bytes + (storage.bytes if call.pop("had_old", False) else 0)
            if not same or self._kind is None:
                kind = self._policy(cache, after)
                if kind != self._kind:
                    call["policy"] = self._kind = kind
        call.pop("had_old", None)

    def _policy(self, cache, storage):
        if not self._began_empty:
            return "cache-was-filled-before"  # a replay begins with an empty one and cannot be held against this
        releases = [".".join(version.split(".")[:2]) for version in self._versions]
        kind = policy_of(cache, self._versions[1], storage.rows).split(":")[0]
        if kind in (f"transformers-{releases[1]}-hybrid", f"transformers-{releases[1]}-dynamic-sliding"):
            return f"guidance-{releases[0]}+transformers-{releases[1]}"
        return f"guidance-{releases[0]}+{kind}"

    def _before_pass(self, model, args, kwargs):
        call = self._call
        if call is None:
            raise RecordingError("the model was called outside its guidance engine: record it with "
                                 "kvreplay_record.transformers instead")
        ids = kwargs["input_ids"]
        if "first_position" not in call:
            call["first_position"] = kwargs["attention_mask"].shape[-1] - ids.shape[-1]
        call["fed"] += ids.shape[-1]
        cache = kwargs.get("past_key_values")
        old = self._before()
        call["had_old"] = old is not None and old is not cache

    def _asked(self, cache, length):
        if self._call is not None and cache is self._before():
            self._call.setdefault("held_before", int(length))

    def _changes(self, cache, method, arguments):
        call = self._call
        if call is None:
            if cache is self._last():  # somebody else's doing: look again before the next call
                self._last = nothing
            return
        if method == "crop":
            call["crop_to"] = int(arguments[0])
        elif method == "reset":
            call["resets"] = call.get("resets", 0) + 1
