// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The header of safetensors files; see Safetensors.h. The rules are those of the reference implementation (safetensors
// 0.8): offsets that follow each other without holes up to the end of the file, and byte counts that follow from types
// and shapes. Beyond it, a header begins with its brace, no key comes twice, no key is unknown, and a tensor has at
// most 64 dimensions.

#include "runtime/Safetensors.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

using namespace resid::runtime;

/// The most bytes of a header, as in the reference implementation.
static constexpr uint64_t kMostHeaderBytes = 100000000;
static constexpr int32_t kMostDimensions = 64;

namespace {

struct ElementType {
  char name[12];
  unsigned bits;
};

constexpr ElementType kElementTypes[] = {
    {"BOOL", 8},    {"F4", 4},      {"F6_E2M3", 6},     {"F6_E3M2", 6},     {"U8", 8},   {"I8", 8},
    {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8},     {"I16", 16},        {"U16", 16}, {"F16", 16},
    {"BF16", 16},   {"I32", 32},    {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"U32", 32}, {"F32", 32},
    {"C64", 64},    {"F64", 64},    {"I64", 64},        {"U64", 64}};

/// Reads one header into a table.
class HeaderReader {
public:
  HeaderReader(const char *text, size_t size, TensorTable &table, Message &message)
      : text(text, size, table.names, message), table(table), message(message) {}
  ~HeaderReader() { metadata.clear(); }

  /// RESID_BAD_VALUE or RESID_OOM where something is wrong.
  resid_status read();

private:
  bool readEntries();
  bool readMetadata();
  bool readTensor(const Name &name);
  bool readField(Tensor &tensor, unsigned &seen);
  bool readType(Tensor &tensor);
  bool readShape(Tensor &tensor);
  bool readOffsets(Tensor &tensor);
  bool checkKeys();
  template <typename T> bool add(Array<T> &array, const T &value) {
    isOutOfMemory = !array.add(value);
    return !isOutOfMemory;
  }

  HeaderText text;
  TensorTable &table;
  Message &message;
  Array<Name> metadata;
  bool hasMetadata = false, isOutOfMemory = false;
};

} // namespace

Message &resid::runtime::tell(Message &message, const Tensor &tensor) {
  return message.add("tensor ").addQuoted(tensor.name.data, tensor.name.size).add(": expected ");
}

//===------------------------------------------- text -------------------------------------------------------------===//

bool HeaderReader::readType(Tensor &tensor) {
  Name name;
  if (!text.readString(name))
    return false;
  for (const ElementType &type : kElementTypes)
    if (name.is(type.name)) {
      tensor.dtype = type.name;
      tensor.bits = type.bits;
      return true;
    }
  tell(message, tensor).add("a dtype of the format, but got ").addQuoted(name.data, name.size);
  return false;
}

bool HeaderReader::readShape(Tensor &tensor) {
  tensor.sizes = table.sizes.count;
  tensor.rank = 0;
  bool goesOn = true;
  if (!text.expect('['))
    return false;
  if (text.accept(']'))
    return true;
  while (goesOn) {
    int64_t size;
    if (!text.readNumber(size))
      return false;
    if (++tensor.rank > kMostDimensions) {
      tell(message, tensor).add("at most %d dimensions, but got more", static_cast<int>(kMostDimensions));
      return false;
    }
    if (!add(table.sizes, size) || !text.expectEither(',', ']', goesOn))
      return false;
  }
  return true;
}

bool HeaderReader::readOffsets(Tensor &tensor) {
  return text.expect('[') && text.readNumber(tensor.begin) && text.expect(',') && text.readNumber(tensor.end) &&
         text.expect(']');
}

/// `seen` has a bit for each of the fields that were there.
bool HeaderReader::readField(Tensor &tensor, unsigned &seen) {
  static constexpr const char *fields[] = {"dtype", "shape", "data_offsets"};
  Name key;
  if (!text.readString(key) || !text.expect(':'))
    return false;
  unsigned field = 0;
  while (field < 3 && !key.is(fields[field]))
    ++field;
  if (field == 3) {
    tell(message, tensor).add("dtype, shape and data_offsets, but got ").addQuoted(key.data, key.size);
    return false;
  }
  if (seen & 1u << field) {
    tell(message, tensor).add("one %s, but got two", fields[field]);
    return false;
  }
  seen |= 1u << field;
  return field == 0 ? readType(tensor) : field == 1 ? readShape(tensor) : readOffsets(tensor);
}

