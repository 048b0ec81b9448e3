# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compiled functions called on tensors of PyTorch as they are, without an op for them (test_torch_register.py).

import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch")
resid = pytest.importorskip("resid", reason="needs the package resid (make wheel)")

PROGRAM = """
func.func @add_rms(%x: tensor<?x64x{element}>, %f: tensor<?x64x{element}>, %gamma: tensor<64x{element}>)
    -> (tensor<?x64x{element}>, tensor<?x64x{element}>) {{
  %s = resid.add %x, %f : tensor<?x64x{element}>
  %y = resid.rms_norm %s gamma(%gamma) {{epsilon = 1.0e-6}} : tensor<?x64x{element}>, tensor<64x{element}>
  return %y, %s : tensor<?x64x{element}>, tensor<?x64x{element}>
}}
"""


def make(element="f32"):
    return resid.compile(PROGRAM.format(element=element)).add_rms


@pytest.mark.parametrize(("element", "dtype"), [("f32", torch.float32), ("bf16", torch.bfloat16), ("f16", torch.float16), ("f64", torch.float64)])
@pytest.mark.parametrize("shape", [(3,), (0,), (2, 3)])
def test_makes_tensors(element, dtype, shape):
    x, f, gamma = (torch.randn(*sizes, dtype=dtype) for sizes in ((*shape, 64), (*shape, 64), (64,)))
    y, s = make(element)(x, f, gamma)
    assert y.dtype == s.dtype == dtype and y.shape == s.shape == x.shape
    assert torch.equal(s, x + f)
    want = torch.nn.functional.rms_norm((x + f).double(), (64,), gamma.double(), 1e-6)
    torch.testing.assert_close(y.double(), want, rtol=2e-2 if element == "bf16" else 2e-3 if element == "f16" else 1e-5, atol=1e-5)


def test_takes_parameters_and_writes_to_tensors_without_gradients():
    x, f = torch.randn(3, 64), torch.randn(3, 64, requires_grad=True)
    gamma, out = torch.nn.Parameter(torch.randn(64)), torch.empty(3, 64)
    y, s = make()(x, f, gamma, out=(out, x.clone()))
    assert y is out and torch.equal(s, x + f) and not make()(x, f, gamma)[0].requires_grad
    # PyTorch would not see the write, and would use what is not there any more for gradients.
    for wrong in (f, f * 2):
        with pytest.raises(resid.ArgumentError, match="result 'out1': expected a tensor that requires no gradient"):
            make()(x, f, gamma, out=(out, wrong))
    assert make()(x, f, gamma, out=(out, f.detach()))[1].data_ptr() == f.data_ptr()


@pytest.mark.parametrize(("change", "error", "text"), [
    (lambda x: x.double(), resid.DTypeError, "argument 'f': expected elements of f32 but got f64"),
    (lambda x: x[:2], resid.ShapeError, r"argument 'f': dimension 0 is 2, expected 3 \(that of 'x'\)"),
    (lambda x: x[:1].expand(3, 64), resid.ShapeError, "argument 'f': expected an array without gaps"),
    (lambda x: x.to("meta"), resid.ArgumentError, "add_rms: .*meta$"),
])
def test_says_which_tensor_does_not_fit(change, error, text):
    x = torch.ones(3, 64)
    with pytest.raises(error, match=text):
        make()(x, change(x), torch.ones(64))


def test_says_which_tensors_overlap():
    x = torch.ones(4, 64)
    with pytest.raises(resid.AliasError, match=r"\(result 'out0' overlaps argument 'x'\)"):
        make()(x[:3], torch.ones(3, 64), torch.ones(64), out=(x[1:], torch.empty(3, 64)))


def scaled_norm(x, gamma):
    return torch.nn.functional.layer_norm(x, (64,)) * gamma


def test_compiles_functions_of_tensors(capfd):
    x, gamma = torch.randn(3, 64), torch.randn(64)
    fixed = resid.compile(scaled_norm, (x, gamma))
    torch.testing.assert_close(fixed.scaled_norm(x, gamma), scaled_norm(x, gamma), rtol=1e-5, atol=1e-5)
    assert [value.name for value in fixed.scaled_norm.signature.arguments] == ["x", "gamma"]
    with pytest.raises(resid.ShapeError):
        fixed.scaled_norm(torch.randn(4, 64), gamma)
    rows = ({0: torch.export.Dim.DYNAMIC}, None)
    open_rows = resid.compile(scaled_norm, (x, gamma), dynamic_shapes=rows)
    more = torch.randn(7, 64)
    torch.testing.assert_close(open_rows.scaled_norm(more, gamma), scaled_norm(more, gamma), rtol=1e-5, atol=1e-5)
    assert [kernel.name for kernel in resid.compile(lambda x: x + x, (x,))] == ["lambda"]
    said = capfd.readouterr()
    assert said.out == said.err == ""


def test_refuses_functions_that_are_no_programs():
    x, table = torch.randn(3, 64), torch.randn(300, 300)
    with pytest.raises(TypeError, match="argument 'inputs': expected the tensors that the function is traced on, but got none"):
        resid.compile(scaled_norm)
    with pytest.raises(TypeError, match="argument 'inputs': expected tensors of PyTorch but got int at 1"):
        resid.compile(scaled_norm, (x, 3))
    with pytest.raises(TypeError, match="expected a function beside 'inputs' and 'dynamic_shapes', but got a program"):
        resid.compile(PROGRAM.format(element="f32"), (x,))
    with pytest.raises(TypeError, match="expected a function but got a module, which has weights"):
        resid.compile(torch.nn.Linear(64, 3), (x,))
    with pytest.raises(TypeError, match="expected a function of its arguments alone, but it reads the tensor '.*'; give it as an argument"):
        resid.compile(lambda x: x @ table, (torch.randn(3, 300),))
    with pytest.raises(Exception, match="aten.fft_fftn.default"):
        resid.compile(lambda x: torch.fft.fftn(x).real, (x,))
