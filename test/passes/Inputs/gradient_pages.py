# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# gradient_pages.py RESID-OPT PAGES TESTS FOLDER: whether each op has the gradient that its page promises, and none where
# it promises none. The example of the page is differentiated. Whether gradients are right, the unit tests TESTS judge:
# each op with a gradient has to stand in one of them.

import pathlib
import re
import subprocess
import sys

resid_opt, pages, tests, folder = sys.argv[1], *map(pathlib.Path, sys.argv[2:])
tested = "".join(file.read_text() for file in tests.glob("GradientsOf*.cpp"))


# Where the page's own example has what the page says has no gradient.
EXAMPLES = {
    "batch_norm": """func.func @batch_norm(%x: tensor<?x8xf32>, %g: tensor<8xf32>)
    -> (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %y, %mean, %variance = resid.batch_norm %x gamma(%g) {epsilon = 1.0e-5}
      : tensor<?x8xf32>, tensor<8xf32> -> tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>
  return %y, %mean, %variance : tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>
}
""",
    "attention": """func.func @attention(%q: tensor<1x4x?x8xf32>, %k: tensor<1x2x6x8xf32>) -> tensor<1x4x?x8xf32> {
  %y = resid.attention %q, %k, %k {causal} : tensor<1x4x?x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32>
  return %y : tensor<1x4x?x8xf32>
}
""",
    "rotary": """func.func @rotary(%x: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %cos = arith.constant dense<0.5> : tensor<3x4xf32>
  %sin = arith.constant dense<0.25> : tensor<3x4xf32>
  %y = resid.rotary %x cos(%cos) sin(%sin) : tensor<2x3x8xf32>, tensor<3x4xf32>, tensor<3x4xf32>
  return %y : tensor<2x3x8xf32>
}
""",
}


def differentiate(text, name):
    """The errors, or nothing."""
    file = folder / "example.mlir"
    file.write_text(text)
    command = [resid_opt, file, f"--resid-grad=function={name}", "-o", "/dev/null"]
    run = subprocess.run(command, capture_output=True, text=True)
    return run.stderr if run.returncode else ""


def keep_first_result(text):
    text = re.sub(r"-> \((tensor<[^>]*>), [^{]*\) \{\n", r"-> \1 {\n", text)
    return re.sub(r"return (%\w+), .*? : (tensor<[^>]*>), .*", r"return \1 : \2", text)


def find_fault(op, page):
    statement = re.search(r"\*\*Gradient\.\*\*(.*?)\n\n", page, re.S)
    if not statement:
        return "" if op == "yield" else "says nothing of its gradient"
    statement = statement.group(1).strip()
    example = re.search(r"```mlir\n(.*?)```", page, re.S).group(1)
    functions = re.findall(r"func\.func @(\w+).*?\n\}", example, re.S)
    name = functions[-1]
    errors = differentiate(example, name)
    if statement.startswith("None."):
        return "" if "has no rule for its gradient" in errors else f"promises no gradient, but got: {errors or 'one'}"
    if re.search("has no gradient (of|with) ", errors) and re.search("Not there yet:|have no gradient", " ".join(statement.split())):
        example = EXAMPLES[op]
        errors = differentiate(example, op)
    if "has no gradient through" in errors:
        if "There is none through" not in " ".join(statement.split()):
            return f"does not say: {errors}"
        errors = differentiate(keep_first_result(example), name)
    if errors:
        return f"promises a gradient, but got: {errors}"
    return "" if f"resid.{op} " in tested else "promises a gradient that no unit test of gradients has"


count = 0
for page in sorted(pages.glob("*.md")):
    if page.name == "README.md":
        continue
    count += 1
    if fault := find_fault(page.stem, page.read_text()):
        sys.exit(f"{page}: {fault}")
print(count, "pages")
