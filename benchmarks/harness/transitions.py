# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The transition of transitions.py in PyTorch, on the harness's arrays: called op by op, and compiled; forward, and backward by the
# graph of one forward. Streams are mixed and read by batched products, or by sums over an axis, as code in use has them.

import re
import types

from .compiled import Unavailable
from .peers import pytorch, timed
from .products.peers import bytes_at, first_line

PEERS = (("transitions", "PyTorch"), ("transitions", "PyTorchCompiled"))
FORMS = ("products", "sums")
EPSILON, ITERATIONS = 1e-6, 20
# How far results may be from resid's: the root of the mean square over that of the numbers. What is compiled does not round streams to
# bf16 in between, which moves the mix of some rows much.
TOLERANCES = {"f32": 1e-4, "bf16": 5e-2}


def sinkhorn(torch, logits):
    c = torch.softmax(logits, -1) + EPSILON
    c = c / (c.sum(-2, keepdim=True) + EPSILON)
    for _ in range(ITERATIONS - 1):
        c = c / (c.sum(-1, keepdim=True) + EPSILON)
        c = c / (c.sum(-2, keepdim=True) + EPSILON)
    return c


def transition_function(torch, transition, form):
    """A function of the arguments, in order, that returns the results. Coefficients and sums are f32."""
    streams, has_mix, has_coefficients = transition.streams, transition.has_mix, transition.count > 0

    def write(x, y, weights, mix):
        added = weights * y.float().unsqueeze(-2)
        if not has_mix:
            return x.float() + added
        if form == "products":
            return torch.baddbmm(added, mix.transpose(-1, -2), x.float())
        return added + (mix.unsqueeze(-1) * x.float().unsqueeze(-2)).sum(1)

    def read(wide, weights):
        if form == "products":
            return torch.matmul(weights.transpose(-1, -2), wide).squeeze(-2)
        return (weights * wide).sum(-2)

    def coefficients(wide, w, scale, base):
        flat = wide.flatten(-2)
        z = torch.nn.functional.linear(flat, w) * torch.rsqrt(flat.square().mean(-1, keepdim=True) + EPSILON)
        sizes = (streams, streams, streams * streams)[:2 + has_mix]
        return [part * scale[i] + shift for i, (part, shift) in enumerate(zip(z.split(sizes, -1), base.split(sizes)))]

    def run(x, y, gamma, weights, *others):
        mix = others[-1] if has_mix else None
        written = write(x, y, weights, mix).to(x.dtype)
        wide, more = written.float(), []
        if has_coefficients:
            pre, post, *logits = coefficients(wide, *others[:3])
            reading = torch.sigmoid(pre).unsqueeze(-1) + EPSILON
            more = [2 * torch.sigmoid(post).unsqueeze(-1), *(sinkhorn(torch, of.unflatten(-1, (streams, streams))) for of in logits)]
        else:
            reading = others[0]
        h = read(wide, reading).to(x.dtype)
        return written, torch.nn.functional.rms_norm(h, h.shape[-1:], gamma, EPSILON), *more

    return run


class PyTorch:
    """Its ops one after the other."""
    way = "PyTorch"

    def __init__(self, native, options):
        self.torch = pytorch.load(options)
        pytorch.keep_freed_memory()
        self.title = f"{self.way} {self.torch.__version__}"

    def prepare(self, function):
        return function

    def tensor(self, transition, arrays, name):
        *sizes, element = re.fullmatch(r"tensor<(.*)>", transition.types[name.removeprefix("d_")]).group(1).split("x")
        kind, sizes = {"f32": self.torch.float32, "bf16": self.torch.bfloat16}[element], list(map(int, sizes))
        count = self.torch.Size(sizes).numel()
        return self.torch.frombuffer(bytes_at(arrays[name], count * kind.itemsize), dtype=kind).view(sizes)

    def ways(self, transition, arrays, threads):
        """(Title, forward, backward) for each form. The results are those of resid, which stand in the arrays."""
        self.torch.set_num_threads(threads)
        for form in FORMS:
            try:
                yield self.make_ways(transition, arrays, threads, form)
            except Exception as error:  # whatever the compiler stack of PyTorch throws
                raise Unavailable(first_line(error)) from error

    def make_ways(self, transition, arrays, threads, form):
        torch, title = self.torch, f"{self.title}, {form}"
        function = self.prepare(transition_function(torch, transition, form))
        inputs = [self.tensor(transition, arrays, name) for name in transition.inputs]
        gradients = [self.tensor(transition, arrays, f"d_{name}") for name in transition.results]
        leaves = [tensor.detach().requires_grad_() for tensor in inputs]
        results = function(*leaves)

        def forward():
            with torch.no_grad():
                return function(*inputs)

        def backward():
            return torch.autograd.grad(results, leaves, gradients, retain_graph=True)
        names = [*transition.results, *(f"d_{name}" for name in transition.inputs)]
        for name, found in zip(names, (*forward(), *backward())):
            self.check(f"{transition.title}: {title}: {name}", found, self.tensor(transition, arrays, name), transition.element)
        return title, *(types.SimpleNamespace(time=timed(run, threads)) for run in (forward, backward))

    def check(self, what, found, expected, element):
        found, expected = found.double(), expected.double()
        distance = float(((found - expected).square().sum() / expected.square().sum()).sqrt())
        if not distance <= TOLERANCES[element]:
            raise SystemExit(f"{what}: expected resid's result to within {TOLERANCES[element]}, but it is off by {distance}")


class PyTorchCompiled(PyTorch):
    """torch.compile of the function, which compiles its backward too."""
    way = "torch.compile of PyTorch"

    def prepare(self, function):
        self.torch.compiler.reset()
        return self.torch.compile(function, dynamic=False)
