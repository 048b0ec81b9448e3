# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The packages resid and resid_runtime with NumPy alone: compile, call, errors, cache, save and load.

import inspect
import multiprocessing
import os
import pathlib
import pickle
import subprocess
import sys
import threading
import time

import pytest

numpy = pytest.importorskip("numpy", reason="needs NumPy")
resid = pytest.importorskip("resid", reason="needs the package resid (make wheel)")
import resid_runtime  # noqa: E402

ADD_RMS = """
func.func @add_rms(%x: tensor<?x256xf32>, %f: tensor<?x256xf32>, %gamma: tensor<256xf32>) -> (tensor<?x256xf32>, tensor<?x256xf32>) {
  %s = resid.add %x, %f : tensor<?x256xf32>
  %y = resid.rms_norm %s gamma(%gamma) {epsilon = 1.0e-6} : tensor<?x256xf32>, tensor<256xf32>
  return %y, %s : tensor<?x256xf32>, tensor<?x256xf32>
}
"""
SCALED = """
func.func @scaled(%x: tensor<?x256xf32> {{resid.strided}}, %f: tensor<?x256xf32>) -> tensor<?x256xf32> {{
  %s = resid.add %x, %f {{branch_scale = {scale}}} : tensor<?x256xf32>
  return %s : tensor<?x256xf32>
}}
"""
DROPOUT = """
func.func @drop(%x: tensor<?x64xbf16>, %seed: i64, %step: i64) -> tensor<?x64xbf16> {
  %y = resid.dropout %x seed(%seed, %step) {p = 0.5, site = 0} : tensor<?x64xbf16>
  return %y : tensor<?x64xbf16>
}
"""

BLOCK = """
func.func @block(%x: tensor<?x64xf32>, %gamma: tensor<64xf32>) -> tensor<?x64xf32> {
  %y = resid.block pre %x norm(rms gamma %gamma : tensor<64xf32> epsilon = 1.0e-6) : tensor<?x64xf32> {
  ^bb0(%h: tensor<?x64xf32>):
    %f = math.tanh %h : tensor<?x64xf32>
    resid.yield %f : tensor<?x64xf32>
  }
  return %y : tensor<?x64xf32>
}
"""


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RESID_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def kernels(cache):
    return resid.compile(ADD_RMS)


def make_arguments(*shape):
    numbers = numpy.random.default_rng(1)
    x, f = numbers.standard_normal((2, *shape, 256)).astype("float32")
    return x, f, numbers.standard_normal(256).astype("float32")


def expected(x, f, gamma):
    s = x + f
    return s / numpy.sqrt((s.astype("float64") ** 2).mean(-1, keepdims=True) + 1e-6) * gamma, s


@pytest.mark.parametrize("shape", [(1,), (7,), (0,), (2, 3), (2, 1, 4)])
def test_makes_results_with_the_leading_dimensions_of_the_arguments(kernels, shape):
    arguments = make_arguments(*shape)
    y, s = kernels.add_rms(*arguments)
    for got, want in zip((y, s), expected(*arguments)):
        assert got.shape == (*shape, 256) and got.dtype == numpy.float32
        numpy.testing.assert_allclose(got, want, rtol=0, atol=2e-5)


def test_has_the_same_bits_on_one_thread_and_on_many(kernels):
    arguments = make_arguments(3000)
    one, many = kernels.add_rms(*arguments, threads=1), kernels.add_rms(*arguments, threads=5)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(one, many))


def test_writes_to_out_and_in_place(kernels):
    x, f, gamma = make_arguments(5)
    want = expected(x, f, gamma)
    y = numpy.empty_like(x)
    got = kernels.add_rms(x, f, gamma, out=(y, x))
    assert got[0] is y and got[1] is x
    numpy.testing.assert_allclose(y, want[0], rtol=0, atol=2e-5)
    assert (x == want[1]).all()


def test_takes_read_only_and_mapped_arrays(kernels, tmp_path):
    x, f, gamma = make_arguments(4)
    numpy.save(tmp_path / "x.npy", x)
    mapped = numpy.load(tmp_path / "x.npy", mmap_mode="r")
    f.flags.writeable = False
    assert kernels.add_rms(mapped, f, gamma)[1].tobytes() == (x + f).tobytes()


