"""What a transformers cache object is and holds, read without importing transformers: 4.47 keeps lists of tensors,
4.54 and later layer objects."""

import weakref

RENAMED_LENGTH = ("get_max_cache_shape", "get_max_length")  # 4.47 to 4.57, 5


class Storage:
    """The tensors of a cache at one moment: bytes of the storages (a view counts whole), where they are, most rows
    (of a cache that allocates once, so looked at once).

    `like` is the same cache seen before. If its layers then were equal but for sliding ones, so they are now, and looking
    at the keys of one layer of each kind is enough: this runs at every step of the engine.
    """

    __slots__ = ("bytes", "places", "rows", "samples")

    def __init__(self, cache, like=None):
        self.bytes, self.rows, places, self.samples = 0, 0, [], None
        layers = getattr(cache, "layers", None)
        if like is not None and like.samples:
            self.samples, self.rows = like.samples, like.rows
            for index, count in like.samples:
                tensor = layers[index].keys if layers is not None else cache.key_cache[index]
                storage = tensor.untyped_storage()
                places.append(storage.data_ptr())
                self.bytes += storage.nbytes() * count
        else:
            self._look_at_all(cache, places)
        self.places = places

    def _look_at_all(self, cache, places):
        tensors = tensors_of(cache)
        sizes = {}
        for tensor in tensors:
            storage = tensor.untyped_storage()
            if storage.data_ptr() not in sizes:
                sizes[storage.data_ptr()] = storage.nbytes()
            self.rows = max(self.rows, tensor.shape[-2])
        self.bytes = sum(sizes.values())
        if tensors and len(sizes) == len(tensors):
            self.samples = _samples(cache, tensors)
        places += [tensor.untyped_storage().data_ptr() for tensor in
                   ([tensors[2 * index] for index, _ in self.samples] if self.samples else tensors)]


def _samples(cache, tensors):
    """(layer, tensors like its keys) for one layer of each kind; None if layers of a kind differ in size."""
    layers = getattr(cache, "layers", None)
    sliding = getattr(cache, "is_sliding", None)
    num_layers = len(layers) if layers is not None else len(cache.key_cache)
    if len(tensors) != 2 * num_layers or num_layers == 0:
        return None
    kinds = [sliding is not None and bool(sliding[i]) for i in range(num_layers)]
    sizes = [tensor.untyped_storage().nbytes() for tensor in tensors]
    samples = [(kinds.index(kind), 2 * kinds.count(kind)) for kind in sorted(set(kinds))]
    equal = all(sizes[2 * i] == sizes[2 * i + 1] == sizes[2 * kinds.index(kinds[i])] for i in range(num_layers))
    return samples if equal else None


def tensors_of(cache):
    if cache is None:
        return []
    layers = getattr(cache, "layers", None)
    if layers is not None:
        found = [tensor for layer in layers for tensor in (layer.keys, layer.values)]
    else:
        pairs = zip(getattr(cache, "key_cache", ()), getattr(cache, "value_cache", ()))
        found = [tensor for pair in pairs for tensor in pair]
    return [tensor for tensor in found if tensor is not None and getattr(tensor, "ndim", 0) == 4]


def held_by(cache):
    """The tokens the engine believes the cache to hold; None where only a look through all rows would tell: caches that
    allocate once did so up to 4.53."""
    if cache is None:
        return 0
    if not hasattr(cache, "layers") and is_static(cache):
        return None
    return int(cache.get_seq_length())


def capacity_of(cache):
    """What the cache says is the most it can hold; None: it does not say."""
    for name in RENAMED_LENGTH:
        if cache is not None and hasattr(cache, name):
            capacity = getattr(cache, name)()
            return None if capacity is None or capacity < 0 else int(capacity)
    return None


def is_static(cache):
    """Whether the cache allocates once; those are the ones whose bytes at the worst moment can be told."""
    layers = getattr(cache, "layers", None)
    kinds = [type(layer).__name__ for layer in layers] if layers else [type(cache).__name__]
    return all("Static" in kind or "Hybrid" in kind for kind in kinds)


