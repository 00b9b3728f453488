#!/usr/bin/env python3
"""Measures what docs/comparing.md claims: false alarms of A against A, and slowdowns that are found.

    scripts/comparison-numbers.py PROGRAM WORKLOAD.yaml FOLDER [--runs 240] [--files 20] [--repetitions 3]
        [--threads 1] [--only-evaluate]

Runs PROGRAM again and again (a few repetitions each, into FOLDER), then compares: every window of 2 x FILES runs, odd runs
against even ones, as two builds measured in turns would be. No alarm is right. Then the same windows with the even
side's first policy slowed down: 5 % of every repetition's time are added to one part of it, to the total and to the CPU
time (recorded times of real runs, the slowdown itself synthetic); and with one counter changed by 1. Windows overlap, so
their results are not independent. Also every pair of single runs, the way a hasty user compares.
"""

import argparse
import itertools
import json
import pathlib
import subprocess
import sys


def compared(program, baselines, candidates):
    sides = [word for path in baselines for word in ("--baseline", str(path))]
    sides += [word for path in candidates for word in ("--candidate", str(path))]
    finished = subprocess.run([program, "compare", *sides, "-o", "-"], capture_output=True, text=True, check=False)
    if finished.returncode not in (0, 1):
        sys.exit(finished.stderr)
    return json.loads(finished.stdout)


def alarms(comparison, kinds, verdicts=("regressed", "improved")):
    return [(row["kind"], cell["policy"]) for cell in comparison["cells"] for row in cell["rows"]
            if row["kind"] in kinds and row["verdict"] in verdicts and not row["advice"]]


TIMES = ("relative time", "absolute time", "CPU time")


def slowed(path, target, part, share):
    """A copy of a result whose first policy takes `share` more time, all of it in one part."""
    result = json.loads(path.read_text())
    run = result["results"][0]
    for repetition in run["repetitions"]:
        latency = repetition["latency"]
        more = round(latency["total_ns"] * share)
        latency["total_ns"] += more
        latency["parts_ns"][part] += more
        # Waiting for a CPU is no work: the code itself became slower by its share of what it computed.
        repetition["process"]["cpu_ns"] += round(repetition["process"]["cpu_ns"] * share)
    target.write_text(json.dumps(result))
    return target


def counted_once_more(path, target):
    result = json.loads(path.read_text())
    result["results"][-1]["counters"]["reallocations"] += 1
    target.write_text(json.dumps(result))
    return target


def record(arguments, folder):
    for number in range(arguments.runs):
        subprocess.run([arguments.program, "run", arguments.workload, "--threads", arguments.threads, "--repetitions",
                        arguments.repetitions, "--progress", "none", "-o", str(folder / f"run{number:04}.json")],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("workload")
    parser.add_argument("folder")
    parser.add_argument("--runs", type=int, default=240)
    parser.add_argument("--files", type=int, default=20)
    parser.add_argument("--repetitions", default="3")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--only-evaluate", action="store_true")
    arguments = parser.parse_args()
    folder = pathlib.Path(arguments.folder)
    folder.mkdir(parents=True, exist_ok=True)
    if not arguments.only_evaluate:
        record(arguments, folder)
    runs = sorted(folder.glob("run*.json"))
    windows = [runs[i:i + 2 * arguments.files] for i in range(len(runs) - 2 * arguments.files + 1)]
    if not windows:
        sys.exit(f"{len(runs)} runs are too few for windows of {2 * arguments.files}")

    same = [compared(arguments.program, window[0::2], window[1::2]) for window in windows]
    print(f"A against A in turns: {len(windows)} comparisons, {sum(bool(alarms(c, TIMES)) for c in same)} with a false "
          f"alarm on time, {sum(bool(alarms(c, ('counter',))) for c in same)} on a counter")

    copies = folder / "changed"
    copies.mkdir(exist_ok=True)
    slow = {run: slowed(run, copies / f"slow-{run.name}", "mlp", 0.05) for run in runs}
    found = {kind: 0 for kind in TIMES}
    any_found = 0
    for window in windows[:100]:
        hits = {kind for kind, _ in alarms(compared(arguments.program, window[0::2], [slow[r] for r in window[1::2]]),
                                           TIMES, ("regressed",))}
        any_found += bool(hits)
        for kind in hits:
            found[kind] += 1
    print(f"5 % slower in mlp: found in {any_found} of {len(windows[:100])} ({found})")

    pairs = list(itertools.combinations(runs[::max(1, len(runs) // 21)], 2))[:200]
    same = [compared(arguments.program, [a], [b]) for a, b in pairs]
    print(f"A against A, single runs: {len(pairs)} comparisons, {sum(bool(alarms(c, TIMES)) for c in same)} with a false "
          f"alarm on time, {sum(bool(alarms(c, ('counter',))) for c in same)} on a counter")
    changed = [bool(alarms(compared(arguments.program, [a], [counted_once_more(b, copies / "counted.json")]),
                           ("counter",), ("regressed",))) for a, b in pairs[:100]]
    print(f"a counter changed by 1: found in {sum(changed)} of {len(changed)}")


if __name__ == "__main__":
    main()
