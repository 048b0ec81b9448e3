# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The types of the compiled module _compiler (src/Module.cpp).

# The norm placements of resid.block: how many norms a sub-layer has, and whether a final norm follows the last one.
PLACEMENTS: dict[str, tuple[int, bool]]

class QuantizeMode:
    GIVEN: QuantizeMode
    PREPARED: QuantizeMode
    OBSERVE: QuantizeMode

def compile(text: str, name: str, flags: list[str]) -> tuple[int, bytes, dict[str, bytes], str, str]: ...
def quantize(text: str, name: str, scheme: str, keep: list[str], factors: list[str], keep_heads: bool,
             mode: QuantizeMode) -> tuple[int, bytes, dict[str, bytes], str, str]: ...
def versions() -> str: ...
def processor() -> str: ...
