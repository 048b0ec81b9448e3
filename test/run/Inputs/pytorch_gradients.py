# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Gradients beside PyTorch's. Usage: pytorch_gradients.py <examples/python> <library of the net> <library of the block>

import sys

import torch
from torch.nn import functional

sys.path.insert(0, sys.argv[1])
from resid_kernels import Kernels

STEPS, RATE = 200, 0.002


def difference(ours, theirs):
    """The largest difference, in units of the largest element."""
    return ((ours.double() - theirs).abs().max() / theirs.abs().max()).item()


def compute_net(x, target, up, up_bias, down, down_bias, gamma, beta):
    branch = functional.linear(functional.gelu(functional.linear(x, up, up_bias)), down, down_bias)
    y = functional.layer_norm(x + branch, (24,), gamma, beta, 1e-5)
    return 0.5 * ((y - target) ** 2).sum()


def train_net(library):
    """Descends along the gradients of both, each with its own weights, and compares them after each step."""
    torch.manual_seed(1)
    shapes = [(48, 24), (48,), (24, 48), (24,), (24,), (24,)]
    ours = [torch.randn(shape, dtype=torch.float64) * 0.2 for shape in shapes]
    theirs = [weight.clone().requires_grad_() for weight in ours]
    x, target = torch.randn(2, 16, 24, dtype=torch.float64).unbind()
    kernels, one, worst, losses = Kernels(library), torch.ones((), dtype=torch.float64), 0.0, []
    for _ in range(STEPS):
        loss = torch.empty((), dtype=torch.float64)
        gradients = [torch.empty_like(argument) for argument in (x, target, *ours)]
        kernels.call("loss_value_and_grad", x, target, *ours, one, loss, *gradients)
        expected = compute_net(x, target, *theirs)
        expected_gradients = torch.autograd.grad(expected, theirs)
        worst = max(worst, difference(loss, expected.detach()), *map(difference, gradients[2:], expected_gradients),
                    *map(difference, ours, (weight.detach() for weight in theirs)))
        losses.append(loss.item())
        with torch.no_grad():
            for weight, gradient in zip(ours, gradients[2:]):
                weight -= RATE * gradient
            for weight, gradient in zip(theirs, expected_gradients):
                weight -= RATE * gradient
    print(f"{STEPS} steps: loss {losses[0]:.3f} to {losses[-1]:.3f}, largest difference {worst:.1e}")
    if not worst < 1e-9 or not losses[-1] < 0.5 * losses[0]:
        sys.exit("expected differences below 1e-9 and a loss that halves")


def compute_block(x, norm1, norm1_bias, qkv, qkv_bias, output, output_bias, norm2, norm2_bias, up, up_bias, down,
                  down_bias, norm, norm_bias):
    """examples/layers/gpt2_block.mlir; weights are [in, out]."""
    h = functional.layer_norm(x, (512,), norm1, norm1_bias, 1e-5)
    q, k, v = (h @ qkv + qkv_bias).view(4, 16, 3, 8, 64).permute(2, 0, 3, 1, 4)
    context = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    x = x + (context.transpose(1, 2).reshape(4, 16, 512) @ output + output_bias)
    h = functional.layer_norm(x, (512,), norm2, norm2_bias, 1e-5)
    x = x + (functional.gelu(h @ up + up_bias, approximate="tanh") @ down + down_bias)
    return functional.layer_norm(x, (512,), norm, norm_bias, 1e-5)


def differentiate(arguments, cotangent):
    arguments = [argument.detach().requires_grad_() for argument in arguments]
    y = compute_block(*arguments)
    return [y.detach(), *torch.autograd.grad(y, arguments, cotangent)]


def compare_block(library):
    """f32 beside PyTorch in f64, with PyTorch in f32 as the measure of what f32 can do."""
    torch.manual_seed(2)
    shapes = [(4, 16, 512), (512,), (512,), (512, 1536), (1536,), (512, 512), (512,), (512,), (512,), (512, 2048), (2048,),
              (2048, 512), (512,), (512,), (512,)]
    arguments = [torch.randn(shape) * (1.0 if index == 0 else shape[0] ** -0.5) for index, shape in enumerate(shapes)]
    cotangent = torch.randn(4, 16, 512)
    ours = [torch.empty(shape) for shape in shapes[:1] + shapes]
    Kernels(library).call("gpt2_block_value_and_grad", *arguments, cotangent, *ours)
    exact = differentiate([argument.double() for argument in arguments], cotangent.double())
    worst = max(map(difference, ours, exact))
    peer = max(map(difference, differentiate(arguments, cotangent), exact))
    print(f"GPT-2's block: largest difference {worst:.1e}, that of PyTorch in f32 {peer:.1e}")
    if not worst < 4 * max(peer, 1e-6):
        sys.exit("expected gradients about as exact as those of PyTorch in f32")


train_net(sys.argv[2])
compare_block(sys.argv[3])
