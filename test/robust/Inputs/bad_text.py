# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# bad_text.py FOLDER TOOL…: gives every tool every bad text below, and resid-opt the good ones that look like them. Checks
# the answer: the exit code, `file:line:col: error: …` with the words expected, a short message, the old output untouched,
# no file left, and bounded memory.

import base64
import pathlib
import re
import resource
import subprocess
import sys

MEMORY_BYTES = 1 << 30  # of which a tool needs a tenth
MESSAGE_BYTES = 8192


def function(body="", arguments="", results="", values=""):
    return f"func.func @f({arguments}) {results} {{\n{body}\n  return {values}\n}}\n"


def chain(sigil, inner, outer, count):
    """Aliases that stand for values with the alias before: `inner`, then `outer` around the name of the last."""
    lines = [f"{sigil}a0 = {inner}"] + [f"{sigil}a{i} = {outer.format(f'{sigil}a{i - 1}')}" for i in range(1, count)]
    return "\n".join(lines) + "\n"


def laughs(count):
    """Each alias holds the one before twice: 2^count values when written out."""
    return "!a0 = i32\n" + "".join(f"!a{i} = tuple<!a{i - 1}, !a{i - 1}>\n" for i in range(1, count))


NESTED = "expected brackets to nest at most 256 deep"
HEIGHT = "expected operators and aliases to nest at most 4096 deep"
ADD = "%y = resid.add %x, %x : tensor<4xf32>"

RESOURCE = "%y = arith.constant dense_resource<w> : tensor<2x2xf32>"
EXPAND = "%y = tensor.expand_shape %x [[0], [1, 2]] output_shape [{}] : tensor<?x8xf32> into tensor<?x4x2xf32>"


def weights(values):
    """The bytes of the resource w, in hexadecimal, after their alignment."""
    return f'{{-#\n  dialect_resources: {{ builtin: {{ w: "0x04000000{values}" }} }}\n#-}}\n'


# Bytecode of a function in which an attribute refers to itself.
CIRCLE = base64.b64decode(
    "TUzvUg1NTElSMjIuMS44AAEjBwEFCQ0BAw8DBQcTBQcXGx8DPycNAScLLxMLCxMTExMTEy8PExMvDxMTAQ07DwcHFycC9RUREwUAAAAAAAAA4H"
    "8XAQEBDQsFExcBCwMXAQslFwELUxcBC4EXAQuzFwELyxMFADQzMzMzM3N/EQMBFwEPERcBERETBQDi0cYRa/HJfREDBRcBExEXARUHGwUA////"
    "//////8CGAcBAgQNCxsDAhgHBQsBAQkDAwMBBIUFAVAFAQcEdQMBBQNQCwMHBGEDERMLAw0DDxMRBxMHFQAHRhsFAwEHAwcJCUYdBwMBBQELC0"
    "YjCQMBBQ0FBQQlAw8GAwEFAQDvFQ1dFwkRDw8NCxFidWlsdGluAGZ1bmMAcmVzaWQAbW9kdWxlAHJldHVybgBkcm9wb3V0AGFkZABsYXllcl9u"
    "b3JtAC93b3JrL3d0L3N0cmlkZWQvdGVzdC90b29scy9JbnB1dHMvYmxvY2subWxpcgBibG9jawAIQQsFAQENAQcBAQkBERcZFQMDAwEBBQcHER"
    "8BQwENAwMB"
)

