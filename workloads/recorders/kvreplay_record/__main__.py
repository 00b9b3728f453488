"""Command line: `kvreplay-record observed FILE.jsonl` and `kvreplay-record llama-server FILE -o OUT.jsonl`."""

import argparse
import sys

from .llama_server import convert
from .observed_log import observed_path, write_observed
from .privacy import MASKS

LARGEST_VOCABULARY = 2**31 - 1  # the most `kvreplay import` takes


def _vocabulary(text):
    """Of at least two ids, since with one no two lists could part."""
    if not text.isascii() or not text.isdigit() or len(text) > 10 or not 2 <= int(text) <= LARGEST_VOCABULARY:
        raise argparse.ArgumentTypeError(f"takes a whole number from 2 to {LARGEST_VOCABULARY}, not '{text}'")
    return int(text)


def _parser():
    parser = argparse.ArgumentParser(prog="kvreplay-record", description="What is left to do after a recording.")
    commands = parser.add_subparsers(dest="command", required=True)
    observed = commands.add_parser("observed", help="write the engine's log of a recording whose program was killed")
    observed.add_argument("recording", metavar="FILE.jsonl")
    observed.add_argument("-o", "--output", help="default: FILE.observed.csv")
    server = commands.add_parser("llama-server", help="turn a log of llama-server, or answers of its /completion, into calls")
    server.add_argument("file", metavar="FILE", help="the log, or JSON lines: an answer or {request, response} each")
    server.add_argument("-o", "--output", required=True, metavar="OUT.jsonl")
    server.add_argument("--vocab", type=_vocabulary, default=256000, help="size of the vocabulary; default %(default)s")
    server.add_argument("--content", choices=tuple(MASKS), default="block-hashes",
                        help="what of token ids is written; see kvreplay_record")
    return parser


def main(arguments=None):
    """Gives the exit code: 0 done, 2 the input cannot be used."""
    options = _parser().parse_args(arguments)
    try:
        if options.command == "observed":
            output = options.output or observed_path(options.recording)
            if not write_observed(options.recording, output):
                raise ValueError(f"{options.recording}: no call of it says what the engine did; nothing to write")
            print(output)
        else:
            for line in convert(options.file, options.output, options.vocab, options.content):
                print(line, file=sys.stderr)
            print(options.output)
    except (OSError, ValueError) as error:
        print(f"kvreplay-record: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
