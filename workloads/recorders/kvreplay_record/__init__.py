"""Records what a generation engine asks of its KV cache, as a file that `kvreplay import calls-jsonl` turns into a workload.

    import kvreplay_record
    with kvreplay_record.guidance(lm) as rec:                # guidance 0.2 and 0.3, lm: a guidance model
        lm += "Once upon a time" + gen(max_tokens=20)
    with kvreplay_record.transformers(model) as rec:         # transformers 4.47 to 5.x, model: a PreTrainedModel
        model.generate(**inputs)
    with kvreplay_record.llama_cpp(llm) as rec:              # llama-cpp-python, llm: a Llama
        llm("Once upon a time")
    print(rec.path)

Options of all three: `path` (default: a new file in the working folder; an existing one is never overwritten), `title`,
and `content`: what of the token ids is written. `block-hashes` (default) writes numbers that tell which lists begin alike and
nothing else; `lengths` tells only what each list shares with the one before; `permuted-ids` exchanges the ids by a secret
permutation, which frequency analysis can undo; `exact-ids` writes them as they are. Text is never written.
"""

__all__ = ["RecordingError", "guidance", "llama_cpp", "transformers"]
__version__ = "1"

from .calls import RecordingError


def guidance(lm, path=None, **options):
    """A context in which every list `lm`'s engine evaluates is recorded; `lm` may also be the engine itself."""
    from .guidance_engine import GuidanceRecorder
    return GuidanceRecorder(lm, path, **options)


def transformers(model, path=None, **options):
    """A context in which every forward pass of `model` is recorded: a batch row is a sequence of its own."""
    from .generation import TransformersRecorder
    return TransformersRecorder(model, path, **options)


def llama_cpp(llm, path=None, **options):
    """A context in which every llama_decode and memory call on the context of `llm` is recorded."""
    from .llama import LlamaRecorder
    return LlamaRecorder(llm, path, **options)
