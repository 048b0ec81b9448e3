# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What the tests of importing share: running a program by resid-run on arrays, compiling several programs at a time, and where the
# tools are.

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import resid
from resid.importer import Imported, write_weights

ROOT = Path(__file__).resolve().parents[2]


def tool(name: str) -> str:
    """resid-run or residc of the build folder."""
    return str(Path(os.environ.get("RESID_BUILD", ROOT / "build")) / "bin" / name)


def save(path: Path, array: np.ndarray) -> Path:
    """A .npy file that resid-run reads; bf16 as <u2."""
    np.save(path, array.view(np.uint16) if str(array.dtype) == "bfloat16" else np.asarray(array, order="C"))
    return path


def run(
    imported: Imported, inputs: Sequence[np.ndarray], folder: Path, *, results: int = 1, flags: Sequence[str] = ()
) -> list[np.ndarray]:
    """Runs the program by resid-run, with its weights in a safetensors file. bf16 comes back as its bits."""
    program = folder / "model.mlir"
    program.write_text(imported.text)
    command = [tool("resid-run"), str(program), f"--entry={imported.function}", *flags]
    if imported.weights:
        write_weights(folder / "model.safetensors", imported.weights)
        command.append(f"--weights={folder / 'model.safetensors'}")
    command += [f"--arg={save(folder / f'in{index}.npy', array)}" for index, array in enumerate(inputs)]
    outs = [folder / f"out{index}.npy" for index in range(results)]
    done = subprocess.run([*command, *[f"--out={out}" for out in outs]], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
    return [np.load(out) for out in outs]


def bytes_of(array: np.ndarray) -> np.ndarray:
    """u8 as the i8 that functions take and give in its place, of the same bytes; others as they are."""
    return array.view(np.int8) if array.dtype == np.uint8 else array


_COMPILED: dict[str, resid.Kernel] = {}


def compile_together(programs: Sequence[Imported]) -> list[resid.Kernel]:
    """The function of each program. Those that were not compiled before are in one library: most of the time of compiling a small one
    is the same for each library."""
    new = {imported.text: imported.function for imported in programs if imported.text not in _COMPILED}
    named = {text: f"{function}_{index}" for index, (text, function) in enumerate(new.items())}
    if new:
        texts = [text.replace(f"func.func @{new[text]}(", f"func.func @{name}(", 1) for text, name in named.items()]
        try:
            module = resid.compile("\n".join(texts), use_cache=False)
        except resid.CompileError:
            for text in new:  # in words about the program that is refused
                resid.compile(text)
            raise
        _COMPILED.update((text, module[name]) for text, name in named.items())
    return [_COMPILED[imported.text] for imported in programs]


def count(imported: Imported, op: str) -> int:
    """How often an op stands in the program."""
    return imported.text.count(f"= {op} ")
