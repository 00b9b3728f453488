"""What recording costs: the time a recorder takes at a step beside the step's own, and steps with and without a recorder in
turns. Medians of the thread's CPU time, since what else the machine does meanwhile is not the recorder's."""

import statistics
import time

TURNS = 5


class Clock:
    """Calls `function` and keeps how long each call took."""

    def __init__(self, function):
        self.function, self.seconds, self.starts = function, [], []

    def __call__(self, *args, **kwargs):
        start = time.thread_time()
        self.starts.append(start)
        try:
            return self.function(*args, **kwargs)
        finally:
            self.seconds.append(time.thread_time() - start)

    def between(self):
        """From each call to the next."""
        return [b - a for a, b in zip(self.starts, self.starts[1:])]


def measure(programs, model, folder):
    """A sentence. `programs.timed(model, output, is_recorded)` runs something once and gives the seconds of each step and, if
    it is recorded into `output`, those the recorder took of each."""
    output = folder / "overhead.jsonl"
    bare, recorded, recorder = [], [], []
    for _ in range(TURNS):
        for old in folder.glob("overhead.*"):
            old.unlink()
        bare += programs.timed(model, output, False)[0]
        steps, seconds = programs.timed(model, output, True)
        recorded += steps
        recorder += seconds
    cost, without, with_it = (1e6 * statistics.median(seconds) for seconds in (recorder, bare, recorded))
    return (f"overhead: {cost:.0f} us of recording a step of {without:.0f} us, {100 * cost / without:.2f} %; steps recorded in "
            f"turns with these: {with_it:.0f} us (medians of {len(recorder)} steps)")
