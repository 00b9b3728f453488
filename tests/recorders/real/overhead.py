"""What recording costs: the time a recorder takes at a step beside the step's own, medians over all steps, so that whatever
else the machine does meanwhile falls out."""

import statistics
import time


class Clock:
    """Calls `function` and keeps how long each call took."""

    def __init__(self, function):
        self.function, self.seconds, self.starts = function, [], []

    def __call__(self, *args, **kwargs):
        start = time.perf_counter()
        self.starts.append(start)
        try:
            return self.function(*args, **kwargs)
        finally:
            self.seconds.append(time.perf_counter() - start)

    def median(self):
        return statistics.median(self.seconds)


def measure(programs, model, folder):
    """A sentence."""
    output = folder / "overhead.jsonl"
    for old in folder.glob("overhead.*"):
        old.unlink()
    recorder, step, num_steps = programs.timed(model, output)
    return (f"overhead: {recorder * 1e6:.0f} us of recording a step of {step * 1e6:.0f} us, {100 * recorder / step:.2f} % "
            f"(medians of {num_steps} steps)")
