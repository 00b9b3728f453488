"""What a mask shows keeps what lists share and nothing else."""

import random
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "workloads/recorders"))

from kvreplay_record.calls import common_prefix  # noqa: E402
from kvreplay_record.privacy import MASKS, Blocks, Lengths, PermutedIds  # noqa: E402

VOCAB = 60


def shared(a, b):
    """The slow and plain way."""
    count = 0
    while count < min(len(a), len(b)) and a[count] == b[count]:
        count += 1
    return count


def random_lists(seed, count=60):
    """Lists as engines ask for them: mostly one more token, rewinds, returns to lists of before."""
    choose = random.Random(seed)
    lists = [[choose.randrange(VOCAB) for _ in range(9)]]
    while len(lists) < count:
        last = list(lists[-1])
        kind = choose.random()
        if kind < 0.15:
            del last[choose.randrange(1, len(last) + 1):]
        elif kind < 0.25:
            last = list(choose.choice(lists))
        lists.append(last + [choose.randrange(3) for _ in range(choose.randrange(3))])
    return lists


def shown_by(mask, lists):
    """The shown lists, put together from keep and feed alone."""
    state, shown, last = mask.new_state(), [], []
    for before, tokens in zip([[]] + lists, lists):
        keep, feed = mask.show(state, tokens, shared(before, tokens))
        last = last[:keep] + feed
        shown.append(last)
    return shown


class Masks(unittest.TestCase):
    def test_a_common_prefix_is_what_counting_gives(self):
        for seed in range(30):
            lists = random_lists(seed, 20)
            for a in lists:
                for b in lists:
                    self.assertEqual(common_prefix(a, b), shared(a, b))

    def test_every_mask_keeps_lengths_and_what_a_list_shares_with_the_one_before(self):
        for content, mask in MASKS.items():
            for seed in range(20):
                lists = random_lists(seed)
                shown = shown_by(mask(VOCAB, "key"), lists)
                with self.subTest(content=content, seed=seed):
                    self.assertEqual([len(tokens) for tokens in shown], [len(tokens) for tokens in lists])
                    self.assertEqual([shared(a, b) for a, b in zip(shown, shown[1:])],
                                     [shared(a, b) for a, b in zip(lists, lists[1:])])
                    self.assertTrue(all(0 <= token < VOCAB for tokens in shown for token in tokens))

    def test_permutations_and_blocks_of_one_keep_what_any_two_lists_share(self):
        for mask in (PermutedIds(VOCAB, "key"), Blocks(VOCAB)):
            lists = random_lists(5)
            shown = shown_by(mask, lists)
            for i, a in enumerate(lists):
                for j, b in enumerate(lists):
                    self.assertEqual(shared(shown[i], shown[j]), shared(a, b))

    def test_larger_blocks_never_claim_that_lists_share_more_than_they_do(self):
        for size in (2, 4, 7):
            for seed in range(20):
                lists = random_lists(seed)
                shown = shown_by(Blocks(VOCAB, block=size), lists)
                self.assertEqual([len(tokens) for tokens in shown], [len(tokens) for tokens in lists])
                for i, a in enumerate(lists):
                    for j, b in enumerate(lists):
                        self.assertLessEqual(shared(shown[i], shown[j]), shared(a, b))

    def test_a_whole_block_is_known_again(self):
        shown = shown_by(Blocks(VOCAB, block=4), [[1, 2, 3, 4, 5], [9], [1, 2, 3, 4, 6]])
        self.assertEqual(shared(shown[0], shown[2]), 4)

    def test_lengths_show_nothing_of_a_list_that_comes_back(self):
        shown = shown_by(Lengths(VOCAB), [[7, 7, 7], [8], [7, 7, 7]])
        self.assertEqual(shared(shown[0], shown[2]), 0)

    def test_another_key_permutes_otherwise_and_no_key_is_a_secret_one(self):
        ids = [[list(range(VOCAB))]] * 4
        shown = [shown_by(PermutedIds(VOCAB, key), lists)[0] for key, lists in zip(("a", "a", "b", None), ids)]
        self.assertEqual(sorted(shown[0]), list(range(VOCAB)))
        self.assertEqual(shown[0], shown[1])
        self.assertNotEqual(shown[0], shown[2])
        self.assertNotEqual(shown[0], shown[3])

    def test_a_fork_goes_on_from_what_its_source_showed(self):
        mask = Blocks(VOCAB)
        state = mask.new_state()
        mask.show(state, [5, 6], 0)
        copy = mask.copy_state(state)
        self.assertEqual(mask.show(state, [5, 6, 7], 2), mask.show(copy, [5, 6, 7], 2))

    def test_a_prefix_with_more_continuations_than_ids_is_refused(self):
        with self.assertRaisesRegex(ValueError, "continuations"):
            shown_by(Blocks(3, block=1), [[1, token] for token in range(5)])
        with self.assertRaisesRegex(ValueError, "block=0"):
            Blocks(VOCAB, block=0)


if __name__ == "__main__":
    unittest.main()