@pytest.mark.parametrize(("change", "error", "text"), [
    (lambda x, f, g: (x, f), resid.ArgumentError, r"add_rms: expected 3 arguments \(x, f, gamma\) but got 2"),
    (lambda x, f, g: (x, f[:3], g), resid.ShapeError, r"argument 'f': dimension 0 is 3, expected 4 \(that of 'x'\)"),
    (lambda x, f, g: (x, f, g[:9]), resid.ShapeError, "argument 'gamma': dimension 0 is 9, expected 256"),
    (lambda x, f, g: (x[0], f, g), resid.ShapeError, r"argument 'x': expected 2 dimensions \(f32\[\?, 256\]\) but its shape is \(256,\)"),
    (lambda x, f, g: (x.astype("f8"), f, g), resid.DTypeError, "argument 'x': expected elements of f32 but got f64"),
    (lambda x, f, g: (x, f.astype(">f4"), g), resid.Error, "argument"),
    (lambda x, f, g: (x, 1.5, g), resid.ArgumentError, r"argument 'f': expected an array of f32\[\?, 256\] but got float"),
    (lambda x, f, g: (x, None, g), resid.ArgumentError, "argument 'f': expected an array of .* but got NoneType"),
    (lambda x, f, g: (numpy.repeat(x, 2, 1)[:, ::2], f, g), resid.ShapeError, "argument 'x': expected an array without gaps"),
])
def test_says_which_argument_does_not_fit(kernels, change, error, text):
    with pytest.raises(error, match=text):
        kernels.add_rms(*change(*make_arguments(4)))


def test_says_which_result_does_not_fit(kernels):
    x, f, gamma = make_arguments(4)
    y, s = numpy.empty_like(x), numpy.empty_like(x)
    with pytest.raises(resid.ShapeError, match=r"result 'out1': dimension 0 is 2, expected 4 \(that of 'x'\)"):
        kernels.add_rms(x, f, gamma, out=(y, s[:2]))
    with pytest.raises(resid.ArgumentError, match="argument 'out': expected 2 arrays but got 1"):
        kernels.add_rms(x, f, gamma, out=y)
    assert kernels.add_rms(x, f, gamma, out=[y, s])[0] is y
    with pytest.raises(resid.AliasError, match="overlaps"):
        kernels.add_rms(x, f, gamma, out=(y, y))
    y.flags.writeable = False
    with pytest.raises(resid.ArgumentError, match="result 'out0': expected an array that can be written"):
        kernels.add_rms(x, f, gamma, out=(y, s))
    with pytest.raises(TypeError, match="expected the keyword arguments out, threads and stream but got 'outs'"):
        kernels.add_rms(x, f, gamma, outs=(y, s))
    with pytest.raises(ValueError, match="argument 'threads': expected a number from 0 to 1024 but got -2"):
        kernels.add_rms(x, f, gamma, threads=-2)


def test_says_which_arrays_overlap(kernels):
    x, f, gamma = make_arguments(4)
    memory = numpy.ones(5 * 256, "float32")
    with pytest.raises(resid.AliasError, match=r"overlaps another array \(result 'out1' has the memory of result 'out0'\); expected"):
        kernels.add_rms(x, f, gamma, out=(memory[:1024].reshape(4, 256),) * 2)
    with pytest.raises(resid.AliasError, match=r"\(result 'out0' overlaps argument 'x'\)"):
        kernels.add_rms(memory[:1024].reshape(4, 256), f, gamma, out=(memory[256:].reshape(4, 256), numpy.empty_like(x)))


def test_takes_rows_with_gaps_where_the_program_says_so(cache):
    scaled = resid.compile(SCALED.format(scale=1.0)).scaled
    x, f, _ = make_arguments(4)
    wide = numpy.repeat(x, 2, 0).reshape(4, 512)
    assert (scaled(wide[:, :256], f) == x + f).all()
    with pytest.raises(resid.ShapeError, match=r"argument 'f': dimension 0 is 3, expected 4 \(that of 'x'\)"):
        scaled(wide[:, :256], f[:3])
    with pytest.raises(resid.ShapeError, match="argument 'x': expected an array without gaps"):
        scaled(wide[:, ::2], f)


