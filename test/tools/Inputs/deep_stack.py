# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes a deep stack of pre-norm layers, attention and MLP each. Arguments: how many layers; `equal`, where layers differ
# in the numbers of their parameters and dropout sites alone, or `distinct`, where each calls functions of its own.

import sys

layers, kind = int(sys.argv[1]), sys.argv[2]
# Names without numbers.
names = [f"{first}_{second}" for first in ("red", "green", "blue", "grey") for second in ("oak", "elm", "fir", "ash", "yew", "box")]
arguments, body, callees = ["%x: !s", "%seed: i64", "%step: i64"], [], {}
stream = "%x"
for layer in range(layers):
    for place, part in enumerate(("attention", "mlp")):
        callee = part if kind == "equal" else f"{names[layer]}_{part}"
        weight = f"layer{layer}_{part}_weight" if kind == "equal" else f"{callee}_weight"
        callees[callee] = None
        arguments += [f"%{weight}: !v", f"%{weight}_norm: !v"]
        result = f"%s{layer}_{place}"
        body.append(
            f"""  {result} = resid.block pre {stream} norm(rms gamma %{weight}_norm : !v epsilon = 1.0e-5)
      dropout(0.1, site {2 * layer + place}, seed %seed, step %step) : !s {{
  ^bb0(%h: !s):
    %f = func.call @{callee}(%h, %{weight}) : (!s, !v) -> !s
    resid.yield %f : !s
  }}"""
        )
        stream = result
print("!s = tensor<?x64xf32>\n!v = tensor<64xf32>")
for callee in callees:
    print(f"func.func private @{callee}(%h: !s, %w: !v) -> !s {{\n  %f = resid.add_bias %h, %w : !s, !v\n  return %f : !s\n}}")
print(f"func.func @stack({', '.join(arguments)}, %gamma: !v) -> !s {{")
print("\n".join(body))
print(f"  %y = resid.rms_norm {stream} gamma(%gamma) {{epsilon = 1.0e-5}} : !s, !v\n  return %y : !s\n}}")
