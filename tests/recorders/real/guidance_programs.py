"""guidance's five programs with windows of 64 and 1024, as in workloads/recorded/guidance-*."""

import json
from importlib.metadata import version

import guidance
import torch
import transformers

import kvreplay_record
from kvreplay_record.guidance_engine import engine_of
from real.overhead import Clock
from real.programs import PROGRAMS
from real.settings import seed

IS_0_2 = version("guidance").startswith("0.2.")
# The shipped files of 0.2 end before the last evaluation of their program; the engine's own counters, which judge() looks
# at, count it.
SHIPPED_LACK_THE_LAST = IS_0_2
TOTALS = ("policy", "then", "then_wanted") if IS_0_2 else None
COUNTED = {}  # by recording: tokens the engine itself says it fed, where it does


def versions():
    return f"guidance {version('guidance')}, transformers {version('transformers')}, torch {version('torch')}"


def language_model(path, window):
    options = {"sliding_window": window, "torch_dtype": torch.float32, "attn_implementation": "eager"}
    if not IS_0_2:
        model = transformers.AutoModelForCausalLM.from_pretrained(path, **options)
        return guidance.models.Transformers(model, transformers.AutoTokenizer.from_pretrained(path), echo=False)
    from transformers.models.gpt2.tokenization_gpt2 import bytes_to_unicode
    # guidance 0.2 would else fetch GPT-2's to learn how a byte-level tokenizer spells bytes
    transformers.PreTrainedTokenizerFast.byte_decoder = {text: byte for byte, text in bytes_to_unicode().items()}
    return guidance.models.Transformers(str(path), echo=False, **options)


def recordings(path, recorded):
    folder = recorded / f"guidance-{version('guidance')}_transformers-{version('transformers')}"
    for window in (1024, 64):
        for program in PROGRAMS:
            def record(output, program=program, window=window):
                seed(7)
                lm = language_model(path, window)
                try:
                    with kvreplay_record.guidance(lm, output, content="exact-ids"):
                        PROGRAMS[program](lm)
                    if IS_0_2:
                        COUNTED[output.stem] = lm._client.engine.metrics.engine_input_tokens
                except ValueError as error:  # today's guidance and a window that is full; the shipped file ends there too
                    if "DynamicSlidingWindowLayer" not in str(error):
                        raise
            yield f"{program}_w{window}", folder / f"{program}_w{window}.yaml", record


def judge(name, recording, kvreplay):
    """Whether the engine's own count of tokens fed is the recording's."""
    rows = [json.loads(line) for line in recording.read_text().splitlines()]
    fed = sum(row["observed"]["fed"] for row in rows if "feed" in row)
    counted = COUNTED.get(name, fed)
    return [] if counted == fed else [f"{fed} tokens fed, but the engine counts {counted}"]


def timed(path, output, is_recorded):
    """Seconds of each step and, if it is recorded into `output`, those the recorder took of each."""
    lm = language_model(path, 1024)
    seed(7)
    engine = engine_of(lm)
    inner = engine.get_logits = Clock(engine.get_logits)
    if not is_recorded:
        PROGRAMS["plain"](lm)
        return inner.seconds, []
    recorder = kvreplay_record.guidance(lm, output)
    outer = recorder._get_logits = Clock(recorder._get_logits)
    hook = recorder._before_pass = Clock(recorder._before_pass)
    with recorder:
        PROGRAMS["plain"](lm)
    return outer.seconds, [a - b + c for a, b, c in zip(outer.seconds, inner.seconds, hook.seconds)]
