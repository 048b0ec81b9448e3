# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes the contractions of contractions.cpp, with every size open. Usage: contractions.py <folder> [few]. Writes there:
# contractions.mlir, and contractions.inc, the table of programs with their calls. `few`: one form of each type.

import pathlib
import sys

from random_programs import C_TYPE

# Name; loops in the op's order; the loops along which a, b and the result go (a star: rows lie apart; an exclamation mark: a scalar that is no
# tensor); how it is written; what it starts from: an argument, zeros, or a bias along the result's last loop. k is a contracted loop of every form.
FORMS = [
    ("matmul", "mnk", "mk", "kn", "mn", "linalg.matmul", "given"),
    ("out_in", "mnk", "mk", "nk", "mn", "generic", "zero"),
    ("left_transposed", "mnk", "km", "kn", "mn", "linalg.contract", "given"),
    ("bias", "mnk", "mk", "nk", "mn", "swapped", "bias"),
    ("vecmat", "nk", "k", "kn", "n", "linalg.vecmat", "zero"),
    ("scores", "bhmnk", "bhmk", "bhnk", "bhmn", "generic", "zero"),
    ("both_transposed", "mnk", "km", "nk", "mn", "swapped", "given"),
    ("out_transposed", "mnk", "mk", "kn", "nm", "fma", "given"),
    ("weight_left", "mnk", "nk", "mk", "mn", "generic", "zero"),
    ("contracted_first", "kmn", "mk", "kn", "mn", "generic", "given"),
    ("contracted_between", "nkm", "mk", "kn", "mn", "fma", "zero"),
    ("apart", "mnk", "mk*", "kn*", "mn*", "generic", "given"),
    ("apart_out_in", "mnk", "mk*", "nk*", "mn*", "generic", "zero"),
    ("matvec", "mk", "mk", "k", "m", "linalg.matvec", "given"),
    ("scaled_rows", "mk", "m", "mk", "m", "generic", "given"),
    ("scaled", "mk", "", "mk", "m", "generic", "given"),
    ("scaled_by_scalar", "mk", "!", "mk", "m", "generic", "given"),
    ("total", "kl", "k", "kl", "", "generic", "given"),
    ("batch_matmul", "bmnk", "bmk", "bkn", "bmn", "linalg.batch_matmul", "zero"),
    ("batch_reduce", "bmnk", "bmk", "bkn", "mn", "linalg.batch_reduce_matmul", "given"),
    ("batch_rows", "bmnk", "bmk", "nk", "bmn", "generic", "bias"),
    ("scores_interleaved", "bhmnk", "bmhk", "bnhk", "bhmn", "generic", "zero"),
    ("values", "bhmnk", "bhmk", "bhkn", "bmhn", "generic", "zero"),
    ("groups", "bhgmnk", "bhgmk", "bhnk", "bhgmn", "generic", "given"),
    ("two_contracted", "mnkl", "mkl", "kln", "mn", "generic", "given"),
    ("two_contracted_apart", "kmln", "mlk", "knl", "mn", "linalg.contract", "zero"),
    ("two_contracted_down", "mnkl", "lkm", "kln", "mn", "generic", "zero"),
    ("batch_left_transposed", "bmnk", "bkm", "bkn", "bmn", "generic", "zero"),
]

# Of a, b and the result.
TYPES = [
    ("f32", "f32", "f32"),
    ("f16", "f16", "f16"),
    ("bf16", "bf16", "bf16"),
    ("f64", "f64", "f64"),
    ("bf16", "bf16", "f32"),
    ("f16", "f16", "f32"),
    ("bf16", "f32", "bf16"),
    ("bf16", "f32", "f32"),
    ("f32", "f32", "bf16"),
    ("f32", "f64", "f32"),
    ("f16", "bf16", "f32"),
]


class Operand:
    def __init__(self, name, element, letters):
        self.name, self.element, self.letters, self.apart = name, element, letters.rstrip("*!"), letters.endswith("*")
        self.scalar = letters == "!"

    def type(self):
        return self.element if self.scalar else "tensor<" + "?x" * len(self.letters) + self.element + ">"

    def attributes(self):
        return " {resid.strided}" * self.apart

    def map(self, loops):
        return f"affine_map<({', '.join(loops)}) -> ({', '.join(self.letters)})>"

    def sizes(self):
        return [f"size['{letter}']" for letter in self.letters] + ["strides[%s]" % self.name.capitalize()] * self.apart

    def entry(self):
        return f'{{Element::{self.element}, "{self.letters}", {int(self.apart)}}}'


