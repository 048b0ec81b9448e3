# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What gpu-check checks and times: kinds of blocks, each with its program and its arrays. A new kind is an entry here.

import dataclasses
import pathlib
import sys
from typing import Callable

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test/run/Inputs"), str(ROOT / "test/gpu")]
import programs  # noqa: E402
import whole_programs  # noqa: E402
import write_fixed_rows  # noqa: E402

ADD = """func.func @block(%x: {X}, %f: {X}) -> {X} {{
  %s = resid.add %x, %f : {X}
  return %s : {X}
}}
"""
ANY = "?"
WIDTHS = [4096, 1024, 768, 8192, 256, 2048, 512, 16384, 32768]
BACKWARD_WIDTHS = [4096, 1024, 768, 8192, 256]
# Of these, some rows have no kernel with registers, or a last chunk that is not whole.
ODD_WIDTHS = [1000, 1001, 63, 1100]
# Rows of any width, by one block.
OPEN_WIDTHS = [1, 63, 64, 100, 1001, 1024, 1536, 4096, 8192, 16384]
OPEN_TIMED = [1024, 4096, 8192]


@dataclasses.dataclass(frozen=True)
class Kind:
    write: Callable  # the program, of an element type and a width
    # Arguments and results in the order of the function: a name and a shape, `matrix`, `column` or `row`, which mean one
    # element for each element, for each column or for each row. `matrix` has the block's type, `row` f32.
    # After a result's shape, `@` and the argument whose buffer it may have.
    arguments: str
    results: str
    # Whether the scalars seed and step stand after the arguments.
    has_scalars: bool = False
    reference: str = "None"  # of the runner's Reference
    widths: tuple = tuple(WIDTHS)
    odd_widths: tuple = ()
    types: tuple = ("bf16", "f32")
    parameter: str = ""  # the type of columns, where it is not the block's


def forward(norm, parameter=None):
    return lambda element, width: write_fixed_rows.program(norm, element, element, parameter or element, width)


def backward(norm, has_dropout=False, parameter=None):
    return lambda element, width: programs.write_backward(norm, element, parameter or element, width, True, has_dropout)


FORWARD = dict(arguments="x:matrix f:matrix gamma:column beta:column", results="y:matrix@f s:matrix@x", has_scalars=True)
LAYER_BACKWARD = "dy:matrix x:matrix mean:row correction:row rstd:row gamma:column dsum:matrix"
RMS_BACKWARD = "dy:matrix x:matrix rstd:row gamma:column dsum:matrix"
GRADIENTS = "dgamma:column dbeta:column"
MIXED = dict(widths=(4096, 1024, 768), types=("bf16",), parameter="f32")
KINDS = {
    "layer": Kind(forward("layer"), **FORWARD, reference="LayerNorm", odd_widths=tuple(ODD_WIDTHS)),
    "add_layer": Kind(forward("add_layer"), **FORWARD, reference="LayerNorm"),
    "add_rms": Kind(forward("add_rms"), **FORWARD, reference="RMSNorm", odd_widths=tuple(ODD_WIDTHS)),
    "layer_backward": Kind(backward("layer", has_dropout=True), LAYER_BACKWARD, f"dx:matrix df:matrix {GRADIENTS}", has_scalars=True, reference="LayerNormGradient", widths=tuple(BACKWARD_WIDTHS)),
    "add_layer_backward": Kind(backward("layer"), LAYER_BACKWARD, f"dx:matrix {GRADIENTS}", reference="LayerNormGradient", widths=tuple(BACKWARD_WIDTHS), odd_widths=tuple(ODD_WIDTHS)),
    "add_rms_backward": Kind(backward("rms"), RMS_BACKWARD, f"dx:matrix {GRADIENTS}", reference="RMSNormGradient", widths=tuple(BACKWARD_WIDTHS)),
    # Narrow rows with parameters of f32, as mixed precision has them.
    "add_layer_mixed": Kind(forward("add_layer", "f32"), **FORWARD, reference="LayerNorm", **MIXED),
    "add_layer_backward_mixed": Kind(backward("layer", parameter="f32"), LAYER_BACKWARD, f"dx:matrix {GRADIENTS}", reference="LayerNormGradient", **MIXED),
    # The same accesses without a norm: what a kernel with such accesses reaches at all.
    "add": Kind(lambda element, width: ADD.format(X=f"tensor<?x{width}x{element}>"), "x:matrix f:matrix", "s:matrix@x", widths=(4096, 1024)),
}
# What a block has that is a whole program, whose arrays are those of whole_programs.py.
WHOLE = Kind(None, "", "")


@dataclasses.dataclass(frozen=True)
class Block:
    kind: str
    element: str
    width: object  # a number, or ANY
    widths: tuple  # that are checked
    timed: tuple
    schedule: str = ""
    program: object = None  # of whole_programs.py; its sizes stand in the place of the width

    @property
    def name(self):
        """KIND_TYPE_WIDTH. A kind of open width ends with `_open`, and one by a schedule with that."""
        words = [self.kind, *(["open"] if self.width == ANY else [])]
        words += [part.removeprefix("gpu-").replace("=", "") for part in self.schedule.split(",") if part]
        return "_".join([*words, self.element, "any" if self.width == ANY else str(self.width)])

    @property
    def group(self):
        return dataclasses.replace(self, schedule="").name

    def write(self):
        return self.program.text if self.program else KINDS[self.kind].write(self.element, self.width)


def make_block(kind, element, width, is_timed, schedule=""):
    return Block(kind, element, width, (width,), (width,) if is_timed else (), schedule)


def make_whole(kind, element, sizes):
    program = whole_programs.make(kind, element, sizes)
    width = program.arguments[0].shape[-1]
    return Block(kind, element, sizes, (width,), (width,), program=program)


def choose(kinds=None, widths=None, types=None, schedules=(), sizes=None):
    """What is packed, the most important first: checks and times that are left out for want of time are the last ones."""
    timed, checked = [], []
    whole = [make_whole(name, element, one) for name in kinds or whole_programs.KINDS if name in whole_programs.KINDS
             for element, own in whole_programs.KINDS[name].sizes.items() if not types or element in types
             for one in (sizes or {}).get(name, own)]
    for name in kinds or KINDS:
        if name not in KINDS:
            continue
        kind = KINDS[name]
        for element in types or kind.types:
            timed += [make_block(name, element, width, True) for width in widths or kind.widths]
            if name != "add":
                open_widths = tuple(widths or OPEN_WIDTHS)
                timed.append(Block(name, element, ANY, open_widths, tuple(width for width in open_widths if width in OPEN_TIMED)))
        if not widths:
            checked += [make_block(name, element, width, False) for element in types or ("f16", "bf16", "f32") for width in kind.odd_widths]
        if not types:
            checked += [make_block(name, "f16", width, False) for width in (widths or (1024, 4096))]
    order = {width: i for i, width in enumerate(WIDTHS)}
    timed.sort(key=lambda block: order.get(block.width, len(order)))
    variants = [dataclasses.replace(block, schedule=schedule) for block in timed if block.width != ANY for schedule in schedules]
    # Whole programs are few, and what people look at first.
    return [*whole, *timed, *variants, *checked]
