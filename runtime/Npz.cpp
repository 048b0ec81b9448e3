// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Archives of arrays; see Npz.h. Of ZIP: the central directory, also that of large files (ZIP64), and members that are
// stored. Of .npy: versions 1 to 3, little-endian, rows first. An array of unsigned 16-bit integers is bf16, as
// resid-run writes it. The runtime links no LLVM, and LLVM reads no ZIP archives.

#include "runtime/Npz.h"

#include <inttypes.h>
#include <string.h>

using namespace resid::runtime;

static constexpr int32_t kMostDimensions = 64;
/// The sizes of the fixed parts of ZIP's records.
static constexpr size_t kEndBytes = 22, kLocatorBytes = 20, kLargeEndBytes = 56, kEntryBytes = 46, kLocalBytes = 30;

/// A little-endian number.
static uint64_t getNumber(const char *at, int bytes) {
  uint64_t number = 0;
  for (int i = bytes - 1; i >= 0; --i)
    number = number << 8 | static_cast<unsigned char>(at[i]);
  return number;
}

static bool isSignature(const char *at, const char *two) {
  return at[0] == 'P' && at[1] == 'K' && at[2] == two[0] && at[3] == two[1];
}

bool resid::runtime::isArchive(const char *file, size_t size) {
  // A version of ZIP follows, which would make the length of a safetensors header far too large.
  return size >= 6 && (isSignature(file, "\3\4") || isSignature(file, "\5\6")) &&
         (isSignature(file, "\5\6") || getNumber(file + 4, 2) != 0);
}

//===------------------------------------------- .npy -------------------------------------------------------------===//

namespace {

/// Reads the header of an array: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }.
class ArrayHeader {
public:
  ArrayHeader(const char *text, size_t size, Tensor &tensor, TensorTable &table, Message &message)
      : at(text), end(text + size), tensor(tensor), table(table), message(message) {}

  resid_status read();

private:
  bool accept(char c) {
    while (at != end && (*at == ' ' || *at == '\n' || *at == '\t'))
      ++at;
    if (at == end || *at != c)
      return false;
    ++at;
    return true;
  }
  bool readString(Name &word);
  bool readType();
  bool readOrder();
  bool readShape();
  bool readField(unsigned &seen);

  const char *at, *end;
  Tensor &tensor;
  TensorTable &table;
  Message &message;
  bool isOutOfMemory = false, isSaid = false;
};

struct ElementType {
  char descr[4], dtype[5];
  unsigned bits;
};

constexpr ElementType kElementTypes[] = {
    {"<f4", "F32", 32}, {"<f2", "F16", 16}, {"<f8", "F64", 64}, {"<u2", "BF16", 16}, {"|V2", "BF16", 16},
    {"|b1", "BOOL", 8}, {"|i1", "I8", 8},   {"|u1", "U8", 8},   {"<i2", "I16", 16},  {"<i4", "I32", 32},
    {"<i8", "I64", 64}, {"<u4", "U32", 32}, {"<u8", "U64", 64}};

} // namespace

bool ArrayHeader::readString(Name &word) {
  if (!accept('\''))
    return false;
  word.data = at;
  while (at != end && *at != '\'')
    ++at;
  word.size = static_cast<size_t>(at - word.data);
  return at != end && *at++ == '\'';
}

bool ArrayHeader::readType() {
  Name word;
  if (!readString(word))
    return false;
  for (const ElementType &type : kElementTypes)
    if (word.is(type.descr)) {
      tensor.dtype = type.dtype;
      tensor.bits = type.bits;
      return true;
    }
  tell(message, tensor).add("an element type such as '<f4', but got ").addQuoted(word.data, word.size);
  isSaid = true;
  return false;
}

bool ArrayHeader::readOrder() {
  bool isRowsFirst = accept('F');
  if (!isRowsFirst && !accept('T'))
    return false;
  const char *rest = isRowsFirst ? "alse" : "rue";
  size_t length = strlen(rest);
  if (static_cast<size_t>(end - at) < length || memcmp(at, rest, length) != 0)
    return false;
  at += length;
  if (!isRowsFirst) {
    tell(message, tensor).add("rows first, but got Fortran's order");
    isSaid = true;
  }
  return isRowsFirst;
}

