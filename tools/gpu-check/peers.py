#!/usr/bin/env python3
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Times the blocks of gpu-check beside what PyTorch and its libraries have for the same, in one process and on the same
# tensors. Usage: peers.py LIBRARY MEGABYTES SAMPLES BLOCK ...; the library is the runner as a shared one. Prints CSV.

import ctypes
import importlib
import statistics
import sys

CALLS = 10  # between two events: enough that the events cost nothing
DROPOUT = 0.1
# How far a result may be from resid's, in parts of its largest element: what is further off is another function.
TOLERANCE = {"f32": 1e-4, "bf16": 4e-2}


class Block:
    """y = norm(x + dropout(f)) and s = x + dropout(f); its name is KIND_TYPE_WIDTH."""

    def __init__(self, name):
        self.name = name
        self.kind, self.element, width = name.rsplit("_", 2)
        self.width = int(width)
        self.has_dropout = not self.kind.startswith("add_")
        self.is_layer = self.kind.endswith("layer")
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
    return torch.compile(make_eager(torch, block), dynamic=False)


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

    def time(self, call):
        """Seconds of one call."""
        first, second = self.events
        first.record()
        for _ in range(CALLS):
            call()
        second.record()
        second.synchronize()
        return first.elapsed_time(second) / 1000 / CALLS


def prepare(torch, block, inputs, expected, lines):
    """The calls of all peers that have this block, after a first one whose results were compared with resid's."""
    calls = {}
    for name, make in PEERS.items():
        try:
            run = make(torch, block)
            if run is None:
                continue
            found = run(*inputs)
            # Each draws masks of its own.
            for result, own in [] if block.has_dropout else zip(found, expected):
                error = float((result.float() - own.float()).abs().max()) / max(float(own.float().abs().max()), 1e-30)
                if not error <= TOLERANCE[block.element]:
                    raise ValueError(f"its results are {error:.1e} off")
            calls[name] = lambda run=run: run(*inputs)
        except ImportError as error:
            lines.setdefault(("absent", name, str(error)))
        except Exception as error:  # Whatever a library fails with, the others go on.
            lines.setdefault(("failed", name, f"{block.name}: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"))
    return calls


def measure(torch, library, block, megabytes, samples, lines):
    dtype = {"f32": torch.float32, "bf16": torch.bfloat16}[block.element]
    size = 4 if block.element == "f32" else 2
    rows = max(1, (megabytes << 20) // (block.width * size))
    x, f = (torch.randn((rows, block.width), dtype=dtype, device="cuda") for _ in range(2))
    gamma, beta = (torch.randn((block.width,), dtype=dtype, device="cuda") for _ in range(2))
    y, s = torch.empty_like(x), torch.empty_like(x)
    # The copy moves the bytes of x and f to those of y and s, as many as the call must move but for the parameters.
    copies = torch.empty_like(x), torch.empty_like(x)
    arrays = (ctypes.c_void_p * 6)(*(tensor.data_ptr() for tensor in (x, f, gamma, beta, y, s)))
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)

    def run_resid():
        if library.gpu_check_call(block.name.encode(), arrays, ctypes.c_int64(rows), stream):
            raise SystemExit(5)

    def run_copy():
        copies[0].copy_(x)
        copies[1].copy_(f)

    run_resid()
    torch.cuda.synchronize()
    calls = {"resid": run_resid, "copy": run_copy, **prepare(torch, block, (x, f, gamma, beta), (y, s), lines)}
    timer = Timer(torch)
    for call in calls.values():
        timer.time(call)
    times = {name: [] for name in calls}
    # By turns, so that the clock of the device is that of all.
    for _ in range(samples):
        for name, call in calls.items():
            times[name].append(timer.time(call))
    moved = 4 * rows * block.width * size + 2 * block.width * size
    for name, seconds in times.items():
        if name in ("resid", "copy"):
            continue
        ratios = sorted(peer / own for peer, own in zip(seconds, times["resid"]))
        to_copy = statistics.median(copy / peer for copy, peer in zip(times["copy"], seconds))
        own = statistics.median(times["resid"])
        print("peer", block.name, block.element, block.width, rows, name, f"{statistics.median(seconds) * 1e6:.3f}", f"{moved / 1e9 / statistics.median(seconds):.1f}",
              f"{to_copy:.3f}", f"{own * 1e6:.3f}", f"{statistics.median(ratios):.3f}", f"{ratios[0]:.3f}", f"{ratios[-1]:.3f}", sep=",", flush=True)


def main():
    file, megabytes, samples, *names = sys.argv[1:]
    try:
        torch = importlib.import_module("torch")
    except ImportError as error:
        print("absent", "PyTorch and all on top of it", str(error).replace(",", ";"), sep=",")
        return
    if not torch.cuda.is_available():
        print("absent", "PyTorch and all on top of it", "this PyTorch finds no GPU", sep=",")
        return
    library, lines = ctypes.CDLL(file), {}
    with torch.no_grad():
        for name in names:
            measure(torch, library, Block(name), int(megabytes), int(samples), lines)
            print("measured", name, sep=",", flush=True)
            for line in lines:
                if lines[line] is None:
                    print(*(word.replace(",", ";") for word in line), sep=",", flush=True)
                    lines[line] = True


main()
