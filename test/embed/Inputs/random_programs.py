# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes random chains of bias, dropout, gated add and norm in three forms that must have the same bits: one function of
# separate ops (which the compiler may fuse), one function with resid.add_norm, and one function per op.
# Usage: random_programs.py <element type> <count> <seed> <folder>. Writes there: programs.mlir, all forms; programs.inc, the
# calls for run_programs.cpp; for each program pN alone pN.mlir, its first form, and pN.args, arguments for resid-run.

import pathlib
import random
import sys

BYTES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8}
C_TYPE = {"f16": "uint16_t", "bf16": "uint16_t", "f32": "float", "f64": "double"}
WIDTHS = [1, 2, 7, 31, 63, 64, 65, 120, 127, 129, 320, 768, 1000, 1023, 1025, 2049]


class Tensor:
    """A named tensor argument or result: element type, dimensions, which of them are dynamic, and, where its rows lie apart, how
    far, as a C expression."""

    def __init__(self, name, element, dims, dynamic, stride=None):
        self.name, self.element, self.dims, self.dynamic, self.stride = name, element, dims, dynamic, stride

    def text(self):
        return "tensor<" + "".join("?x" if d else f"{n}x" for n, d in zip(self.dims, self.dynamic)) + self.element + ">"

    def declaration(self):
        return self.text() + " {resid.strided}" * (self.stride is not None)

    def strides(self):
        return [] if self.stride is None else [self.stride]

    def count(self):
        total = 1
        for size in self.dims:
            total *= size
        return total

    def quick(self, seed):
        return f"{self.element}[{'x'.join(map(str, self.dims))}]=random:{seed}"


class Program:
    """One random chain. Attributes that are None are absent from it."""

    def __init__(self, rng, name, element):
        self.name, self.element = name, element
        self.kind = rng.choice(["layer", "layer", "rms", "rms", "dyt"])
        rank = rng.choice([2, 2, 3])
        self.dims = [rng.choice([1, 3, 17, 61])] if rank == 2 else [rng.choice([1, 2, 5]), rng.choice([1, 4, 13])]
        self.dims.append(rng.choice(WIDTHS))
        self.dynamic = [rng.random() < 0.5 for _ in self.dims]
        self.normalized_rank = 2 if rank == 3 and self.kind != "dyt" and rng.random() < 0.3 else 1
        self.dropout = rng.choice([None, 0.0, 0.1, 0.5, 1.0]) if self.normalized_rank == 1 else None
        self.origin = self.dropout is not None and rng.random() < 0.5
        parameters = {"f16": ["f16", "f32"], "bf16": ["bf16", "f32"], "f32": ["f32", "bf16", "f16"], "f64": ["f64"]}
        self.parameter = lambda: rng.choice(parameters[element])
        last = lambda k: (self.dims[len(self.dims) - k :], self.dynamic[len(self.dims) - k :])
        self.sum_element = "f32" if BYTES[element] == 2 and rng.random() < 0.4 else element
        self.x = Tensor("x", element, self.dims, self.dynamic)
        self.f = Tensor("f", element, self.dims, self.dynamic)
        self.bias = Tensor("bias", self.parameter(), *last(1)) if rng.random() < 0.5 else None
        self.gate = self.random_factor(rng, "gate")
        self.alpha = Tensor("alpha", self.parameter_f32(), [], []) if self.kind == "dyt" else None
        self.gamma = Tensor("gamma", self.parameter(), *last(self.normalized_rank)) if rng.random() < 0.8 else None
        self.beta = Tensor("beta", self.parameter(), *last(self.normalized_rank)) if self.gamma and rng.random() < 0.6 else None
        self.skip = self.random_factor(rng, "skip") if rng.random() < 0.3 else None
        self.also = Tensor("also", element, self.dims, self.dynamic) if rng.random() < 0.3 else None
        self.also_scale = self.random_factor(rng, "l") if self.also else None
        self.skip_scale = 1.0 if self.skip else rng.choice([1.0, 1.0, 1.25])
        self.branch = rng.choice([1.0, 1.0, 0.3])
        self.zero_centered = self.gamma is not None and rng.random() < 0.2
        narrow = self.sum_element == "f32" and rng.random() < 0.3
        self.result_element = rng.choice(["bf16", "f16"]) if narrow else self.sum_element
        self.narrow_affine = self.gamma is not None and narrow and rng.random() < 0.5
        self.statistics = {"layer": 3, "rms": 1, "dyt": 0}[self.kind] if rng.random() < 0.4 else 0

    def parameter_f32(self):
        return "f64" if self.element == "f64" else "f32"

    def random_factor(self, rng, name):
        shape = rng.choice(["none", "scalar", "feature", "row", "full"])
        if shape == "none":
            return None
        dims, dynamic = {
            "scalar": ([], []),
            "feature": (self.dims[-1:], self.dynamic[-1:]),
            "row": (self.dims[:-1] + [1], self.dynamic[:-1] + [False]),
            "full": (self.dims, self.dynamic),
        }[shape]
        return Tensor(name, self.parameter(), dims, dynamic)

    def results(self):
        rows = len(self.dims) - self.normalized_rank
        arithmetic = "f64" if self.element == "f64" else "f32"
        found = [Tensor("normalized", self.result_element, self.dims, self.dynamic), self.sum()]
        return found + [Tensor(f"s{i}", arithmetic, self.dims[:rows], self.dynamic[:rows]) for i in range(self.statistics)]

    def sum(self):
        return Tensor("sum", self.sum_element, self.dims, self.dynamic)

    def factors(self):
        """What the clauses of the add state the types of."""
        return [self.gate, self.skip, self.also_scale]

    def addends(self):
        """The operands of the add beside x and f."""
        return [tensor for tensor in [*self.factors(), self.also] if tensor]

    def tensors(self):
        candidates = [self.x, self.f, self.bias, *self.addends(), self.alpha, self.gamma, self.beta]
        return [tensor for tensor in candidates if tensor]

    def scalars(self):
        if self.dropout is None:
            return []
        return ["seed", "step"] + (["row", "site"] if self.origin else [])