# Name, text or bytes, and a regular expression that the first message matches.
BAD = [
    ("words", "hello world\n", "custom op 'hello' is unknown"),
    ("truncated", "func.func @f(%x: tensor<4x", "expected"),
    ("unclosed", "func.func @f() {\n  return\n", "expected operation name"),
    ("binary", bytes(range(1, 256)) * 16, ""),
    ("zero-byte", b"func.func @f() {\n  \0return\n}\n", "expected text, but got a zero byte"),
    ("only-zeros", b"\0" * 4096, "expected text, but got a zero byte"),
    ("bytecode", b"ML\xefR" + bytes(range(256)), ""),
    ("bytecode-cut", b"ML\xefR", ""),
    ("bytecode-circle", CIRCLE, "its reader fell over it or came to no end"),
    ("string", 'func.func @f() attributes {x = "abc', "expected '\"' in string literal"),
    ("regions", '"a.a"() ({\n' * 300, NESTED),
    ("types", "func.func @f(%x: " + "tuple<" * 300, NESTED),
    ("arrays", "#x = " + "[" * 300, NESTED),
    ("dictionaries", "#x = " + "{x = " * 300, NESTED),
    ("locations", 'func.func @f() { return loc(' + 'callsite("a" at ' * 300, NESTED),
    ("functions", "!x = " + "() -> (" * 300, NESTED),
    ("expressions", "#x = affine_map<(d0) -> (" + "(" * 300, NESTED),
    # '>' and '<' that are operators close and open nothing.
    ("comparisons", "#x = " + "[affine_set<(d0) : (d0 >= 0)>, " * 300, NESTED),
    ("smaller", "#x = " + "[affine_set<(d0) : (0 <= d0)>, " * 300, NESTED),
    ("arrows", "#x = " + "[() -> i32, " * 300, NESTED),
    # Neither strings nor comments hide what nests, or count.
    ("strings", "#x = " + '["]\\"]", ' * 300, NESTED),
    ("comments", "#x = " + "[ // ]\n" * 300, NESTED),
    ("symbols", "#x = " + '[@"]", @a-, ' * 300, NESTED),
    ("signs", "#x = affine_map<(d0) -> (" + "-" * 300 + "d0)>", "expected at most 256 signs"),
    ("signs-apart", "#x = affine_map<(d0) -> (" + "- // -\n" * 300 + "d0)>", "expected at most 256 signs"),
    ("sum", "#x = affine_map<(d0) -> (d0" + " + d0" * 5000 + ")>", HEIGHT),
    ("quotients", "#x = affine_map<(d0)[s0] -> (d0" + " floordiv s0" * 5000 + ")>", HEIGHT),
    ("sums-in-sums", "#x = affine_map<(d0) -> (" + "(" * 200 + "d0" + (" + d0" * 30 + ")") * 200 + ")>", HEIGHT),
    ("type-aliases", chain("!", "i32", "tuple<{}>", 5000), HEIGHT),
    ("attribute-aliases", chain("#", "1 : i32", "[{}]", 5000), HEIGHT),
    ("location-aliases", chain("#", "loc(unknown)", 'loc("x"({}))', 5000), HEIGHT),
    ("commented-aliases", chain("#", "1 : i32", "[{}]", 5000).replace(" =", " // =\n ="), HEIGHT),
    ("signed-aliases", chain("#", "1 : i32", "[{}]", 5000).replace("#a", "#a-"), HEIGHT),
    ("laughs", laughs(60) + function("", "%x: !a59"), "expected an alias to stand for at most"),
    ("unknown-op", function("  %y = resid.nothing %x : tensor<4xf32>", "%x: tensor<4xf32>"), "custom op 'resid.nothing' expected 'resid.activation', "),
    ("unknown-dialect", function('  "nowhere.op"() : () -> ()'), "unregistered dialect"),
    ("unknown-generic", function('  "resid.nothing"() : () -> ()'), "resid.nothing"),
    ("elided-resource", function("  %y = arith.constant dense_resource<__elided__> : tensor<2xf32>"), "expected the values of a constant"),
    ("elided-dense", function('  %y = arith.constant dense<"__elided__"> : tensor<2xf32>'), "expected the values of a constant"),
    ("negative-epsilon", function("  %y = resid.rms_norm %x {epsilon = -1.0} : tensor<4xf32>", "%x: tensor<4xf32>"), "epsilon"),
    ("verifier", function("  %y = resid.add %x, %z : tensor<4xf32>, tensor<5xf32>", "%x: tensor<4xf32>, %z: tensor<5xf32>"), ""),
    ("byte-order-mark", b"\xef\xbb\xbfhello world\n", ":1:1: error: custom op 'hello' is unknown"),
    ("types-differ", function(f"  {ADD}", "%x: tensor<5xf32>"), "expects different type"),
    ("undefined", function("", "", "-> tensor<4xf32>", "%y : tensor<4xf32>"), "undeclared SSA value"),
    ("twice", function() * 2, "redefinition of symbol"),
    ("negative-size", function(f"  {ADD}".replace("<4", "<-4"), "%x: tensor<-4xf32>"), ""),
    ("size-past-64-bits", function("", "%x: tensor<99999999999999999999xf32>"), ""),
    ("product-past-64-bits",
     function("  %y = resid.add %x, %x : tensor<4294967296x4294967296x4xf32>", "%x: tensor<4294967296x4294967296x4xf32>"), ""),
    ("past-2^47-bytes", function("  %y = resid.add %x, %x : tensor<35184372088833xf32>", "%x: tensor<35184372088833xf32>"), ""),
    # The upstream parser falls over this one after its message.
    ("parser-fault", function("  %y = linalg.transpose ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) permutation = ]",
                              "%x: tensor<4xf32>"), "expected '\\['"),
    ("long-line", "func.func @f() { " + "x" * 100000, "custom op 'xxx"),
    ("long-list", "func.func @f() { %0 = arith.constant dense<[" + "1.0, " * 100000, "expected element literal"),
]