def test_has_a_signature_for_help(kernels):
    assert str(inspect.signature(kernels.add_rms)) == "(x, f, gamma, /, *, out=None, threads=None, stream=None)"


def test_keeps_no_references_where_calls_fail(kernels):
    x, f, gamma = make_arguments(4)
    before = [sys.getrefcount(one) for one in (x, f, gamma)]
    for _ in range(100):
        with pytest.raises(resid.Error):
            kernels.add_rms(x, f, gamma[:3])
        kernels.add_rms(x, f, gamma)
    assert [sys.getrefcount(one) for one in (x, f, gamma)] == before


def test_scalars(cache):
    drop = resid.compile(DROPOUT).drop
    x = numpy.full((3, 64), 0x3F80, "uint16")
    first = drop(x, 7, 0)
    assert set(first.ravel()) == {0, 0x4000}
    assert (drop(x, numpy.int64(7), numpy.array(0)) == first).all() and (drop(x, 8, 0) != first).any()
    with pytest.raises(resid.RangeError, match=r"drop: a value is out of range \(seed is 7, step is -1\); expected drop"):
        drop(x, 7, -1)
    with pytest.raises(resid.ArgumentError, match="argument 'seed': expected a number of i64 but got float"):
        drop(x, 7.5, 0)
    with pytest.raises(resid.RangeError, match="argument 'seed': expected a number of i64 but got 9223372036854775808"):
        drop(x, 2**63, 0)


@pytest.mark.parametrize(("element", "largest"), [("f16", 65519.0), ("bf16", 3.39e38), ("f32", 3.4028235e38)])
def test_refuses_numbers_that_would_become_infinite(cache, element, largest):
    filled = resid.compile(f"""
func.func @filled(%a: {element}) -> tensor<4x{element}> {{
  %e = tensor.splat %a : tensor<4x{element}>
  return %e : tensor<4x{element}>
}}""").filled
    assert len(set(filled(largest))) == 1
    # An infinity is a number like others.
    assert (filled(float("inf")) == filled(float("inf"))).all()
    for number in (1.01 * largest, -1e300):
        with pytest.raises(resid.RangeError, match=f"argument 'a': expected a number of {element} but got "):
            filled(number)


def test_takes_bf16_of_ml_dtypes(cache):
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="needs ml_dtypes")
    x = numpy.ones((3, 64), ml_dtypes.bfloat16)
    out = numpy.empty_like(x)
    resid.compile(DROPOUT).drop(x, 7, 0, out=out)
    assert set(out.astype("float32").ravel()) == {0.0, 2.0}
    made = resid.compile(DROPOUT).drop(x, 7, 0)
    assert made.dtype == x.dtype and (made == out).all()


def test_says_what_is_wrong_in_a_program(cache, tmp_path):
    with pytest.raises(resid.CompileError, match=r"<text>:1:18: error: "):
        resid.compile("func.func @f() { resid.nothing }")
    with pytest.raises(resid.CompileError, match="expected --mcpu|unknown|expected"):
        resid.compile(ADD_RMS, cpu="no-such-cpu")
    with pytest.raises(resid.CompileError, match="placement"):
        resid.compile(ADD_RMS, placement="sideways")
    with pytest.raises(FileNotFoundError):
        resid.compile(tmp_path / "missing.mlir")
    for text in ("", "module {}"):
        with pytest.raises(resid.CompileError, match="<text>: expected a public function"):
            resid.compile(text)
    with pytest.raises(TypeError, match="argument 'source': expected text or a path but got bytes"):
        resid.compile(ADD_RMS.encode())
    with pytest.raises(resid.UnavailableError, match="not available on CUDA targets"):
        resid.compile("func.func @f(%x: tensor<4xf32>, %n: tensor<i1>) -> tensor<4xf32> {\n"
                      "  %c = tensor.extract %n[] : tensor<i1>\n"
                      "  %y = scf.if %c -> tensor<4xf32> {\n"
                      "    %s = resid.add %x, %x : tensor<4xf32>\n    scf.yield %s : tensor<4xf32>\n"
                      "  } else {\n    scf.yield %x : tensor<4xf32>\n  }\n"
                      "  return %y : tensor<4xf32>\n}", target="cuda")


