# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The package resid from beginning to end: a post-norm layer in two placements, its gradient beside a difference quotient, and
# a library that is saved and loaded. Needs the package and NumPy.

import numpy
import resid

PROGRAM = """
!stream = tensor<?x64xf32>
!vector = tensor<64xf32>
func.func @layer(%x: !stream, %f: !stream, %gamma: !vector, %beta: !vector) -> !stream {
  %s = resid.add %x, %f : !stream
  %y = resid.layer_norm %s gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : !stream, !vector, !vector
  return %y : !stream
}
"""

numbers = numpy.random.default_rng(0)
x, f = numbers.standard_normal((2, 8, 64)).astype("float32")
gamma, beta = numbers.standard_normal((2, 64)).astype("float32")

kernels = resid.compile(PROGRAM, grad="layer", wrt=[0, 2])
y = kernels.layer(x, f, gamma, beta)
print("signature:", repr(kernels.layer.signature))

# The gradient of sum(y) by gamma, beside the difference that a small step of gamma makes.
y, *saved = kernels.layer_forward(x, f, gamma, beta)
dx, dgamma = kernels.layer_backward(x, f, gamma, beta, *saved, numpy.ones_like(y))
step = numpy.zeros_like(gamma)
step[3] = 0.5
difference = (kernels.layer(x, f, gamma + step, beta) - y).sum() / 0.5
print(f"gradient: {dgamma[3]:.4f}, by a difference: {difference:.4f}")

kernels.save("liblayer.so", header="layer.h")
again = resid.load("liblayer.so").layer(x, f, gamma, beta)
print("loaded:", "the same bits" if again.tobytes() == y.tobytes() else "other bits")

try:
    kernels.layer(x, f[:3], gamma, beta)
except resid.ShapeError as error:
    print("refused:", error)