# What verifies, but means nothing; the language server leaves it to the tools.
MEANINGLESS = [
    ("missing-resource", function(f"  {RESOURCE}"), "expected the values of the resource 'w' in the file, but got none"),
    ("short-resource", function(f"  {RESOURCE}") + weights("0000803F"),
     "expected 16 bytes in the resource 'w', the values of 'tensor<2x2xf32>', but got 4"),
    ("long-resource", function(f"  {RESOURCE}") + weights("0000803F" * 5), "expected 16 bytes .* but got 20"),
    ("nested-resource", function().replace(" {", " attributes {a.b = [dense_resource<w> : tensor<2xi1>]} {", 1) + weights("00"),
     "expected 2 bytes .* but got 1"),
    ("sizes-contradict", function("  " + EXPAND.format("%n, 2, 4"), "%x: tensor<?x8xf32>, %n: index"),
     "expected size 1 of output_shape to be 4, that of the result, but got 2"),
    ("size-by-operand", function("  " + EXPAND.format("%n, %n, 2"), "%x: tensor<?x8xf32>, %n: index"),
     "expected size 1 of output_shape to be 4, that of the result, but got an operand"),
    ("sizes-missing", function('  %y = "tensor.expand_shape"(%x) <{reassociation = [[0], [1, 2]], static_output_shape = array<i64: 4, 2>}> '
                               ": (tensor<?x8xf32>) -> tensor<?x4x2xf32>", "%x: tensor<?x8xf32>"), ""),
    ("size-without-operand", function('  %y = "tensor.expand_shape"(%x) <{reassociation = [[0], [1, 2]], static_output_shape = array<i64: '
                                      '-9223372036854775808, 4, 2>}> : (tensor<?x8xf32>) -> tensor<?x4x2xf32>', "%x: tensor<?x8xf32>"), ""),
    ("module-in-module", function() + "module @inner {\n}\n", ":5:1: error: expected functions in the module, but got another module"),
    ("module-in-file-module", "module {\n  module @inner {\n" + function() + "  }\n}\n", ":2:3: error: expected functions in the module"),
]

