"""The engine's own log beside a recording, NAME.observed.csv: one line a call, as `kvreplay check --observed` and
`kvreplay explain --against` read it."""

import csv
import json
import os

COLUMNS = ("length", "fed", "first_position", "capacity_before", "capacity_after", "held_before", "held_after",
           "bytes_before", "bytes_after", "new_storage", "resets", "crop_to", "error")


def observed_path(path):
    """Where `kvreplay check --observed` looks, if the recording is imported under its own name."""
    return os.path.splitext(path)[0] + ".observed.csv"


def rows_of(path):
    """The calls of a recording as rows of text; `None` if any call lacks `observed`, so that there is nothing to compare.

    Raises ValueError with file and line. A last line cut off by the end of the process is left out."""
    rows = []
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            try:
                row = json.loads(line.decode())
            except (ValueError, RecursionError):
                if number > 1 and not line.endswith(b"\n"):
                    break
                raise ValueError(f"{path}:{number}: not valid JSON; give the .jsonl file a recorder wrote") from None
            try:
                if "feed" not in row:
                    continue
                if "observed" not in row:
                    return None
                _add_call(rows, row)
            except (AttributeError, KeyError, TypeError):
                raise ValueError(f"{path}:{number}: no line of a recording; give the .jsonl file a recorder wrote") from None
    return rows


def _add_call(rows, row):
    seen = row["observed"]
    cells = {"call": len(rows), "common_prefix": row["keep"], "length": row["keep"] + len(row["feed"])}
    if "bytes_after" in seen:
        cells["resets"] = 0
    cells.update((column, seen[column]) for column in COLUMNS if column in seen)
    if rows and "held_after" not in rows[-1] and "held_before" in cells:
        rows[-1]["held_after"] = cells["held_before"]  # where the engine itself asks only at its next call
    rows.append(cells)


def write_observed(path, output):
    """Writes the log of recording `path`, whole or not at all. Gives whether there was anything to write."""
    if os.path.exists(output) and os.path.samefile(path, output):
        raise ValueError(f"{output} is the recording itself: name another file")
    rows = rows_of(path)
    if not rows:
        return False
    temporary = os.path.join(os.path.dirname(os.path.abspath(output)), f".kvreplay-{os.getpid()}.tmp")
    try:
        with open(temporary, "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, ("call", "common_prefix", *COLUMNS), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        os.replace(temporary, output)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
    return True
