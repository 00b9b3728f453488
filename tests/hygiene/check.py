"""check.py ROOT RULE [compile_commands.json]: prints the findings of one rule and fails if there are any."""

import json
import sys
from pathlib import Path

import compile_commands
from rules import RULES
from tree import Tree


def findings_of(name, root, database):
    for rule in RULES:
        if rule.__name__ == name:
            tree = Tree(root)
            return rule(tree) if tree.texts else [f"{root}: no files found"]
    for rule in compile_commands.COMMAND_RULES:
        if rule.__name__ == name:
            commands = list(compile_commands.own_commands(json.loads(Path(database).read_text()), root))
            return rule(commands) if commands else [f"{database}: names no file of this repository"]
    sys.exit(f"no rule '{name}'")


if __name__ == "__main__":
    found = findings_of(sys.argv[2], sys.argv[1], sys.argv[3] if len(sys.argv) > 3 else None)
    print("\n".join(found))
    sys.exit(1 if found else 0)
