"""The llama.cpp recorder on modules with llama-cpp-python's functions, and the converter of what llama-server leaves behind."""

import contextlib
import ctypes
import io
import json
import sys
import types
import unittest
from pathlib import Path

from scene import Scene

import kvreplay_record
from kvreplay_record.__main__ import main

CONTEXT, MEMORY = 4711, 4712


class Batch:
    """[(token, position, sequence ids)...] laid out as llama_batch is."""

    def __init__(self, entries):
        self.n_tokens = len(entries)
        self.token = [token for token, _, _ in entries]
        self.pos = [position for _, position, _ in entries]
        self.seq_id = [sequences for _, _, sequences in entries]
        self.n_seq_id = [len(sequences) for _, _, sequences in entries]


class Llama:
    ctx = CONTEXT
    context_params = types.SimpleNamespace(n_ctx=256, n_batch=64, n_ubatch=32, swa_full=True)

    @staticmethod
    def n_vocab():
        return 300


class InProcess(Scene):
    def setUp(self):
        super().setUp()
        self.returns = 0
        package, module = types.ModuleType("llama_cpp"), types.ModuleType("llama_cpp.llama_cpp")
        module.llama_get_memory = lambda context: ctypes.c_void_p(MEMORY)
        module.llama_decode = lambda context, batch: self.returns
        for change in ("seq_rm", "seq_cp", "seq_keep", "seq_add", "clear"):
            setattr(module, f"llama_memory_{change}", lambda memory, *arguments: True)
        for name, function in vars(module).items():
            if name.startswith("llama_"):
                setattr(package, name, function)
        self.modules = {"llama_cpp": package, "llama_cpp.llama_cpp": module}
        sys.modules.update(self.modules)
        self.addCleanup(lambda: [sys.modules.pop(name, None) for name in self.modules])
        self.lib, self.inner = package, module

    def recorder(self):
        return kvreplay_record.llama_cpp(Llama(), self.path, content="exact-ids")

    def decode(self, tokens, first, sequence=0):
        return self.inner.llama_decode(CONTEXT, Batch([(token, first + i, [sequence]) for i, token in enumerate(tokens)]))

    def test_decodes_and_seq_rm_give_the_lists(self):
        with self.recorder():
            self.decode([1, 2, 3], 0)
            self.decode([4], 3)
            self.lib.llama_memory_seq_rm(MEMORY, -1, 2, -1)  # as guidance calls it, in the package's namespace
            self.decode([9], 2)
            self.decode([8], 3)
        self.assertEqual(self.lists(), [[1, 2, 3], [1, 2, 3, 4], [1, 2, 9], [1, 2, 9, 8]])
        self.assertEqual(self.observed("fed"), [3, 1, 1, 1])
        self.assertEqual(self.observed("held_before"), [0, 3, 2, 3])
        self.assertEqual(self.observed("crop_to"), [None, None, 2, None])
        with open(self.import_and_compare(), encoding="utf-8") as file:
            self.assertIn('policy: "llama.cpp:n_ctx=256,n_batch=64,n_ubatch=32,swa_full=true", fed: 6}', file.read())

    def test_a_list_asked_for_again_feeds_its_last_token(self):
        with self.recorder():
            self.decode([1, 2, 3], 0)
            self.lib.llama_memory_seq_rm(MEMORY, 0, 1, -1)
            self.decode([2], 1)
        self.assertEqual([(row["keep"], row["feed"]) for row in self.calls()], [(0, [1, 2, 3]), (2, [])])

    def test_sequences_of_one_batch_are_calls_of_their_own_and_seq_cp_forks(self):
        with self.recorder():
            self.decode([1, 2], 0)
            self.lib.llama_memory_seq_cp(MEMORY, 0, 1, -1, -1)
            self.inner.llama_decode(CONTEXT, Batch([(3, 2, [0]), (4, 2, [1]), (5, 3, [1])]))
            self.lib.llama_memory_seq_keep(MEMORY, 1)
            self.decode([6], 4, 1)
            self.lib.llama_memory_clear(MEMORY, True)
            self.decode([7], 0, 1)
        self.assertEqual(self.lists(), [[1, 2], [1, 2, 3], [1, 2, 4, 5], [1, 2, 4, 5, 6], [7]])
        self.import_and_compare()

    def test_a_token_shared_by_two_sequences_is_fed_to_both(self):
        with self.recorder():
            self.inner.llama_decode(CONTEXT, Batch([(1, 0, [0, 1]), (2, 1, [0]), (3, 1, [1])]))
        self.assertEqual(self.lists(), [[1, 2], [1, 3]])

    def test_a_decode_that_finds_no_place_is_in_the_file_and_changes_no_list(self):
        with self.recorder():
            self.decode([1, 2], 0)
            self.returns = 1
            self.assertEqual(self.decode([3], 2), 1)
            self.returns = 0
            self.decode([4], 2)
        self.assertEqual(self.lists(), [[1, 2], [1, 2, 3], [1, 2, 4]])
        self.assertEqual(self.observed("error"), [None, "llama_decode returned 1", None])
        self.assertEqual(self.observed("fed"), [2, 0, 1])

    def test_after_a_decode_without_place_the_tokens_held_before_go_on(self):
        with self.recorder():
            self.decode([1, 2, 3, 4], 0)
            self.returns = 1
            self.decode([9, 9, 9], 2)
            self.returns = 0
            self.decode([5], 4)
            self.decode([6], 5)
        self.assertEqual(self.lists(), [[1, 2, 3, 4], [1, 2, 9, 9, 9], [1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6]])
        self.assertEqual(self.observed("held_before"), [0, 4, 4, 5])
        self.assertEqual(self.observed("policy")[1:], [None] * 3)

    def test_other_contexts_are_let_be(self):
        with self.recorder() as recorder:
            self.inner.llama_decode(CONTEXT + 1, Batch([(1, 0, [0])]))
            self.lib.llama_memory_clear(MEMORY + 1, True)
        self.assertEqual(recorder.calls, 0)

    def test_what_a_workload_cannot_say_is_refused(self):
        for change, arguments, message in (("seq_rm", (0, 1, 2), "middle"), ("seq_add", (0, 0, -1, 4), "n_ctx"),
                                           ("seq_cp", (0, 1, 2, -1), "without its beginning")):
            self.setUp()
            with self.recorder(), self.assertRaisesRegex(kvreplay_record.RecordingError, message):
                self.decode([1, 2, 3, 4], 0)
                getattr(self.lib, f"llama_memory_{change}")(MEMORY, *arguments)
        self.setUp()
        with self.recorder(), self.assertRaisesRegex(kvreplay_record.RecordingError, "before its first llama_decode"):
            self.decode([3], 5)

    def test_what_is_no_llama_is_refused_by_name(self):
        with self.assertRaisesRegex(kvreplay_record.RecordingError, "object is no llama_cpp.Llama"):
            kvreplay_record.llama_cpp(object(), self.path)
        self.assertFalse(Path(self.path).exists())

    def test_the_modules_are_afterwards_as_before(self):
        before = [dict(vars(module)) for module in self.modules.values()]
        with self.recorder():
            self.decode([1], 0)
        self.assertEqual([dict(vars(module)) for module in self.modules.values()], before)


