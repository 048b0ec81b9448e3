// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all refusals of an object share: a line of text for resid_ctx.log. Does not own the texts (RefusalText.h).

#include "runtime/resid.h"

typedef struct {
  int64_t length;
  char bytes[1024];
} Line;

/// What does not fit is left away; the last byte stays free for the end of the string.
static void refuse_put(Line *line, char byte) {
  if (line->length < (int64_t)sizeof(line->bytes) - 1)
    line->bytes[line->length++] = byte;
}

static void refuse_put_string(Line *line, const char *string) {
  while (*string)
    refuse_put(line, *string++);
}

static void refuse_put_number(Line *line, int64_t number) {
  char digits[20];
  int count = 0;
  if (number < 0)
    refuse_put(line, '-');
  // As an unsigned number, which the least one is right as too.
  uint64_t rest = number < 0 ? -(uint64_t)number : (uint64_t)number;
  do
    digits[count++] = (char)('0' + rest % 10);
  while ((rest /= 10) != 0);
  while (count > 0)
    refuse_put(line, digits[--count]);
}

/// The 32 bits of a DLDataType (a code, bits, lanes) by the name that DLPack's users know: float32, bfloat16x4.
static void refuse_put_type(Line *line, int64_t type) {
  static const char names[7][8] = {"int", "uint", "float", "handle", "bfloat", "complex", "bool"};
  int64_t code = type & 255, lanes = type >> 16;
  if (code < 7) {
    refuse_put_string(line, names[code]);
  } else {
    refuse_put_string(line, "code ");
    refuse_put_number(line, code);
    refuse_put_string(line, " of bits ");
  }
  refuse_put_number(line, type >> 8 & 255);
  if (lanes == 1)
    return;
  refuse_put(line, 'x');
  refuse_put_number(line, lanes);
}

/// Puts a text: bytes as they are, and instead of 1, 2 or 3 the value whose number, plus 1, is the next byte: as a
/// number, as the address of a string, as an element type.
static void refuse_put_text(Line *line, const char *text, const int64_t *values) {
  for (char byte; (byte = *text++) != 0;) {
    if (byte < 0 || byte > 3) {
      refuse_put(line, byte);
      continue;
    }
    int64_t value = values[(uint8_t)*text++ - 1];
    if (byte == 1)
      refuse_put_number(line, value);
    else if (byte == 2)
      refuse_put_string(line, (const char *)value);
    else
      refuse_put_type(line, value);
  }
}

/// Hands two texts as one line to the log, where there is one, and answers the status: the low 8 bits of `code`. Of a
/// context of another version only what has kept its place is read; a number beyond 255 is none, but memory that nobody
/// filled in.
resid_status refuse(const resid_ctx *ctx, int32_t code, const char *where, const char *text, const int64_t *values) {
  if (ctx && ctx->abi_version < 256 && ctx->log) {
    Line line;
    line.length = 0;
    refuse_put_text(&line, where, values);
    refuse_put_text(&line, text, values);
    line.bytes[line.length] = 0;
    ctx->log(ctx->user, /*level=*/0, line.bytes);
  }
  return (int8_t)code;
}