def clause(word, tensor):
    return f" {word}(%{tensor.name})" if tensor else ""


def types(*tensors):
    return ", ".join(tensor.text() for tensor in tensors if tensor)


def arrow(operand, results):
    """The `-> types` of an op, left out where its only result has the operand's type."""
    if len(results) == 1 and results[0].text() == operand.text():
        return ""
    return " -> " + types(*results)


def bias_op(p, value):
    return f"%b = resid.add_bias {value}, %bias : {types(p.f, p.bias)}"


def dropout_op(p, value):
    origin = " origin(%row, %site)" if p.origin else ""
    return f"%d = resid.dropout {value} seed(%seed, %step){origin} {{p = {p.dropout}, site = 3}} : {p.f.text()}"


def add_clauses(p):
    scale = f" scale %{p.also_scale.name}" if p.also_scale else ""
    return clause("gate", p.gate) + clause("skip", p.skip) + (f" also(%also{scale})" if p.also else "")


def add_op(p, value):
    attributes = f" {{skip_scale = {p.skip_scale}, branch_scale = {p.branch}}}"
    return f"%sum = resid.add %x, {value}{add_clauses(p)}{attributes} : {types(p.x, *p.factors())}{arrow(p.x, [p.sum()])}"


def norm_attributes(p):
    found = [] if p.kind == "dyt" else ["epsilon = 1.0e-5"]
    if p.kind != "dyt" and not p.gamma and p.normalized_rank != 1:
        found.append(f"norm_rank = {p.normalized_rank}")
    return found + ["zero_centered_gamma"] * p.zero_centered + ["narrow_affine"] * p.narrow_affine


def norm_op(p, value):
    results = [p.results()[0]] + p.results()[2:]
    names = ", ".join(f"%{result.name}" for result in results)
    op = {"layer": "layer_norm", "rms": "rms_norm", "dyt": "dyt"}[p.kind]
    parts = clause("alpha", p.alpha) + clause("gamma", p.gamma) + clause("beta", p.beta)
    attributes = f" {{{', '.join(norm_attributes(p))}}}" if norm_attributes(p) else ""
    operands = types(p.sum(), p.alpha, p.gamma, p.beta)
    return f"{names} = resid.{op} {value}{parts}{attributes} : {operands}{arrow(p.sum(), results)}"