# Lines as two generations of llama-server write them (the second with a time before and lists in two pieces).
LOG = """\
slot launch_slot_: id  0 | task 124 | processing task, is_child = 0
slot update_slots: id  0 | task 124 | new prompt, n_ctx_slot = 32768, n_keep = 0, task.n_tokens = 6
slot update_slots: id  0 | task 124 | n_tokens = 0, memory_seq_rm [0, end)
slot      release: id  0 | task 124 | stop processing: n_tokens = 9, truncated = 0
slot update_slots: id  1 | task 130 | new prompt, n_ctx_slot = 32768, n_keep = 0, n_prompt_tokens = 3
slot update_slots: id  1 | task 130 | kv cache rm [0, end)
slot      release: id  1 | task 130 | stop processing: n_past = 3, truncated = 0
0.01.234 I slot update_slots: id  0 | task 135 | new prompt, n_ctx_slot = 32768, n_keep = 0, task.n_tokens = 8
0.01.235 I slot update_slots: id  0 | task 135 | cached n_tokens = 5, memory_seq_rm [5, end)
0.01.236 I slot update_slots: id  0 | task 135 | cached n_tokens = 7, memory_seq_rm [7, end)
0.01.237 I draft acceptance rate = 0.5 (    1 accepted /     2 generated)
0.01.238 I slot      release: id  0 | task 135 | stop processing: n_tokens = 8, truncated = 0
0.01.239 I slot update_slots: id  0 | task 140 | new prompt, n_ctx_slot = 32768, n_keep = 0, task.n_tokens = 4
"""


