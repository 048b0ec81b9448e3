# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Results whose sizes are drawn at random, and all spellings of padding to a multiple: what compiled functions answer, what
# they write and what their header says, beside Python's own integers.
#
#   size_expressions.py <folder> <seed> <count>

import ctypes
import random
import re
import subprocess
import sys

LIMIT = 2**47
MOST = 4000  # elements that a call may write


class NoSize(Exception):
    pass


def signed(value):
    """The 64 bits of an integer as a signed number."""
    return (value + 2**63) % 2**64 - 2**63


def truncate(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def divided(function):
    def run(a, b):
        if b == 0:
            raise NoSize
        return function(a, b)
    return run


def unsigned(function):
    return lambda a, b: function(a % 2**64, b % 2**64)


COMPARISONS = {"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "slt": lambda a, b: a < b, "sle": lambda a, b: a <= b,
               "sgt": lambda a, b: a > b, "sge": lambda a, b: a >= b, "ult": unsigned(lambda a, b: a < b),
               "ule": unsigned(lambda a, b: a <= b), "ugt": unsigned(lambda a, b: a > b), "uge": unsigned(lambda a, b: a >= b)}
# By the name of the operation: what it computes.
BINARY = {"arith.addi": lambda a, b: a + b, "arith.subi": lambda a, b: a - b, "arith.muli": lambda a, b: a * b,
          "arith.divsi": divided(truncate), "arith.remsi": divided(lambda a, b: a - truncate(a, b) * b),
          "arith.divui": divided(unsigned(lambda a, b: a // b)), "arith.remui": divided(unsigned(lambda a, b: a % b)),
          "arith.floordivsi": divided(lambda a, b: a // b), "arith.ceildivsi": divided(lambda a, b: -(-a // b)),
          "arith.ceildivui": divided(unsigned(lambda a, b: -(-a // b))), "arith.minsi": min, "arith.maxsi": max,
          "arith.minui": lambda a, b: min(a % 2**64, b % 2**64), "arith.maxui": lambda a, b: max(a % 2**64, b % 2**64)}
DIVISIONS = [name for name in BINARY if "div" in name or "rem" in name]
# Affine maps of two operands; divisors are constants above 0.
AFFINE = [("affine.apply", "(d0 + d1 * 3) mod 5", lambda a, b: (a + b * 3) % 5),
          ("affine.apply", "(d0 - d1) floordiv 3", lambda a, b: (a - b) // 3),
          ("affine.apply", "(d0 - d1 - 4) ceildiv 4", lambda a, b: -(-(a - b - 4) // 4)),
          ("affine.min", "d0, d1, 7", lambda a, b: min(a, b, 7)), ("affine.max", "d0 - 3, d1, 1", lambda a, b: max(a - 3, b, 1)),
          ("affine.min", "d0 - d1, (d0 + 2) mod 4", lambda a, b: min(a - b, (a + 2) % 4))]


class Program:
    """The lines of one function, and the steps that compute its size."""

    def __init__(self):
        self.lines, self.steps = [], []

    def add(self, text, step, type="index"):
        self.lines.append(f"  %{len(self.steps)} = {text}")
        self.steps.append(step)
        return len(self.steps) - 1

    def constant(self, value):
        return self.add(f"arith.constant {value} : index", lambda v, s: value)

    def size(self, index):
        return self.add(f"tensor.dim %x{index}, %c0 : tensor<?xf32>", lambda v, s: s[index])

    def binary(self, name, a, b):
        return self.add(f"{name} %{a}, %{b} : index", lambda v, s: signed(BINARY[name](v[a], v[b])))

    def value(self, sizes, limit=LIMIT):
        """The size; where a step is beyond the limit there is none."""
        values = []
        for step in self.steps:
            try:
                values.append(step(values, sizes))
            except TypeError:  # of an operand that has no value
                values.append(None)
            if values[-1] is not None and abs(values[-1]) > limit:
                values[-1] = None
        if values[-1] is None or not 0 <= values[-1] <= LIMIT // 4:
            raise NoSize
        return values[-1]

    def has_size(self, sizes):
        try:
            return self.value(sizes) <= MOST
        except NoSize:
            return False

    def text(self, name):
        body = "\n".join(self.lines)
        return f"""func.func @{name}(%x0: tensor<?xf32> {{resid.name = "x0"}}, %x1: tensor<?xf32> {{resid.name = "x1"}}) -> tensor<?xf32> {{
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
{body}
  %e = tensor.generate %{len(self.steps) - 1} {{
  ^bb0(%i: index):
    tensor.yield %one : f32
  }} : tensor<?xf32>
  return %e : tensor<?xf32>
}}
"""


def draw(program, rng, depth):
    if depth == 0 or rng.random() < 0.1:
        return program.size(rng.randrange(2)) if rng.random() < 0.7 else program.constant(rng.randint(-9, 9))
    kind = rng.random()
    a = draw(program, rng, depth - 1)
    if kind < 0.1:
        b, c, d = (draw(program, rng, depth - 1) for _ in range(3))
        predicate = rng.choice(list(COMPARISONS))
        compare = program.add(f"arith.cmpi {predicate}, %{a}, %{b} : index", lambda v, s: int(COMPARISONS[predicate](v[a], v[b])))
        return program.add(f"arith.select %{compare}, %{c}, %{d} : index", lambda v, s: v[c] if v[compare] + 0 else v[d])
    if kind < 0.2:
        b = draw(program, rng, depth - 1)
        name, results, function = rng.choice(AFFINE)
        return program.add(f"{name} affine_map<(d0, d1) -> ({results})>(%{a}, %{b})", lambda v, s: function(v[a], v[b]))
    if kind < 0.55:
        b = (program.constant(rng.choice([-4, -3, -2, 2, 3, 4, 5, 8])) if rng.random() < 0.7 else
             program.binary("arith.addi", program.size(rng.randrange(2)), program.constant(rng.randint(-3, 1))))
        return program.binary(rng.choice(DIVISIONS), a, b)
    return program.binary(rng.choice([name for name in BINARY if name not in DIVISIONS]), a, draw(program, rng, depth - 1))


def spell_padding():
    """n rounded up to a multiple of 4, in each spelling that people use."""
    def spelled(write):
        program = Program()
        n, four, one = program.size(0), program.constant(4), program.constant(1)
        write(program, n, four, one, lambda name, a, b: program.binary("arith." + name, a, b))
        return program

    def ends(op, rem):
        return lambda p, n, four, one, b: b("addi", n, b(rem, b("subi", four, b(rem, n, four)), four))

    def rounds(divide):
        return lambda p, n, four, one, b: b("muli", b(divide, b("subi", b("addi", n, four), one), four), four)

    def chooses(p, n, four, one, b):
        rest, zero = b("remsi", n, four), p.constant(0)
        whole = p.add(f"arith.cmpi eq, %{rest}, %{zero} : index", lambda v, s: int(v[rest] == v[zero]))
        less = b("subi", four, rest)
        b("addi", n, p.add(f"arith.select %{whole}, %{zero}, %{less} : index", lambda v, s: v[zero] if v[whole] else v[less]))

    def in_affine(results):
        return lambda p, n, four, one, b: p.add(f"affine.apply affine_map<(d0) -> ({results})>(%{n})", lambda v, s: -(-v[n] // 4) * 4)

    return [spelled(write) for write in (
        ends(None, "remsi"), ends(None, "remui"), *map(rounds, ("divsi", "divui", "floordivsi")),
        lambda p, n, four, one, b: b("muli", b("ceildivsi", n, four), four),
        lambda p, n, four, one, b: b("muli", b("ceildivui", n, four), four),
        lambda p, n, four, one, b: b("subi", b("addi", n, p.constant(3)), b("remsi", b("addi", n, p.constant(3)), four)),
        chooses, in_affine("d0 + (-d0) mod 4"), in_affine("(d0 ceildiv 4) * 4"), in_affine("d0 + (4 - d0 mod 4) mod 4"))]


class Quotient:
    """a / b of C, which ceil() and floor() round otherwise."""

    def __init__(self, a, b):
        self.a, self.b = a, b


class C(int):
    """An integer of C, as the header's texts have it."""

    def __truediv__(a, b):
        return rounded(Quotient(int(a), int(b)), truncate)

    def __mod__(a, b):
        return C(a - truncate(int(a), int(b)) * b)

    __add__, __sub__, __mul__, __neg__ = (lambda a, b: C(int(a) + int(b))), (lambda a, b: C(int(a) - int(b))), \
        (lambda a, b: C(int(a) * int(b))), (lambda a: C(-int(a)))


class Divided(C):
    pass


def rounded(quotient, function):
    value = Divided(function(quotient.a, quotient.b))
    value.quotient = quotient
    return value


NAMES = {"floor": lambda v: C(v.quotient.a // v.quotient.b), "ceil": lambda v: C(-(-v.quotient.a // v.quotient.b)),
         "mod": lambda a, b: C(int(a) - int(a) // int(b) * int(b)), "min": lambda *v: C(min(v)), "max": lambda *v: C(max(v)),
         "udiv": lambda a, b: C(signed(int(a) % 2**64 // (int(b) % 2**64))),
         "urem": lambda a, b: C(signed(int(a) % 2**64 % (int(b) % 2**64))), "C": C}


def to_python(text):
    """Choices `(a ? b : c)` as Python has them, numbers as C's."""
    while "?" in text:
        at = text.index("?")
        depth, start = 0, at
        while depth >= 0:
            start -= 1
            depth += {")": 1, "(": -1}.get(text[start], 0)
        depth, end, colon = 0, at, None
        while depth >= 0:
            end += 1
            depth += {"(": 1, ")": -1, "?": 0}.get(text[end], 0)
            if text[end] == ":" and depth == 0 and colon is None:
                colon = end
        # Choices within b come first; theirs are in parentheses, so the colon at depth 0 is this one's.
        text = f"{text[:start]}(({text[at + 1:colon]}) if ({text[start + 1:at]}) else ({text[colon + 1:end]})){text[end + 1:]}"
    return re.sub(r"(?<![\w])(\d+)", r"C(\1)", text)


def read_header(path, count):
    text = open(path).read()
    sizes = re.findall(r"/\* f\d+: .*?out0: f32 \[(.*?)\], written", text, re.S)
    assert len(sizes) == count, f"expected {count} functions in the header but got {len(sizes)}"
    return [compile(to_python(size), size, "eval") for size in sizes]


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64)]


def tensor(address, size):
    shape = (ctypes.c_int64 * 1)(size)
    return Tensor(address, (ctypes.c_int32 * 2)(1, 0), 1, 2, 32, 1, shape, None, 0), shape


def call(library, name, sizes, x, out):
    entry = getattr(library, name)
    entry.argtypes = [ctypes.c_void_p] + [ctypes.c_void_p, ctypes.c_int64] * 2 + [ctypes.c_void_p]
    return entry(None, x, sizes[0], x, sizes[1], out)


def call_scratch(library, name, sizes):
    entry = getattr(library, name + "_scratch_bytes")
    entry.argtypes, entry.restype = [ctypes.c_int64] * 2, ctypes.c_int64
    return entry(*sizes)


def call_tensors(library, name, sizes, x, out, size):
    """What F_dl answers for a result of this size."""
    kept = [tensor(x, sizes[0]), tensor(x, sizes[1]), tensor(out, size)]
    array = (ctypes.c_void_p * 3)(*(ctypes.addressof(one) for one, _ in kept))
    entry = getattr(library, name + "_dl")
    entry.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32]
    return entry(None, array, 3)


def check(library, number, program, text, sizes, x, out):
    where = f"f{number} at {sizes}"
    scratch = call_scratch(library, f"f{number}", sizes)
    try:
        # Beyond the limit it may be answered that there is no size, or the size that 64 bits have.
        expected = program.value(sizes, LIMIT if scratch else 2**64)
    except NoSize:
        expected = None
    if expected is not None and expected > MOST:
        return 0
    ctypes.memset(out, 0, 4 * (MOST + 1))
    status = call(library, f"f{number}", sizes, x, out)
    wanted = -2 if expected is None else 0
    assert (status, scratch) == (wanted, wanted), f"{where}: expected {wanted} for {expected} but got {status}, {scratch}"
    if expected is None:
        return 1
    written = sum(ctypes.cast(out, ctypes.POINTER(ctypes.c_float))[: MOST + 1])
    assert written == expected, f"{where}: expected {expected} elements but got {written}"
    said = eval(text, {**NAMES, "x0_dim0": C(sizes[0]), "x1_dim0": C(sizes[1])})
    assert said == expected, f"{where}: expected {expected} but the header says {said}"
    for size in (expected, expected + 1):
        answer = call_tensors(library, f"f{number}", sizes, x, out, size)
        assert answer == (0 if size == expected else -2), f"{where}: F_dl answers {answer} for {size}"
    return 1


def main():
    folder, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    rng = random.Random(seed)
    programs = spell_padding()
    paddings = len(programs)
    while len(programs) < count:
        program = Program()
        draw(program, rng, rng.randint(1, 4))
        if any(program.has_size((n, m)) for n in range(10) for m in range(10)):
            programs.append(program)
    with open(f"{folder}/f.mlir", "w") as file:
        file.writelines(program.text(f"f{number}") for number, program in enumerate(programs))
    subprocess.run(["residc", f"{folder}/f.mlir", "-o", f"{folder}/f.so", f"--header={folder}/f.h"], check=True)
    library = ctypes.CDLL(f"{folder}/f.so")
    texts = read_header(f"{folder}/f.h", count)
    x, out = ctypes.create_string_buffer(4 * 64), ctypes.create_string_buffer(4 * (MOST + 1))
    compared = 0
    for number, (program, text) in enumerate(zip(programs, texts)):
        for n in range(10):
            for m in range(10) if number >= paddings else (0,):
                compared += check(library, number, program, text, (n, m), ctypes.addressof(x), ctypes.addressof(out))
        for sizes in ((2**40, 1), (3, 2**46 + 1), (-1, 2), (-2**63, -1), (2**63 - 1, 2**62)):  # none of which may trap
            answer = call_scratch(library, f"f{number}", sizes)
            assert answer == -2 or (answer == 0 and min(sizes) >= 0 and max(sizes) < 2**46), f"f{number} at {sizes}: {answer}"
    print(f"{compared} sizes are right")


main()