def policy_of(cache, version, rows):
    """The --policy text that stands for this cache in transformers `version` (docs/recorders.md); policies this program does
    not have are named in the same manner, and reported as not checkable."""
    release = ".".join(version.split(".")[:2])
    if is_static(cache):
        kind = "hybrid" if "Hybrid" in type(cache).__name__ else "static"
        return f"transformers-{release}-{kind}:capacity={rows}"
    layers = getattr(cache, "layers", None) or ()
    if any(getattr(layer, "record_past", False) for layer in layers):
        return f"transformers-{release}-record-past"
    if any(getattr(layer, "is_sliding", False) for layer in layers):
        return f"transformers-{release}-dynamic-sliding"
    return f"transformers-{release}-dynamic"


# Keys of a workload's `model` map with those of a Hugging Face config.
DIMENSIONS = {"num_layers": "num_hidden_layers", "hidden_size": "hidden_size", "num_heads": "num_attention_heads",
              "num_kv_heads": "num_key_value_heads", "head_dim": "head_dim", "intermediate_size": "intermediate_size",
              "query_pre_attn_scalar": "query_pre_attn_scalar", "sliding_window": "sliding_window",
              "max_positions": "max_position_embeddings", "vocab_size": "vocab_size"}


def model_map(config, dtype):
    """The model's dimensions as a workload has them. `dtype`: of its weights, as text."""
    found = {key: getattr(config, name, None) for key, name in DIMENSIONS.items()}
    if found["num_heads"] and found["hidden_size"] and not found["head_dim"]:
        found["head_dim"] = found["hidden_size"] // found["num_heads"]
    found["num_kv_heads"] = found["num_kv_heads"] or found["num_heads"]
    found["query_pre_attn_scalar"] = found["query_pre_attn_scalar"] or found["head_dim"]
    found["sliding_window"] = found["sliding_window"] or found["max_positions"]
    model = {key: value for key, value in found.items() if isinstance(value, (int, float)) and value > 0}
    model["dtype"] = "fp32" if "32" in str(dtype) else "bf16"  # a replay has elements of four or two bytes
    return model


class CacheWatch:
    """Reports calls of methods that change a cache: `listener(cache, method, arguments)`, before they happen. With
    `asked`, also what the engine is told of its length: `asked(cache, length)`.

    Methods are wrapped in the class, not the object: a wrapped object would refer to itself, be freed late, and the
    recorder would have changed the memory it is to measure.
    """

    METHODS = ("crop", "reset", "reorder_cache", "batch_select_indices", "batch_repeat_interleave",
               "activate_past_recording")

    def __init__(self, listener, asked=None):
        self._listener, self._asked = listener, asked
        self._wrapped = {}  # (class, method): the class's own method, or None if it is inherited

    def track(self, cache):
        kind = type(cache)
        for method in self.METHODS:
            if hasattr(kind, method) and (kind, method) not in self._wrapped:
                self._wrapped[kind, method] = kind.__dict__.get(method)
                setattr(kind, method, self._wrapper(kind, method))
        if self._asked and held_by(cache) is None and (kind, "get_seq_length") not in self._wrapped:
            self._wrapped[kind, "get_seq_length"] = kind.__dict__.get("get_seq_length")
            kind.get_seq_length = self._length_wrapper(kind.get_seq_length)

    def _length_wrapper(self, original):
        asked = self._asked

        def get_seq_length(cache, *args, **kwargs):
            length = original(cache, *args, **kwargs)
            asked(cache, length)
            return length

        return get_seq_length

    def _wrapper(self, kind, method):
        original, listener = getattr(kind, method), self._listener

        def wrapped(cache, *args, **kwargs):
            if type(cache) is kind:  # a subclass has a wrapper of its own
                listener(cache, method, [*args, *kwargs.values()])
            return original(cache, *args, **kwargs)

        return wrapped

    def close(self):
        for (kind, method), own in self._wrapped.items():
            if own is None:
                delattr(kind, method)
            else:
                setattr(kind, method, own)
        self._wrapped.clear()


def nothing():
    """Stands for a weak reference to no cache."""


def weak(cache):
    """Refers to a cache without keeping it alive."""
    return nothing if cache is None else weakref.ref(cache)
