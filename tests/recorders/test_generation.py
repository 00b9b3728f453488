"""The transformers recorder on a model that only keeps lists: what it says a row holds is what must be in the file."""

import random
import unittest

from scene import Scene

import fakes
import kvreplay_record


def positions(first, count):
    return fakes.Ids([range(first, first + count)])


class Generation(Scene):
    def recorder(self, model, **options):
        return kvreplay_record.transformers(model, self.path, **{"content": "exact-ids", **options})

    def step(self, model, cache, ids, first, **more):
        model(input_ids=fakes.Ids([ids]), past_key_values=cache, position_ids=positions(first, len(ids)), use_cache=True,
              **more)

    def test_a_generation_of_one_token_after_the_other(self):
        model, cache = fakes.Model(), fakes.DynamicCache()
        with self.recorder(model) as recorder:
            self.step(model, cache, [5, 6, 7], 0)
            for i in range(20):
                self.step(model, cache, [i], 3 + i)
        self.assertEqual(recorder.calls, 21)
        self.assertEqual(self.lists(), model.seen)
        self.assertEqual(self.observed("fed"), [3] + [1] * 20)
        self.assertEqual(self.observed("held_before"), [0, *range(3, 23)])
        with open(self.import_and_compare(), encoding="utf-8") as file:
            self.assertIn("decode: {n: 20,", file.read())

    def test_storage_taken_before_the_first_step_is_the_first(self):
        model, cache = fakes.Model(), fakes.StaticCache(20)
        with self.recorder(model):
            self.step(model, cache, [1, 2, 3], 0)
            self.step(model, cache, [4], 3)
        taken = 20 * 2 * 3 * fakes.BYTES_A_ROW
        self.assertEqual(self.observed("new_storage"), ["first", None])
        self.assertEqual(self.observed("bytes_before"), [taken, taken])
        self.assertEqual(self.observed("peak_bytes"), [taken, taken])
        self.assertEqual(self.observed("held_before"), [None, None])  # to tell, 4.47 would have to look through all rows
        with open(self.import_and_compare(), encoding="utf-8") as file:
            self.assertIn("fed: 4, allocations: 1, reallocations: 0, resets: 0, crops: 0, ", file.read())

    def test_drafts_that_are_verified_and_cropped_become_verify(self):
        choose, model, cache = random.Random(3), fakes.Model(), fakes.DynamicCache()
        wanted = []
        with self.recorder(model):
            pending = [9] * 6
            for _ in range(25):
                drafts = [choose.randrange(200) for _ in range(choose.choice((3, 3, 3, 0)))]
                held = len(cache.lists[0]) if cache.lists else 0
                self.step(model, cache, pending + drafts, held, logits_to_keep=len(drafts) + 1)
                accepted = choose.randrange(len(drafts) + 1)
                wanted.append((len(drafts), accepted))
                cache.crop(held + len(pending) + accepted)
                pending = [choose.randrange(200)]
        self.assertEqual(self.lists(), model.seen)
        self.assertEqual([row.get("drafts", 0) for row in self.calls()], [drafts for drafts, _ in wanted])
        with open(self.import_and_compare(), encoding="utf-8") as file:
            text = file.read()
        verified = [pair for pair in wanted[:-1] if pair[0]]
        self.assertIn("verify: {k: 3,", text)
        self.assertIn(f"  drafted: {3 * len(verified)}\n  accepted: {sum(accepted for _, accepted in verified)}\n", text)

    def test_beams_that_change_places_become_forks_and_ends(self):
        choose, model, cache = random.Random(4), fakes.Model(), fakes.DynamicCache()
        with self.recorder(model):
            rows = [[7, 8, 9]] * 3
            for step in range(15):
                first = len(cache.lists[0]) if cache.lists else 0
                model(input_ids=fakes.Ids(rows), past_key_values=cache, position_ids=positions(first, len(rows[0])))
                cache.reorder_cache(fakes.Indices(choose.choices(range(3), k=3)))
                rows = [[choose.randrange(200)] for _ in range(3)]
        self.assertEqual(self.lists(), model.seen)
        self.assertNotIn("observed", self.calls()[0])  # of one batch, not of one sequence
        with open(self.import_and_compare(), encoding="utf-8") as file:
            text = file.read()
        self.assertIn("- fork: {from: main, as: ", text)
        self.assertIn("- end: ", text)

    def test_padding_before_a_list_is_no_part_of_it(self):
        model = fakes.Model()
        with self.recorder(model):
            for pads in (0, 1):  # 4.47 gives padding the position 1, later versions 0
                model(input_ids=fakes.Ids([[0, 0, 5], [6, 7, 8]]), past_key_values=fakes.DynamicCache(),
                      position_ids=fakes.Ids([[pads, pads, 0], [0, 1, 2]]))
        self.assertEqual(self.lists(), [[5], [6, 7, 8]] * 2)

    def test_a_second_turn_on_a_cache_goes_on_with_its_sequence_and_a_new_cache_begins_one(self):
        model, cache = fakes.Model(), fakes.DynamicCache()
        with self.recorder(model):
            self.step(model, cache, [1, 2], 0)
            self.step(model, cache, [3, 4, 5], 2)
            self.step(model, fakes.DynamicCache(), [1, 2], 0)
            model(input_ids=fakes.Ids([[1, 9]]))  # makes a cache itself
        self.assertEqual([row["sequence"] for row in self.calls()], ["main", "main", "s1", "s2"])
        self.assertEqual(self.lists(), [[1, 2], [1, 2, 3, 4, 5], [1, 2], [1, 9]])
        with open(self.import_and_compare(), encoding="utf-8") as file:
            self.assertIn("policy: \"several-sequences\"", file.read())

    def test_without_a_cache_lists_share_what_they_share(self):
        model = fakes.Model()
        with self.recorder(model):
            for ids in ([1, 2], [1, 2, 3], [1, 5]):
                model(fakes.Ids([ids]), use_cache=False)
        self.assertEqual([row["keep"] for row in self.calls()], [0, 2, 1])
        self.assertEqual(self.observed("fed"), [2, 3, 2])
        self.import_and_compare()

    def test_what_cannot_be_recorded_is_refused_with_a_way_out(self):
        model, cache = fakes.Model(), fakes.DynamicCache()
        self.step(model, cache, [1, 2], 0)
        with self.recorder(model), self.assertRaisesRegex(kvreplay_record.RecordingError, "begin to record before"):
            self.step(model, cache, [3], 2)
        self.path += "2"
        with self.recorder(model), self.assertRaisesRegex(kvreplay_record.RecordingError, "embeddings"):
            model(inputs_embeds=1)
        self.path += "3"
        with self.recorder(model), self.assertRaisesRegex(kvreplay_record.RecordingError, "tuples"):
            model(input_ids=fakes.Ids([[1]]), past_key_values=((1, 2),))

    def test_a_forward_pass_that_fails_is_in_the_file(self):
        model = fakes.Model()
        cache = fakes.DynamicCache()
        cache.append = lambda rows: [][0]
        with self.assertRaises(IndexError), self.recorder(model):
            self.step(model, cache, [1, 2], 0)
        self.assertEqual(self.lists(), [[1, 2]])
        self.assertEqual(self.observed("error"), ["IndexError: list index out of range"])
        self.assertEqual(self.observed("fed"), [0])

    def test_model_and_caches_are_afterwards_as_before(self):
        model, methods = fakes.Model(), dict(vars(fakes.DynamicCache))
        with self.recorder(model):
            self.step(model, fakes.DynamicCache(), [1], 0)
        self.assertEqual((model.before, model.after), ([], []))
        self.assertEqual(dict(vars(fakes.DynamicCache)), methods)


if __name__ == "__main__":
    unittest.main()