def test_takes_matrix_units_where_products_may_round(cache):
    linear = ("func.func @linear(%x: tensor<?x64xbf16>, %w: tensor<96x64xbf16>) -> tensor<?x96xbf16> {\n"
              "  %y = resid.linear %x, %w : tensor<?x64xbf16>, tensor<96x64xbf16>\n  return %y : tensor<?x96xbf16>\n}")
    for relaxed, emitter in ((None, "tiles"), ("products", "matrices")):
        assert f"{emitter} emitter" in resid.compile(linear, target="cuda", relax_rounding=relaxed).report()
    with pytest.raises(resid.CompileError, match="expected --relax-rounding=products, but got 'all'"):
        resid.compile(linear, relax_rounding="all")


def test_gives_a_program_several_streams(cache):
    x, gamma = numpy.random.default_rng(2).standard_normal((2, 64)).astype("float32")
    x = numpy.stack([x, gamma, x - gamma])
    one = resid.compile(BLOCK).block(x, gamma)
    read, write = numpy.full((4, 1), 0.25, "float32"), numpy.ones((4, 1), "float32")
    several = resid.compile(BLOCK, streams=4, connection="static").block(x, gamma, read, write, read)
    assert (one == several).all()
    with pytest.raises(resid.CompileError, match="expected --streams=N, from 1 to 16, but got '17'"):
        resid.compile(BLOCK, streams=17)


def test_compiles_gradients(cache):
    kernels = resid.compile(ADD_RMS, grad="add_rms", wrt=[0, 2])
    assert {kernel.name for kernel in kernels} >= {"add_rms", "add_rms_forward", "add_rms_backward"}
    x, f, gamma = make_arguments(3)
    y, s, *saved = kernels.add_rms_forward(x, f, gamma)
    dy, ds = numpy.ones_like(x), numpy.zeros_like(x)
    dx, dgamma = kernels.add_rms_backward(x, f, gamma, *saved, dy, ds)
    numpy.testing.assert_allclose(dgamma, (y / gamma).sum(0), rtol=1e-3, atol=1e-4)
    assert dx.shape == x.shape


def test_saves_and_loads(kernels, tmp_path):
    kernels.save(tmp_path / "libk.so", header=tmp_path / "k.h")
    assert "add_rms(const resid_ctx *ctx" in (tmp_path / "k.h").read_text()
    loaded = resid_runtime.load(tmp_path / "libk.so")
    arguments = make_arguments(4)
    assert loaded.add_rms(*arguments)[0].tobytes() == kernels.add_rms(*arguments)[0].tobytes()
    assert loaded.add_rms.signature == kernels.add_rms.signature
    assert resid.load(tmp_path / "libk.so").svg() == kernels.svg()
    assert loaded.report() == kernels.report() and "add_rms.0" in loaded.report()
    (tmp_path / "damaged.so").write_bytes((tmp_path / "libk.so").read_bytes()[:-40])
    with pytest.raises(resid.LoadError):
        resid_runtime.load(tmp_path / "text.txt" if (tmp_path / "text.txt").write_text("no library") else "")


def test_loads_the_library_that_replaced_another(cache, tmp_path):
    x, f, _ = make_arguments(2)
    for scale in (1.0, 3.0, 1.0):
        resid.compile(SCALED.format(scale=scale)).save(tmp_path / "libk.so")
        assert (resid.load(tmp_path / "libk.so").scaled(x, f) == x + numpy.float32(scale) * f).all()


def test_loads_what_residc_wrote(tmp_path):
    residc = pathlib.Path(os.environ.get("RESID_BUILD", "build")) / "bin/residc"
    if not residc.is_file():
        pytest.skip("needs residc in the build folder")
    (tmp_path / "k.mlir").write_text(ADD_RMS)
    subprocess.run([residc, tmp_path / "k.mlir", "-o", tmp_path / "k.so"], check=True)
    loaded = resid_runtime.load(tmp_path / "k.so")
    x, f, gamma = make_arguments(4)
    y, s = loaded.add_rms(x, f, gamma, out=(numpy.empty_like(x), numpy.empty_like(x)))
    assert s.tobytes() == (x + f).tobytes()
    with pytest.raises(resid.ShapeError, match="result 'out0': expected out="):
        loaded.add_rms(x, f, gamma)