def body(how, a, b, out):
    """The elements' type as users have it: all in one type, or in the arithmetic type with the result rounded in the body."""
    wide = "f64" if "f64" in (a, b, out) else "f32"
    alike = how != "fma" and a == b == out
    lines, used = [], {}
    for name, element in (("a", a), ("b", b), ("c", out)):
        used[name] = name
        if not alike and element != wide:
            used[name] = name + "w"
            lines.append(f"%{name}w = arith.extf %{name} : {element} to {wide}")
    kind = out if alike else wide
    if how == "fma":
        lines.append(f"%s = math.fma %{used['a']}, %{used['b']}, %{used['c']} : {kind}")
    else:
        factors = ["a", "b"] if how == "generic" else ["b", "a"]
        lines.append(f"%p = arith.mulf %{used[factors[0]]}, %{used[factors[1]]} : {kind}")
        terms = [f"%{used['c']}", "%p"] if how == "generic" else ["%p", f"%{used['c']}"]
        lines.append(f"%s = arith.addf {', '.join(terms)} : {kind}")
    if kind != out:
        lines.append(f"%r = arith.truncf %s : {kind} to {out}")
    lines.append(f"linalg.yield %{'s' if kind == out else 'r'} : {out}")
    return f"  ^bb0(%a: {a}, %b: {b}, %c: {out}):\n" + "".join(f"    {line}\n" for line in lines)


def start_value(a, b, out, start):
    """Lines that make %start from the argument %start0, if there is one."""
    if start == "given":
        return ""
    lines, sizes = [], []
    for letter in out.letters:
        source = a if letter in a.letters else b
        axis = source.letters.index(letter)
        lines += [f"%i{letter} = arith.constant {axis} : index", f"%d{letter} = tensor.dim %{source.name}0, %i{letter} : {source.type()}"]
        sizes.append(f"%d{letter}")
    lines.append(f"%empty = tensor.empty({', '.join(sizes)}) : {out.type()}")
    if start == "zero":
        lines.append(f"%zero = arith.constant 0.0 : {out.element}")
        lines.append(f"%start = linalg.fill ins(%zero : {out.element}) outs(%empty : {out.type()}) -> {out.type()}")
    else:
        dims = ", ".join(map(str, range(len(out.letters) - 1)))
        bias = f"%start0 : tensor<?x{out.element}>"
        lines.append(f"%start = linalg.broadcast ins({bias}) outs(%empty : {out.type()}) dimensions = [{dims}]")
    return "".join(f"  {line}\n" for line in lines)


def function(name, form, types):
    _, loops, a, b, out, how, start = form
    a, b, out = Operand("a", types[0], a), Operand("b", types[1], b), Operand("out", types[2], out)
    first = Operand("start", types[2], out.letters[-1:] if start == "bias" else out.letters)
    arguments = [a, b] + [first] * (start != "zero")
    prefix = [f"%{x.name}0: {x.type()}{x.attributes()}" for x in arguments]
    text = f"func.func @{name}({', '.join(prefix)}) -> ({out.type()}{out.attributes()}) {{\n" + start_value(a, b, out, start)
    operands = f"ins(%a0, %b0 : {a.type()}, {b.type()}) outs(%start{'0' * (start == 'given')} : {out.type()})"
    maps = "indexing_maps = [" + ", ".join(x.map(loops) for x in (a, b, out)) + "]"
    if how == "linalg.contract":
        text += f"  %y = linalg.contract {maps} {operands} -> {out.type()}\n"
    elif how.startswith("linalg."):
        text += f"  %y = {how} {operands} -> {out.type()}\n"
    else:
        kinds = ", ".join('"parallel"' if loop in out.letters else '"reduction"' for loop in loops)
        text += f"  %y = linalg.generic {{{maps}, iterator_types = [{kinds}]}}\n      {operands} {{\n"
        text += body(how, *types) + f"  }} -> {out.type()}\n"
    text += f"  return %y : {out.type()}\n}}\n"

    parameters = ["ctx"]
    for x in arguments:
        parameters += ["*" * x.scalar + f"static_cast<const {C_TYPE[x.element]} *>(memory[{x.name.capitalize()}])"] + x.sizes()
    parameters += [f"static_cast<{C_TYPE[out.element]} *>(memory[Out])"] + ["strides[Out]"] * out.apart
    call = (
        f"static resid_status call_{name}(const resid_ctx *ctx, const Sizes &size, void *const *memory, const int64_t *strides) {{\n"
        f"  (void)size, (void)strides;\n  return {name}({', '.join(parameters)});\n}}\n"
    )
    operands = ", ".join(x.entry() for x in (a, b, first, out))
    return text, call, f'  {{"{name}", "{loops}", {{{operands}}}, {int(start != "zero")}, call_{name}}},\n'


def forms_of(number):
    """All for the first types, and for each of the others the first two and one more."""
    if "few" in sys.argv[2:]:
        return [FORMS[number % 6]]
    return FORMS if number == 0 else FORMS[:2] + [FORMS[2 + number % 4]]


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    pieces = []
    for number, types in enumerate(TYPES):
        pieces += [function(f"{form[0]}_{'_'.join(types)}", form, types) for form in forms_of(number)]
    (folder / "contractions.mlir").write_text("".join(text for text, _, _ in pieces))
    table = "static const std::vector<Program> programs = {\n" + "".join(entry for _, _, entry in pieces) + "};\n"
    (folder / "contractions.inc").write_text("".join(call for _, call, _ in pieces) + table)


main()
