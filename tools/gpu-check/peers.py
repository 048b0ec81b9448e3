#!/usr/bin/env python3
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Times the blocks of gpu-check beside what PyTorch and its libraries have for the same, in one process and on the same
# tensors. Usage: peers.py LIBRARY; the library is the runner as a shared one. Each line of standard input is a request,
# `peer MEGABYTES SAMPLES COMPILED BLOCK`, where COMPILED is 1 for torch.compile too. Answers with lines of CSV and `end`.

import ctypes
import importlib
import math
import statistics
import sys

import whole_programs

CALLS = 10  # between two events: enough that the events cost nothing
DROPOUT = 0.1
# How far a result may be from resid's, in parts of its largest element: what is further off is another function.
TOLERANCE = {"f32": 1e-4, "bf16": 4e-2}


class Block:
    """y = norm(x + dropout(f)) and s = x + dropout(f), or the gradients of both; its name is KIND_TYPE_WIDTH."""

    def __init__(self, name):
        self.name = name
        self.kind, self.element, width = name.rsplit("_", 2)
        self.width = int(width)
        self.is_backward = self.kind.endswith("_backward")
        norm = self.kind.removesuffix("_backward")
        self.has_dropout = not norm.startswith("add_")
        self.is_layer = norm.endswith("layer")
        self.epsilon = 1e-5 if self.is_layer else 1e-6


def make_eager(torch, block):
    functional = torch.nn.functional

    def run(x, f, gamma, beta):
        s = x + (functional.dropout(f, DROPOUT, True) if block.has_dropout else f)
        if block.is_layer:
            return functional.layer_norm(s, (block.width,), gamma, beta, block.epsilon), s
        return functional.rms_norm(s, (block.width,), gamma, block.epsilon), s

    return run


def make_compiled(torch, block):
    """PyTorch counts what it compiled of one function, and runs it uncompiled after eight blocks: so it forgets those before.
    A whole graph or an error, since what is not compiled must not be timed as if it were."""
    torch.compiler.reset()
    return torch.compile(make_eager(torch, block), dynamic=False, fullgraph=True)


def make_liger(torch, block):
    """Its layer norm has no sum, so PyTorch adds; it has no dropout."""
    functional = importlib.import_module("liger_kernel.transformers.functional")
    if block.has_dropout:
        return None
    if not block.is_layer:
        return lambda x, f, gamma, beta: functional.liger_fused_add_rms_norm(f, x, gamma, block.epsilon, in_place=False)

    def run(x, f, gamma, beta):
        s = x + f
        return functional.liger_layer_norm(s, gamma, beta, block.epsilon), s

    return run


def make_quack(torch, block):
    """It has RMS norms with a residual, and no dropout."""
    quack = importlib.import_module("quack.rmsnorm")
    if block.has_dropout or block.is_layer:
        return None
    return lambda x, f, gamma, beta: quack.rmsnorm(f, gamma, residual=x, eps=block.epsilon, prenorm=True)


def make_flash(torch, block):
    norm = importlib.import_module("flash_attn.ops.layer_norm").dropout_add_layer_norm
    if not block.is_layer:
        return None
    probability = DROPOUT if block.has_dropout else 0.0
    return lambda x, f, gamma, beta: norm(f, x, gamma, beta, probability, block.epsilon, prenorm=True)


def make_flash_triton(torch, block):
    norm = importlib.import_module("flash_attn.ops.triton.layer_norm").layer_norm_fn
    probability = DROPOUT if block.has_dropout else 0.0
    return lambda x, f, gamma, beta: norm(f, gamma, beta if block.is_layer else None, residual=x, eps=block.epsilon,
                                          dropout_p=probability, prenorm=True, is_rms_norm=not block.is_layer)


PEERS = {"PyTorch": make_eager, "torch.compile": make_compiled, "Liger": make_liger, "Quack": make_quack,
         "flash-attn": make_flash, "flash-attn (Triton)": make_flash_triton}


class Timer:
    def __init__(self, torch):
        self.cuda = torch.cuda
        self.events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]

    def time(self, call, calls=CALLS):
        """Seconds of one call, on the average of several."""
        first, second = self.events
        first.record()
        for _ in range(calls):
            call()
        second.record()
        second.synchronize()
        return first.elapsed_time(second) / 1000 / calls