def test_pickles_the_program_and_its_options(cache, tmp_path):
    kernels = resid.compile(BLOCK, placement="post")
    pickled = pickle.dumps(kernels.block)
    assert len(pickled) < 2000 and b"resid.block" in pickled
    again = pickle.loads(pickled)
    assert again.module.compile_flags() == kernels.compile_flags() != resid.compile(BLOCK).compile_flags()
    x, gamma = numpy.ones((2, 64), "f"), numpy.full(64, 2, "f")
    assert numpy.array_equal(again(x, gamma), kernels.block(x, gamma))
    kernels.save(tmp_path / "k.so")
    assert resid.load(tmp_path / "k.so").block.signature == pickle.loads(pickle.dumps(resid.load(tmp_path / "k.so"))).block.signature
    with pytest.raises(TypeError, match="expected a module that resid.compile made"):
        pickle.dumps(resid_runtime.load(tmp_path / "k.so").block)


def test_times_calls(kernels):
    x, gamma = numpy.ones((4, 256), "f"), numpy.ones(256, "f")
    timing = kernels.add_rms.benchmark(x, x, gamma, seconds=0.01, threads=1)
    assert 0 < timing.lower <= timing.median <= timing.upper < 0.1 and timing.calls >= 5
    assert str(timing).endswith(f"in half of {timing.calls} calls)")
    with pytest.raises(resid_runtime.RangeError, match="'seconds': expected a number above 0 but got 0"):
        kernels.add_rms.benchmark(x, x, gamma, seconds=0)
    with pytest.raises(resid_runtime.ShapeError, match="'gamma'"):
        kernels.add_rms.benchmark(x, x, gamma[:3])


def test_draws_and_describes(kernels):
    assert kernels.svg().startswith("<svg") and kernels._repr_svg_() == kernels.svg()
    assert repr(kernels.add_rms.signature) == "add_rms(x: f32[?, 256], f: f32[?, 256], gamma: f32[256]) -> f32[?, 256], f32[?, 256]"
    assert str(kernels.add_rms.signature).startswith("(tensor<?x256xf32>, ")
    assert "add_rms" in dir(kernels) and "add_rms" in repr(kernels)
    with pytest.raises(AttributeError, match="expected one of the functions add_rms, but got 'add_rns'"):
        kernels.add_rns
    assert vars(kernels)["add_rms"] is kernels["add_rms"] is kernels.add_rms


def test_functions_may_have_the_names_of_methods(cache):
    kernels = resid.compile(ADD_RMS.replace("@add_rms", "@report"))
    assert "report.0" in kernels.report() and kernels["report"](*make_arguments(2))[0].shape == (2, 256)


def test_answers_from_the_cache(cache, monkeypatch):
    resid.compile(ADD_RMS)
    (entry,) = cache.glob("*.so")
    monkeypatch.setattr(resid.compiling, "_compile", lambda *_: pytest.fail("compiled again"))
    assert resid.compile(ADD_RMS).add_rms(*make_arguments(2))[0].shape == (2, 256)
    with pytest.raises(BaseException, match="compiled again"):
        resid.compile(ADD_RMS, mode="inference")
    entry.write_bytes(entry.read_bytes()[:-100] + bytes(100))
    with pytest.raises(BaseException, match="compiled again"):
        resid.compile(ADD_RMS)


def test_makes_a_damaged_entry_anew(cache):
    resid.compile(ADD_RMS)
    (entry,) = cache.glob("*.so")
    good = entry.read_bytes()
    for damaged in (b"", good[: len(good) // 2], good[:100] + b"\0" + good[101:]):
        entry.unlink()
        entry.write_bytes(damaged)
        assert resid.compile(ADD_RMS).add_rms(*make_arguments(2))[0].shape == (2, 256)
        assert entry.read_bytes() == good


def write_entry(cache, name, size, days):
    cache.mkdir(exist_ok=True)
    (cache / f"{name}.so").write_bytes(bytes(size))
    os.utime(cache / f"{name}.so", (time.time() - days * 86400,) * 2)


def test_trims_the_cache_to_what_was_used_last(cache):
    for name, days in (("old", 3), ("older", 9), ("new", 1)):
        write_entry(cache, name, 1000, days)
    assert resid.cache.trim(3000) == 0
    assert resid.cache.trim(2500) == 1
    assert sorted(path.stem for path in cache.glob("*.so")) == ["new", "old"]
    assert resid.cache.trim(0) == 2 and not list(cache.glob("*.so"))


def test_new_entries_trim_the_cache(cache, monkeypatch):
    monkeypatch.setattr(resid.cache, "_TRIM_EVERY", 1)
    monkeypatch.setenv("RESID_CACHE_BYTES", "100000")
    write_entry(cache, "unused", 100000, 2)
    resid.compile(ADD_RMS)
    (entry,) = cache.glob("*.so")
    assert entry.stem != "unused"


def test_what_is_used_counts_as_new(cache):
    resid.compile(ADD_RMS)
    (entry,) = cache.glob("*.so")
    os.utime(entry, (time.time() - 9 * 86400,) * 2)
    resid.compile(ADD_RMS)
    assert time.time() - entry.stat().st_mtime < 3600


def test_refuses_a_size_of_the_cache_that_is_no_number(cache, monkeypatch):
    monkeypatch.setenv("RESID_CACHE_BYTES", "1G")
    with pytest.raises(resid.Error, match="RESID_CACHE_BYTES: expected a number of bytes, but got '1G'"):
        resid.compile(ADD_RMS)


def test_works_without_a_folder_for_the_cache(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("RESID_CACHE", str(tmp_path / "file" / "below"))
    assert resid.compile(ADD_RMS).add_rms(*make_arguments(2))[0].shape == (2, 256)


def test_works_for_users_without_a_home(monkeypatch):
    def refuse():
        raise RuntimeError("no home")

    monkeypatch.delenv("RESID_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(pathlib.Path, "home", refuse)
    assert resid.compile(ADD_RMS).add_rms(*make_arguments(2))[0].shape == (2, 256)


def test_runs_no_code_that_others_may_have_written(cache):
    resid.compile(ADD_RMS)
    (entry,) = cache.glob("*.so")
    entry.chmod(0o666)
    before = entry.stat().st_ino
    assert resid.compile(ADD_RMS).add_rms(*make_arguments(2))[0].shape == (2, 256)
    assert entry.stat().st_mode & 0o777 == 0o644 and entry.stat().st_ino != before


def compile_in_process(folder):
    os.environ["RESID_CACHE"] = folder
    y, _ = resid.compile(ADD_RMS).add_rms(*make_arguments(4))
    return y.tobytes()


def test_several_processes_share_a_cache(cache):
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        results = pool.map(compile_in_process, [str(cache)] * 8)
    assert len(set(results)) == 1 and len(list(cache.glob("*.so"))) == 1 and not list(cache.glob(".*"))


def test_runs_in_a_forked_child(kernels):
    arguments = make_arguments(3000)
    want = kernels.add_rms(*arguments, threads=4)[0].tobytes()
    child = os.fork()
    if child == 0:
        os._exit(0 if kernels.add_rms(*arguments, threads=4)[0].tobytes() == want else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_threads_of_python_compile_and_call_at_once(cache):
    results = []

    def work():
        results.append(resid.compile(ADD_RMS, use_cache=False).add_rms(*make_arguments(500), threads=2)[0].tobytes())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4 and len(set(results)) == 1


def test_versions_agree():
    root = pathlib.Path(__file__).resolve().parents[2]
    version = next(line for line in (root / "CMakeLists.txt").read_text().splitlines() if "VERSION" in line and "project" in line)
    assert all(f'version = "{version.split("VERSION ")[1].split()[0].rstrip(")")}"' in (root / file).read_text()
               for file in ("python/pyproject.toml", "python/runtime/pyproject.toml"))
    assert "LLVM" in resid.versions()
