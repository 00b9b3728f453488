"""The programs behind the shipped recordings of guidance (workloads/recorded/guidance-*)."""

from guidance import gen, select
from guidance import json as json_grammar

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 12},
        "kind": {"enum": ["module", "class", "function"]},
        "line": {"type": "integer", "minimum": 0, "maximum": 9999},
        "public": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string", "maxLength": 8}, "minItems": 1, "maxItems": 3},
    },
    "required": ["name", "kind", "line", "public", "tags"],
    "additionalProperties": False,
}


def json(lm):
    lm += "The following record describes one entry of the index as JSON:\n"
    return lm + json_grammar(name="out", schema=SCHEMA, max_tokens=120)


def plain(lm):
    return lm + "def parse(self, text):\n    \"\"\"" + gen("a", max_tokens=150)


def fewshot(lm):
    questions = ["What does os.path.join do?", "What does json.dumps do?", "What does re.match return?", "What is asyncio?"]
    for i, question in enumerate(questions):
        lm = lm + f"Q{i}: {question}\nA: " + gen(f"a{i}", max_tokens=25, stop="\n") + "\nGood answer? " \
            + select(["yes", "no", "unsure"], name=f"s{i}") + "\n"
    return lm


def fork(lm):
    base = lm + "class Reader:\n    def __init__(self, stream):\n        self.stream = stream\n\n    def " \
        + gen("n", regex=r"[a-z_]{3,9}", max_tokens=6)
    a = base + "(self, size):\n        return " + gen("a", max_tokens=20)
    b = base + "(self):\n        raise " + gen("b", max_tokens=20)
    a2 = a + "\n\n    def close(self):\n        " + gen("a2", max_tokens=15)
    b + "\n\n    def open(self):\n        " + gen("b2", max_tokens=15)
    return a2


def stop(lm):
    lm += "import "
    for i in range(6):
        lm = lm + gen(f"m{i}", stop=["\n", ", "], max_tokens=8) + ", "
    return lm


PROGRAMS = {program.__name__: program for program in (json, plain, fewshot, fork, stop)}
