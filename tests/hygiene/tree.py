"""The files of the repository as the rules see them: path from the root and text, without builds and binaries."""

import subprocess
from pathlib import Path

FOLDERS = ("policies", "workloads", "reports", "sim", "cli", "bench", "tests")
SKIPPED_FOLDERS = {".git", "build", "__pycache__"}


def paths(root):
    """Every file git tracks or would track, relative to `root`; without git, every file outside build folders."""
    listing = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, check=False)
    if listing.returncode == 0 and (root / ".git").exists():
        names = sorted({name for name in listing.stdout.decode().split("\0") if name})
    else:
        names = sorted(p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file())
    return [n for n in names if not SKIPPED_FOLDERS & set(n.split("/")[:-1]) and (root / n).is_file()]


class Tree:
    """Reads each text file once. `texts` maps path to text; files with a NUL byte or not UTF-8 are not text."""

    def __init__(self, root):
        self.root = Path(root)
        self.names = paths(self.root)
        self.texts = {}
        for name in self.names:
            data = (self.root / name).read_bytes()
            if b"\0" in data:
                continue
            try:
                self.texts[name] = data.decode("utf-8")
            except UnicodeDecodeError:
                continue

    def lines(self, *endings, under=""):
        """(path, line number, line) of every text file whose name ends so and that lies in folder `under`."""
        for name, text in self.texts.items():
            if name.endswith(endings) and name.startswith(under):
                for number, line in enumerate(text.splitlines(), 1):
                    yield name, number, line

    def is_executable(self, name):
        return (self.root / name).stat().st_mode & 0o100 != 0