SERVER_LOGS = Path(__file__).parent / "server_logs"


def answer(prompt, tokens, fed, **more):
    return {"content": "never written", "tokens": tokens, "tokens_evaluated": len(prompt), "id_slot": 0,
            "timings": {"prompt_n": fed, "predicted_n": len(tokens)}, **more}


class Server(Scene):
    def convert(self, text, *options):
        source = Path(self.path).with_suffix(".txt")
        source.write_text(text, encoding="utf-8")
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as self.said:
            return main(["llama-server", str(source), "-o", self.path, *options])

    def test_a_log_gives_the_lengths_and_what_was_kept(self):
        self.assertEqual(self.convert(LOG), 0)
        self.assertIn("1 requests that had not ended when the log did: left out\n3 requests taken", self.said.getvalue())
        self.assertEqual([len(tokens) for tokens in self.lists()], [6, 7, 8, 9, 3, 8])
        self.assertEqual([row["keep"] for row in self.calls()], [0, 6, 7, 8, 0, 5])
        self.assertEqual([row["sequence"] for row in self.calls()], ["main"] * 4 + ["s1", "main"])
        self.assertEqual(self.observed("fed"), [6, 1, 1, 1, 3, 3])
        with open(self.import_and_compare(), encoding="utf-8") as file:
            self.assertIn("content: lengths", file.read())

    def test_answers_with_ids_give_the_lists(self):
        rows = [{"request": {"prompt": [1, 2, 3]}, "response": answer([1, 2, 3], [4, 5], 3)},
                {"request": {"prompt": [1, 2, 3, 4, 9]}, "response": answer([1] * 5, [6], 1)}]
        self.assertEqual(self.convert("\n".join(map(json.dumps, rows)), "--content", "exact-ids"), 0)
        self.assertEqual(self.lists(), [[1, 2, 3], [1, 2, 3, 4], [1, 2, 3, 4, 9]])
        self.assertEqual(self.observed("fed"), [3, 1, 1])
        self.assertNotIn("never written", Path(self.path).read_text())
        self.import_and_compare()

    def test_answers_without_ids_give_lengths(self):
        rows = [answer([0] * 4, [], 4, timings={"prompt_n": 4, "predicted_n": 3}),
                answer([0] * 6, [], 2, timings={"prompt_n": 2, "predicted_n": 1})]
        self.assertEqual(self.convert("\n".join(map(json.dumps, rows))), 0)
        self.assertEqual([(row["keep"], len(row["feed"])) for row in self.calls()], [(0, 4), (4, 1), (5, 1), (4, 2)])

    def evaluated(self):
        """(length, tokens fed) of each call of each sequence."""
        found = {}
        for row in self.calls():
            found.setdefault(row["sequence"], []).append((row["keep"] + len(row["feed"]), row["observed"]["fed"]))
        return found

    def test_logs_of_a_live_server_give_what_its_answers_say(self):
        expected = {"main": [], "s1": []}
        for line in (SERVER_LOGS / "llama.cpp-0c1e570-answers.jsonl").read_text().splitlines():
            answer = json.loads(line)["response"]
            prompt, timings = answer["tokens_evaluated"], answer["timings"]
            expected["s1" if answer["id_slot"] else "main"] += [(prompt, timings["prompt_n"])] + [
                (prompt + i, 1) for i in range(1, timings["predicted_n"])]
        for verbosity in ("default", "lv4"):
            self.setUp()
            self.assertEqual(self.convert((SERVER_LOGS / f"llama.cpp-0c1e570-{verbosity}.log").read_text()), 0)
            self.assertEqual(self.evaluated(), expected)
            said = self.said.getvalue()
            self.assertIn("13 requests taken", said)
            self.assertEqual("taken back from the server's own store" in said, verbosity == "lv4")
            self.import_and_compare()

    def test_answers_of_a_live_server_give_its_lists(self):
        lines = (SERVER_LOGS / "llama.cpp-0c1e570-answers.jsonl").read_text().splitlines()
        self.assertEqual(self.convert("\n".join(lines), "--vocab", "2048"), 2)
        self.assertIn("run.txt:7: no ids here", self.said.getvalue())  # the prompt was text
        del lines[6]
        self.assertEqual(self.convert("\n".join(lines), "--vocab", "2048", "--content", "exact-ids"), 0)
        answers = list(map(json.loads, lines))
        prompts = [row["request"]["prompt"] for row in answers]
        lists = self.lists()
        self.assertTrue(all(prompt in lists for prompt in prompts))
        self.assertEqual(sum(self.observed("fed")), sum(
            row["response"]["timings"]["prompt_n"] + row["response"]["timings"]["predicted_n"] - 1 for row in answers))
        self.import_and_compare()

    def test_a_log_of_2025_gives_its_request(self):
        self.assertEqual(self.convert((SERVER_LOGS / "llama.cpp-2025-05.log").read_text()), 0)
        self.assertEqual(self.evaluated(), {"main": [(51, 51)] + [(51 + i, 1) for i in range(1, 275)]})

    def test_a_request_that_ended_without_timings_is_left_out_and_counted(self):
        log = (SERVER_LOGS / "llama.cpp-0c1e570-default.log").read_text()
        first = log.index("prompt eval time")
        self.assertEqual(self.convert(log[:first] + "lost" + log[first + len("prompt eval time"):]), 0)
        self.assertIn("1 requests without their timings", self.said.getvalue())
        self.assertIn("12 requests taken", self.said.getvalue())

    def test_options_nothing_could_be_done_with_are_refused(self):
        for option, value in (("--vocab", "-3"), ("--vocab", "0"), ("--vocab", "1"), ("--vocab", "2147483648"),
                              ("--vocab", "1" * 5000), ("--vocab", "1e3"), ("--vocab", "٣"), ("--content", "text")):
            with self.assertRaises(SystemExit) as ended:
                self.convert(LOG, f"{option}={value}")
            self.assertEqual(ended.exception.code, 2)
            self.assertIn(option, self.said.getvalue())
            self.assertFalse(Path(self.path).exists(), value)

    def test_bad_input_is_refused_whole(self):
        good = json.dumps(answer([1], [2], 1))
        for text in ("", "nothing of a server\n", '{"timings": 3}', good + "\n{\"timi", '{"timings": {"prompt_n": -1}}',
                     json.dumps(answer([1], [2], 3))):
            self.assertEqual(self.convert(text), 2, text)
            self.assertIn("run.txt:", self.said.getvalue())
            self.assertFalse(Path(self.path).exists(), text)
        self.assertEqual(self.convert(LOG), 0)
        self.assertEqual(self.convert(LOG), 2)  # never over a file


if __name__ == "__main__":
    unittest.main()
