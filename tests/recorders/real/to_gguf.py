"""Turns the shipped tiny Gemma 2 into a GGUF of 32-bit floats, which llama.cpp reads."""

import json
import struct

import numpy

WEIGHTS = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
           "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
           "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm",
           "post_attention_layernorm": "post_attention_norm", "pre_feedforward_layernorm": "ffn_norm",
           "post_feedforward_layernorm": "post_ffw_norm"}


def tensors(path):
    """{name: array} of a safetensors file of bf16."""
    data = path.read_bytes()
    size, = struct.unpack("<Q", data[:8])
    found = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        if name != "__metadata__":
            begin, end = (8 + size + offset for offset in entry["data_offsets"])
            halves = numpy.frombuffer(data[begin:end], dtype="<u2").astype("<u4") << 16
            found[name] = halves.view("<f4").reshape(entry["shape"])
    return found


def gguf_name(name):
    if name == "model.embed_tokens.weight":
        return "token_embd.weight"
    if name == "model.norm.weight":
        return "output_norm.weight"
    _, _, layer, weight = name.split(".", 3)
    return f"blk.{layer}.{WEIGHTS[weight.rsplit('.', 1)[0]]}.weight"


def convert(folder, output, window):
    import gguf
    config = json.loads((folder / "config.json").read_text())
    vocabulary = json.loads((folder / "tokenizer.json").read_text())["model"]
    writer = gguf.GGUFWriter(str(output), "gemma2")
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_key_length(config["head_dim"])
    writer.add_value_length(config["head_dim"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_freq_base(config["rope_theta"])
    writer.add_attn_logit_softcapping(config["attn_logit_softcapping"])
    writer.add_final_logit_softcapping(config["final_logit_softcapping"])
    writer.add_sliding_window(window)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    ids = sorted(vocabulary["vocab"], key=vocabulary["vocab"].get)
    special = [config["pad_token_id"], config["eos_token_id"], config["bos_token_id"]]
    writer.add_token_list(ids)
    writer.add_token_types([gguf.TokenType.CONTROL if i in special else gguf.TokenType.NORMAL for i in range(len(ids))])
    writer.add_token_merges([" ".join(merge) for merge in vocabulary["merges"]])
    writer.add_bos_token_id(config["bos_token_id"])
    writer.add_eos_token_id(config["eos_token_id"])
    writer.add_pad_token_id(config["pad_token_id"])
    for name, weight in tensors(folder / "model.safetensors").items():
        is_norm = "norm" in name
        writer.add_tensor(gguf_name(name), weight + numpy.float32(1) if is_norm else weight)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
