// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all entries of an object share about their arrays: which is NULL, and whether two overlap. Does not own the
// tables (ArrayTable.h), nor when they are looked at.

#include <stdbool.h>
#include <stdint.h>

/// An array of a table, by its number: arguments come first. Lists of numbers stand after all facts.
typedef struct {
  /// The bytes from its first element to its end, 0 where it has none; below 0, they are extents[-1 - bytes].
  int64_t bytes;
  /// Whether its rows are apart: then the bytes from row to row, and those of a row, stand after them in the extents.
  int64_t isStrided;
  /// At which word of the table the numbers of the arguments begin whose buffer it may have, which -1 ends.
  int64_t shared;
} Fact;

/// The arrays of a call. Where one has no element, its end is 0.
typedef struct {
  const uint64_t *starts, *ends;
  const int64_t *extents;
  const Fact *table;
} Call;

static int64_t arrays_extent(const Fact *table, const int64_t *extents, int64_t array) {
  int64_t bytes = table[array].bytes;
  return bytes >= 0 ? bytes : extents[-1 - bytes];
}

/// Whether an address is NULL.
bool arrays_any_null(const uint64_t *starts, int64_t count) {
  for (int64_t array = 0; array != count; ++array)
    if (starts[array] == 0)
      return true;
  return false;
}

/// The number of the first array that is NULL although it has elements; else -1.
int64_t arrays_find_null(const uint64_t *starts, const int64_t *extents, const Fact *table, int64_t count) {
  for (int64_t array = 0; array != count; ++array)
    if (starts[array] == 0 && arrays_extent(table, extents, array) != 0)
      return array;
  return -1;
}

/// Fills `ends` with the ends of arrays.
void arrays_fill_ends(const uint64_t *starts, const int64_t *extents, const Fact *table, int64_t count,
                      uint64_t *ends) {
  for (int64_t array = 0; array != count; ++array) {
    int64_t extent = arrays_extent(table, extents, array);
    ends[array] = extent == 0 ? 0 : starts[array] + (uint64_t)extent;
  }
}

/// Whether an output may have the buffer of an array.
bool arrays_may_share(const Fact *table, int64_t output, int64_t other) {
  for (const int64_t *number = (const int64_t *)table + table[output].shared; *number >= 0; ++number)
    if (*number == other)
      return true;
  return false;
}

//===------------------------------------------- pairs ------------------------------------------------------------===//

/// Whether two strided arrays take turns, each in columns of its own. With one stride, and the distance of their first
/// elements within it: the array that begins first ends its row before the other one's begins, and the other one's ends
/// before the next row. Arrays that overlap have elements, so no stride is 0.
static bool arrays_take_turns(const Call *call, int64_t a, int64_t b) {
  bool isFirst = call->starts[a] < call->starts[b];
  int64_t first = isFirst ? a : b, later = isFirst ? b : a;
  const int64_t *firstWords = call->extents + (-1 - call->table[first].bytes);
  const int64_t *laterWords = call->extents + (-1 - call->table[later].bytes);
  uint64_t stride = (uint64_t)firstWords[1];
  uint64_t shift = (call->starts[later] - call->starts[first]) % stride;
  return stride == (uint64_t)laterWords[1] && shift >= (uint64_t)firstWords[2] &&
         shift + (uint64_t)laterWords[2] <= stride;
}

static bool arrays_meet(const Call *call, int64_t a, int64_t b) {
  return call->starts[a] < call->ends[b] && call->starts[b] < call->ends[a];
}

/// Whether an output and an array before it share a byte although they are not allowed to. Arrays that may be one have
/// one shape, so with the same first and last element their strides are equal, if there is more than one row.
static bool arrays_clash(const Call *call, int64_t output, int64_t other) {
  if (!arrays_meet(call, output, other))
    return false;
  bool isOne = call->starts[output] == call->starts[other] && call->ends[output] == call->ends[other];
  if (isOne && arrays_may_share(call->table, output, other))
    return false;
  bool areStrided = call->table[output].isStrided && call->table[other].isStrided;
  return !areStrided || !arrays_take_turns(call, output, other);
}

