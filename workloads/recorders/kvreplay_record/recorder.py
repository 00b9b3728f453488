"""What every recorder is: a context manager around one recording."""

from importlib import metadata

from .calls import CallLog
from .observed_log import observed_path, write_observed


def version_of(package):
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "of unknown version"


class Recorder:
    """`options`: those of CallLog. A recorder opens its log when its block begins and closes it when that ends."""

    def __init__(self, options):
        self._options = options
        self._log = None

    @property
    def path(self):
        return self._log.path

    @property
    def calls(self):
        return self._log.calls

    def _open_log(self):
        self._log = CallLog(**self._options)

    def _close_log(self):
        """Closes the recording and writes the engine's log beside it."""
        self._log.close()
        write_observed(self.path, observed_path(self.path))
