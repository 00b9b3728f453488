"""The file of a recording: written line by line, never over another file, and lost but for its last line when killed."""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

RECORDERS = str(Path(__file__).resolve().parents[2] / "workloads/recorders")
sys.path.insert(0, RECORDERS)

from kvreplay_record.__main__ import main  # noqa: E402
from kvreplay_record.calls import CallLog  # noqa: E402
from kvreplay_record.observed_log import observed_path, rows_of, write_observed  # noqa: E402

KILLED = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
from kvreplay_record.calls import CallLog
log = CallLog(sys.argv[2], "engine", 100, content="exact-ids")
main = log.sequence()
for length in range(1, 8):
    log.call(main, list(range(length)), {"fed": 1})
os.kill(os.getpid(), signal.SIGKILL)
"""


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "run.jsonl")

    def log(self, **options):
        log = CallLog(self.path, "engine", 100, **{"content": "exact-ids", **options})
        self.addCleanup(log.close)
        return log

    def rows(self):
        return [json.loads(line) for line in Path(self.path).read_text().splitlines()]

    def test_each_call_is_in_the_file_when_it_is_over(self):
        log = self.log(title="a \"run\"")
        main = log.sequence()
        self.assertEqual([row["title"] for row in self.rows()], ["a \"run\""])
        log.call(main, [1, 2, 3], {"fed": 3, "error": "no: \"x\""})
        log.call(main, [1, 2, 5, 6], drafts=1)
        self.assertEqual(self.rows()[1:], [
            {"sequence": "main", "keep": 0, "feed": [1, 2, 3], "observed": {"fed": 3, "error": "no: \"x\""}},
            {"sequence": "main", "keep": 2, "feed": [5, 6], "drafts": 1}])

    def test_a_killed_process_loses_no_call_that_was_over(self):
        done = subprocess.run([sys.executable, "-c", KILLED, RECORDERS, self.path], check=False)
        self.assertEqual(done.returncode, -signal.SIGKILL)
        self.assertEqual([row["keep"] for row in self.rows()[1:]], list(range(7)))
        with open(self.path, "a", encoding="utf-8") as file:
            file.write('{"sequence":"main","keep":7,"fe')
        self.assertEqual(len(rows_of(self.path)), 7)

    def test_an_existing_file_is_never_touched(self):
        Path(self.path).write_text("mine")
        with self.assertRaisesRegex(FileExistsError, "never overwrites"):
            self.log()
        self.assertEqual(Path(self.path).read_text(), "mine")

    def test_content_has_to_be_one_of_four(self):
        with self.assertRaisesRegex(ValueError, "exact-ids, permuted-ids, block-hashes, lengths"):
            self.log(content="text")
        self.assertFalse(os.path.exists(self.path))

    def test_forks_of_a_sequence_that_is_in_the_file_are_too(self):
        log = self.log()
        main = log.sequence()
        early = log.fork(main)
        log.call(main, [1, 2])
        late = log.fork(main)
        log.call(late, [1, 3])
        log.end(main)
        log.end(early)
        self.assertEqual(self.rows()[2:], [{"fork": {"from": "main", "as": "f2"}},
                                           {"sequence": "f2", "keep": 1, "feed": [3]}, {"end": "main"}])

    def test_the_log_beside_a_recording_has_its_calls(self):
        log = self.log()
        main = log.sequence()
        log.call(main, [1, 2], {"fed": 2, "first_position": 0, "held_before": 0, "bytes_after": 8, "new_storage": "first"})
        log.call(main, [1], {"fed": 1, "crop_to": 0, "held_before": 2, "held_after": 1, "bytes_after": 8, "resets": 1})
        self.assertTrue(write_observed(self.path, observed_path(self.path)))
        lines = Path(observed_path(self.path)).read_text().splitlines()
        self.assertEqual(lines[0], "call,common_prefix,length,fed,first_position,capacity_before,capacity_after,held_before,"
                         "held_after,bytes_before,bytes_after,new_storage,resets,crop_to,error")
        # held_after of the first is what the engine was told at the next
        self.assertEqual(lines[1:], ["0,0,2,2,0,,,0,2,,8,first,0,,", "1,1,1,1,,,,2,1,,8,,1,0,"])

    def test_a_file_that_is_no_recording_is_named_with_the_line_and_the_cure(self):
        first = b'{"format":"kv-calls/1"}\n'
        for content, line in ((b"\x93NUMPY\xff\n", 1), (b"\xff\xfe", 1), (first + b"\xff\n", 2), (first + b"7\n", 2),
                              (first + b'{"feed":[1],"observed":{}}\n', 2),
                              (first + b'{"keep":0,"feed":3,"observed":{}}\n', 2)):
            Path(self.path).write_bytes(content)
            with contextlib.redirect_stderr(io.StringIO()) as said:
                self.assertEqual(main(["observed", self.path]), 2, content)
            self.assertIn(f"{self.path}:{line}: ", said.getvalue())
            self.assertIn("give the .jsonl file a recorder wrote", said.getvalue())
            self.assertFalse(os.path.exists(observed_path(self.path)))

    def test_the_log_never_takes_the_recordings_place(self):
        self.log().call(self.log_sequence(), [1], {"fed": 1})
        before = Path(self.path).read_text()
        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual(main(["observed", self.path, "-o", self.path]), 2)
        self.assertIn("is the recording itself", said.getvalue())
        self.assertEqual(Path(self.path).read_text(), before)

    def test_a_recording_with_a_call_nobody_observed_has_no_log(self):
        self.log().call(self.log_sequence(), [1])
        self.assertFalse(write_observed(self.path, observed_path(self.path)))
        self.assertFalse(os.path.exists(observed_path(self.path)))

    @staticmethod
    def log_sequence():
        from kvreplay_record.calls import Sequence
        return Sequence("main", [], None)

    def test_messages_of_errors_are_written_with_exact_ids_only(self):
        log = self.log(content="permuted-ids")
        log.call(log.sequence(), [1, 2], {"fed": 0, "error": "ValueError: the prompt said so"})
        self.assertEqual(self.rows()[1]["observed"]["error"], "ValueError")

    def test_blocks_above_one_token_leave_out_what_the_engine_did(self):
        log = self.log(content="block-hashes", block=2)
        log.call(log.sequence(), [1, 2], {"fed": 2})
        self.assertNotIn("observed", self.rows()[1])


if __name__ == "__main__":
    unittest.main()
