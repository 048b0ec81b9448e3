# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The command `resid`: imports models, writes those of presets, and quantises them. Exit codes and messages are those of the other tools.

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from .importer.errors import ImportFailure

_EXAMPLES = """examples:
  resid import model.onnx -o model.mlir --weights=model.safetensors
  resid import model.onnx -o model.mlir --weights=model.npz --size batch=1 --size tokens=128
  resid model bert --config=config.json --output=sentence -o bert.mlir
  resid model llama --config=config.json --placement=post -o llama.mlir
  resid model llama --config=config.json --weights=model.gguf --weights-out=model.safetensors -o llama.mlir
  resid quantize model.mlir --weights=model.safetensors --scheme=w8a8 -o model-q.mlir --weights-out=model-q.safetensors

exit codes: 0 done, 1 the model is wrong, 2 wrong flags, 3 a file cannot be read or written, 4 not available
"""


class _Once(argparse._StoreAction):
    """A flag with a value is given once."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: "str | None" = None) -> None:
        given = vars(namespace).setdefault("given", {})
        if option and self.dest in given:
            parser.error(f"expected {option} once, but got '{given[self.dest]}' and '{values}'")
        given[self.dest] = values
        super().__call__(parser, namespace, values, option)


class _Parser(argparse.ArgumentParser):
    """Messages in the style of the other tools: lower case, the tool's name, exit code 2."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name in (None, "store"):
            self.register("action", name, _Once)

    def error(self, message: str) -> NoReturn:
        print(f"resid: error: {message}", file=sys.stderr)
        sys.exit(2)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns the exit code."""
    # A flag that may stand without a value takes none from the next argument.
    given = ["--smooth=norms" if word == "--smooth" else word for word in (sys.argv[1:] if arguments is None else arguments)]
    options = _parser().parse_args(given)
    run: Callable[[argparse.Namespace], None] = options.run
    try:
        run(options)
    except ImportFailure as error:
        for line in str(error).splitlines():
            print(f"resid: error: {line}", file=sys.stderr)
        return error.code
    except MemoryError:
        print("resid: error: out of memory", file=sys.stderr)
        return 5
    return 0


def _parser() -> argparse.ArgumentParser:
    style = argparse.RawDescriptionHelpFormatter
    parser = _Parser(
        prog="resid", description="Writes programs of resid from models, and integers into them.", epilog=_EXAMPLES, formatter_class=style
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND", parser_class=_Parser)

    command = commands.add_parser("import", help="an ONNX file", epilog=_EXAMPLES, formatter_class=style)
    command.add_argument(
        "model", metavar="MODEL.onnx", help="the file; its external data lies in the same folder or below"
    )
    command.add_argument("-o", dest="file", metavar="FILE", help="the program (default: the model's name with .mlir)")
    command.add_argument("--weights", metavar="FILE", help="writes the weights; the suffix is .safetensors or .npz")
    command.add_argument(
        "--size", action="append", default=[], metavar="NAME=N", help="fixes a size that the model leaves open"
    )
    command.add_argument(
        "--no-recognise", action="store_true", help="write each operator by itself; residc --raise=all may follow"
    )
    command.set_defaults(run=_import)

    from .models import FAMILIES

    command = commands.add_parser("model", help="a model of a known family", epilog=_EXAMPLES, formatter_class=style)
    command.add_argument("family", choices=tuple(FAMILIES), help="which family")
    command.add_argument("--config", required=True, metavar="FILE", help="config.json of the checkpoint")
    command.add_argument("--placement", metavar="P", help="norm placement, as in residc (default: that of the family)")
    command.add_argument(
        "--output",
        choices=("hidden", "logits", "sentence"),
        help="what it computes (default: hidden for bert and modernbert, else logits)",
    )
    command.add_argument(
        "--cache", action="store_true", help="keys and values of earlier tokens come and go as arguments and results"
    )
    command.add_argument(
        "--packed", action="store_true", help="several sequences one after the other, each with the bits that it has alone"
    )
    command.add_argument(
        "--prefix", metavar="TEXT", help="stands before the names of weights (default: that of the class in config.json)"
    )
    command.add_argument(
        "--ignore", action="append", default=[], metavar="FIELD", help="a field that is not covered and changes nothing"
    )
    command.add_argument("--weights", metavar="FILE", help="quantised weights, .gguf or .safetensors; the program is that for them")
    command.add_argument(
        "--weights-out", metavar="FILE", help="writes them for the program; the suffix is .safetensors or .npz"
    )
    command.add_argument("-o", dest="file", required=True, metavar="FILE", help="the program")
    command.set_defaults(run=_model)

    command = commands.add_parser(
        "quantize", help="linear layers of 8 or 4 bits", epilog=_EXAMPLES, formatter_class=style
    )
    command.add_argument("program", metavar="MODEL.mlir", help="the program; its weights are marked resid.weight")
    command.add_argument("--weights", required=True, metavar="FILE", help="its weights, .safetensors or .npz")
    command.add_argument(
        "--scheme",
        default="w8a8",
        metavar="S",
        help="w8a8 (default): weights and rows of 8 bits; w8, w4, w8gN or w4gN, such as w4g128: weights alone, N neighbours to a scale",
    )
    command.add_argument(
        "--calibrate", action="append", default=[], metavar="FILE", help="arguments of one call by their names, .npz; may be repeated"
    )
    command.add_argument(
        "--smooth",
        metavar="HOW",
        help="move factors from rows to weights: by the norms before (norms, the default), elsewhere too (rows); needs --calibrate",
    )
    command.add_argument("--keep", action="append", default=[], metavar="NAME", help="a weight that stays as it is")
    command.add_argument("--include-head", action="store_true", help="also layers whose result the function returns")
    command.add_argument("-o", dest="file", required=True, metavar="FILE", help="the program; its manifest is FILE with .json")
    command.add_argument("--weights-out", required=True, metavar="FILE", help="the weights, .safetensors or .npz")
    command.set_defaults(run=_quantize)
    return parser


def _import(options: argparse.Namespace) -> None:
    from pathlib import Path

    from .importer import from_onnx, write_weights
    from .importer.verify import compiler
    from .importer.weights import check_suffix

    if options.weights:
        check_suffix(options.weights)
    compiler()  # reads what is written, or there is no program
    imported = from_onnx(options.model, sizes=_sizes(options.size), recognised=not options.no_recognise)
    _write(options.file or Path(options.model).stem + ".mlir", imported.text)
    if options.weights:
        write_weights(options.weights, imported.weights)
    elif imported.weights:
        names = f"{len(imported.weights)} weights are not written: give a file with --weights"
        print(f"resid: warning: {names}", file=sys.stderr)


def _sizes(texts: Sequence[str]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for text in texts:
        name, _, number = text.partition("=")
        if not name or not number.isdecimal() or int(number) == 0:
            print(f"resid: error: --size: expected NAME=N with a positive number, found '{text}'", file=sys.stderr)
            sys.exit(2)
        sizes[name] = int(number)
    return sizes


def _model(options: argparse.Namespace) -> None:
    from .importer import write_weights
    from .importer.errors import FlagError
    from .importer.weights import check_suffix
    from .models import read_config, write_model, write_quantised

    names = ("placement", "output", "prefix", "ignore", "cache", "packed")
    given = {name: getattr(options, name) for name in names}
    if bool(options.weights) != bool(options.weights_out):
        raise FlagError("expected --weights and --weights-out, found one of them")
    config = read_config(options.config)
    if not options.weights:
        _write(options.file, write_model(options.family, config, **given))
        return
    check_suffix(options.weights_out)
    text, weights = write_quantised(options.family, config, options.weights, **given)
    _write(options.file, text)
    write_weights(options.weights_out, weights)


def _quantize(options: argparse.Namespace) -> None:
    from pathlib import Path

    from resid_runtime import Error, InternalError

    from .errors import CompileError, UnavailableError
    from .importer import write_weights
    from .importer.errors import FileError, FlagError, ImportFailure
    from .importer.weights import check_suffix, read, read_npz
    from .quantizing import quantize

    check_suffix(options.weights_out)
    check_suffix(options.weights)
    if Path(options.file).name in ("", ".."):
        raise FlagError(f"-o: expected the name of a file, but got '{options.file}'")
    manifest = Path(options.file).with_suffix(".json")
    written = [Path(file).absolute() for file in (options.file, options.weights_out, manifest)]
    given = {Path(file).absolute() for file in (options.program, options.weights, *options.calibrate)}
    if len(set(written)) < len(written) or given.intersection(written):
        raise FlagError("expected different files for what is read and what is written, but got one twice")
    try:
        done = quantize(
            sys.stdin.read() if options.program == "-" else Path(options.program),
            read(options.weights),
            options.scheme,
            calibrate=[read_npz(Path(file)) for file in options.calibrate],
            smooth=options.smooth,
            keep=options.keep,
            include_head=options.include_head,
        )
    except ImportFailure:
        raise
    except Error as error:
        # With the place in the program; resid's own fault; or from a call on inputs.
        start = "resid: error: " if isinstance(error, InternalError) else "resid: error: calibrate: "
        print(error if isinstance(error, CompileError) else f"{start}{error}", file=sys.stderr)
        sys.exit(4 if isinstance(error, UnavailableError) else 1)
    except OSError as error:
        raise FileError(f"'{error.filename}' cannot be read: {error.strerror}") from error
    for matrix in done.matrices:
        print(matrix.describe())
    if done.error is not None:
        print(f"error of the results: {done.error:.1e}")
    write_weights(options.weights_out, done.weights)
    _write(options.file, done.text)
    _write(str(manifest), done.manifest())


def _write(path: str, text: str) -> None:
    from .importer.weights import replace

    if path == "-":
        sys.stdout.write(text)
    else:
        replace(path, lambda stream: stream.write(text.encode()))


if __name__ == "__main__":
    sys.exit(main())
