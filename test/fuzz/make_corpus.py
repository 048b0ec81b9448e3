# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# make_corpus.py SOURCE_DIR OUT: seeds for the fuzz targets, made from the programs of the tests and examples, and a dictionary
# of the words in them. OUT/seeds holds one file per program, OUT/dictionary.txt the words. Programs above 8 KiB are left out.
# OUT/weights-seeds and OUT/weights-dictionary.txt are the same for files of weights, which are made up here.

import hashlib
import pathlib
import re
import struct
import sys

MOST_BYTES = 8192
WORDS = re.compile(r"[a-z_]+\.[a-z_]+|[a-z_][a-z_0-9]{2,}|tensor<[^<>]*>|->|\{-#|#-\}")
ALWAYS = ["dense<", "dense_resource<", "affine_map<", "affine_set<", "loc(", "callsite(", "fused[", "tuple<", "complex<", "vector<", "memref<",
          "floordiv ", "ceildiv ", "mod ", ">=", "array<i64: ", "0x7FC00000", "9223372036854775807", "140737488355328", "1.0e-5", "?x"]


WEIGHTS_WORDS = ["dtype", "shape", "data_offsets", "__metadata__", "[0,4]", "[4,8]", "[]", "[0]", "9223372036854775807", "\\u0000", "\\ud83d\\ude00",
                 "BOOL", "F4", "F6_E2M3", "U8", "BF16", "F32", "I64", "C64", "\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]}"]
WEIGHTS_HEADERS = [
    '{}', '{"__metadata__":{"format":"pt","a":"b"}}',
    '{"a":{"dtype":"U8","shape":[2,2],"data_offsets":[0,4]}}',
    '{"b":{"data_offsets":[4,8],"shape":[1],"dtype":"F32"},"a":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]},"c":{"dtype":"I64","shape":[0],"data_offsets":[8,8]}}',
    '{"\\u00e9\\ud83d\\ude00é😀\\n":{"dtype":"F4","shape":[16],"data_offsets":[0,8]}}   ',
]


def quote(words):
    """Lines of a dictionary of libFuzzer."""
    quoted = ("".join(c if c.isprintable() and c not in '"\\' else f"\\x{ord(c):02x}" for c in word) for word in words)
    return "".join(f'"{word}"\n' for word in quoted)


def write_weights(out):
    seeds = out / "weights-seeds"
    seeds.mkdir(parents=True, exist_ok=True)
    for number, header in enumerate(WEIGHTS_HEADERS):
        text = header.encode()
        ends = [int(end) for end in re.findall(r",([0-9]+)\]}", header)]
        (seeds / str(number)).write_bytes(struct.pack("<Q", len(text)) + text + bytes(max(ends, default=0)))
    (out / "weights-dictionary.txt").write_text(quote(WEIGHTS_WORDS))


def programs(path):
    """The programs of one file, without the lines that say how it is tested."""
    text = path.read_text(encoding="utf-8", errors="replace")
    text = "\n".join(line for line in text.splitlines() if not re.match(r"\s*//(?! -----)", line))
    for program in re.split(r"^// -----.*$", text, flags=re.MULTILINE):
        if program.strip() and len(program.encode()) <= MOST_BYTES:
            yield program.strip() + "\n"


def main():
    source, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    seeds = out / "seeds"
    seeds.mkdir(parents=True, exist_ok=True)
    words, count = set(ALWAYS), 0
    for folder in ("test", "examples"):
        for path in sorted((source / folder).rglob("*.mlir")):
            for program in programs(path):
                (seeds / hashlib.sha1(program.encode()).hexdigest()[:16]).write_text(program)
                words.update(word for word in WORDS.findall(program) if len(word) <= 40)
                count += 1
    (out / "dictionary.txt").write_text(quote(sorted(words)))
    write_weights(out)
    print(f"{count} programs, {len(words)} words")


main()
