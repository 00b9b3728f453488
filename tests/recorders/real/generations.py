"""generate() in the ways of workloads/recorded/transformers-*, and ways that not every version has a recording of: sampling,
beam search, a batch with padding, all judged by what generate() itself returned."""

import inspect
import textwrap
from importlib.metadata import version

import torch
import transformers
from transformers import AutoModelForCausalLM, AutoTokenizer

import kvreplay_record
import ledgers
from real.overhead import Clock
from real.settings import seed

VERSION = version("transformers")
GREEDY = {"max_new_tokens": 90, "do_sample": False, "pad_token_id": 0, "eos_token_id": None}
RESULTS = {}  # of sampling and of generations in several rows: the prompt and the rows returned


def versions():
    return f"transformers {VERSION}, torch {version('torch')}"


def load(path, layers=None):
    options = {"attn_implementation": "eager", "sliding_window": 64}
    options["dtype" if VERSION[0] == "5" else "torch_dtype"] = torch.float32
    if layers:
        config = transformers.AutoConfig.from_pretrained(path)
        options["num_hidden_layers"] = layers
        if getattr(config, "layer_types", None):
            config.layer_types = config.layer_types[:layers]
            options["layer_types"] = config.layer_types
    return AutoModelForCausalLM.from_pretrained(path, **options).eval()


def poor_drafter(path):
    """Four layers of six, which draft seven tokens whatever they think of them."""
    model = load(path, layers=4)
    model.generation_config.num_assistant_tokens = 7
    model.generation_config.num_assistant_tokens_schedule = "constant"
    model.generation_config.assistant_confidence_threshold = 0
    return model


def prompt(path):
    text = inspect.getsource(textwrap)[:420]
    ids = AutoTokenizer.from_pretrained(path)(text, add_special_tokens=False, return_tensors="pt").input_ids
    return torch.cat([torch.tensor([[2]]), ids], dim=1)


def chat(model, path, cache):
    ids = model.generate(prompt(path), past_key_values=cache, **{**GREEDY, "max_new_tokens": 30})
    turn = AutoTokenizer.from_pretrained(path)("\n\n    def close(self):\n", add_special_tokens=False, return_tensors="pt")
    model.generate(torch.cat([ids, turn.input_ids], dim=1), past_key_values=cache, **{**GREEDY, "max_new_tokens": 30})


def ways(path):
    """{name: what to do with the model}; those in SHIPPED have a recording here."""
    simple = {"default": {}, "static": {"cache_implementation": "static"},
              "lookup": {"prompt_lookup_num_tokens": 5, "eos_token_id": 1}}
    found = {name: lambda model, more=more: model.generate(prompt(path), **{**GREEDY, **more})
             for name, more in simple.items()}
    assistant = load(path, layers=3) if VERSION[:4] != "4.47" else None
    found["assisted"] = lambda model: model.generate(prompt(path), assistant_model=assistant, **GREEDY)
    for name in ("lookup", "assisted"):  # with the cache that generate() makes, and with a bare one
        found[f"{name}_default"] = found[name]
        found[name] = lambda model, name=name: model.generate(
            prompt(path), past_key_values=transformers.DynamicCache(),
            **({**GREEDY, **simple["lookup"]} if name == "lookup" else {**GREEDY, "assistant_model": assistant}))
    poor = poor_drafter(path) if VERSION[:4] != "4.47" else None
    found["assisted_poor"] = lambda model: model.generate(
        prompt(path), past_key_values=transformers.DynamicCache(), assistant_model=poor, **{**GREEDY, "max_new_tokens": 120})
    found["beams"] = lambda model: RESULTS.update(beams_w64=four_beams(model, path))
    found["dynamic"] = lambda model: model.generate(prompt(path), past_key_values=transformers.DynamicCache(), **GREEDY)
    found["chat"] = lambda model: chat(model, path, transformers.DynamicCache())
    return found


def four_beams(model, path):
    ids = prompt(path)
    return ids, model.generate(ids, past_key_values=transformers.DynamicCache(), num_beams=4, num_return_sequences=4,
                               **{**GREEDY, "max_new_tokens": 60})


def sampled(model, path):
    ids = prompt(path)[:, :40]
    return ids, model.generate(ids, **{**GREEDY, "do_sample": True, "max_new_tokens": 40})


def beams(model, path):
    ids = prompt(path)[:, :40]
    return ids, model.generate(ids, num_beams=3, num_return_sequences=3, **{**GREEDY, "max_new_tokens": 25})


def padded(model, path):
    ids = prompt(path)[:, :40].repeat(2, 1)
    mask = torch.ones_like(ids)
    ids[1, :15], mask[1, :15] = 0, 0
    return ids, model.generate(ids, attention_mask=mask, **{**GREEDY, "max_new_tokens": 20})


def recordings(path, recorded):
    folder = recorded / f"transformers-{VERSION}"
    model, found = load(path), ways(path)

    def recorder(action):
        def record(output):
            seed(11)
            with kvreplay_record.transformers(model, output, content="exact-ids"):
                action(model)
        return record

    for shipped in sorted(folder.glob("*_w64.yaml")):
        name = shipped.stem
        yield name, shipped, recorder(found[name[:-len("_w64")]])
    for way in (sampled, beams, padded):
        yield way.__name__, None, recorder(lambda model, way=way: RESULTS.update({way.__name__: way(model, path)}))


def judge(name, recording, kvreplay):
    """Problems of a recording, held against what generate() returned: each row without its last token was evaluated."""
    if name not in RESULTS:
        return []
    evaluated = ledgers.of_recording(recording)
    lists = [tokens for _, tokens in evaluated]
    ids, rows = RESULTS[name]
    problems = []
    for before, row in zip(ids.repeat_interleave(len(rows) // len(ids), 0).tolist(), rows.tolist()):
        padding = next(i for i, token in enumerate(before) if token != 0)
        if row[padding:-1] not in lists:
            problems.append("a row that generate() returned was not evaluated")
    workload = recording.with_suffix(".yaml")
    code, text = kvreplay("import", "calls-jsonl", recording, "-o", workload)
    if code != 0:
        return problems + [text]
    if ledgers.of_workload(workload) != evaluated:
        problems.append("its import evaluates other lists")
    forks = sum("\"fork\"" in line for line in recording.read_text().splitlines())
    print(f"{name}: {len(evaluated)} calls of {len(dict(evaluated))} sequences, {forks} forks; "
          f"{'as generate() returned' if not problems else 'DIFFERENT'}", flush=True)
    return problems


def timed(path, output, is_recorded):
    """Seconds of each step and, if it is recorded into `output`, those the recorder took of each."""
    model, steps = load(path), Clock(lambda *arguments: None)
    seed(11)
    model.register_forward_pre_hook(steps)
    if not is_recorded:
        model.generate(prompt(path), **GREEDY)
        return steps.between(), []
    recorder = kvreplay_record.transformers(model, output)
    before = recorder._before = Clock(recorder._before)
    after = recorder._after = Clock(recorder._after)
    with recorder:
        model.generate(prompt(path), **GREEDY)
    return steps.between(), [a + b for a, b in zip(before.seconds, after.seconds)]
