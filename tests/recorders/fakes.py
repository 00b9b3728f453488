"""Engines with the interfaces of the real ones and nothing behind them, which keep a log of their own of what they do."""

import itertools

ADDRESSES = itertools.count(1000, 8)
BYTES_A_ROW = 64


class Storage:
    def __init__(self, rows):
        self._address, self._bytes = next(ADDRESSES), rows * BYTES_A_ROW

    def data_ptr(self):
        return self._address

    def nbytes(self):
        return self._bytes


class Tensor:
    """Keys or values: rows on storage of its own, or a view of another's."""

    ndim = 4

    def __init__(self, rows, view_of=None):
        self.shape = (1, 2, rows, 8)
        self._storage = view_of._storage if view_of else Storage(rows)

    def untyped_storage(self):
        return self._storage


class Ids:
    """A batch of lists of numbers."""

    def __init__(self, rows):
        self.rows = [list(row) for row in rows]
        self.shape = (len(self.rows), len(self.rows[0]))
        self.ndim = 2

    def __len__(self):
        return len(self.rows)

    def tolist(self):
        return [list(row) for row in self.rows]


class Indices:
    def __init__(self, numbers):
        self._numbers = list(numbers)

    def tolist(self):
        return self._numbers


class Layer:
    is_sliding = False

    def __init__(self):
        self.keys = self.values = None


class DynamicCache:
    """Concatenates, as transformers does since 4.54. `lists`: what each row of the batch really holds."""

    def __init__(self, num_layers=3):
        self.layers = [Layer() for _ in range(num_layers)]
        self.lists = None

    def get_seq_length(self):
        return self.layers[0].keys.shape[-2] if self.layers[0].keys else 0

    def append(self, rows):
        self.lists = [old + new for old, new in zip(self.lists or [[] for _ in rows], rows)]
        for layer in self.layers:
            layer.keys, layer.values = Tensor(len(self.lists[0])), Tensor(len(self.lists[0]))

    def crop(self, length):
        self.lists = [row[:length] for row in self.lists]
        for layer in self.layers:
            layer.keys, layer.values = Tensor(length, layer.keys), Tensor(length, layer.values)

    def reset(self):
        self.lists = [[] for _ in self.lists]

    def reorder_cache(self, indices):
        self.lists = [list(self.lists[i]) for i in indices.tolist()]


class RefusingCache(DynamicCache):
    def crop(self, length):
        raise ValueError("the window is full")


class StaticCache:
    """Allocates once, as HybridCache of transformers 4.47: to know its length it has to look."""

    def __init__(self, capacity, num_layers=3):
        self.key_cache = [Tensor(capacity) for _ in range(num_layers)]
        self.value_cache = [Tensor(capacity) for _ in range(num_layers)]
        self.capacity, self.held = capacity, 0

    def get_seq_length(self):
        return self.held

    def get_max_cache_shape(self):
        return self.capacity

    def append(self, rows):
        self.held += len(rows[0])

    def reset(self):
        self.held = 0


class _Handle:
    def __init__(self, hooks, hook):
        self._hooks, self._hook = hooks, hook

    def remove(self):
        self._hooks.remove(self._hook)


class Config:
    num_hidden_layers, hidden_size, num_attention_heads, num_key_value_heads = 3, 16, 2, 1
    intermediate_size, max_position_embeddings, vocab_size, sliding_window = 32, 4096, 200, None


class Output:
    def __init__(self, cache):
        self.past_key_values = cache


class Model:
    """`seen`: the list of each row at each forward pass, in the order of rows."""

    def __init__(self, new_cache=DynamicCache):
        self.config, self.dtype = Config(), "torch.float32"
        self.before, self.after, self.seen, self._new_cache = [], [], [], new_cache

    def register_forward_pre_hook(self, hook, with_kwargs):
        self.before.append(hook)
        return _Handle(self.before, hook)

    def register_forward_hook(self, hook, with_kwargs):
        self.after.append(hook)
        return _Handle(self.after, hook)

    def __call__(self, *args, **kwargs):
        for hook in list(self.before):
            hook(self, args, kwargs)
        rows = (kwargs.get("input_ids") or args[0]).tolist()
        cache = kwargs.get("past_key_values")
        if kwargs.get("use_cache", True):
            cache = cache if cache is not None else self._new_cache()
            cache.append(rows)
            self.seen += [list(row) for row in getattr(cache, "lists", ())]
        else:
            self.seen += rows
        output = Output(cache)
        for hook in list(self.after):
            hook(self, args, kwargs, output)
        return output


class Tokenizer:
    tokens = [b""] * 200


class GuidanceEngine:
    """get_logits of guidance 0.3 (`doubles` false) or 0.2, which takes a new cache of double size or resets the old one.

    `log`: for each call the list, tokens fed, first position, crop_to, whether the cache was reset, whether it is new."""

    def __init__(self, doubles=False, new_cache=None):
        self.doubles, self.tokenizer, self.log = doubles, Tokenizer(), []
        self.model_obj = Model(new_cache or (DynamicCache if not doubles else None))
        self._past_key_values, self._cached_token_ids, self._cached_logits = None, [], None

    def get_logits(self, token_ids, include_all_uncached_tokens=False):
        kept = 0
        while kept < min(len(token_ids), len(self._cached_token_ids)) and token_ids[kept] == self._cached_token_ids[kept]:
            kept += 1
        entry = {"list": list(token_ids), "fed": 0, "first": None, "crop_to": None, "reset": False, "new": False}
        self.log.append(entry)
        past_key_values = self._past_key_values  # so does guidance, and so keeps the old one while the new one is filled
        if self.doubles:
            kept = self._double(token_ids, kept, entry)
        elif kept == len(token_ids) == len(self._cached_token_ids):
            return {"logits": None, "n_tokens": len(token_ids), "n_cached": kept}
        else:
            kept = min(kept, len(token_ids) - 1)
            if past_key_values is not None and past_key_values.get_seq_length() > kept:
                entry["crop_to"] = kept
                past_key_values.crop(kept)
        fed = token_ids[kept:]
        entry.update(fed=len(fed), first=kept)
        self._past_key_values = self.model_obj(
            input_ids=Ids([fed]), past_key_values=self._past_key_values, use_cache=True,
            position_ids=Ids([range(kept, len(token_ids))]), attention_mask=Ids([[1] * len(token_ids)])).past_key_values
        self._cached_token_ids = list(token_ids)
        return {"logits": None, "n_tokens": len(token_ids), "n_cached": kept}

    def _double(self, token_ids, kept, entry):
        cache = self._past_key_values
        if cache is None:
            self._past_key_values, entry["new"] = StaticCache(len(token_ids)), True
            return 0
        held = cache.get_seq_length()
        if len(token_ids) > cache.get_max_cache_shape():
            self._past_key_values, entry["new"] = StaticCache(2 * len(token_ids)), True
            return 0
        if held > kept:
            cache.reset()
            entry["reset"] = True
            return 0
        return held
