// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/HeaderText.h"

#include <string.h>

using namespace resid::runtime;

int Name::compare(const Name &other) const {
  int order = memcmp(data, other.data, size < other.size ? size : other.size);
  return order != 0 ? order : (size > other.size) - (size < other.size);
}

bool Name::is(const char *text) const { return size == strlen(text) && memcmp(data, text, size) == 0; }

bool HeaderText::fail(const char *expected) {
  message.add("expected %s at byte %zu of the header, but ", expected, static_cast<size_t>(at - begin));
  if (at == end)
    message.add("it ends there");
  else if (*at > 32 && *at < 127)
    message.add("got '%c'", *at);
  else
    message.add("got byte 0x%02x", static_cast<unsigned char>(*at));
  return false;
}

void HeaderText::skipSpaces() {
  while (at != end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
    ++at;
}

bool HeaderText::accept(char c) {
  skipSpaces();
  if (at == end || *at != c)
    return false;
  ++at;
  return true;
}

bool HeaderText::expect(char c) {
  const char expected[] = {'\'', c, '\'', '\0'};
  return accept(c) || fail(expected);
}

bool HeaderText::expectEither(char c, char other, bool &isFirst) {
  isFirst = accept(c);
  const char expected[] = {'\'', c, '\'', ' ', 'o', 'r', ' ', '\'', other, '\'', '\0'};
  return isFirst || accept(other) || fail(expected);
}

bool HeaderText::expectEnd() {
  skipSpaces();
  return at == end || fail("nothing but spaces");
}

bool HeaderText::readNumber(int64_t &number) {
  skipSpaces();
  const char *start = at;
  number = 0;
  for (; at != end && *at >= '0' && *at <= '9'; ++at) {
    int64_t digit = *at - '0';
    if (number > (INT64_MAX - digit) / 10) {
      at = start;
      return fail("a number of at most 2^63 - 1");
    }
    number = number * 10 + digit;
  }
  bool hasZeros = at - start > 1 && *start == '0';
  bool isWhole = at == end || (*at != '.' && *at != 'e' && *at != 'E');
  if (at != start && !hasZeros && isWhole)
    return true;
  at = start;
  return fail("a whole number");
}

/// As UTF-8. What it was decoded from is as long at least, so there is room.
void HeaderText::put(unsigned codePoint) {
  if (codePoint < 0x80) {
    *names++ = static_cast<char>(codePoint);
    return;
  }
  int further = codePoint < 0x800 ? 1 : codePoint < 0x10000 ? 2 : 3;
  static constexpr unsigned marks[] = {0, 0xc0, 0xe0, 0xf0};
  *names++ = static_cast<char>(marks[further] | codePoint >> (6 * further));
  while (further-- > 0)
    *names++ = static_cast<char>(0x80 | ((codePoint >> (6 * further)) & 0x3f));
}

/// The four digits after `\u`.
bool HeaderText::readUnit(unsigned &unit) {
  unit = 0;
  for (int i = 0; i < 4; ++i, ++at) {
    if (at == end)
      return fail("a hexadecimal digit");
    char c = *at >= 'A' && *at <= 'F' ? static_cast<char>(*at + 32) : *at;
    if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
      return fail("a hexadecimal digit");
    unit = unit << 4 | static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
  }
  return true;
}

/// What follows `first`, the first half of a pair perhaps. A name with a zero byte could not be told from a shorter one
/// in C.
bool HeaderText::readCodePoint(unsigned first) {
  if (first == 0)
    return fail("no zero byte in a string before here");
  if (first < 0xd800 || first > 0xdfff) {
    put(first);
    return true;
  }
  unsigned second = 0;
  if (first >= 0xdc00 || end - at < 2 || at[0] != '\\' || at[1] != 'u')
    return fail("both halves of a surrogate pair");
  at += 2;
  if (!readUnit(second))
    return false;
  if (second < 0xdc00 || second > 0xdfff)
    return fail("the second half of a surrogate pair before here");
  put(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00));
  return true;
}

/// What stands after a backslash.
bool HeaderText::readEscape() {
  static constexpr char written[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
  if (at != end && *at == 'u') {
    unsigned unit = 0;
    ++at;
    return readUnit(unit) && readCodePoint(unit);
  }
  const char *found = at == end ? nullptr : static_cast<const char *>(memchr(written, *at, sizeof(written) - 1));
  if (!found)
    return fail("one of \"\\/bfnrtu after a backslash");
  put(static_cast<unsigned char>(meant[found - written]));
  ++at;
  return true;
}

/// A character of several bytes, as the Unicode standard has them (table 3-7).
bool HeaderText::readBytes() {
  auto byte = [&](ptrdiff_t i) { return i < end - at ? static_cast<unsigned char>(at[i]) : 0u; };
  unsigned first = byte(0), low = 0x80, high = 0xbf;
  ptrdiff_t count = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first == 0xe0)
    low = 0xa0;
  if (first == 0xf0)
    low = 0x90;
  if (first == 0xed)
    high = 0x9f;
  if (first == 0xf4)
    high = 0x8f;
  bool isGood = first >= 0xc2 && first <= 0xf4 && byte(1) >= low && byte(1) <= high;
  for (ptrdiff_t i = 2; i < count; ++i)
    isGood &= (byte(i) & 0xc0) == 0x80;
  if (!isGood)
    return fail("UTF-8");
  memcpy(names, at, static_cast<size_t>(count));
  names += count;
  at += count;
  return true;
}

bool HeaderText::readString(Name &name) {
  if (!accept('"'))
    return fail("a string");
  char *start = names;
  for (;;) {
    if (at == end)
      return fail("the end of a string");
    unsigned char c = static_cast<unsigned char>(*at);
    if (c == '"')
      break;
    if (c < 32)
      return fail("no control character in a string");
    if (c >= 0x80) {
      if (!readBytes())
        return false;
    } else if (c == '\\') {
      ++at;
      if (!readEscape())
        return false;
    } else {
      put(c);
      ++at;
    }
  }
  ++at;
  name = {start, static_cast<size_t>(names - start)};
  *names++ = '\0';
  return true;
}
