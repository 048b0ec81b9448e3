# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes residual sub-layers twice, as resid.block and as flat ops by the formula of their placement: every placement with
# every norm. All parameters, epsilons and dropout sites are distinct, so that one in another's place shows.
# Usage: write_blocks.py <element type> <folder>. Writes there: blocks.mlir, with @block_V and @flat_V for each variant V;
# V.args, their arguments for resid-run; V.names, what their results are, a line each; variants, all V.

import pathlib
import sys

PLACEMENTS = ["post", "pre", "branch_post", "peri", "post_shifted", "none"]
KINDS = ["layer", "rms", "dyt"]
ROWS, WIDTH = 37, 33
# The gate's sizes by norm, to have each of them once.
GATES = {"layer": f"{WIDTH}x", "rms": "", "dyt": "?x1x"}
EPSILONS = {1: "1.0e-5", 2: "1.0e-3"}


class Writer:
    """The text of one function: `variant` says what clauses and which branch its sub-layers have."""

    def __init__(self, element, variant):
        self.element, self.variant, self.lines, self.count = element, variant, [], 0
        self.parameter = "f64" if element == "f64" else "f32"
        self.stream = f"tensor<?x{WIDTH}x{element}>"
        self.vector = f"tensor<{WIDTH}x{self.parameter}>"
        self.input = f"tensor<?x{WIDTH}xbf16>" if variant == "narrow" else self.stream

    def emit(self, text):
        self.count += 1
        self.lines.append(f"  %v{self.count} = {text}")
        return f"%v{self.count}"

    def affine(self, placement):
        return self.variant in ("full", "narrow") and placement != "none"

    def scales(self, placement):
        parts = ["skip_scale = 1.2", "branch_scale = 0.5"] if self.variant == "full" else []
        return parts + (["narrow_affine"] if self.affine(placement) else [])

    def branch(self, h):
        """What stands between the branch's input and its output, with values from above."""
        if self.variant == "linear":
            return self.emit(f"linalg.matmul ins({h}, %w : {self.stream}, tensor<{WIDTH}x{WIDTH}x{self.element}>) "
                             f"outs(%zeros : {self.stream}) -> {self.stream}")
        if self.variant == "narrow":
            f = self.emit(f"arith.addf {h}, %memory : {self.input}")
            return self.emit(f"arith.extf {f} : {self.input} to {self.stream}")
        f = self.emit(f"arith.addf {h}, %memory : {self.stream}")
        return self.emit(f"math.tanh {f} : {self.stream}") if self.variant == "full" else f

    def function(self, name, values):
        arguments = [f"%x: {self.stream}", f"%memory: {self.input}",
                     f"%w: tensor<{WIDTH}x{WIDTH}x{self.element}>"]
        arguments += [f"%{p}{i}: {self.vector}" for i in (1, 2) for p in ("gamma", "beta")]
        arguments += [f"%alpha{i}: tensor<{self.parameter}>" for i in (1, 2)]
        arguments += [f"%gate_{kind}: tensor<{GATES[kind]}{self.parameter}>" for kind in KINDS]
        arguments += [f"%{scalar}: i64" for scalar in ("seed", "step", "row", "layer")]
        types = ", ".join([self.stream] * len(values))
        zeros = ["  %c0 = arith.constant 0 : index", f"  %zero = arith.constant 0.0 : {self.element}",
                 f"  %rows = tensor.dim %x, %c0 : {self.stream}", f"  %empty = tensor.empty(%rows) : {self.stream}",
                 f"  %zeros = linalg.fill ins(%zero : {self.element}) outs(%empty : {self.stream}) -> {self.stream}"]
        lines = (zeros if self.variant == "linear" else []) + self.lines + [f"  return {', '.join(values)} : {types}"]
        return f"func.func @{name}_{self.variant}({', '.join(arguments)})\n    -> ({types}) {{\n" + "\n".join(lines) + "\n}\n"


class BlockWriter(Writer):
    """Sub-layers as resid.block."""

    def norm(self, kind, i):
        clauses = {
            "layer": f"layer gamma %gamma{i} : {self.vector} beta %beta{i} : {self.vector} epsilon = {EPSILONS[i]}",
            "rms": f"rms gamma %gamma{i} : {self.vector} epsilon = {EPSILONS[i]}"
                   + (" zero_centered_gamma" if self.variant == "full" else ""),
            "dyt": f"dyt alpha %alpha{i} : tensor<{self.parameter}> gamma %gamma{i} : {self.vector} beta %beta{i} : {self.vector}",
        }
        return f" norm({clauses[kind]})"

    def sublayer(self, placement, kinds, site):
        norms = {"none": "", "peri": self.norm(kinds[0], 1) + self.norm(kinds[1], 2)}
        text = f"resid.block {placement} %x" + norms.get(placement, self.norm(kinds[0], 1))
        if self.variant == "full":
            text += f" dropout(0.3, site {site}, seed %seed, step %step, origin %row %layer)"
            text += f" gate(%gate_{kinds[0]} : tensor<{GATES[kinds[0]]}{self.parameter}>)"
        if self.variant == "linear":
            text += f" dropout(0.1, site {site}, seed %seed, step %step)"
        scales = ", ".join(self.scales(placement))
        y = self.emit(text + (f" {{{scales}}}" if scales else "") + f" : {self.stream} {{")
        self.lines.append(f"  ^bb0(%h{site}: {self.input}):")
        self.lines.append(f"  resid.yield {self.branch(f'%h{site}')} : {self.stream}\n  }}")
        return y


