# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The same GPT and AdamW in PyTorch: called op by op, and compiled. What is not installed says so.

from . import model
from .ways import BETAS, DECAY, EPSILON
from ..compiled import Unavailable
from ..peers import pytorch
from ..products.peers import bytes_at, first_line

PEERS = (("peers", "PyTorch"), ("peers", "PyTorchCompiled"))


def attend(torch, x, w, layer, dropout):
    functional, (rows, tokens, width) = torch.nn.functional, x.shape
    q, k, v = (functional.linear(x, w[f"{name}{layer}"]).view(rows, tokens, model.HEADS, width // model.HEADS).transpose(1, 2)
               for name in ("query", "key", "value"))
    y = functional.scaled_dot_product_attention(q, k, v, dropout_p=dropout, is_causal=True)
    return functional.linear(y.transpose(1, 2).reshape(rows, tokens, width), w[f"out{layer}"], w[f"out_bias{layer}"])


def feed_forward(torch, x, w, layer):
    functional = torch.nn.functional
    inner = functional.gelu(functional.linear(x, w[f"up{layer}"], w[f"up_bias{layer}"]))
    return functional.linear(inner, w[f"down{layer}"], w[f"down_bias{layer}"])


def compute_loss(torch, before, following, w, case):
    """The mean of the losses, as gpt.mlir has them."""
    functional = torch.nn.functional

    def norm(x, name):
        return functional.layer_norm(x, x.shape[-1:], w[f"{name}_gamma{number}"], w[f"{name}_beta{number}"], model.EPSILON)

    def drop(x):
        return functional.dropout(x, case.dropout) if case.dropout > 0 else x

    x = drop(functional.embedding(before, w["table"]) + w["table_of_positions"])
    for number in range(2 * case.layers):
        layer = number // 2
        h = norm(x, "norm") if case.placement == "pre" else x
        h = feed_forward(torch, h, w, layer) if number % 2 else attend(torch, h, w, layer, case.dropout)
        x = x + drop(h)
        if case.placement == "post":
            x = norm(x, "norm")
    number = ""
    if case.placement == "pre":
        x = norm(x, "last_norm")
    logits = functional.linear(x, w["head"])
    return functional.cross_entropy(logits.view(-1, model.BYTES), following.view(-1))


class Trainer:
    """Weights of its own, with the contents of the harness's."""
    group = "peer"

    def __init__(self, peer, case, arrays):
        self.torch, self.name, self.title, self.arrays = peer.torch, peer.name, peer.way, arrays
        self.before, self.following = (self.tensor(name, 0, (case.rows, model.TOKENS), self.torch.int32).long()
                                       for name in ("before", "next"))
        self.weights = {weight.name: self.tensor("initial", offset, weight.shape).clone().requires_grad_()
                        for weight, offset in zip(arrays.weights, arrays.offsets)}
        self.function = peer.prepare(lambda before, following, weights: compute_loss(self.torch, before, following, weights, case))
        self.last, self.optimizer = None, None

    def tensor(self, name, offset, shape, kind=None):
        count = 1
        for size in shape:
            count *= size
        return self.torch.frombuffer(bytes_at(self.arrays[name] + offset, 4 * count), dtype=kind or self.torch.float32).view(shape)

    def start(self):
        with self.torch.no_grad():
            for weight, offset in zip(self.arrays.weights, self.arrays.offsets):
                self.weights[weight.name].copy_(self.tensor("initial", offset, weight.shape))
        matrices, vectors = ([w for w in self.weights.values() if (w.dim() > 1) == is_matrix] for is_matrix in (True, False))
        self.optimizer = self.torch.optim.AdamW(
            [{"params": matrices, "weight_decay": DECAY}, {"params": vectors, "weight_decay": 0.0}],
            betas=BETAS, eps=EPSILON, fused=True)

    def forward(self):
        """The losses in training: what the backward reads is saved."""
        return self.function(self.before, self.following, self.weights)

    def differentiate(self):
        self.optimizer.zero_grad(set_to_none=True)
        self.last = self.forward()
        self.last.backward()

    def updater(self, rate, step):
        """It counts steps itself."""
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        return self.optimizer.step

    def loss(self):
        return float(self.last)

    def fetch_gradients(self, into):
        for weight, offset in zip(self.arrays.weights, self.arrays.offsets):
            place, gradient = self.tensor(into, offset, weight.shape), self.weights[weight.name].grad
            if gradient is None:
                place.zero_()
            else:
                place.copy_(gradient)

    def saved_bytes(self):
        """What the forward keeps for the backward: each storage once, without weights and the batch."""
        known = {tensor.untyped_storage().data_ptr() for tensor in (*self.weights.values(), self.before, self.following)}
        found = {}

        def note(tensor):
            storage = tensor.untyped_storage()
            if storage.data_ptr() not in known:
                found[storage.data_ptr()] = storage.nbytes()
            return tensor
        with self.torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
            kept = self.forward()
        total = sum(found.values())
        del kept
        return total


class PyTorch:
    name, way = "pytorch", "PyTorch"

    def __init__(self, native, options):
        self.torch = pytorch.load(options)
        pytorch.keep_freed_memory()
        self.title = f"{self.way} {self.torch.__version__}"
        self.trainers = {}

    def prepare(self, function):
        return function

    def trainer(self, case, arrays):
        self.torch.set_num_threads(case.threads)
        if case not in self.trainers:
            self.trainers[case] = Trainer(self, case, arrays)
        return self.trainers[case]


class PyTorchCompiled(PyTorch):
    """torch.compile of the losses, which compiles their backward too; AdamW is PyTorch's fused kernel, as without it."""
    name, way = "pytorch-compiled", "PyTorch, compiled"

    def prepare(self, function):
        try:
            self.torch.compiler.reset()
            return self.torch.compile(function, dynamic=False)
        except Exception as error:  # whatever the compiler stack of PyTorch throws
            raise Unavailable(first_line(error)) from error

    def trainer(self, case, arrays):
        is_new = case not in self.trainers
        found = super().trainer(case, arrays)
        if is_new:
            try:
                found.start()
                found.differentiate()
            except Exception as error:
                del self.trainers[case]
                raise Unavailable(first_line(error)) from error
        return found
