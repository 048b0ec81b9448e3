// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The words of JSON, read from left to right: as much of it as the header of a safetensors file may have. Does not own
// what the words mean (Safetensors.h).

#ifndef RESID_RUNTIME_HEADERTEXT_H
#define RESID_RUNTIME_HEADERTEXT_H

#include "runtime/Message.h"

namespace resid::runtime {

/// A string, decoded, with a zero byte after it.
struct Name {
  const char *data;
  size_t size;

  /// As memcmp, by bytes; what ends first is less.
  int compare(const Name &other) const;
  bool is(const char *text) const;
};

/// Whatever does not fit is said, with its place, and ends the reading: functions then answer false.
class HeaderText {
public:
  /// Decoded strings go to `names`, which has room for as many bytes as the text.
  HeaderText(const char *text, size_t size, char *names, Message &message)
      : begin(text), at(text), end(text + size), names(names), message(message) {}

  /// Whether `c` comes next, after spaces; then it is skipped.
  bool accept(char c);
  bool expect(char c);
  /// Skips the one of two that comes next.
  bool expectEither(char c, char other, bool &isFirst);
  bool readString(Name &name);
  /// A whole number up to 2^63 - 1, without sign, fraction or exponent.
  bool readNumber(int64_t &number);
  /// That nothing but spaces is left.
  bool expectEnd();
  /// Says what was expected where the text stands.
  bool fail(const char *expected);

private:
  void skipSpaces();
  bool readEscape();
  bool readUnit(unsigned &unit);
  bool readCodePoint(unsigned first);
  bool readBytes();
  void put(unsigned codePoint);

  const char *begin, *at, *end;
  char *names;
  Message &message;
};

} // namespace resid::runtime

#endif // RESID_RUNTIME_HEADERTEXT_H
