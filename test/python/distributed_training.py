# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A small Transformer whose residual stream runs in resid's ops, trained for 20 steps of SGD in one process and in several,
# split in each of the ways that docs/distributed.md names. Not: what is compared.

import os

import torch
import torch.distributed as dist
import torch.multiprocessing
import torch.nn.functional as F
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_module, distribute_tensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.nn.parallel import DistributedDataParallel

import resid.torch as rt
from resid.torch import distributed

BATCH, SEQUENCE, WIDTH, HEADS, LAYERS, STEPS, RATE = 8, 16, 32, 4, 2, 20, 0.05
RANKS = (4, 2)


class Layer(nn.Module):
    """Post-norm; `join` is what follows a branch: dropout, residual add and norm."""

    def __init__(self, number):
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.norm1 = rt.DropoutAddNorm(WIDTH, 0.2, seed=7, site=2 * number)
        self.norm2 = rt.DropoutAddNorm(WIDTH, 0.2, seed=7, site=2 * number + 1)

    def forward(self, x, gather=lambda h: h, join=lambda norm, x, f: norm(x, f)):
        h = gather(x)
        q, k, v = (part(h).unflatten(-1, (-1, WIDTH // HEADS)).transpose(1, 2) for part in (self.q, self.k, self.v))
        weights = torch.softmax(q @ k.transpose(-1, -2) / (WIDTH // HEADS) ** 0.5, dim=-1)
        x = join(self.norm1, x, self.out((weights @ v).transpose(1, 2).flatten(2)))
        return join(self.norm2, x, self.down(F.gelu(self.up(gather(x)))))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.ModuleList(Layer(number) for number in range(LAYERS))

    def forward(self, x, **options):
        for layer in self.layers:
            x = layer(x, **options)
        return x


def draw(step):
    """The input and the target of a step."""
    source = torch.Generator().manual_seed(1000 + step)
    return torch.randn(2, BATCH, SEQUENCE, WIDTH, generator=source)


def loss_of(y, target):
    """The mean over the features and positions, of each sample; then over the samples."""
    return ((y - target) ** 2).mean((1, 2)).mean()


def train(model, step_of, parameters=None):
    """The losses of the steps, and the parameters after them. `step_of` makes the gradients of a step and gives its loss."""
    optimizer = torch.optim.SGD(model.parameters() if parameters is None else parameters, lr=RATE)
    losses = []
    for step in range(STEPS):
        optimizer.zero_grad()
        losses.append(step_of(step))
        optimizer.step()
    weights = {}
    for name, value in model.named_parameters():
        value = value.full_tensor() if isinstance(value, DTensor) else value
        weights[name.removeprefix("module.")] = value.detach().clone()
    return {"losses": torch.stack(losses), "weights": weights}


def train_alone(parts=1):
    """One process. With parts, a step takes so many micro-batches in order and takes the mean of their gradients."""
    model = Transformer()
    shape, share = (BATCH, SEQUENCE, WIDTH), BATCH // parts

    def step_of(step):
        x, target = draw(step)
        losses = []
        for part in range(parts):
            rows = slice(part * share, (part + 1) * share)
            distributed.place(model, (share, *shape[1:]), (part * share, 0, 0), shape)
            for norm in model.modules():
                if isinstance(norm, rt.DropoutState):
                    norm.seed_and_step[1] = step
            loss = loss_of(model(x[rows]), target[rows])
            (loss / parts).backward()
            losses.append(loss.detach())
        return torch.stack(losses).sum() / parts

    return train(model, step_of)


def _data_parallel(wrap):
    ranks, rank = dist.get_world_size(), dist.get_rank()
    share = BATCH // ranks
    model = Transformer()
    distributed.place(model, (share, SEQUENCE, WIDTH), (rank * share, 0, 0), (BATCH, SEQUENCE, WIDTH))
    model = wrap(model)

    def step_of(step):
        x, target = draw(step)[:, rank * share:(rank + 1) * share]
        loss = loss_of(model(x), target)
        loss.backward()
        total = loss.detach()
        dist.all_reduce(total)
        return total / ranks

    return train(model, step_of)


def train_ddp():
    return _data_parallel(DistributedDataParallel)


def train_fsdp():
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))

    def wrap(model):
        for layer in model.layers:
            fully_shard(layer, mesh=mesh)
        return fully_shard(model, mesh=mesh)

    return _data_parallel(wrap)


def _linear_plan(rowwise):
    plan = {f"layers.*.{name}": ColwiseParallel() for name in ("q", "k", "v", "up")}
    return plan | {f"layers.*.{name}": rowwise for name in ("out", "down")}


def train_tensor_parallel():
    """Heads and hidden features are split; the stream is whole in each process."""
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    model = parallelize_module(Transformer(), mesh, _linear_plan(RowwiseParallel()))

    def step_of(step):
        x, target = draw(step)
        loss = loss_of(model(x), target)
        loss.backward()
        return loss.detach()

    return train(model, step_of)


def train_sequence_parallel():
    """As tensor parallel, but the stream is split by positions: a DTensor. Sums of branches are split as they are made."""
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    model = parallelize_module(Transformer(), mesh, _linear_plan(RowwiseParallel(use_local_output=False)))
    for layer in model.layers:
        for name, part in layer.named_children():
            if name.startswith("norm"):
                distribute_module(part, mesh)

    def gather(x):
        return x.redistribute(mesh, [Replicate()])

    def join(norm, x, f):
        y, _ = distributed.dropout_add_norm(x, f, norm.weight, norm.bias, state=norm.dropout(), p=norm.p, site=norm.site,
                                            epsilon=norm.eps)
        return y

    def step_of(step):
        x, target = (distribute_tensor(part, mesh, [Shard(1)]) for part in draw(step))
        y = model(x, gather=gather, join=join)
        loss = loss_of(y, target).full_tensor()
        loss.backward()
        return loss.detach()

    return train(model, step_of)


WAYS = {"ddp": train_ddp, "fsdp": train_fsdp, "tensor": train_tensor_parallel, "sequence": train_sequence_parallel}


def run(rank, folder):
    """Trains as process `rank` of each number of processes. The same ones serve all: to start them takes longest."""
    torch.set_num_threads(1)
    for ranks in RANKS:
        if rank < ranks:
            train_together(rank, ranks, folder)
    os._exit(0)  # threads of PyTorch that still run when the interpreter ends would abort the process, now and then


def train_together(rank, ranks, folder):
    """Trains in every way as process `rank` of `ranks`; the first one writes what came out."""
    store = dist.FileStore(os.path.join(folder, f"store{ranks}"), ranks)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=ranks)
    results = {name: way() for name, way in WAYS.items()}
    results["masks"], results["rules"] = join_partial_branches(ranks, rank), follow_rules(ranks)
    if rank == 0:
        torch.save(results, os.path.join(folder, f"results{ranks}.pt"))
    dist.barrier()
    dist.destroy_process_group()


def join_partial_branches(ranks, rank):
    """reduce_scatter_add_norm on exact numbers: the whole's results and gradients, as one process has them, beside these."""
    source = torch.Generator().manual_seed(5)
    x = torch.randint(-8, 8, (2, SEQUENCE, WIDTH), generator=source).float()
    partials = torch.randint(-8, 8, (ranks, 2, SEQUENCE, WIDTH), generator=source).float()
    dy = torch.randint(-8, 8, x.shape, generator=source).float()
    weight, bias = torch.randn(2, WIDTH, generator=source)
    state, options = torch.tensor([3, 4]), {"p": 0.5, "norm": "rms", "site": 6}
    whole, total = partials.sum(0).requires_grad_(), None
    y, total = rt.dropout_add_norm(x, whole, weight, state=state, **options)
    wanted = torch.autograd.grad((y, total), whole, (dy, dy))[0]
    own = slice(rank * SEQUENCE // ranks, (rank + 1) * SEQUENCE // ranks)
    found = [bool((total == x).any())]
    for pieces in (1, 2):
        partial = partials[rank].clone().requires_grad_()
        got = distributed.reduce_scatter_add_norm(x[:, own], partial, weight, state=state, pieces=pieces, **options)
        gradient = torch.autograd.grad(got, partial, (dy[:, own], dy[:, own]))[0]
        found += [torch.equal(got[0], y[:, own]), torch.equal(got[1], total[:, own]), torch.equal(gradient, wanted)]
    same = torch.tensor(found).int()
    dist.all_reduce(same, dist.ReduceOp.MIN)
    return same.tolist()


def follow_rules(ranks):
    """Layer norm and add of DTensors split by rows, and by features, beside the same in one process: what is as it should be."""
    mesh = init_device_mesh("cpu", (ranks,))
    source = torch.Generator().manual_seed(9)
    x, f, dy = torch.randn(3, 4, SEQUENCE, WIDTH, generator=source)
    weight, bias = torch.randn(2, WIDTH, generator=source)
    leaves = [leaf.clone().requires_grad_() for leaf in (x, f, weight, bias)]
    y, _ = rt.dropout_add_norm(*leaves)
    wanted = torch.autograd.grad(y, leaves, dy)
    found = []
    for placement in (Shard(0), Shard(1)):
        split = [distribute_tensor(part, mesh, [placement]) for part in (x, f, dy)]
        whole = [distribute_tensor(part, mesh, [Replicate()]) for part in (weight, bias)]
        own = [leaf.requires_grad_() for leaf in (*split[:2], *whole)]
        z, _ = rt.dropout_add_norm(*own)
        got = torch.autograd.grad(z, own, split[2])
        found.append(z.placements == (placement,) and torch.equal(z.full_tensor(), y) and got[0].placements == (placement,))
        found.append(all(torch.allclose(a.full_tensor(), b, rtol=1e-5, atol=1e-5) for a, b in zip(got, wanted)))
    features = distribute_tensor(x, mesh, [Shard(2)])
    found.append(torch.equal(rt.layer_norm(features, whole[0], whole[1]).full_tensor(), rt.layer_norm(x, weight, bias)))
    same = torch.tensor(found).int()
    dist.all_reduce(same, dist.ReduceOp.MIN)
    return same.tolist()


def start(folder):
    """The results of each number of processes."""
    torch.multiprocessing.spawn(run, (str(folder),), max(RANKS))
    return {ranks: torch.load(os.path.join(folder, f"results{ranks}.pt")) for ranks in RANKS}