def make_backward(torch, run, tensors):
    """The backward of a forward that ran once: gradients of what it took, for those of y and s."""
    inputs = [tensors[name].clone().requires_grad_() for name in ("x", "f", "gamma", "beta")]
    with torch.enable_grad():
        y, s = run(*inputs)
    given = tensors["dy"], tensors["dsum"]

    def run_backward():
        dx, df, dgamma, dbeta = torch.autograd.grad((y, s), inputs, given, retain_graph=True, allow_unused=True)
        return {"dx": dx, "df": df, "dgamma": dgamma, "dbeta": dbeta}

    return run_backward


def make_forward(run, tensors):
    inputs = [tensors[name] for name in ("x", "f", "gamma", "beta")]

    def run_forward():
        y, s = run(*inputs)[:2]
        return {"y": y, "s": s}

    return run_forward


def compare(block, found, own):
    """Raises ValueError where results are others. With dropout, each draws masks of its own."""
    for name, result in found.items():
        # A norm without beta has no gradient of it, and a sum passes its own on.
        if block.has_dropout or result is None or name not in own:
            continue
        error = float((result.float() - own[name].float()).abs().max()) / max(float(own[name].float().abs().max()), 1e-30)
        if not error <= TOLERANCE[block.element]:
            raise ValueError(f"its results are {error:.1e} off")


def say(*words):
    print(*(word.replace(",", ";") for word in words), sep=",", flush=True)


def describe(error):
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"


def prepare(torch, block, tensors, own, peers):
    """The calls of all peers that have this block, after a first one whose results were compared with resid's."""
    calls = {}
    for name, make in peers.items():
        try:
            run = make(torch, block)
            if run is None:
                continue
            call = make_backward(torch, run, tensors) if block.is_backward else make_forward(run, tensors)
            compare(block, call(), own)
            calls[name] = call
        except ImportError as error:
            say("absent", name, str(error))
        except Exception as error:  # Whatever a library fails with, the others go on.
            say("failed", name, f"{block.name}: {describe(error)}")
    return calls


def make_tensors(torch, block, rows, dtype):
    """Inputs of the forward; for a backward also gradients, and the sum with its statistics, which resid takes."""
    make = lambda *shape: torch.randn(shape, dtype=dtype, device="cuda")
    tensors = {name: make(rows, block.width) for name in ("x", "f", *(["dy", "dsum"] if block.is_backward else []))}
    tensors |= {name: make(block.width) for name in ("gamma", "beta")}
    if block.is_backward:
        sums = tensors["x"] + tensors["f"]
        wide = sums.float()
        mean = wide.mean(1) if block.is_layer else torch.zeros(rows, device="cuda")
        rstd = ((wide - mean[:, None]).pow(2).mean(1) + block.epsilon).rsqrt()
        tensors |= {"sums": sums, "mean": mean, "correction": torch.zeros_like(mean), "rstd": rstd}
    return tensors


def list_arrays(torch, block, tensors):
    """resid's arguments and results, in the order of kinds.py."""
    x, gamma = tensors["x"], tensors["gamma"]
    if not block.is_backward:
        own = {"y": torch.empty_like(x), "s": torch.empty_like(x)}
        return [tensors[name] for name in ("x", "f", "gamma", "beta")], own
    statistics = ["mean", "correction", "rstd"] if block.is_layer else ["rstd"]
    own = {name: torch.empty_like(x) for name in ("dx", "df")[: 1 + block.has_dropout]}
    own |= {name: torch.empty_like(gamma) for name in ("dgamma", "dbeta")}
    return [tensors[name] for name in ("dy", "sums", *statistics, "gamma", "dsum")], own


def measure_whole(torch, library, name, program, samples, is_compiled):
    """A program whose sizes are all its own, by turns with PyTorch's."""
    types = {"f32": torch.float32, "bf16": torch.bfloat16}
    arguments = [torch.randn(array.shape, dtype=types[array.element], device="cuda") * array.scale for array in program.arguments]
    results = [torch.empty(array.shape, dtype=types[array.element], device="cuda") for array in program.results]
    arrays = [*arguments, *results]
    pointers = (ctypes.c_void_p * len(arrays))(*(tensor.data_ptr() for tensor in arrays))
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)

    def run_resid():
        if library.gpu_check_call(name.encode(), pointers, ctypes.c_int64(0), ctypes.c_int64(0), stream):
            raise SystemExit(5)

    run_resid()
    torch.cuda.synchronize()
    calls, eager = {"resid": run_resid}, lambda: program.peer(torch, *arguments)
    element, own = program.results[0].element, results[0].float()
    try:
        error = float((eager().float() - own).abs().max()) / max(float(own.abs().max()), 1e-30)
        if not error <= TOLERANCE[element]:
            raise ValueError(f"its results are {error:.1e} off")
    except Exception as failure:  # Whatever PyTorch fails with, the next program may run.
        say("failed", "PyTorch", f"{name}: {describe(failure)}")
        return
    calls["PyTorch"] = eager
    if is_compiled:
        torch.compiler.reset()
        compiled = torch.compile(lambda *given: program.peer(torch, *given), dynamic=False, fullgraph=True)
        calls["torch.compile"] = lambda: compiled(*arguments)
    times = take_turns(torch, calls, samples)
    own_time = statistics.median(times["resid"])
    shape = program.arguments[0].shape
    for peer in list(calls)[1:]:
        seconds = times[peer]
        ratios = sorted(theirs / ours for theirs, ours in zip(seconds, times["resid"]))
        print("peer", name, element, shape[-1], math.prod(shape[:-1]), peer, f"{statistics.median(seconds) * 1e6:.3f}", "", "", f"{own_time * 1e6:.3f}",
              f"{statistics.median(ratios):.3f}", f"{ratios[0]:.3f}", f"{ratios[-1]:.3f}", sep=",", flush=True)


