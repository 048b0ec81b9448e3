// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One line of text in memory of the caller, cut off where that ends. Does not own what is said.

#ifndef RESID_RUNTIME_MESSAGE_H
#define RESID_RUNTIME_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

namespace resid::runtime {

class Message {
public:
  /// `text` may be null.
  Message(char *text, size_t bytes);

  /// As printf.
  Message &add(const char *format, ...) __attribute__((format(printf, 2, 3)));
  /// Text of others in quotes, on one line, and shortened where it is long.
  Message &addQuoted(const char *name, size_t size);
  Message &addQuoted(const char *name);
  /// `F32 [2, 3]`, or `any type` where `dtype` is null; a size below 0 is a `?`.
  Message &addType(const char *dtype, const int64_t *shape, int32_t rank);

private:
  char *text;
  size_t bytes, used = 0;
};

} // namespace resid::runtime

#endif // RESID_RUNTIME_MESSAGE_H
