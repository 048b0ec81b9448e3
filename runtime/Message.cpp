// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/Message.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

using namespace resid::runtime;

/// The most bytes of a name that a message shows.
static constexpr size_t kMostQuoted = 200;

Message::Message(char *text, size_t bytes) : text(text), bytes(text ? bytes : 0) {
  if (this->bytes > 0)
    text[0] = '\0';
}

Message &Message::add(const char *format, ...) {
  if (used + 1 >= bytes)
    return *this;
  va_list values;
  va_start(values, format);
  int wanted = vsnprintf(text + used, bytes - used, format, values);
  va_end(values);
  if (wanted > 0)
    used += static_cast<size_t>(wanted) < bytes - used ? static_cast<size_t>(wanted) : bytes - used - 1;
  return *this;
}

Message &Message::addQuoted(const char *name, size_t size) {
  char shown[kMostQuoted + 1];
  size_t count = size < kMostQuoted ? size : kMostQuoted;
  // No character of several bytes is cut.
  while (count < size && count > 0 && (name[count] & 0xc0) == 0x80)
    --count;
  for (size_t i = 0; i < count; ++i) {
    bool isControl = static_cast<unsigned char>(name[i]) < 32 || name[i] == 127;
    shown[i] = isControl ? '?' : name[i];
  }
  shown[count] = '\0';
  return add("'%s%s'", shown, count < size ? "..." : "");
}

Message &Message::addQuoted(const char *name) { return addQuoted(name, strlen(name)); }

Message &Message::addType(const char *dtype, const int64_t *shape, int32_t rank) {
  add("%s [", dtype ? dtype : "any type");
  for (int32_t i = 0; i < rank; ++i) {
    if (i > 0)
      add(", ");
    if (shape[i] < 0)
      add("?");
    else
      add("%" PRId64, shape[i]);
  }
  return add("]");
}
