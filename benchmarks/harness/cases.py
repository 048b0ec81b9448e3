# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What is measured: kernels, shapes, types, threads; and the text of a kernel for one type and width. Backward kernels have no
# text: resid-grad makes them of the forward's (compiled.py).

import dataclasses
import pathlib
import re

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "kernels"

# Element types with their size in bytes.
SIZES = {"f32": 4, "bf16": 2}
# What peers may be off by: they sum in another order, and round at other places in bf16.
CLOSE = {"f32": 1e-4, "bf16": 0.1}
EPSILON, DROPOUT = 1e-5, 0.1  # as in kernels/


@dataclasses.dataclass(frozen=True)
class Kernel:
    """A function of kernels/: its arguments and results in order, by the names of the harness's arrays."""
    name: str
    title: str
    arguments: tuple
    results: tuple
    parts: tuple = ()  # unfused: the kernels that do the same, each with the arrays it works on
    needs_memory: bool = False  # whether a call asks its context for scratch memory
    is_rounded_between: bool = False  # whether the parts round where the whole does not

    @property
    def streams(self):
        """How many arrays of rows are read, and how many written."""
        return tuple(sum(name in ROW_ARRAYS for name in set(names)) for names in (self.arguments, self.results))

    @property
    def is_backward(self):
        return self.name.endswith(BACKWARD)

    @property
    def has_reader(self):
        """Whether it is measured with a reader of its results too."""
        return self.streams[1] > 0 and not self.is_backward

    def compulsory_bytes(self, case):
        arrays = {name for name in self.arguments if name not in SCALARS}
        return sum(case.bytes_of(name) for name in [*arrays, *self.results * (2 if case.is_read else 1)])


ROW_ARRAYS = ("x", "f", "y", "s", "t")
COLUMN_SUMS = "sums"  # an array of one f32 per column, whatever the type of the rows
COLUMN_ARRAYS = ("gamma", "beta", COLUMN_SUMS, "dgamma", "dbeta")
STATISTICS = ("mean", "correction", "rstd", "rms")  # one f32 per row: those of a layer norm, and that of an RMS norm
# The values of scalar arguments.
SCALARS = {"seed": 0x123456789ABCDEF, "step": 3}
LAYER_PART = ("layer_norm", ("s", "gamma", "beta"), ("y",))
RMS_PART = ("rms_norm", ("s", "gamma"), ("y",))

KERNELS = (
    Kernel("add_layer_norm", "add + layer norm", ("x", "f", "gamma", "beta"), ("y", "s"),
           (("add", ("x", "f"), ("s",)), LAYER_PART)),
    Kernel("add_rms_norm", "add + RMS norm", ("x", "f", "gamma"), ("y", "s"), (("add", ("x", "f"), ("s",)), RMS_PART)),
    Kernel("dropout_add_layer_norm", "dropout + add + layer norm", ("x", "f", "gamma", "beta", "seed", "step"),
           ("y", "s"), (("dropout", ("f", "seed", "step"), ("t",)), ("add", ("x", "t"), ("s",)), LAYER_PART)),
    Kernel("layer_norm", "layer norm", ("x", "gamma", "beta"), ("y",)),
    Kernel("rms_norm", "RMS norm", ("x", "gamma"), ("y",)),
    Kernel("column_sums", "column sums", ("x",), (COLUMN_SUMS,), needs_memory=True),
)
# Backward kernels have the arguments of the forward, what it saved, and the gradients of its results. The gradient of the
# normalised value lies in f, what was normalised in x, dx in y, and df in s. The first two arguments of a fused one, and
# beta, are not read: their arrays are among the others.
BACKWARD = "_backward"
LAYER_STATISTICS = STATISTICS[:3]
LAYER_BACKWARD = ("x", "gamma", "gamma", *LAYER_STATISTICS, "f")
BACKWARD_KERNELS = (
    Kernel("layer_norm_backward", "layer norm, backward", LAYER_BACKWARD, ("y", "dgamma", "dbeta"), needs_memory=True),
    Kernel("rms_norm_backward", "RMS norm, backward", ("x", "gamma", "rms", "f"), ("y", "dgamma"), needs_memory=True),
    # t is the gradient that the sum has from its other readers.
    Kernel("dropout_add_layer_norm_backward", "dropout + add + layer norm, backward",
           ("x", "f", "gamma", "gamma", "seed", "step", "x", *LAYER_STATISTICS, "f", "t"), ("y", "s", "dgamma", "dbeta"),
           (("layer_norm_backward", LAYER_BACKWARD, ("s", "dgamma", "dbeta")), ("add", ("s", "t"), ("y",)),
            ("dropout", ("y", "seed", "step"), ("s",))), needs_memory=True, is_rounded_between=True),
)
ALL_KERNELS = KERNELS + BACKWARD_KERNELS


@dataclasses.dataclass(frozen=True)
class Case:
    kernel: Kernel
    type: str
    rows: int
    width: int
    threads: int
    is_read: bool = False  # whether somebody reads the results, which is timed too

    @property
    def title(self):
        return self.kernel.title

    @property
    def results(self):
        return self.kernel.results

    @property
    def contents(self):
        """What its arrays are filled with hangs on this."""
        return self.type, self.shape

    @property
    def tolerance(self):
        return CLOSE[self.type]

    @property
    def elements(self):
        return self.rows * self.width

    @property
    def shape(self):
        return f"{self.rows}x{self.width}"

    def extent(self, name):
        """How many elements of how many bytes an array has."""
        if name in STATISTICS:
            return self.rows, 4
        count = self.elements if name in ROW_ARRAYS else self.width
        return count, 4 if name == COLUMN_SUMS else SIZES[self.type]

    def bytes_of(self, name):
        count, size = self.extent(name)
        return count * size

    @property
    def bytes(self):
        return self.kernel.compulsory_bytes(self)


def function_name(kernel, element, width):
    """The exported name of a kernel for one type and width; width None: any."""
    forward, backward, _ = kernel.partition(BACKWARD)
    return f"{forward}_{element}_{width or 'any'}{backward}"


def specialize(kernel, element, width):
    """The text of kernels/<kernel>.mlir for one type and width. A kernel of mixed types has a text of its own for each."""
    own = FOLDER / f"{kernel}_{element}.mlir"
    text = (own if own.exists() else FOLDER / f"{kernel}.mlir").read_text()
    text = text.replace(f"@{kernel}(", f"@{function_name(kernel, element, width)}(")
    if width:
        text = re.sub(r"<(\?x)?\?x(\w+)>", rf"<\g<1>{width}x\g<2>>", text).replace("tensor.empty(%columns)", "tensor.empty()")
    if not own.exists():
        text = re.sub(r"xf32>", f"x{element}>", text)
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("//"))


SHAPES = ((32, 768), (4096, 768), (16384, 1024), (2048, 4096), (1024, 8192), (4097, 769))
QUICK_SHAPES = ((32, 768), (4096, 768), (2048, 4096))
SMOKE_SHAPES = ((3, 64), (2, 1089))
# With a reader: in, about and beyond every cache.
READ_SHAPES = tuple((32 << step, 768) for step in range(10))
QUICK_READ_SHAPES = READ_SHAPES[::3]