bool HeaderReader::readTensor(const Name &name) {
  Tensor tensor{name, nullptr, 0, 0, 0, 0, 0};
  unsigned seen = 0;
  bool goesOn = true;
  if (!text.expect('{'))
    return false;
  while (goesOn)
    if (!readField(tensor, seen) || !text.expectEither(',', '}', goesOn))
      return false;
  if (seen == 7)
    return add(table.tensors, tensor);
  tell(message, tensor)
      .add("dtype, shape and data_offsets, but %s is missing", !(seen & 1)   ? "dtype"
                                                               : !(seen & 2) ? "shape"
                                                                             : "data_offsets");
  return false;
}

/// Texts by names, which no kernel reads; that they are texts is part of the format.
bool HeaderReader::readMetadata() {
  bool goesOn = true;
  if (hasMetadata) {
    message.add("expected one '__metadata__' in the header, but got two");
    return false;
  }
  hasMetadata = true;
  if (!text.expect('{'))
    return false;
  if (text.accept('}'))
    return true;
  while (goesOn) {
    Name key, value;
    if (!text.readString(key) || !text.expect(':') || !text.readString(value) || !add(metadata, key) ||
        !text.expectEither(',', '}', goesOn))
      return false;
  }
  return true;
}

bool HeaderReader::readEntries() {
  bool goesOn = true;
  if (!text.expect('{'))
    return false;
  if (text.accept('}'))
    return text.expectEnd();
  while (goesOn) {
    Name name;
    if (!text.readString(name) || !text.expect(':'))
      return false;
    if (!(name.is("__metadata__") ? readMetadata() : readTensor(name)) || !text.expectEither(',', '}', goesOn))
      return false;
  }
  return text.expectEnd();
}

static int compareNames(const void *a, const void *b) {
  return static_cast<const Name *>(a)->compare(*static_cast<const Name *>(b));
}

static int compareTensors(const void *a, const void *b) {
  return static_cast<const Tensor *>(a)->name.compare(static_cast<const Tensor *>(b)->name);
}

bool HeaderReader::checkKeys() {
  metadata.sort(compareNames);
  for (size_t i = 1; i < metadata.count; ++i)
    if (metadata.values[i - 1].compare(metadata.values[i]) == 0) {
      message.add("expected keys of '__metadata__' that differ, but got ");
      message.addQuoted(metadata.values[i].data, metadata.values[i].size).add(" twice");
      return false;
    }
  return table.sortByNames(message);
}

resid_status HeaderReader::read() {
  if (readEntries() && checkKeys())
    return RESID_OK;
  if (!isOutOfMemory)
    return RESID_BAD_VALUE;
  message.add("out of memory");
  return RESID_OOM;
}

//===------------------------------------------- bytes ------------------------------------------------------------===//

bool resid::runtime::countBytes(const Tensor &tensor, const int64_t *sizes, int64_t &bytes) {
  int64_t bits = tensor.bits;
  int64_t elements = 1;
  for (int32_t i = 0; i < tensor.rank; ++i)
    if (__builtin_mul_overflow(elements, sizes[i], &elements))
      return false;
  if (__builtin_mul_overflow(elements, bits, &bits) || bits % 8 != 0)
    return false;
  bytes = bits / 8;
  return true;
}

/// Goes through the tensors as they lie in the file.
static bool checkBytes(const TensorTable &table, const Tensor **inOrder, int64_t dataBytes, Message &message) {
  int64_t end = 0;
  for (size_t i = 0; i < table.tensors.count; ++i) {
    const Tensor &tensor = *inOrder[i];
    const int64_t *sizes = table.sizes.values + tensor.sizes;
    int64_t bytes;
    if (tensor.begin != end || tensor.end < tensor.begin) {
      tell(message, tensor)
          .add("data_offsets from %" PRId64 ", where the tensor before ends, but got [%" PRId64 ", %" PRId64 "]", end,
               tensor.begin, tensor.end);
      return false;
    }
    if (!countBytes(tensor, sizes, bytes)) {
      tell(message, tensor)
          .add("a whole number of bytes below 2^60, but got ")
          .addType(tensor.dtype, sizes, tensor.rank);
      return false;
    }
    if (bytes != tensor.end - tensor.begin) {
      tell(message, tensor).add("data_offsets of %" PRId64 " bytes, as many as ", bytes);
      message.addType(tensor.dtype, sizes, tensor.rank)
          .add(" takes, but got [%" PRId64 ", %" PRId64 "]", tensor.begin, tensor.end);
      return false;
    }
    end = tensor.end;
  }
  if (end == dataBytes)
    return true;
  message.add("expected %" PRId64 " bytes after the header, where the last tensor ends, but got %" PRId64, end,
              dataBytes);
  return false;
}

