# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes loops over layers twice: as scf.for over stacked parameters, and as the same layers one after the other, each with
# its own number. Every layer has other parameters and another dropout mask, so that one in another's place shows.
# Usage: write_loops.py <element type> <folder>. Writes there: loops.mlir, with @loops and @layers; args, their arguments for
# resid-run; names, what their results are, a line each.

import pathlib
import sys

ROWS, WIDTH, LAYERS = 19, 33, 16
FIRST, STEP = 2, 3
TRIPS = [1, 2, 5]


class Writer:
    def __init__(self, element):
        self.element, self.lines, self.count, self.isLoop = element, [], 0, False
        self.parameter = "f64" if element == "f64" else "f32"
        self.stream = f"tensor<?x{WIDTH}x{element}>"
        self.vector = f"tensor<{WIDTH}x{self.parameter}>"
        self.stack = f"tensor<{LAYERS}x{WIDTH}x{self.parameter}>"
        self.matrices = f"tensor<{LAYERS}x{WIDTH}x{WIDTH}x{element}>"
        self.matrix = f"tensor<{WIDTH}x{WIDTH}x{element}>"

    def emit(self, text, results=1):
        self.count += 1
        name = f"%v{self.count}"
        self.lines.append(f"  {name}{f':{results}' if results > 1 else ''} = {text}")
        return name if results == 1 else [f"{name}#{i}" for i in range(results)]

    def row(self, stack, i):
        """Line i of a stack of vectors."""
        return self.emit(f"tensor.extract_slice %{stack}[{i}, 0] [1, {WIDTH}] [1, 1] : {self.stack} to {self.vector}")

    def norm(self, kind, x, i, k=""):
        g, b, v = self.row(f"gamma{k}", i), self.row(f"beta{k}", i), self.vector
        if kind == "layer":
            return self.emit(f"resid.layer_norm {x} gamma({g}) beta({b}) {{epsilon = 1.0e-5}} : {self.stream}, {v}, {v}")
        return self.emit(f"resid.rms_norm {x} gamma({g}) {{epsilon = 1.0e-6}} : {self.stream}, {v}")

    def linear(self, h, i):
        w = self.emit(f"tensor.extract_slice %w[{i}, 0, 0] [1, {WIDTH}, {WIDTH}] [1, 1, 1] : {self.matrices} to {self.matrix}")
        f = self.emit(f"linalg.matmul ins({h}, {w} : {self.stream}, {self.matrix}) outs(%zeros : {self.stream}) -> {self.stream}")
        return self.emit(f"math.tanh {f} : {self.stream}")

    def dropout(self, f, i, site, width=None):
        layer = self.emit(f"arith.index_cast {i} : index to i64")
        kind = self.stream if width is None else f"tensor<?x{width}x{self.element}>"
        return self.emit(f"resid.dropout {f} seed(%seed, %step) origin(%row, {layer}) {{p = 0.3, site = {site}}} : {kind}")

    def add(self, x, f, gate="", gateType="", scales=""):
        gate = f" gate({gate})" if gate else ""
        return self.emit(f"resid.add {x}, {f}{gate}{scales} : {self.stream}{', ' + gateType if gateType else ''}")

    # One layer of each kind: from the state that goes in to the state that comes out; i is its number.

    def layer_plain(self, i, x):
        h = self.emit(f"resid.rms_norm {x} {{epsilon = 1.0e-6}} : {self.stream}")
        return [self.add(x, self.linear(h, i))]

    def layer_full(self, i, x):
        f = self.linear(self.norm("layer", x, i), i)
        bias, gate = self.row("bias", i), self.row("gate", i)
        f = self.emit(f"resid.add_bias {f}, {bias} : {self.stream}, {self.vector}")
        return [self.add(x, self.dropout(f, i, 3), gate, self.vector, " {skip_scale = 0.9, branch_scale = 0.5}")]

    def layer_two(self, i, x):
        """Attention and MLP: blocks in the loop, flat ops by their formula outside."""
        if not self.isLoop:
            f = self.dropout(self.linear(self.norm("layer", x, i), i), i, 5)
            y = self.add(x, f, self.row("gate", i), self.vector)
            f = self.dropout(self.linear(self.norm("rms", y, i, "2"), i), i, 6)
            return [self.add(y, f, scales=" {branch_scale = 0.25}")]
        g, b, g2, gate, v = self.row("gamma", i), self.row("beta", i), self.row("gamma2", i), self.row("gate", i), self.vector
        layer = self.emit(f"arith.index_cast {i} : index to i64")
        y = self.block(f"{x} norm(layer gamma {g} : {v} beta {b} : {v} epsilon = 1.0e-5) dropout(0.3, site 5, seed %seed, "
                       f"step %step, origin %row {layer}) gate({gate} : {v})", i)
        return [self.block(f"{y} norm(rms gamma {g2} : {v} epsilon = 1.0e-6) dropout(0.3, site 6, seed %seed, step %step, "
                           f"origin %row {layer}) {{branch_scale = 0.25}}", i)]

    def block(self, clauses, i):
        y = self.emit(f"resid.block pre {clauses} : {self.stream} {{")
        h = f"%h{self.count}"
        self.lines.append(f"  ^bb0({h}: {self.stream}):")
        self.lines.append(f"  resid.yield {self.linear(h, i)} : {self.stream}\n  }}")
        return y

    def layer_drop_path(self, i, x):
        """A gate per row, drawn by the number of the layer."""
        f = self.linear(self.norm("rms", x, i), i)
        return [self.add(x, f, self.dropout("%ones", i, 9, width=1), f"tensor<?x1x{self.element}>")]

    def layer_gate_of_stream(self, i, x):
        """A gate made from the normalised stream; it does not follow from the number of the layer."""
        h = self.norm("layer", x, i)
        gate = self.emit(f"math.tanh {h} : {self.stream}")
        return [self.add(x, self.dropout(self.linear(h, i), i, 4), gate, self.stream)]

    def layer_peri(self, i, x):
        f = self.norm("rms", self.linear(self.norm("layer", x, i), i), i, "2")
        return [self.add(x, self.dropout(f, i, 8))]

    def layer_narrow(self, i, x):
        if self.element != "f32":
            return self.layer_peri(i, x)
        narrow = f"tensor<?x{WIDTH}xbf16>"
        f = self.emit(f"arith.truncf {self.linear(self.norm('rms', x, i), i)} : {self.stream} to {narrow}")
        return [self.add(x, self.dropout(self.emit(f"arith.extf {f} : {narrow} to {self.stream}"), i, 2))]

    def layer_memory(self, i, x, memory):
        """A second carried value that the branch reads and replaces."""
        h = self.norm("layer", x, i)
        new = self.emit(f"arith.addf {memory}, {h} : {self.stream}")
        return [self.add(x, self.dropout(self.linear(new, i), i, 7)), new]

    KINDS = ["plain", "full", "two", "drop_path", "gate_of_stream", "peri", "narrow", "memory"]

    def layer(self, kind, i, state):
        return getattr(self, f"layer_{kind}")(i, *state)

    def loop(self, kind, trips, state, bound=None, outer=None):
        """Layers FIRST, FIRST + STEP, …, as a loop; `outer` numbers a loop around it."""
        end = bound or f"%c{FIRST + STEP * trips - 1}"
        types = ", ".join([self.stream] * len(state))
        results = self.emit("", len(state))
        n = self.count
        arguments = [f"%s{n}_{k}" for k in range(len(state))]
        carried = ", ".join(f"{a} = {v}" for a, v in zip(arguments, state))
        self.lines[-1] += f"scf.for %i{n} = %c{FIRST} to {end} step %c{STEP} iter_args({carried}) -> ({types}) {{"
        number = f"%i{n}" if outer is None else self.emit(f"arith.addi %i{n}, {outer} : index")
        new = self.layer(kind, number, arguments)
        self.lines.append(f"  scf.yield {', '.join(new)} : {types}\n  }}")
        return results if len(state) > 1 else [results]

    def nested_loop(self, state):
        result = self.emit("")
        n = self.count
        self.lines[-1] += f"scf.for %i{n} = %c0 to %c2 step %c1 iter_args(%s{n} = {state[0]}) -> ({self.stream}) {{"
        new = self.loop("full", 3, [f"%s{n}"], outer=f"%i{n}")
        self.lines.append(f"  scf.yield {new[0]} : {self.stream}\n  }}")
        return [result]

    def layers(self, kind, numbers, state):
        for number in numbers:
            state = self.layer(kind, f"%c{number}", state)
        return state

    def function(self, isLoop):
        self.lines, self.count, self.isLoop = [], 0, isLoop
        values, names = [], []

        def result(name, state):
            values.extend(state)
            names.extend(f"{name}_{k}" for k in range(len(state)))

        for kind in self.KINDS:
            state = ["%x", "%memory"] if kind == "memory" else ["%x"]
            for trips in TRIPS:
                numbers = range(FIRST, FIRST + STEP * trips, STEP)
                result(f"{kind}_{trips}", self.loop(kind, trips, state) if isLoop else self.layers(kind, numbers, state))
        numbers = [FIRST + STEP * inner + outer for outer in range(2) for inner in range(3)]
        result("nested", self.nested_loop(["%x"]) if isLoop else self.layers("full", numbers, ["%x"]))
        # A bound that is known at run time alone, but not to be below the first layer's number.
        numbers = range(FIRST, 11, STEP)
        result("open_bound", self.loop("full", None, ["%x"], "%bound") if isLoop else self.layers("full", numbers, ["%x"]))
        arguments = [f"%x: {self.stream}", f"%memory: {self.stream}", f"%ones: tensor<?x1x{self.element}>", f"%w: {self.matrices}"]
        arguments += [f"%{name}: {self.stack}" for name in ("gamma", "beta", "gamma2", "beta2", "bias", "gate")]
        arguments += [f"%{scalar}: i64" for scalar in ("seed", "step", "row")] + ["%end: index"]
        types = ", ".join([self.stream] * len(values))
        lines = [f"  %c{n} = arith.constant {n} : index" for n in range(FIRST + STEP * max(TRIPS))]
        lines += [f"  %bound = arith.maxsi %end, %c3 : index", f"  %zero = arith.constant 0.0 : {self.element}",
                  f"  %rows = tensor.dim %x, %c0 : {self.stream}", f"  %empty = tensor.empty(%rows) : {self.stream}",
                  f"  %zeros = linalg.fill ins(%zero : {self.element}) outs(%empty : {self.stream}) -> {self.stream}"]
        lines += self.lines + [f"  return {', '.join(values)} : {types}"]
        name = "loops" if isLoop else "layers"
        return f"func.func @{name}({', '.join(arguments)})\n    -> ({types}) {{\n" + "\n".join(lines) + "\n}\n", names


def main():
    element, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    writer = Writer(element)
    loops, names = writer.function(True)
    layers, _ = writer.function(False)
    (folder / "loops.mlir").write_text(loops + "\n" + layers)
    (folder / "names").write_text("".join(f"{name}\n" for name in names))
    shapes = [f"{element}[{ROWS}x{WIDTH}]=random:1", f"{element}[{ROWS}x{WIDTH}]=random:2", f"{element}[{ROWS}x1]=1",
              f"{element}[{LAYERS}x{WIDTH}x{WIDTH}]=random:3"]
    shapes += [f"{writer.parameter}[{LAYERS}x{WIDTH}]=random:{seed}" for seed in range(4, 10)]
    shapes += ["81985529216486895", "7", "5", "11"]
    (folder / "args").write_text("".join(f"--arg={shape}\n" for shape in shapes))


if __name__ == "__main__":
    main()