/// The first output that clashes with an array before it, in the upper 32 bits, and that array; else -1. Looks at each
/// pair.
int64_t arrays_find_clash(const uint64_t *starts, const uint64_t *ends, const int64_t *extents, const Fact *table,
                          int64_t firstOutput, int64_t count) {
  Call call = {starts, ends, extents, table};
  for (int64_t output = firstOutput; output < count; ++output)
    for (int64_t other = 0; other < output; ++other)
      if (arrays_clash(&call, output, other))
        return output << 32 | other;
  return -1;
}

//===------------------------------------------- fewer steps than pairs -------------------------------------------===//

/// Heapsort's step: moves the array at `root` down among the first `size`, until none below begins later.
static void arrays_sift(const uint64_t *starts, uint16_t *order, int64_t root, int64_t size) {
  for (int64_t place = root, below; (below = 2 * place + 1) < size; place = below) {
    if (below + 1 < size && starts[order[below + 1]] > starts[order[below]])
      ++below;
    uint16_t array = order[place];
    if (starts[order[below]] <= starts[array])
      return;
    order[place] = order[below];
    order[below] = array;
  }
}

static void arrays_sort(const uint64_t *starts, uint16_t *order, int64_t size) {
  // Arrays that were taken from memory one after the other are in order.
  int64_t sorted = 1;
  while (sorted < size && starts[order[sorted - 1]] <= starts[order[sorted]])
    ++sorted;
  if (sorted >= size)
    return;
  for (int64_t root = size / 2; root-- > 0;)
    arrays_sift(starts, order, root, size);
  for (int64_t last = size; last-- > 1;) {
    uint16_t array = order[0];
    order[0] = order[last];
    order[last] = array;
    arrays_sift(starts, order, 0, last);
  }
}

/// Whether an array clashes with one of the first `size` outputs of `order`, all of which begin before its end.
/// `reaching` has for each place the output up to there that ends last, so that the way back ends where none reaches
/// the array.
static bool arrays_clashes_before(const Call *call, const uint16_t *order, const uint16_t *reaching, int64_t size,
                                  int64_t array) {
  for (int64_t place = size; place-- > 0 && call->ends[reaching[place]] > call->starts[array];) {
    int64_t before = order[place];
    if (array > before ? arrays_clash(call, array, before) : arrays_clash(call, before, array))
      return true;
  }
  return false;
}

/// How many outputs of `order` begin before `end`, by halves.
static int64_t arrays_count_before(const uint64_t *starts, const uint16_t *order, int64_t size, uint64_t end) {
  int64_t first = 0;
  while (size > 0) {
    int64_t half = size / 2;
    bool isBefore = starts[order[first + half]] < end;
    first = isBefore ? first + half + 1 : first;
    size = isBefore ? size - half - 1 : half;
  }
  return first;
}

/// Whether an output clashes with another array. `room`: 64 bits for each array, and then 32 for each output. Outputs
/// are sorted; each is compared with those that begin before it, and each argument with those that begin before its
/// end: n log n steps, but for arrays that overlap and may.
bool arrays_any_clash(const uint64_t *starts, const int64_t *extents, const Fact *table, int64_t firstOutput,
                      int64_t count, uint64_t *room) {
  arrays_fill_ends(starts, extents, table, count, room);
  Call call = {starts, room, extents, table};
  uint16_t *order = (uint16_t *)(room + count), *reaching = order + (count - firstOutput);
  int64_t size = 0;
  for (int64_t output = firstOutput; output < count; ++output) {
    order[size] = (uint16_t)output;
    size += room[output] != 0;
  }
  arrays_sort(starts, order, size);
  uint64_t lastEnd = 0;
  uint16_t last = 0;
  for (int64_t place = 0; place < size; ++place) {
    uint16_t output = order[place];
    if (starts[output] < lastEnd && arrays_clashes_before(&call, order, reaching, place, output))
      return true;
    if (room[output] > lastEnd) {
      last = output;
      lastEnd = room[output];
    }
    reaching[place] = last;
  }
  for (int64_t argument = 0; argument < firstOutput; ++argument) {
    int64_t before = arrays_count_before(starts, order, size, room[argument]);
    if (arrays_clashes_before(&call, order, reaching, before, argument))
      return true;
  }
  return false;
}

//===------------------------------------------- names ------------------------------------------------------------===//

/// The string of this number among strings that stand one after the other.
const char *arrays_name(const char *names, int64_t number) {
  while (number > 0)
    number -= *names++ == 0;
  return names;
}
