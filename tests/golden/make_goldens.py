#!/usr/bin/env python3
"""Computes what Hugging Face's Gemma2 gives for models and tokens, and stores it as golden vectors.

Nothing else may write the files it writes. Needs: pip install torch transformers==4.57.6 safetensors

    make_goldens.py recompute tests/golden/gemma2/*            expected.safetensors of stored weights and tokens
    make_goldens.py new FOLDER --seed 7 hidden_size=40 ...     a random model of odd dimensions with its outputs
    make_goldens.py tiny CHECKPOINT tests/golden/tiny-gemma2/*.safetensors
                                                               outputs of the trained model, same tokens and rows
"""

import argparse
import json
import pathlib

import torch
import transformers
from safetensors import safe_open
from safetensors.torch import load_file, save_file

# Small and odd on purpose: groups of query heads, a window shorter than the list, sizes that fill no vector register.
ODD_DIMENSIONS = dict(
    vocab_size=97, hidden_size=40, intermediate_size=88, num_hidden_layers=3, num_attention_heads=4,
    num_key_value_heads=2, head_dim=10, query_pre_attn_scalar=10, sliding_window=5, max_position_embeddings=512,
    rms_norm_eps=1e-6, rope_theta=10000.0, attn_logit_softcapping=50.0, final_logit_softcapping=30.0)


def run(model, tokens):
    """Hidden states of every layer and all logits, [position][size], for one list of token ids."""
    with torch.no_grad():
        output = model(input_ids=torch.tensor([tokens]), use_cache=False, output_hidden_states=True)
    tensors = {f"hidden_{index:02d}": rows[0] for index, rows in enumerate(output.hidden_states)}
    tensors["logits"] = output.logits[0]
    return {name: rows.float().contiguous() for name, rows in tensors.items()}


def eager_model(config):
    # Eager attention is the implementation that applies the attention softcap; fp32 throughout.
    config._attn_implementation = "eager"
    return transformers.Gemma2ForCausalLM(config).float().eval()


def versions():
    return {"transformers": transformers.__version__, "torch": torch.__version__, "dtype": "float32",
            "attention": "eager",
            "hidden": "00 = scaled embeddings, i = output of layer i-1, last = after the final norm"}


def save_expected(folder, model, tokens):
    tensors = run(model, tokens)
    tensors["input_ids"] = torch.tensor(tokens, dtype=torch.int32)
    save_file(tensors, folder / "expected.safetensors", metadata=versions())


def recompute(folders):
    for folder in map(pathlib.Path, folders):
        config = transformers.Gemma2Config(**json.loads((folder / "config.json").read_text()))
        model = eager_model(config)
        model.load_state_dict(load_file(folder / "model.safetensors"), strict=False)
        model.tie_weights()
        tokens = load_file(folder / "expected.safetensors")["input_ids"].tolist()
        save_expected(folder, model, tokens)


def new(folder, seed, length, overrides):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True)
    torch.manual_seed(seed)
    values = {**ODD_DIMENSIONS, **overrides}
    config = transformers.Gemma2Config(**values)
    model = eager_model(config)
    for name, parameter in model.named_parameters():
        # Norm weights are stored around 0 (the layer adds 1); projections keep unit rows unit.
        spread = 0.2 if parameter.dim() == 1 else parameter.shape[1] ** -0.5
        torch.nn.init.normal_(parameter, std=spread)
    model.tie_weights()
    kept = {name: tensor.contiguous() for name, tensor in model.state_dict().items() if name != "lm_head.weight"}
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    written = {key: getattr(config, key) for key in values}
    written.update(model_type="gemma2", hidden_activation=config.hidden_activation, layer_types=config.layer_types,
                   tie_word_embeddings=True)
    (folder / "config.json").write_text(json.dumps(written))
    save_expected(folder, model, torch.randint(0, config.vocab_size, (length,)).tolist())


def tiny(checkpoint, files):
    for path in files:
        with safe_open(path, "pt") as stored:
            metadata = stored.metadata()
            tokens, rows = stored.get_tensor("input_ids"), stored.get_tensor("rows")
        config = transformers.Gemma2Config.from_pretrained(checkpoint)
        config.sliding_window = int(metadata["sliding_window"])
        model = eager_model(config)
        weights = {name: tensor.float() for name, tensor in load_file(f"{checkpoint}/model.safetensors").items()}
        model.load_state_dict(weights, strict=False)
        model.tie_weights()
        tensors = {name: values[rows.long()].contiguous() for name, values in run(model, tokens.tolist()).items()}
        tensors.update(input_ids=tokens, rows=rows)
        metadata["transformers"] = transformers.__version__
        save_file(tensors, path, metadata=metadata)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    again = commands.add_parser("recompute")
    again.add_argument("folders", nargs="+")
    made = commands.add_parser("new")
    made.add_argument("folder")
    made.add_argument("--seed", type=int, required=True)
    made.add_argument("--length", type=int, default=37)
    made.add_argument("overrides", nargs="*", help="key=value of Gemma2Config")
    trained = commands.add_parser("tiny")
    trained.add_argument("checkpoint")
    trained.add_argument("files", nargs="+")
    given = parser.parse_args()
    torch.set_num_threads(1)
    if given.command == "recompute":
        recompute(given.folders)
    elif given.command == "new":
        pairs = (pair.split("=", 1) for pair in given.overrides)
        new(given.folder, given.seed, given.length, {key: json.loads(value) for key, value in pairs})
    else:
        tiny(given.checkpoint, given.files)


if __name__ == "__main__":
    main()