bool ArrayHeader::readShape() {
  tensor.sizes = table.sizes.count;
  if (!accept('('))
    return false;
  while (!accept(')')) {
    int64_t size = 0;
    const char *first = at;
    for (accept(' '); at != end && *at >= '0' && *at <= '9'; ++at)
      if (__builtin_mul_overflow(size, 10, &size) || __builtin_add_overflow(size, *at - '0', &size))
        return false;
    if (at == first || at[-1] < '0' || at[-1] > '9')
      return false;
    if (++tensor.rank > kMostDimensions) {
      tell(message, tensor).add("at most %d dimensions, but got more", static_cast<int>(kMostDimensions));
      isSaid = true;
      return false;
    }
    isOutOfMemory = !table.sizes.add(size);
    if (isOutOfMemory)
      return false;
    if (!accept(','))
      return accept(')');
  }
  return true;
}

/// `seen` has a bit for each of the fields that were there.
bool ArrayHeader::readField(unsigned &seen) {
  static constexpr const char *fields[] = {"descr", "fortran_order", "shape"};
  Name key;
  if (!readString(key) || !accept(':'))
    return false;
  unsigned field = 0;
  while (field < 3 && !key.is(fields[field]))
    ++field;
  if (field == 3 || (seen & 1u << field))
    return false;
  seen |= 1u << field;
  return field == 0 ? readType() : field == 1 ? readOrder() : readShape();
}

resid_status ArrayHeader::read() {
  unsigned seen = 0;
  bool isGood = accept('{');
  while (isGood && !accept('}'))
    isGood = readField(seen) && (accept(',') || (at != end && *at == '}'));
  if (isGood && seen == 7)
    return RESID_OK;
  if (isOutOfMemory) {
    message.add("out of memory");
    return RESID_OOM;
  }
  if (!isSaid)
    tell(message, tensor).add("the header of a .npy file with descr, fortran_order and shape, but got another text");
  return RESID_BAD_VALUE;
}

/// Where the text of the header lies in a .npy file of `size` bytes, and where its elements begin. False where there is
/// no such header.
static bool findHeader(const char *array, size_t size, size_t &text, size_t &data) {
  if (size < 10 || memcmp(array, "\x93NUMPY", 6) != 0 || array[6] < 1 || array[6] > 3)
    return false;
  int lengthBytes = array[6] == 1 ? 2 : 4;
  text = 8 + static_cast<size_t>(lengthBytes);
  if (size < text)
    return false;
  uint64_t length = getNumber(array + 8, lengthBytes);
  if (length > size - text)
    return false;
  data = text + static_cast<size_t>(length);
  return true;
}

//===------------------------------------------- .zip -------------------------------------------------------------===//

namespace {

struct Directory {
  uint64_t begin, bytes, count;
};

struct Member {
  Name name;
  uint64_t stored, size, local;
  unsigned method, flags;
};

} // namespace

/// The central directory, of which the record at the end says where it lies; after that there may be a comment.
static bool findDirectory(const char *file, size_t size, Directory &directory) {
  if (size < kEndBytes)
    return false;
  size_t end = size - kEndBytes, least = end > 65535 ? end - 65535 : 0;
  while (!isSignature(file + end, "\5\6") || getNumber(file + end + 20, 2) != size - end - kEndBytes)
    if (end-- == least)
      return false;
  directory = {getNumber(file + end + 16, 4), getNumber(file + end + 12, 4), getNumber(file + end + 10, 2)};
  if (end >= kLocatorBytes && isSignature(file + end - kLocatorBytes, "\6\7")) {
    uint64_t large = getNumber(file + end - kLocatorBytes + 8, 8);
    if (large > size || size - large < kLargeEndBytes || !isSignature(file + large, "\6\6"))
      return false;
    directory = {getNumber(file + large + 48, 8), getNumber(file + large + 40, 8), getNumber(file + large + 32, 8)};
  }
  return directory.begin <= size && directory.bytes <= size - directory.begin;
}

/// Numbers that do not fit into 32 bits stand in a field after the name, in this order.
static bool readLargeNumbers(const char *extra, size_t size, Member &member) {
  uint64_t *numbers[] = {&member.size, &member.stored, &member.local};
  for (size_t at = 0; size - at >= 4;) {
    uint64_t kind = getNumber(extra + at, 2), length = getNumber(extra + at + 2, 2);
    at += 4;
    if (length > size - at)
      return false;
    size_t used = 0;
    for (uint64_t *number : numbers)
      if (kind == 1 && *number == UINT32_MAX && length - used >= 8) {
        *number = getNumber(extra + at + used, 8);
        used += 8;
      }
    at += length;
  }
  return true;
}