def take_turns(torch, calls, samples):
    """Seconds of each call, sample by sample."""
    timer = Timer(torch)
    for call in calls.values():
        timer.time(call)
    times = {name: [] for name in calls}
    # By turns, so that the clock of the device is that of all.
    for _ in range(samples):
        for name, call in calls.items():
            times[name].append(timer.time(call))
    return times


def measure(torch, library, block, megabytes, samples, peers):
    dtype = {"f32": torch.float32, "bf16": torch.bfloat16}[block.element]
    size = 4 if block.element == "f32" else 2
    rows = max(1, (megabytes << 20) // (block.width * size))
    tensors = make_tensors(torch, block, rows, dtype)
    arguments, own = list_arrays(torch, block, tensors)
    # The copy moves as many matrices as a call, but for a last one without a partner: its bytes count in the ratio.
    matrices = sum(len(tensor.shape) == 2 for tensor in [*arguments, *own.values()])
    moved = (matrices * rows * block.width + 2 * block.width) * size
    copied = 2 * (matrices // 2) * rows * block.width * size
    copies = [torch.empty_like(tensors["x"]) for _ in range(matrices // 2)]
    arrays = [*arguments, *own.values()]
    pointers = (ctypes.c_void_p * len(arrays))(*(tensor.data_ptr() for tensor in arrays))
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)

    def run_resid():
        if library.gpu_check_call(block.name.encode(), pointers, ctypes.c_int64(rows), ctypes.c_int64(block.width), stream):
            raise SystemExit(5)

    def run_copy():
        for copy in copies:
            copy.copy_(tensors["x"])

    run_resid()
    torch.cuda.synchronize()
    calls = {"resid": run_resid, "copy": run_copy, **prepare(torch, block, tensors, own, peers)}
    times = take_turns(torch, calls, samples)
    for name, seconds in times.items():
        if name in ("resid", "copy"):
            continue
        ratios = sorted(peer / own for peer, own in zip(seconds, times["resid"]))
        to_copy = statistics.median(copy * moved / copied / peer for copy, peer in zip(times["copy"], seconds))
        own_median = statistics.median(times["resid"])
        print("peer", block.name, block.element, block.width, rows, name, f"{statistics.median(seconds) * 1e6:.3f}", f"{moved / 1e9 / statistics.median(seconds):.1f}",
              f"{to_copy:.3f}", f"{own_median * 1e6:.3f}", f"{statistics.median(ratios):.3f}", f"{ratios[0]:.3f}", f"{ratios[-1]:.3f}", sep=",", flush=True)


def answer(torch, library, request):
    _, megabytes, samples, is_compiled, name = request.split()
    if torch is None or not torch.cuda.is_available():
        print("absent", "PyTorch and all on top of it", "there is none" if torch is None else "this PyTorch finds no GPU", sep=",")
    elif program := whole_programs.find(name):
        with torch.no_grad():
            measure_whole(torch, library, name, program, int(samples), is_compiled == "1")
    else:
        peers = {name: make for name, make in PEERS.items() if name != "torch.compile" or is_compiled == "1"}
        with torch.no_grad():
            measure(torch, library, Block(name), int(megabytes), int(samples), peers)
    print("done", name, sep=",")


def main():
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        torch = None
    library = torch and ctypes.CDLL(sys.argv[1])
    if torch:
        torch.backends.cuda.matmul.allow_tf32 = False
    for request in sys.stdin:
        answer(torch, library, request)
        print("end", flush=True)


if __name__ == "__main__":
    main()
