"""The guidance recorder on engines that do what guidance 0.2 and 0.3 do, against those engines' own logs."""

import gc
import random
import unittest
import weakref

from scene import Scene

import fakes
import kvreplay_record


def random_lists(seed, count=40):
    choose = random.Random(seed)
    lists = [[choose.randrange(200) for _ in range(12)]]
    while len(lists) < count:
        last = list(lists[-1])
        if choose.random() < 0.2:
            del last[choose.randrange(1, len(last) + 1):]
        lists.append(last + [choose.randrange(200) for _ in range(choose.randrange(4))])
    return lists


class Guidance(Scene):
    def record(self, engine, lists, **options):
        with kvreplay_record.guidance(engine, self.path, **{"content": "exact-ids", **options}) as recorder:
            for tokens in lists:
                engine.get_logits(list(tokens))
        return recorder

    def test_everything_either_engine_logs_is_in_the_file(self):
        for doubles in (False, True):
            for seed in range(10):
                with self.subTest(doubles=doubles, seed=seed):
                    self.setUp()
                    engine = fakes.GuidanceEngine(doubles)
                    self.record(engine, random_lists(seed))
                    log = engine.log
                    self.assertEqual(self.lists(), [entry["list"] for entry in log])
                    self.assertEqual(self.observed("fed"), [entry["fed"] for entry in log])
                    self.assertEqual(self.observed("first_position"), [entry["first"] for entry in log])
                    self.assertEqual(self.observed("crop_to"), [entry["crop_to"] for entry in log])
                    self.assertEqual([bool(resets) for resets in self.observed("resets")], [entry["reset"] for entry in log])
                    if doubles:
                        self.assertEqual([bool(storage) for storage in self.observed("new_storage")],
                                         [entry["new"] for entry in log])
                    self.import_and_compare()

    def test_bytes_and_held_tokens_are_those_of_the_cache(self):
        engine = fakes.GuidanceEngine()
        self.record(engine, [[1, 2, 3], [1, 2, 3, 4, 5], [1, 2, 9], [1, 2, 9]])
        row = 2 * 3 * fakes.BYTES_A_ROW  # keys and values of three layers
        self.assertEqual(self.observed("bytes_before"), [0, 3 * row, 5 * row, 3 * row])
        self.assertEqual(self.observed("bytes_after"), [3 * row, 5 * row, 3 * row, 3 * row])
        self.assertEqual(self.observed("held_before"), [0, 3, 5, 3])
        self.assertEqual(self.observed("held_after"), [3, 5, 3, 3])
        self.assertEqual(self.observed("new_storage"), ["first", "yes", "yes", None])
        self.assertEqual(self.observed("fed"), [3, 2, 1, 0])

    def test_old_and_new_cache_count_together_while_both_are_there(self):
        engine = fakes.GuidanceEngine(doubles=True)
        self.record(engine, [[1, 2, 3], [1, 2, 3, 4], [1, 2, 3, 4, 5]])
        row = 2 * 3 * fakes.BYTES_A_ROW
        self.assertEqual(self.observed("peak_bytes"), [3 * row, (3 + 8) * row, 8 * row])

    def test_recording_keeps_no_cache_alive(self):
        engine = fakes.GuidanceEngine(doubles=True)
        gc.disable()
        try:
            with kvreplay_record.guidance(engine, self.path):
                engine.get_logits([1, 2, 3])
                old = weakref.ref(engine._past_key_values)
                engine.get_logits([1, 2, 3, 4])
                self.assertIsNone(old())
        finally:
            gc.enable()

    def test_a_call_that_fails_is_the_last_of_the_file_and_fails_all_the_same(self):
        engine = fakes.GuidanceEngine(new_cache=fakes.RefusingCache)
        with self.assertRaisesRegex(ValueError, "the window is full"):
            self.record(engine, [[1, 2, 3], [1, 2, 3, 4], [1, 7, 8]])
        self.assertEqual(self.lists()[-1], [1, 7, 8])
        self.assertEqual(self.calls()[-1]["observed"]["error"], "ValueError: the window is full")
        self.assertEqual((self.observed("fed")[-1], self.observed("crop_to")[-1]), (0, 1))
        with open(self.import_and_compare(), encoding="utf-8") as file:
            self.assertIn('then: "ValueError: the window is full", then_wanted: {keep: 1, length: 3}', file.read())

    def test_engine_model_and_cache_are_afterwards_as_before(self):
        engine = fakes.GuidanceEngine()
        methods = dict(vars(fakes.DynamicCache))
        self.record(engine, [[1, 2], [1]])
        self.assertNotIn("get_logits", vars(engine))
        self.assertEqual(engine.model_obj.before, [])
        self.assertEqual(dict(vars(fakes.DynamicCache)), methods)
        own = engine.get_logits = lambda token_ids: None
        with kvreplay_record.guidance(engine, self.path + "2"):
            self.assertIsNot(engine.get_logits, own)
        self.assertIs(engine.get_logits, own)

    def test_an_engine_is_found_where_either_guidance_keeps_it(self):
        engine = fakes.GuidanceEngine()
        for holder in ("_client", "_interpreter"):
            lm = type("Lm", (), {holder: type("Client", (), {"engine": engine})})()
            with kvreplay_record.guidance(lm, f"{self.path}{holder}") as recorder:
                engine.get_logits([1])
            self.assertEqual(recorder.calls, 1)
        with self.assertRaisesRegex(kvreplay_record.RecordingError, "no engine with get_logits"):
            kvreplay_record.guidance(object())

    def test_an_engine_of_another_kind_gives_lists_and_tokens_fed(self):
        engine = fakes.GuidanceEngine()
        del engine.__dict__["_past_key_values"]
        answers = iter([{"n_tokens": 3, "n_cached": 0}, {"n_tokens": 4, "n_cached": 3}])
        engine.get_logits = lambda token_ids: next(answers)
        self.record(engine, [[1, 2, 3], [1, 2, 3, 4]])
        self.assertEqual(self.observed("fed"), [3, 1])
        with open(self.import_and_compare(), encoding="utf-8") as file:
            self.assertIn('GuidanceEngine", policy: "none-known", fed: 4}', file.read())
        engine.tokenizer = None
        with self.assertRaisesRegex(kvreplay_record.RecordingError, "vocabulary"):
            kvreplay_record.guidance(engine)

    def test_a_cache_that_was_filled_before_is_said_to_be(self):
        engine = fakes.GuidanceEngine()
        engine.get_logits([1, 2, 3])
        self.record(engine, [[1, 2, 3, 4]])
        self.assertEqual(self.observed("fed"), [1])
        with open(self.import_and_compare(), encoding="utf-8") as file:
            self.assertIn('policy: "cache-was-filled-before"', file.read())

    def test_default_content_gives_no_ids_away_and_imports(self):
        lists = [[150, 151, 152], [150, 151, 152, 190], [150, 199]]
        with kvreplay_record.guidance(fakes.GuidanceEngine(), self.path) as recorder:
            for tokens in lists:
                recorder._engine.get_logits(tokens)
        self.assertEqual(self.lists(), [[0, 1, 2], [0, 1, 2, 3], [0, 4]])
        with open(self.import_and_compare(), encoding="utf-8") as file:
            self.assertIn("content: block-hashes", file.read())

    def test_the_model_is_described(self):
        self.record(fakes.GuidanceEngine(), [[1]])
        with open(self.import_and_compare(), encoding="utf-8") as file:
            self.assertIn('model: {dtype: "fp32", head_dim: 8, hidden_size: 16, intermediate_size: 32, max_positions: 4096, '
                          "num_heads: 2, num_kv_heads: 1, num_layers: 3, query_pre_attn_scalar: 8, sliding_window: 4096, "
                          "vocab_size: 200}", file.read())


if __name__ == "__main__":
    unittest.main()