/// The member whose entry begins at `at`, which then is where the next one begins.
static bool readEntry(const char *file, uint64_t &at, uint64_t end, Member &member) {
  if (end - at < kEntryBytes || !isSignature(file + at, "\1\2"))
    return false;
  const char *entry = file + at;
  uint64_t name = getNumber(entry + 28, 2), extra = getNumber(entry + 30, 2), comment = getNumber(entry + 32, 2);
  if (end - at - kEntryBytes < name + extra + comment)
    return false;
  member.name = {entry + kEntryBytes, static_cast<size_t>(name)};
  member.flags = static_cast<unsigned>(getNumber(entry + 8, 2));
  member.method = static_cast<unsigned>(getNumber(entry + 10, 2));
  member.stored = getNumber(entry + 20, 4);
  member.size = getNumber(entry + 24, 4);
  member.local = getNumber(entry + 42, 4);
  at += kEntryBytes + name + extra + comment;
  return readLargeNumbers(member.name.data + name, static_cast<size_t>(extra), member);
}

/// Where the bytes of the member begin, after a record with its name. False where they are not all in the file.
static bool findBytes(const char *file, size_t size, const Member &member, uint64_t &begin) {
  if (member.local > size || size - member.local < kLocalBytes || !isSignature(file + member.local, "\3\4"))
    return false;
  const char *local = file + member.local;
  begin = member.local + kLocalBytes + getNumber(local + 26, 2) + getNumber(local + 28, 2);
  return begin <= size && member.size <= size - begin;
}

/// Adds the array that a member is. `names` has room for its name and a zero after it.
static resid_status addMember(const char *file, size_t size, const Member &member, char *names, TensorTable &table,
                              Message &message) {
  static constexpr char suffix[] = ".npy";
  size_t length = member.name.size >= 4 ? member.name.size - 4 : 0;
  if (member.name.size < 4 || memcmp(member.name.data + length, suffix, 4) != 0) {
    message.add("expected members that end in .npy, but got ").addQuoted(member.name.data, member.name.size);
    return RESID_BAD_VALUE;
  }
  memcpy(names, member.name.data, length);
  names[length] = '\0';
  Tensor tensor{{names, length}, nullptr, 0, 0, 0, 0, 0};
  uint64_t begin;
  if (member.method != 0 || (member.flags & 1) || member.stored != member.size) {
    tell(message, tensor)
        .add("a member that is stored, as numpy.savez has it, but got one that is %s",
             member.flags & 1 ? "encrypted" : "compressed");
    return RESID_BAD_VALUE;
  }
  size_t text, data;
  if (!findBytes(file, size, member, begin) ||
      !findHeader(file + begin, static_cast<size_t>(member.size), text, data)) {
    tell(message, tensor).add("a .npy file, but got %" PRIu64 " bytes that are none", member.size);
    return RESID_BAD_VALUE;
  }
  if (resid_status status = ArrayHeader(file + begin + text, data - text, tensor, table, message).read())
    return status;
  const int64_t *sizes = table.sizes.values + tensor.sizes;
  int64_t bytes;
  if (!countBytes(tensor, sizes, bytes) || static_cast<uint64_t>(bytes) != member.size - data) {
    tell(message, tensor)
        .addType(tensor.dtype, sizes, tensor.rank)
        .add(", but got %" PRIu64 " bytes", member.size - data);
    return RESID_BAD_VALUE;
  }
  tensor.begin = static_cast<int64_t>(begin + data);
  tensor.end = tensor.begin + bytes;
  if (table.tensors.add(tensor))
    return RESID_OK;
  message.add("out of memory");
  return RESID_OOM;
}

resid_status resid::runtime::readArchive(const char *file, size_t size, TensorTable &table, Message &message) {
  Directory directory;
  if (!findDirectory(file, size, directory)) {
    message.add("expected the directory of an archive at its end, but the %zu bytes have none", size);
    return RESID_BAD_VALUE;
  }
  // Each name lies in the directory without a zero, after a record that is longer than that.
  table.names = static_cast<char *>(malloc(static_cast<size_t>(directory.bytes) + 1));
  if (!table.names) {
    message.add("out of memory");
    return RESID_OOM;
  }
  char *names = table.names;
  uint64_t at = directory.begin, end = directory.begin + directory.bytes;
  for (uint64_t i = 0; i < directory.count; ++i) {
    Member member;
    if (!readEntry(file, at, end, member)) {
      message.add("expected %" PRIu64 " members in the archive's directory, but got %" PRIu64, directory.count, i);
      return RESID_BAD_VALUE;
    }
    if (resid_status status = addMember(file, size, member, names, table, message))
      return status;
    names += member.name.size;
  }
  return table.sortByNames(message) ? RESID_OK : RESID_BAD_VALUE;
}
