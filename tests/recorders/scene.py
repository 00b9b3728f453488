"""What the tests of all recorders share: a folder, the lists of a recording, and the way through kvreplay."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "workloads/recorders"))

import ledgers  # noqa: E402


class Scene(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "run.jsonl")

    def calls(self):
        """The rows of calls."""
        with open(self.path, encoding="utf-8") as file:
            return [row for row in map(json.loads, file) if "feed" in row]

    def observed(self, key):
        return [row["observed"].get(key) for row in self.calls()]

    def lists(self):
        return [tokens for _, tokens in ledgers.of_recording(self.path)]

    def import_and_compare(self):
        """Imports the recording; its workload must evaluate the very lists. Gives the workload's path."""
        workload = self.path.replace(".jsonl", ".yaml")
        self.kvreplay("import", "calls-jsonl", self.path, "-o", workload)
        self.assertEqual(ledgers.of_workload(workload), ledgers.of_recording(self.path))
        return workload

    def kvreplay(self, *arguments):
        done = subprocess.run([os.environ["KVREPLAY"], *arguments], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout
