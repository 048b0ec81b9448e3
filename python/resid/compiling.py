# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# From a program to a module of functions: by the cache, or by the compiler in this process.

from __future__ import annotations

import json
import os
import pathlib
import sys
import tempfile
from typing import Any, Callable, Mapping, Sequence

import resid_runtime
from resid_runtime.library import append_description

from . import cache, errors
from .options import Options

_LIBRARY, _HEADER, _REPORT, _DRAWING = "kernels.o", "kernels.h", "kernels.json", "kernels.svg"


class Module(resid_runtime.Module):
    """The functions of a program, as attributes. Beside what resid_runtime.Module has, it draws the program."""

    def svg(self) -> str:
        """The residual streams of the program as a picture, after a conversion of its norm placement."""
        if "source" not in self._description:
            raise resid_runtime.LoadError(f"{self._path}: expected a library that resid.compile made, which has its program")
        source = self._description["source"]
        flags = [flag for flag in source["flags"] if not flag.startswith(("--grad", "--wrt", "--save", "--target", "--chip"))]
        flags = [flag for flag in flags if not flag.startswith("--schedule=gpu-")]
        return run(source["text"], source["name"], [*flags, "-o", _DRAWING])[1][_DRAWING].decode()

    def __reduce__(self) -> Any:
        """A pickle has the program and the flags: where it is loaded, the cache or the compiler makes the code for that machine."""
        source = self._description.get("source")
        return super().__reduce__() if source is None else (_compile_again, (source["text"], source["name"], source["flags"]))

    def _repr_svg_(self) -> str:
        return self.svg()


def run(text: str, name: str, flags: list[str], quiet: bool = False) -> tuple[str, dict[str, bytes], str, str]:
    """Runs the compiler. What it says, the files, the functions as JSON, the report. Raises CompileError and its like."""
    from . import _compiler

    code, messages, files, functions, report = _compiler.compile(text, name, flags)
    said = messages.decode(errors="replace")
    errors.raise_for(code, said)
    if said.strip() and not quiet:
        print(said.rstrip(), file=sys.stderr)
    return said, files, functions, report


def _read(source: str | os.PathLike[str]) -> tuple[str, str]:
    """The text of a program and its name: a path, or the text itself, which has more than one line or a brace."""
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"argument 'source': expected text or a path but got {type(source).__name__}")
    if isinstance(source, os.PathLike) or (source and "\n" not in source and "{" not in source):
        try:
            return pathlib.Path(source).read_text(encoding="utf-8"), os.fspath(source)
        except UnicodeDecodeError:
            raise errors.CompileError(f"{os.fspath(source)}: error: expected text in UTF-8") from None
    return source, "<text>"


def _compile(text: str, name: str, flags: list[str], quiet: bool) -> bytes:
    outputs = ["-o", _LIBRARY, f"--header={_HEADER}", f"--report={_REPORT}"]
    _, files, functions, report = run(text, name, [*flags, *outputs], quiet)
    if not json.loads(functions):
        raise errors.CompileError(f"{name}: expected a public function (func.func), but there is none")
    description = {"version": 1, "functions": json.loads(functions), "report": report, "header": files[_HEADER].decode(),
                   "kernels": json.loads(files[_REPORT]), "source": {"text": text, "name": name, "flags": flags}}
    return append_description(files[_LIBRARY], description)


def compile(source: str | os.PathLike[str] | Callable[..., Any], inputs: Sequence[Any] | None = None, *, placement: str | None = None, params: str | None = None,
            final_norm: str | None = None, mode: str = "training", cpu: str = "native", target: str = "cpu",
            chip: str | Sequence[str] | None = None, grad: str | None = None, wrt: Sequence[int] | None = None,
            grad_mode: str | None = None, save: str | None = None, raising: str | None = None,
            schedule: str | Mapping[str, object] | None = None, prefix: str | None = None,
            use_cache: bool = True, streams: int | None = None, connection: str | None = None,
            quiet: bool = False, relax_rounding: str | None = None, pack_weights: bool = False,
            dynamic_shapes: Any = None) -> Module:
    """Compiles a program and loads its functions.

    Args:
      source: MLIR text, or the path of a file with it; or a function of tensors of PyTorch, which becomes a function of its name.
      inputs: the tensors that such a function is traced on, by torch.export.
      placement: the norm placement to convert to (docs/placement.md).
      params: "keep" or "shift": which norm each sub-layer has then.
      final_norm: "args" or "identity": where the final norm comes from.
      mode: "training", or "inference", which drops dropout.
      cpu: "native", a processor's name as LLVM has it, or several with commas between them.
      target: "cpu", or "cuda" for NVIDIA GPUs.
      chip: the GPUs, as "sm_90" or several.
      grad: the function F to differentiate: F_forward and F_backward are made.
      wrt: the numbers of the arguments that have gradients.
      grad_mode: "split", or "value-and-grad" for one function.
      save: "min", "default" or "all": what F_forward keeps for F_backward.
      raising: "off", "exact" or "all": what of layers that are written out becomes ops of resid (residc's --raise).
      schedule: how row kernels run, as {"rows": "batched"} or "rows=batched".
      prefix: stands before the name of each function.
      use_cache: whether the folder of the cache is read and written (resid.cache).
      streams: how many residual streams to convert to, from 2 to 16, or 1 to convert back.
      connection: how sub-layers are connected to them, as in residc's --connection.
      relax_rounding: "products": matrix units of GPUs may add up products of f16 and bf16 (residc's --relax-rounding).
      pack_weights: functions take weights marked resid.weight in panels, which F_prepare makes of them (docs/prepare.md).
      quiet: whether warnings and remarks of the compiler are left out; else they are printed to stderr.

      dynamic_shapes: which of their sizes are open, as in torch.export; none without it.

    Raises:
      CompileError: with residc's text, where the program or an option is wrong. UnavailableError where the target cannot
        do it. OSError where a file cannot be read. TypeError where a source and inputs do not go together, and
        importer.ImportFailure where an operator of a function is not covered.
    """
    if callable(source):
        if inputs is None:
            raise TypeError("argument 'inputs': expected the tensors that the function is traced on, but got none")
        from .importer import from_function

        text, name = from_function(source, inputs, dynamic_shapes).text, getattr(source, "__name__", "<function>")
    elif inputs is not None or dynamic_shapes is not None:
        raise TypeError("argument 'source': expected a function beside 'inputs' and 'dynamic_shapes', but got a program")
    else:
        text, name = _read(source)
    flags = Options(placement, params, final_norm, streams, connection, mode, cpu, target, chip, grad, wrt, grad_mode, save,
                    raising, schedule, prefix, relax_rounding, pack_weights).flags()
    return _find_or_compile(text, name, flags, use_cache, quiet)


def _find_or_compile(text: str, name: str, flags: list[str], use_cache: bool, quiet: bool) -> Module:
    entry = cache.key(text, flags)
    found = cache.find(entry) if use_cache else None
    if found:
        return Module(*found)
    library = _compile(text, name, flags, quiet)
    path = cache.keep(entry, library) if use_cache else None
    return Module(path, library) if path else _load_aside(library)


def _compile_again(text: str, name: str, flags: list[str]) -> Module:
    """From a pickle. What the compiler says beside errors was said before."""
    return _find_or_compile(text, name, flags, use_cache=True, quiet=True)


def _load_aside(library: bytes) -> Module:
    """Loads a library that is kept nowhere: a loader needs a file, which is removed again."""
    handle, path = tempfile.mkstemp(suffix=".so")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(library)
        return Module(path, library)
    finally:
        os.unlink(path)


def load(path: str | os.PathLike[str]) -> Module:
    """Loads a shared library that `Module.save` or `residc --emit=shared` wrote. Raises LoadError and OSError.

    Names of arguments, the report, the header and the picture are known of the former alone.
    """
    return Module(path)


def versions() -> str:
    """resid's version and LLVM's."""
    from . import _compiler

    return _compiler.versions().strip()
