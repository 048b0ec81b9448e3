# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Arrays of libraries that resid does not know: they have `__dlpack__`, and nothing else.

import pytest

numpy = pytest.importorskip("numpy", reason="needs NumPy")
resid = pytest.importorskip("resid", reason="needs the package resid (make wheel)")

PROGRAM = """
func.func @add_rms(%x: tensor<?x64xf32>, %f: tensor<?x64xf32>, %gamma: tensor<64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %s = resid.add %x, %f : tensor<?x64xf32>
  %y = resid.rms_norm %s gamma(%gamma) {epsilon = 1.0e-6} : tensor<?x64xf32>, tensor<64xf32>
  return %y, %s : tensor<?x64xf32>, tensor<?x64xf32>
}
"""


class Lender:
    """What has `__dlpack__` alone. It lends as libraries with immutable arrays do, or as PyTorch 2.4 does."""

    def __init__(self, array, requires_grad=False):
        self.array, self.requires_grad = array, requires_grad
        self.shape, self.dtype = array.shape, array.dtype

    def detach(self):
        return Lender(self.array)

    def __dlpack__(self):
        if self.requires_grad:
            raise BufferError("requires a gradient")
        return self.array.__dlpack__(max_version=(1, 0))


@pytest.mark.skipif(numpy.lib.NumpyVersion(numpy.__version__) < "2.1.0", reason="needs NumPy 2.1, which lends read-only arrays")
def test_takes_and_writes_what_others_lend(tmp_path, monkeypatch):
    monkeypatch.setenv("RESID_CACHE", str(tmp_path))
    kernels = resid.compile(PROGRAM)
    x, f = numpy.random.default_rng(1).standard_normal((2, 4, 64)).astype("float32")
    gamma, y, s = numpy.ones(64, "float32"), numpy.zeros_like(x), numpy.zeros_like(x)
    kernels.add_rms(Lender(x), Lender(f, requires_grad=True), Lender(gamma), out=(Lender(y), s))
    assert (s == x + f).all() and y.any()
    with pytest.raises(resid.ArgumentError, match="result 'out0': expected a tensor that requires no gradient"):
        kernels.add_rms(x, f, gamma, out=(Lender(y, requires_grad=True), s))
    y[:] = 0
    y.flags.writeable = False
    with pytest.raises(resid.ArgumentError, match="expected an array that can be written, but it is read-only"):
        kernels.add_rms(x, f, gamma, out=(Lender(y), s))
    assert not y.any() and (kernels.add_rms(Lender(y), f, gamma)[1] == f).all()


def test_takes_pairs_of_four_bits_as_bytes(tmp_path, monkeypatch):
    monkeypatch.setenv("RESID_CACHE", str(tmp_path))
    kernels = resid.compile("""
func.func @scale(%q: tensor<?x4xi4>, %open: tensor<2x?xi4>) -> (tensor<?x4xi32>, tensor<2x?xi8>) {
  %y = arith.extsi %q : tensor<?x4xi4> to tensor<?x4xi32>
  %z = arith.extsi %open : tensor<2x?xi4> to tensor<2x?xi8>
  return %y, %z : tensor<?x4xi32>, tensor<2x?xi8>
}
""")
    assert kernels.scale.signature.arguments[0].describe() == "u8[?, 2]"
    q = numpy.array([[0x10, 0x32], [0xF8, 0x7E], [0x00, 0xFF]], "uint8")
    y, z = kernels.scale(q, q[:2], out=(numpy.empty((3, 4), "int32"), numpy.empty((2, 4), "int8")))
    assert y.tolist() == [[0, 1, 2, 3], [-8, -1, -2, 7], [0, 0, -1, -1]] and (z == y[:2]).all()
    with pytest.raises(resid.DTypeError, match="argument 'q': expected elements of u8 but got i8"):
        kernels.scale(q.view("int8"), q[:2], out=(y, z))
    with pytest.raises(resid.ShapeError, match="argument 'q'"):
        kernels.scale(numpy.zeros((3, 4), "uint8"), q[:2], out=(y, z))
