# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The words of MLIR for Pygments, which has no lexer of it: the site shows programs in colours. It knows no dialect but by the dot
# in the names of its ops.

from pygments import lexers
from pygments.lexer import RegexLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text

__all__ = ["MlirLexer"]


class MlirLexer(RegexLexer):
    name, aliases, filenames = "MLIR", ["mlir"], ["*.mlir"]
    tokens = {
        "root": [
            (r"\s+", Text.Whitespace),
            (r"//.*", Comment.Single),
            (r'"(?:\\.|[^"\\\n])*"', String),
            (r"%[\w$.#-]+", Name),
            (r"\^[\w$.-]+", Name.Label),
            (r'@(?:[\w$.-]+|"[^"]*")', Name.Function),
            # Types: of a dialect or an alias, then the builtin ones. A shape is part of its type: 4x?xf32.
            (r"![\w$.]+", Keyword.Type),
            (r"#[\w$.]+", Name.Decorator),
            (r"\b(?:tensor|memref|vector|tuple|complex)(?=<)", Keyword.Type),
            (r"(?:(?:\d+|\?)x)+(?:(?:index|bf16|tf32|f\d+\w*|[su]?i\d+)\b)?", Keyword.Type),
            (r"\b(?:index|none|bf16|tf32|f\d+\w*|[su]?i\d+)\b", Keyword.Type),
            (r"\b(?:true|false|unit|dense|loc|affine_map|affine_set|array|ins|outs)\b", Keyword.Constant),
            (r"\b(?:return|module|func\.func|func\.call|func\.return)\b", Keyword),
            (r"\b[a-z_]\w*(?:\.[a-z_][\w$]*)+", Name.Builtin),
            (r"-?\b\d+\.\d*(?:[eE][-+]?\d+)?", Number.Float),
            (r"-?\b(?:0x[0-9a-fA-F]+|\d+)\b", Number.Integer),
            (r"->|[=:*+/-]", Operator),
            (r"[\[\](){}<>,?…]", Punctuation),
            (r"[A-Za-z_][\w$]*", Name),
            (r".", Text),
        ]
    }


def register():
    """Makes Pygments find the lexer by its name, in this process."""
    lexers.LEXERS["MlirLexer"] = (__name__, MlirLexer.name, tuple(MlirLexer.aliases), tuple(MlirLexer.filenames), ())
