# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Which products are measured, their arrays, and the texts of the functions that resid compiles for them.

import ctypes
import dataclasses
import math

from .. import native
from ..cases import SIZES

PANEL_COLUMNS = 16
# Rows x contracted terms x columns: linear layers of MiniLM and of GPT-2's size, a large one, an odd one.
SHAPES = ((128, 384, 384), (128, 384, 1536), (128, 1536, 384), (512, 768, 3072), (512, 3072, 768), (2048, 2048, 2048),
          (127, 383, 1535))
QUICK_SHAPES = SHAPES[:4] + SHAPES[-1:]
SMOKE_SHAPES = ((9, 24, 48), (5, 7, 35))
# A few rows by weights that come from memory, as in decoding.
DECODING = ((1, 2048, 2048), (4, 2048, 8192))
SMOKE_DECODING = ((1, 32, 48),)
# So many bytes of weights come from memory when they are read in turn, for caches up to a quarter of it.
BEYOND_BYTES = 128 << 20
MOST_BYTES = 512 << 20
# The forms that weights are read in: name, title, what the text of a function calls it.
FORMS = (("packed", "weights packed"), ("in-out", "weights [in, out]"), ("out-in", "weights [out, in]"))


def pad(number, multiple):
    return math.ceil(number / multiple) * multiple


@dataclasses.dataclass(frozen=True)
class Product:
    """y [rows, width] = a [rows, terms] by weights of terms times width; `copies` of the weights take turns."""
    type: str
    rows: int
    terms: int
    width: int
    threads: int
    copies: int = 0  # 0: the weights stay where the caches keep them
    title = "product"
    results = ("y",)
    is_read = False

    @property
    def shape(self):
        return f"{self.rows}x{self.terms}x{self.width}"

    @property
    def contents(self):
        return self.type, self.shape, self.copies

    @property
    def size(self):
        return SIZES[self.type]

    @property
    def decodes(self):
        return self.copies > 0

    @property
    def is_even(self):
        return self.rows % 8 == 0 and self.terms % 2 == 0 and self.width % PANEL_COLUMNS == 0

    @property
    def operations(self):
        return 2 * self.rows * self.terms * self.width

    @property
    def panel_bytes(self):
        return pad(self.width, PANEL_COLUMNS) * pad(self.terms, 2 if self.type == "bf16" else 1) * self.size

    @property
    def bytes(self):
        """What has to be read of the weights."""
        return self.panel_bytes

    @property
    def tolerance(self):
        """Sums of so many products of numbers between -1 and 1, of which results reach a few times the root; a result in
        bf16 is off by half of its last place, and another order of the sum may round to the next one."""
        return {"f32": 1e-5, "bf16": 2e-2}[self.type] * math.sqrt(self.terms)

    def extent(self, name):
        count = {"a": self.rows * self.terms, "y": self.rows * self.width}.get(name, self.terms * self.width)
        return count, self.size

    def bytes_of(self, name):
        count, size = self.extent(name)
        return count * size

    def stride(self, form):
        """From one copy of the weights to the next, in bytes."""
        size = self.panel_bytes if form == "packed" else self.bytes_of("in-out")
        return pad(size, 4096) + native.STAGGER


def copies_beyond(shape, element, last_level):
    """How many copies of the weights, read one after the other, come from memory each time."""
    wanted = min(max(BEYOND_BYTES, 4 * last_level), MOST_BYTES)
    return max(2, math.ceil(wanted / (shape[1] * shape[2] * SIZES[element])))


class ProductArrays(native.Memory):
    def __init__(self, side, chosen):
        names = {"a": "a", "y": "y", "expected_y": "y", "other_y": "y"}
        capacity = {name: max(case.bytes_of(of) for case in chosen) for name, of in names.items()}
        for form, _ in FORMS:
            capacity[form] = max(max(1, case.copies) * case.stride(form) for case in chosen)
        super().__init__(side, capacity)

    def weights(self, case, form):
        """The addresses of all copies of the weights in a form."""
        return [self[form] + copy * case.stride(form) for copy in range(max(1, case.copies))]

    def fill(self, case):
        functions = self.native.functions
        functions.bench_fill(self["a"], *case.extent("a"), 1, 0.0)
        functions.bench_fill(self["in-out"], *case.extent("in-out"), 2, 0.0)
        functions.bench_transpose(self["in-out"], self["out-in"], case.terms, case.width, case.size)
        packed = functions.bench_pack(self["in-out"], self["packed"], case.terms, case.width, case.size)
        assert packed == case.panel_bytes
        for form, _ in FORMS:
            first, *others = self.weights(case, form)
            for copy in others:
                ctypes.memmove(copy, first, packed if form == "packed" else case.bytes_of(form))


def function_name(case, form):
    return f"product_{case.type}_{form.replace('-', '_')}_{case.shape}"


def function_text(case, form):
    """A function of a and weights. Packed ones become a matrix again, which the compiler reads through."""
    element, rows, terms, width = case.type, case.rows, case.terms, case.width
    matrix = f"tensor<{width}x{terms}x{element}>" if form == "out-in" else f"tensor<{terms}x{width}x{element}>"
    argument, unpack, weights = matrix, "", "%w"
    if form == "packed":
        panels = pad(width, PANEL_COLUMNS) // PANEL_COLUMNS
        argument, tiles = f"tensor<{panels}x{terms}x16x{element}>", "inner_dims_pos = [1] inner_tiles = [16]"
        if element == "bf16":
            argument = f"tensor<{panels}x{pad(terms, 2) // 2}x16x2x{element}>"
            tiles = "inner_dims_pos = [1, 0] inner_tiles = [16, 2]"
        unpack = (f"  %e = tensor.empty() : {matrix}\n  %m = linalg.unpack %w outer_dims_perm = [1, 0] {tiles} into %e : "
                  f"{argument} -> {matrix}\n")
        weights = "%m"
    a, y = f"tensor<{rows}x{terms}x{element}>", f"tensor<{rows}x{width}x{element}>"
    columns = "(n, k)" if form == "out-in" else "(k, n)"
    maps = ", ".join(f"affine_map<(m, n, k) -> {of}>" for of in ("(m, k)", columns, "(m, n)"))
    return f"""func.func @{function_name(case, form)}(%a: {a}, %w: {argument}) -> {y} {{
{unpack}  %zeros = arith.constant dense<0.0> : {y}
  %y = linalg.contract indexing_maps = [{maps}] ins(%a, {weights} : {a}, {matrix}) outs(%zeros : {y}) -> {y}
  return %y : {y}
}}
"""


def program(chosen):
    """The functions of all cases, once each."""
    texts = {function_name(case, form): function_text(case, form) for case in chosen for form, _ in FORMS}
    return "".join(texts.values())