class FlatWriter(Writer):
    """Sub-layers by the formula of their placement."""

    def norm(self, kind, i, x, narrow=False):
        attributes = [] if kind == "dyt" else [f"epsilon = {EPSILONS[i]}"]
        attributes += ["narrow_affine"] if self.affine("") else []
        attributes += ["zero_centered_gamma"] if kind == "rms" and self.variant == "full" else []
        attributes = f" {{{', '.join(attributes)}}}" if attributes else ""
        arrow = f" -> {self.input}" if narrow and self.input != self.stream else ""
        v = self.vector
        return self.emit({
            "layer": f"resid.layer_norm {x} gamma(%gamma{i}) beta(%beta{i}){attributes} : {self.stream}, {v}, {v}{arrow}",
            "rms": f"resid.rms_norm {x} gamma(%gamma{i}){attributes} : {self.stream}, {v}{arrow}",
            "dyt": f"resid.dyt {x} alpha(%alpha{i}) gamma(%gamma{i}) beta(%beta{i}){attributes} "
                   f": {self.stream}, tensor<{self.parameter}>, {v}, {v}{arrow}",
        }[kind])

    def residual(self, kind, site, x, f):
        if self.variant == "full":
            f = self.emit(f"resid.dropout {f} seed(%seed, %step) origin(%row, %layer) {{p = 0.3, site = {site}}} : {self.stream}")
            return self.emit(f"resid.add {x}, {f} gate(%gate_{kind}) {{skip_scale = 1.2, branch_scale = 0.5}} "
                             f": {self.stream}, tensor<{GATES[kind]}{self.parameter}>")
        if self.variant == "linear":
            f = self.emit(f"resid.dropout {f} seed(%seed, %step) {{p = 0.1, site = {site}}} : {self.stream}")
        return self.emit(f"resid.add {x}, {f} : {self.stream}")

    def sublayer(self, placement, kinds, site):
        if placement == "post":
            return self.norm(kinds[0], 1, self.residual(kinds[0], site, "%x", self.branch("%x")))
        if placement == "pre":
            return self.residual(kinds[0], site, "%x", self.branch(self.norm(kinds[0], 1, "%x", narrow=True)))
        if placement == "branch_post":
            return self.residual(kinds[0], site, "%x", self.norm(kinds[0], 1, self.branch("%x")))
        if placement == "peri":
            f = self.branch(self.norm(kinds[0], 1, "%x", narrow=True))
            return self.residual(kinds[0], site, "%x", self.norm(kinds[1], 2, f))
        if placement == "post_shifted":
            h = self.norm(kinds[0], 1, "%x")
            return self.residual(kinds[0], site, h, self.branch(h))
        return self.residual(kinds[0], site, "%x", self.branch("%x"))


def main():
    element, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    variants = ["plain", "full"] + (["linear", "narrow"] if element == "f32" else [])
    parameter = "f64" if element == "f64" else "f32"
    functions = []
    for variant in variants:
        placements = ["pre", "peri"] if variant == "narrow" else PLACEMENTS
        names = [(placement, kind) for placement in placements for kind in KINDS]
        for name, writer in (("block", BlockWriter(element, variant)), ("flat", FlatWriter(element, variant))):
            values = [writer.sublayer(placement, (kind, KINDS[KINDS.index(kind) - 2]), site)
                      for site, (placement, kind) in enumerate(names)]
            functions.append(writer.function(name, values))
        memory = "bf16" if variant == "narrow" else element
        shapes = [f"{element}[{ROWS}x{WIDTH}]", f"{memory}[{ROWS}x{WIDTH}]", f"{element}[{WIDTH}x{WIDTH}]"]
        shapes += [f"{parameter}[{WIDTH}]"] * 4
        arguments = [f"--arg={shape}=random:{i}" for i, shape in enumerate(shapes, 1)]
        arguments += [f"--arg={parameter}[]={alpha}" for alpha in (0.7, 1.3)]
        gates = [f"[{WIDTH}]=random:8", "[]=0.9", f"[{ROWS}x1]=random:9"]
        arguments += [f"--arg={parameter}{gate}" for gate in gates] + [f"--arg={n}" for n in (81985529216486895, 7, 5, 100)]
        (folder / f"{variant}.args").write_text("\n".join(arguments) + "\n")
        (folder / f"{variant}.names").write_text("".join(f"{placement}_{kind}\n" for placement, kind in names))
    (folder / "blocks.mlir").write_text("\n".join(functions))
    (folder / "variants").write_text("\n".join(variants) + "\n")


if __name__ == "__main__":
    main()