def add_norm_op(p):
    names = ", ".join(f"%{result.name}" for result in p.results())
    drop = " dropout(%seed, %step)" if p.dropout is not None else ""
    origin = " origin(%row, %site)" if p.origin else ""
    parts = clause("bias", p.bias) + drop + origin + add_clauses(p)
    parts += clause("alpha", p.alpha) + clause("gamma", p.gamma) + clause("beta", p.beta)
    attributes = norm_attributes(p) + [f"skip_scale = {p.skip_scale}", f"branch_scale = {p.branch}"]
    if p.dropout is not None:
        attributes += [f"p = {p.dropout}", "site = 3"]
    operands = types(p.x, p.bias, *p.factors(), p.alpha, p.gamma, p.beta)
    differs = len(p.results()) != 2 or any(result.text() != p.x.text() for result in p.results())
    results = " -> " + types(*p.results()) if differs else ""
    return f"{names} = resid.add_norm {p.kind} %x, %f{parts} {{{', '.join(attributes)}}} : {operands}{results}"


def function(name, tensors, scalars, body, results):
    arguments = [f"%{tensor.name}: {tensor.declaration()}" for tensor in tensors] + [f"%{scalar}: i64" for scalar in scalars]
    returned = ", ".join(f"%{result.name}" for result in results)
    declared = ", ".join(result.declaration() for result in results)
    lines = [f"func.func @{name}({', '.join(arguments)}) -> ({declared}) {{"]
    lines += [f"  {line}" for line in body] + [f"  return {returned} : {types(*results)}", "}"]
    return "\n".join(lines) + "\n"


def branch_steps(p):
    """The ops before the add as (suffix, op text, extra tensors, scalars, result name), and what the add takes."""
    steps = []
    if p.bias:
        steps.append(("bias", bias_op, [p.bias], [], "b"))
    if p.dropout is not None:
        steps.append(("dropout", dropout_op, [], p.scalars(), "d"))
    return steps


def flat_piece(p):
    value, body = "%f", []
    for _, op, _, _, result in branch_steps(p):
        body.append(op(p, value))
        value = f"%{result}"
    body += [add_op(p, value), norm_op(p, "%sum")]
    return p.name, p.tensors(), p.scalars(), body, p.results()


def pieces(p):
    """All functions of one program, as the arguments of function()."""
    yield flat_piece(p)
    for suffix, op, extra, scalars, result in branch_steps(p):
        single = Tensor(result, p.element, p.dims, p.dynamic)
        yield f"{p.name}_{suffix}", [p.f] + extra, scalars, [op(p, "%f")], [single]
    yield f"{p.name}_fused", p.tensors(), p.scalars(), [add_norm_op(p)], p.results()
    yield f"{p.name}_add", [p.x, p.f] + p.addends(), [], [add_op(p, "%f")], [p.sum()]
    parameters = [tensor for tensor in (p.alpha, p.gamma, p.beta) if tensor]
    normalized = [p.results()[0]] + p.results()[2:]
    yield f"{p.name}_norm", [p.sum()] + parameters, [], [norm_op(p, "%sum")], normalized


def functions(p):
    return "".join(function(*piece) for piece in pieces(p))


def call(name, tensors, pointers, scalars, outputs):
    """A C call: for each tensor its pointer, dynamic sizes and stride, then scalars, then outputs."""
    values = ["ctx"]
    for tensor, pointer in zip(tensors, pointers):
        values += [f"static_cast<const {C_TYPE[tensor.element]} *>({pointer})"]
        values += runtime_dims(tensor) + tensor.strides()
    values += [{"seed": "0x123456789abcdef", "step": "5", "row": "1000", "site": "2"}[scalar] for scalar in scalars]
    for tensor, pointer in outputs:
        values += [f"static_cast<{C_TYPE[tensor.element]} *>({pointer})"] + tensor.strides()
    return f"{name}({', '.join(values)})"


