"""Records the programs behind the shipped recordings once more, with the real packages, and compares: the lists evaluated
and their sequences with those of the shipped file, the totals with its expect.observed, and the calls with its engine's log
(a batch has neither). Started by scripts/test-recorders.sh: record.py ENGINE FOLDER; exit code 1 at a difference."""

import csv
import importlib
import os
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/recorders"))

import ledgers  # noqa: E402
from real import overhead  # noqa: E402

MODEL = ROOT / "workloads/models/tiny-gemma2"
KVREPLAY = os.environ["KVREPLAY"]
MODULES = {"guidance-0.2": "guidance_programs", "guidance-0.3": "guidance_programs", "transformers-4.47": "generations",
           "transformers-4.57": "generations", "transformers-5": "generations", "llama.cpp": "llama_programs"}


def kvreplay(*arguments):
    """Its exit code and what it printed."""
    done = subprocess.run([KVREPLAY, *map(str, arguments)], capture_output=True, text=True, check=False)
    return done.returncode, (done.stdout + done.stderr).strip()


def cells(path):
    """Of an engine's log; none where a batch was recorded."""
    if not path.exists():
        return []
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def different_cells(ours, shipped):
    """Cells of columns both logs have that differ, those that either leaves blank and the word `error` left out."""
    if not ours or not shipped:
        return ["one of them has no log"] if ours or shipped else []
    shared = [column for column in shipped[0] if column in ours[0]]
    return [f"call {i}: {column} is {a[column]!r}, shipped {b[column]!r}" for i, (a, b) in enumerate(zip(ours, shipped))
            for column in shared if a[column] and b[column] not in ("", "error") and a[column] != b[column]]


def first_difference(what, ours, theirs):
    if ours == theirs:
        return []
    first = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))
    return [f"{what}: list {first} differs ({len(ours)} lists, shipped {len(theirs)})"]


def compare(name, recording, shipped, lacks_last, totals):
    """The problems of one recording, [] if it is the shipped one again; `lacks_last`: but for the shipped one's end. `totals`:
    the keys of expect.observed to compare, None: all."""
    workload = recording.with_suffix(".yaml")
    code, text = kvreplay("import", "calls-jsonl", recording, "-o", workload)
    if code != 0:
        return [text]
    theirs, ours = ledgers.of_workload(shipped), ledgers.of_recording(recording)
    problems = first_difference("the import", ledgers.of_workload(workload), ours)
    problems += first_difference("the recording", ours[:-1] if lacks_last else ours, theirs)
    logs = [cells(path.with_suffix("").with_suffix(".observed.csv")) for path in (recording, shipped)]
    problems += different_cells(*logs)
    observed = [yaml.safe_load(path.read_text())["expect"].get("observed", [{}])[0] for path in (workload, shipped)]
    totals = totals or [key for key in observed[1] if key != "engine"]
    problems += [f"observed.{key} is {observed[0].get(key)!r}, shipped {observed[1].get(key)!r}" for key in totals
                 if not key.startswith("x-") and observed[0].get(key) != observed[1].get(key)]
    code, text = kvreplay("check", "--observed", workload)
    if code != 0:
        problems.append(text)
    last = text.splitlines()[-1].split(": ", 1)[-1]
    same = "DIFFERENT" if problems else "same lists" + (" and one more" if lacks_last else "")
    print(f"{name}: {len(theirs)} calls, {same}; check --observed: {last}", flush=True)
    return problems


def main():
    engine, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    programs = importlib.import_module(f"real.{MODULES[engine]}")
    print(programs.versions(), flush=True)
    failed = 0
    for name, shipped, record in programs.recordings(MODEL, ROOT / "workloads/recorded"):
        recording = folder / f"{name}.jsonl"
        for old in folder.glob(f"{name}.*"):
            old.unlink()
        record(recording)
        if shipped:
            problems = compare(name, recording, shipped, getattr(programs, "SHIPPED_LACK_THE_LAST", False),
                               getattr(programs, "TOTALS", None))
        else:
            problems = []
        problems += programs.judge(name, recording, kvreplay)
        failed += bool(problems)
        for problem in problems[:5]:
            print(f"    {problem}")
    print(overhead.measure(programs, MODEL, folder))  # read it: a time of one machine at one moment decides no test
    print(f"{engine}: {'all as shipped' if not failed else f'{failed} FAILED'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