/// The order of tensors without bytes among each other is no matter.
static int compareOffsets(const void *first, const void *second) {
  const Tensor *a = *static_cast<const Tensor *const *>(first), *b = *static_cast<const Tensor *const *>(second);
  if (a->begin != b->begin)
    return a->begin < b->begin ? -1 : 1;
  return (a->end > b->end) - (a->end < b->end);
}

static resid_status checkBytes(const TensorTable &table, int64_t dataBytes, Message &message) {
  size_t count = table.tensors.count;
  auto **inOrder = static_cast<const Tensor **>(malloc((count + 1) * sizeof(const Tensor *)));
  if (!inOrder) {
    message.add("out of memory");
    return RESID_OOM;
  }
  for (size_t i = 0; i < count; ++i)
    inOrder[i] = &table.tensors.values[i];
  qsort(inOrder, count, sizeof(const Tensor *), compareOffsets);
  bool isGood = checkBytes(table, inOrder, dataBytes, message);
  free(inOrder);
  return isGood ? RESID_OK : RESID_BAD_VALUE;
}

//===------------------------------------------- table ------------------------------------------------------------===//

resid_status TensorTable::read(const char *file, size_t size, Message &message) {
  if (size < 8) {
    message.add("expected the 8 bytes of the header's length, but the file has %zu", size);
    return RESID_BAD_VALUE;
  }
  uint64_t length = 0;
  for (int i = 7; i >= 0; --i)
    length = length << 8 | static_cast<unsigned char>(file[i]);
  if (length > kMostHeaderBytes) {
    message.add("expected a header of at most %" PRIu64 " bytes, but its length says %" PRIu64, kMostHeaderBytes,
                length);
    return RESID_BAD_VALUE;
  }
  if (length > size - 8) {
    message.add("expected a header of %" PRIu64 " bytes, as its length says, but %zu follow", length, size - 8);
    return RESID_BAD_VALUE;
  }
  if (length == 0 || file[8] != '{') {
    message.add("expected a header that begins with '{', but it %s", length == 0 ? "is empty" : "does not");
    return RESID_BAD_VALUE;
  }
  dataStart = 8 + static_cast<size_t>(length);
  names = static_cast<char *>(malloc(static_cast<size_t>(length)));
  if (!names) {
    message.add("out of memory");
    return RESID_OOM;
  }
  resid_status status = HeaderReader(file + 8, static_cast<size_t>(length), *this, message).read();
  return status == RESID_OK ? checkBytes(*this, static_cast<int64_t>(size - dataStart), message) : status;
}

bool TensorTable::sortByNames(Message &message) {
  tensors.sort(compareTensors);
  for (size_t i = 1; i < tensors.count; ++i)
    if (compareTensors(&tensors.values[i - 1], &tensors.values[i]) == 0) {
      tell(message, tensors.values[i]).add("one tensor of that name, but got two");
      return false;
    }
  return true;
}

void TensorTable::clear() {
  tensors.clear();
  sizes.clear();
  free(names);
  names = nullptr;
}

/// As Name::compare, with `prefix` and `rest` joined.
static int compareJoined(const Name &name, const Name &prefix, const Name &rest) {
  Name head{name.data, name.size < prefix.size ? name.size : prefix.size};
  int order = head.compare(prefix);
  return order != 0 ? order : Name{name.data + prefix.size, name.size - prefix.size}.compare(rest);
}

const Tensor *TensorTable::find(const Name &name, const Name &prefix) const {
  size_t low = 0, high = tensors.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    int order = compareJoined(tensors.values[middle].name, prefix, name);
    if (order == 0)
      return &tensors.values[middle];
    (order < 0 ? low : high) = order < 0 ? middle + 1 : middle;
  }
  return nullptr;
}