def runtime_dims(tensor):
    """The first dimension of x may be set to zero by the driver, everywhere it occurs."""
    sizes = []
    for index, (size, dynamic) in enumerate(zip(tensor.dims, tensor.dynamic)):
        if dynamic:
            leading = index == 0 and getattr(tensor, "leading", False)
            sizes.append(f"rows ? {size} : 0" if leading else str(size))
    return sizes


def mark_leading(p):
    for tensor in [p.x, p.f] + [tensor for tensor in p.addends() if len(tensor.dims) == len(p.dims)]:
        tensor.leading = p.dynamic[0]


def cpp(p):
    inputs, outputs = p.tensors(), p.results()
    pointers = {tensor.name: f"in[{i}]" for i, tensor in enumerate(inputs)}
    targets = [(tensor, f"out[{i}]") for i, tensor in enumerate(outputs)]
    text = ""
    for form in ("", "_fused"):
        text += f"static resid_status call_{p.name}{form}(const resid_ctx *ctx, bool rows, void *const *in, void *const *out) {{\n"
        text += f"  (void)rows;\n  return {call(p.name + form, inputs, list(pointers.values()), p.scalars(), targets)};\n}}\n"
    text += f"static resid_status call_{p.name}_separate(const resid_ctx *ctx, bool rows, void *const *in, void *const *out) {{\n"
    text += "  (void)rows;\n  resid_status status;\n"
    value = pointers["f"]
    for suffix, _, extra, scalars, result in branch_steps(p):
        single = Tensor(result, p.element, p.dims, p.dynamic)
        text += f"  std::vector<char> {result}({single.count() * BYTES[p.element]});\n"
        sources = [value] + [pointers[tensor.name] for tensor in extra]
        made = call(f"{p.name}_{suffix}", [p.f] + extra, sources, scalars, [(single, f"(void *){result}.data()")])
        text += f"  if ((status = {made}) != RESID_OK)\n    return status;\n"
        value = f"(const void *){result}.data()"
    sources = [pointers["x"], value] + [pointers[tensor.name] for tensor in p.addends()]
    text += f"  if ((status = {call(p.name + '_add', [p.x, p.f] + p.addends(), sources, [], targets[1:2])}) != RESID_OK)\n    return status;\n"
    parameters = [tensor for tensor in (p.alpha, p.gamma, p.beta) if tensor]
    total = p.sum()
    total.leading = p.dynamic[0]
    sources = ["out[1]"] + [pointers[tensor.name] for tensor in parameters]
    return text + f"  return {call(p.name + '_norm', [total] + parameters, sources, [], targets[:1] + targets[2:])};\n}}\n"


def table_entry(p):
    arrays = lambda tensors: ", ".join(f"{{{tensor.count()}, Element::{tensor.element}}}" for tensor in tensors)
    dynamic = "true" if p.dynamic[0] else "false"
    return (
        f'  {{"{p.name}: {p.kind} {p.x.text()}", {{{arrays(p.tensors())}}}, {{{arrays(p.results())}}}, '
        f"call_{p.name}, call_{p.name}_fused, call_{p.name}_separate, {dynamic}}},\n"
    )


def main():
    element, count, seed, folder = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), pathlib.Path(sys.argv[4])
    rng = random.Random(f"{element}/{seed}")
    programs = [Program(rng, f"p{i}", element) for i in range(count)]
    folder.mkdir(parents=True, exist_ok=True)
    for p in programs:
        mark_leading(p)
    (folder / "programs.mlir").write_text("\n".join(functions(p) for p in programs))
    table = "static const std::vector<Program> programs = {\n" + "".join(map(table_entry, programs)) + "};\n"
    (folder / "programs.inc").write_text("".join(map(cpp, programs)) + table)
    scalars = {"seed": "81985529216486895", "step": "5", "row": "1000", "site": "2"}
    for p in programs:
        (folder / f"{p.name}.mlir").write_text(function(*flat_piece(p)))
        values = [tensor.quick(i + 1) for i, tensor in enumerate(p.tensors())] + [scalars[name] for name in p.scalars()]
        (folder / f"{p.name}.args").write_text(" ".join(f"--arg={value}" for value in values) + "\n")


if __name__ == "__main__":
    main()
