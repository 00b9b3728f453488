"""guidance on llama.cpp, as in workloads/recorded/llama.cpp/live_*: once seen by the guidance recorder, whose lists must be
those of the shipped files, and at the same time by the llama.cpp recorder, which sees the tokens that are really fed."""

import json
import random
from importlib.metadata import version

import guidance
import llama_cpp
import numpy

import kvreplay_record
import ledgers
from real.overhead import Clock
from real.programs import PROGRAMS
from real.to_gguf import convert

TOTALS = ("fed", "then", "then_wanted")  # what the guidance recorder sees of an engine that is not transformers
SETTINGS = {"default": {"n_ctx": 512}, "ring256": {"n_ctx": 1024, "n_batch": 32, "n_ubatch": 32, "swa_full": False}}


def versions():
    return f"llama-cpp-python {version('llama-cpp-python')}, guidance {version('guidance')}"


def language_model(path, output, settings):
    gguf = output.with_name("tiny-gemma2.gguf")
    if not gguf.exists():
        convert(path, gguf, 64)
    options = {"n_threads": 1, "n_threads_batch": 1, "flash_attn": False, "type_k": 0, "type_v": 0, "verbose": False}
    return guidance.models.LlamaCpp(str(gguf), echo=False, **options, **settings)


def recordings(path, recorded):
    for name, settings in SETTINGS.items():
        def record(output, settings=settings):
            random.seed(7)
            numpy.random.seed(7)
            lm = language_model(path, output, settings)
            llm = lm._interpreter.engine.model_obj
            with kvreplay_record.llama_cpp(llm, output.with_suffix(".cells.jsonl"), content="exact-ids"), \
                    kvreplay_record.guidance(lm, output, content="exact-ids"):
                PROGRAMS["fewshot"](lm)
        yield f"live_fewshot_w64_{name}", recorded / "llama.cpp" / f"live_fewshot_w64_{name}.yaml", record


def judge(name, recording, kvreplay):
    """Whether the llama.cpp recorder saw the same: each list that was not answered from the store, fed up to its end."""
    cells = recording.with_suffix(".cells.jsonl")
    code, text = kvreplay("import", "calls-jsonl", cells, "-o", cells.with_suffix(".yaml"))
    if code != 0:
        return [text]
    lists = [tokens for _, tokens in ledgers.of_recording(recording)]
    fed = [tokens for _, tokens in ledgers.of_recording(cells)]
    asked = [tokens for before, tokens in zip([[]] + lists, lists) if tokens != before]
    ends = iter(fed)
    problems = [] if all(any(tokens == end for end in ends) for tokens in asked) else ["llama_decode was fed other lists"]
    if ledgers.of_workload(cells.with_suffix(".yaml")) != ledgers.of_recording(cells):
        problems.append("the import of what llama_decode was fed evaluates other lists")
    seen = [sum(json.loads(line)["observed"]["fed"] for line in path.read_text().splitlines() if "\"feed\"" in line)
            for path in (recording, cells)]
    if seen[0] != seen[1]:
        problems.append(f"llama_decode was fed {seen[1]} tokens, guidance says {seen[0]}")
    print(f"    llama_decode: {len(fed)} calls, {'those lists' if not problems else 'DIFFERENT'}", flush=True)
    return problems


def timed(path, output, is_recorded):
    """Seconds of each step and, if it is recorded into `output`, those the recorder took of each."""
    lm = language_model(path, output, SETTINGS["default"])
    original = llama_cpp.llama_cpp.llama_decode
    inner = llama_cpp.llama_decode = llama_cpp.llama_cpp.llama_decode = Clock(original)
    try:
        if not is_recorded:
            PROGRAMS["plain"](lm)
            return inner.between(), []
        with kvreplay_record.llama_cpp(lm._interpreter.engine.model_obj, output):
            outer = llama_cpp.llama_decode = Clock(llama_cpp.llama_decode)
            PROGRAMS["plain"](lm)
            llama_cpp.llama_decode = outer.function
    finally:
        llama_cpp.llama_decode = llama_cpp.llama_cpp.llama_decode = original
    return inner.between(), [a - b for a, b in zip(outer.seconds, inner.seconds)]
