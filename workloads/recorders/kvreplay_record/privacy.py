"""What of the token ids is written. Each mask turns the next list of a sequence into (keep, feed) of a recorder's call.

All but Blocks with a block above 1 keep exactly how much each list shares with the one before in its sequence.
"""

import hashlib
import random
import secrets


class ExactIds:
    """The ids themselves."""

    content = "exact-ids"
    keeps_prefixes = True

    def __init__(self, vocab, key=None, block=None):
        pass

    def new_state(self):
        return None

    def copy_state(self, state):
        return None

    def show(self, state, tokens, keep):
        """`tokens`: the list, of which the first `keep` are those of the sequence's last list. Gives (keep, feed)."""
        return keep, tokens[keep:]


class PermutedIds(ExactIds):
    """Ids exchanged by a permutation drawn from `key` (text or bytes; default: a new secret one)."""

    content = "permuted-ids"

    def __init__(self, vocab, key=None, block=None):
        key = secrets.token_bytes(16) if key is None else key
        key = key.encode() if isinstance(key, str) else key
        self._ids = list(range(vocab))
        random.Random(int.from_bytes(hashlib.sha256(key).digest(), "big")).shuffle(self._ids)

    def show(self, state, tokens, keep):
        return keep, [self._ids[token] for token in tokens[keep:]]


class Lengths:
    """A new id for every token, whatever it was: lists share what the call keeps and nothing else."""

    content = "lengths"
    keeps_prefixes = True

    def __init__(self, vocab, key=None, block=None):
        self._vocab = vocab
        self._next = 0

    def new_state(self):
        return []

    def copy_state(self, state):
        return list(state)

    def show(self, state, tokens, keep):
        dropped = state[keep] if keep < len(state) else None
        if self._next % self._vocab == dropped:  # the list must part from the last one here
            self._next += 1
        feed = [(self._next + i) % self._vocab for i in range(len(tokens) - keep)]
        self._next += len(feed)
        state[keep:] = feed
        return keep, feed


class _BlockState:
    def __init__(self):
        self.length = 0
        self.nodes = [0]  # of the tree of all blocks, up to each whole block of the list
        self.open = None  # number of the last block if it is not whole

    def copy(self):
        other = _BlockState()
        other.length, other.nodes, other.open = self.length, list(self.nodes), self.open
        return other


class Blocks:
    """Blocks of `block` tokens as small numbers: the same number where lists are equal up to the end of that block.

    A block of 1 keeps all common prefixes, also with lists of long ago. Larger ones say less: a rewind into a block counts
    as one to its beginning, so the file asks for more than the engine was asked for.
    """

    content = "block-hashes"

    def __init__(self, vocab, key=None, block=None):
        self._vocab = vocab
        self._block = 1 if block is None else block
        if self._block < 1 or self._block > vocab:
            raise ValueError(f"block={block}: expected a number of tokens from 1 to {vocab}")
        self.keeps_prefixes = self._block == 1
        self._nodes = {}  # (node before, ids of a whole block): (node, number shown for it)
        self._first_ids = set()  # (node before a block, its first id): blocks on one prefix must differ there
        self._next = 0

    def new_state(self):
        return _BlockState()

    def copy_state(self, state):
        return state.copy()

    def show(self, state, tokens, keep):
        size = self._block
        start = keep if keep == state.length else keep // size * size
        del state.nodes[start // size + 1:]
        feed = []
        if size == 1:
            feed = self._show_tokens(state.nodes, tokens, start)
            state.length = len(tokens)
            return start, feed
        for begin in range(start // size * size, len(tokens), size):
            ids = tuple(tokens[begin:begin + size])
            before = state.nodes[-1]
            known = self._nodes.get((before, ids))
            if begin < start:
                number = state.open  # goes on with a block that was begun
            elif known:
                number = known[1]
            else:
                number = self._new_number(before)
            if len(ids) == size:
                if not known:
                    known = self._nodes[before, ids] = len(self._nodes) + 1, number
                state.nodes.append(known[0])
                state.open = None
            else:
                state.open = number
            first = number * size + max(start - begin, 0)
            feed += [at % self._vocab for at in range(first, number * size + len(ids))]
        state.length = len(tokens)
        return start, feed

    def _show_tokens(self, nodes, tokens, start):
        """The same for blocks of one token, of which none is ever begun: this runs at every step of the engine."""
        feed, known_nodes, before = [], self._nodes, nodes[-1]
        for token in tokens[start:] if start else tokens:
            place = before, token
            known = known_nodes.get(place)
            if not known:
                known = known_nodes[place] = len(known_nodes) + 1, self._new_number(before) % self._vocab
            before = known[0]
            nodes.append(before)
            feed.append(known[1])
        return feed

    def _new_number(self, before):
        for _ in range(self._vocab):
            number, self._next = self._next, self._next + 1
            first = (before, number * self._block % self._vocab)
            if first not in self._first_ids:
                self._first_ids.add(first)
                return number
        raise ValueError(f"more than {self._vocab} continuations of one prefix: take larger blocks or content='lengths'")


MASKS = {mask.content: mask for mask in (ExactIds, PermutedIds, Blocks, Lengths)}
