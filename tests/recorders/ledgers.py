"""The lists a workload or a recording evaluates, read off without kvreplay: the oracle of the recorders' tests.

Only what recorders and `kvreplay import calls-jsonl` write: literal ids, literal streams.
"""

import json

import yaml


def _ids(text):
    return [int(item) for item in str(text).split()]


class _Source:
    """Ids of NAME[@OFFSET] in a literal stream, taken one after the other."""

    def __init__(self, streams, text):
        name, _, offset = str(text).partition("@")
        self.ids, self.at = _ids(streams[name]["ids"]), int(offset or 0)

    def take(self, count):
        self.at += count
        return self.ids[self.at - count:self.at]


def of_workload(path):
    """[(sequence, list)] for each evaluation of the workload file `path`."""
    with open(path, encoding="utf-8") as file:
        workload = yaml.safe_load(file)
    lists, current, evaluated = {}, None, []

    def evaluate():
        evaluated.append((current, list(lists[current])))

    for event in workload["events"]:
        (kind, what), = event.items()
        if kind == "new":
            current = what
            lists[current] = []
        elif kind == "switch":
            current = what
        elif kind == "fork":
            lists[what["as"]] = list(lists[what["from"]])
        elif kind == "append":
            lists[current] += _ids(what)
        elif kind == "eval":
            evaluate()
        elif kind == "decode":
            for token in _ids(what["ids"]):
                evaluate()
                lists[current].append(token)
        elif kind == "rewind":
            del lists[current][what["to"]:]
        elif kind == "call":
            del lists[current][what["keep"]:]
            lists[current] += _ids(what["feed"])
            evaluate()
        elif kind == "verify":
            accepted = _Source(workload["streams"], what["accepted"])
            rejected = _Source(workload["streams"], what["rejected"]) if "rejected" in what else None
            for count in _ids(what["accepts"]):
                lists[current] += accepted.take(count)
                dropped = what["k"] - count
                lists[current] += rejected.take(dropped) if dropped else []
                evaluate()
                lists[current] = lists[current][:len(lists[current]) - dropped] + accepted.take(1)
        elif kind == "end":
            current = None
        else:
            raise ValueError(f"{path}: no rule here for the event {kind}")
    return evaluated


def of_recording(path):
    """The same for a recorder's JSON lines."""
    lists, evaluated = {}, []
    with open(path, encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if "fork" in row:
                lists[row["fork"]["as"]] = list(lists[row["fork"]["from"]])
            elif "feed" in row:
                tokens = lists.setdefault(row["sequence"], [])
                del tokens[row["keep"]:]
                tokens += row["feed"]
                evaluated.append((row["sequence"], list(tokens)))
    return evaluated
