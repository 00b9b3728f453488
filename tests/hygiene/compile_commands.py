"""Rules over compile_commands.json: floating point stays IEEE, and Eigen's alignment is one everywhere.

Finite-math flags compile NaN checks away in the shipped build only; an -m flag or EIGEN_ definition that differs
between two of our files gives Eigen two layouts of the same type in one program. The fast kernels are compiled for several
instruction sets on purpose: they use Eigen's packet operations only, which kernel_symbols.py looks after.
"""

import re
from pathlib import Path

UNSAFE = re.compile(r"-Ofast\b|-ffast-math\b|-f(finite-math-only|unsafe-math-optimizations|associative-math|"
                    r"reciprocal-math|no-signed-zeros|no-trapping-math)\b")
KERNELS = "sim/kernels/instruction_set.cpp"
LAYOUT = re.compile(r"(?<=\s)(-m[\w.=-]+|-DEIGEN_[\w=]+)")


def own_commands(entries, root):
    """(file from the root, command) of the entries that are ours; fetched dependencies lie in the build folder."""
    for entry in entries:
        path = Path(entry["directory"], entry["file"]).resolve()
        if path.is_relative_to(Path(root).resolve()) and "_deps" not in path.parts:
            command = entry.get("command") or " ".join(entry["arguments"])
            yield path.relative_to(Path(root).resolve()).as_posix(), command


def floating_point_stays_ieee(commands):
    return [f"{name}: {found[0]}" for name, command in commands for found in [UNSAFE.search(command)] if found]


def one_layout_of_eigen_types(commands):
    layouts = {}
    for name, command in commands:
        if name == KERNELS:
            continue
        layouts.setdefault(" ".join(sorted(set(LAYOUT.findall(command)))), []).append(name)
    if len(layouts) < 2:
        return []
    most = max(layouts, key=lambda flags: len(layouts[flags]))
    return [f"{name}: compiled with '{flags}', most others with '{most}'"
            for flags, names in layouts.items() if flags != most for name in names]


COMMAND_RULES = [floating_point_stays_ieee, one_layout_of_eigen_types]