# What looks like the above and is right: resid-opt must take it.
GOOD = [
    ("empty", ""),
    ("marked", "\ufeff" + function()),
    ("resource", function(f"  {RESOURCE}") + weights("0000803F" * 4)),
    ("sizes-agree", function("  " + EXPAND.format("%n, 4, 2"), "%x: tensor<?x8xf32>, %n: index")),
    ("comment", "// " + "([{<" * 1000 + "\n" + function()),
    ("brackets-in-strings", f"func.func @f() attributes {{x = \"{'([{<' * 1000}\", y = \"\\\"(\"}} {{\n  return\n}}\n"),
    ("deep", "#x = " + "[" * 250 + "]" * 250 + "\n" + function()),
    ("many", "#x = [" + "[1], " * 5000 + "[1]]\n" + "".join(function().replace("@f", f"@f{i}") for i in range(300))),
    ("many-signs", function("\n".join(f"  %c{i}-a = arith.constant -{i + 1} : i64" for i in range(5000)))),
    ("long-sum", "#x = affine_map<(d0) -> (d0" + " + d0" * 4000 + ")>\n" + function()),
    ("alias-chain", chain("!", "i32", "tuple<{}>", 1000) + function()),
    ("one-alias-often", "#a = 1 : i32\n" + "".join(
        f"func.func @f{i}() attributes {{x = [#a, #a, #a]}} {{\n  return\n}}\n#a{i} = [#a]\n" for i in range(3000))),
]


def run(tool, path, output):
    command = {"residc": ["residc", path, "-o", output], "resid-opt": ["resid-opt", path, "-o", output],
               "resid-run": ["resid-run", path, "--entry=f", f"--out={output}"],
               "resid-reduce": ["resid-reduce", path, "--test=true", "-o", output]}[tool]
    return subprocess.run(command, capture_output=True, timeout=120, stdin=subprocess.DEVNULL)


def complain(tool, name, what, found):
    print(f"{tool} on {name}: {what}; exit code {found.returncode}, first message: "
          f"{found.stderr[:300].decode(errors='replace')}")
    return 1


def check_bad(tool, name, path, pattern, output):
    output.write_text("old")
    found = run(tool, path, output)
    text = found.stderr.decode(errors="replace")
    place = re.match(rf"(?:.*/)?{re.escape(path.name)}:[1-9]\d*:\d+: error: (.*)", text)
    # Bytecode has no lines.
    if not place and name.startswith("bytecode"):
        place = re.match(rf"(?:.*/)?{re.escape(path.name)}:0:0: error: (.*)|.*error: (.*)", text)
    if found.returncode != 1:
        return complain(tool, name, "expected exit code 1", found)
    if not place or not re.search(pattern, place[0]):
        return complain(tool, name, f"expected file:line:col: error: {pattern}", found)
    if len(found.stderr) > MESSAGE_BYTES:
        return complain(tool, name, f"expected at most {MESSAGE_BYTES} bytes of messages but got {len(found.stderr)}", found)
    if output.read_text() != "old":
        return complain(tool, name, "expected the old output", found)
    return 0


def check_good(tool, name, path, output):
    found = run(tool, path, output)
    return complain(tool, name, "expected it to be taken", found) if found.returncode else 0


def main():
    folder, tools = pathlib.Path(sys.argv[1]), sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    failures = checks = 0
    for name, text, pattern in BAD + MEANINGLESS:
        path = folder / f"{name}.mlir"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        # A reader that comes to no end is given two seconds of the processor: once is enough.
        for tool in tools[:1] if name == "bytecode-circle" else tools:
            checks += 1
            failures += check_bad(tool, name, path, pattern, folder / "output.npy" if tool == "resid-run" else folder / "output.mlir")
    for name, text in GOOD:
        path = folder / f"{name}.mlir"
        path.write_text(text)
        checks += 1
        failures += check_good("resid-opt", name, path, folder / "output.mlir")
    expected = {f"{case[0]}.mlir" for case in BAD + MEANINGLESS + GOOD} | {"output.mlir", "output.npy"}
    left = {path.name for path in folder.iterdir()} - expected
    if left:
        print("expected no files beside the inputs and outputs but found", sorted(left))
        failures += 1
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    if peak > MEMORY_BYTES:
        print(f"expected at most {MEMORY_BYTES} bytes of memory but one run took {peak}")
        failures += 1
    print(f"{checks} checks, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
