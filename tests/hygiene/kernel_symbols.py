"""The kernels of one instruction set share no function with other code.

An inline function that two object files define is linked once. Were one of them compiled for another instruction set, the
program could call it on a processor that does not have it. So an object file of kernels may define nothing that is not in
its own namespace: kernel_symbols.py INSTRUCTION_SET OBJECT.
"""

import subprocess
import sys


def shared_symbols(instruction_set, listing):
    """Symbols of `nm -C --defined-only --extern-only` output that other object files may define too."""
    own = f"kvreplay::sim::{instruction_set}::"
    lines = [line.split(maxsplit=2) for line in listing.splitlines() if line.strip()]
    return [line[2] for line in lines if len(line) == 3 and not line[2].startswith(own)]


def main():
    instruction_set, path = sys.argv[1:]
    command = ["nm", "-C", "--defined-only", "--extern-only", path]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    if not listing.strip():
        sys.exit(f"{path}: defines nothing")
    if found := shared_symbols(instruction_set, listing):
        sys.exit("\n".join(f"{path}: may be shared with other object files: {name}" for name in found))


if __name__ == "__main__":
    main()
