/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Moves each array of a call byte by byte over the others, and asks for sizes at the limit. What overlaps is found from
 * the places of all bytes. */

#include "overlap.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH = 8, ROW_BYTES = WIDTH * 4, SLOT = 160, ROOM = 1280, ARRAYS = 5 };

static const int64_t byte_limit = (int64_t)1 << 47;
static int failures = 0, overlaps = 0, runs = 0;
static _Alignas(64) char room[ROOM + SLOT];

static void expect(resid_status expected, resid_status got, const char *what, int array, int place) {
  if (expected == got)
    return;
  printf("%s, array %d at %d: expected %d but got %d\n", what, array, place, (int)expected, (int)got);
  ++failures;
}

/* Arrays by their places in the room: inputs first. */
typedef struct Call {
  int places[ARRAYS], bytes[ARRAYS];
  int arrays, inputs;
  int64_t rows[2];
} Call;

static float *at(const Call *call, int array) { return (float *)(void *)(room + call->places[array]); }

static int share_bytes(const Call *call, int a, int b) {
  char taken[ROOM + SLOT];
  int i;
  memset(taken, 0, sizeof(taken));
  memset(taken + call->places[a], 1, (size_t)call->bytes[a]);
  for (i = 0; i < call->bytes[b]; ++i)
    if (taken[call->places[b] + i])
      return 1;
  return 0;
}

/* `shareable`: how many of the inputs, from the first on, an output may be. */
static resid_status find_expected(const Call *call, int shareable) {
  int output, other;
  for (output = call->inputs; output < call->arrays; ++output)
    for (other = 0; other < output; ++other)
      if (!(other < shareable && call->places[output] == call->places[other]) && share_bytes(call, output, other))
        return RESID_ALIAS;
  return RESID_OK;
}

static resid_status run_fixed(const Call *call) {
  return fixed(NULL, at(call, 0), call->rows[0], at(call, 1), call->rows[0], at(call, 2), at(call, 3), at(call, 4));
}

static resid_status run_unrelated(const Call *call) {
  return unrelated(NULL, at(call, 0), call->rows[0], at(call, 1), call->rows[1], at(call, 2), at(call, 3));
}

static void move_arrays(Call call, int shareable, resid_status (*run)(const Call *), const char *what) {
  int moved, place;
  for (moved = 0; moved < call.arrays; ++moved) {
    Call changed = call;
    for (place = 0; place < ROOM; ++place) {
      resid_status expected;
      changed.places[moved] = place;
      expected = find_expected(&changed, shareable);
      if (expected == RESID_OK && place % 4 != 0)
        continue; /* no place for a float */
      expected == RESID_OK ? ++runs : ++overlaps;
      expect(expected, run(&changed), what, moved, place);
    }
  }
}

static void check_fixed(int rows) {
  Call call;
  int array;
  memset(&call, 0, sizeof(call));
  call.arrays = 5, call.inputs = 3;
  call.rows[0] = rows;
  for (array = 0; array < call.arrays; ++array) {
    call.places[array] = SLOT + array * SLOT;
    call.bytes[array] = array == 2 ? ROW_BYTES : rows * ROW_BYTES;
  }
  move_arrays(call, 2, run_fixed, rows == 0 ? "no rows" : "rows");
}

static void check_unrelated(int rows, int others) {
  Call call;
  int array;
  memset(&call, 0, sizeof(call));
  call.arrays = 4, call.inputs = 2;
  call.rows[0] = rows, call.rows[1] = others;
  for (array = 0; array < call.arrays; ++array) {
    call.places[array] = SLOT + array * SLOT;
    call.bytes[array] = (array % 2 == 0 ? rows : others) * ROW_BYTES;
  }
  move_arrays(call, 0, run_unrelated, "rows beside others");
}

/* Sizes are looked at before overlaps: what is within the limit is refused for its overlap, and nothing runs. */
static void check_limits(void) {
  float *all = (float *)(void *)room;
  const int64_t most = byte_limit / ROW_BYTES;
  const int64_t huge = (int64_t)1 << 45, wraps = (int64_t)1 << 62;
#define FIXED(rows) fixed(NULL, all, rows, all, rows, all, all, all)
#define OPEN(rows, width) both_open(NULL, all, rows, width, all, rows, width, all + 1)
#define EXPECT(status, call) expect(status, call, #call, 0, 0)
  EXPECT(RESID_ALIAS, FIXED(most));
  EXPECT(RESID_BAD_SHAPE, FIXED(most + 1));
  EXPECT(RESID_BAD_SHAPE, FIXED(INT64_MAX));
  EXPECT(RESID_BAD_SHAPE, FIXED(INT64_MIN));
  EXPECT(RESID_BAD_SHAPE, FIXED(-1));
  EXPECT(RESID_OK, FIXED(0));
  EXPECT(RESID_ALIAS, OPEN(huge, 1));
  EXPECT(RESID_ALIAS, OPEN(1, huge));
  EXPECT(RESID_ALIAS, OPEN((int64_t)1 << 20, (int64_t)1 << 25));
  EXPECT(RESID_BAD_SHAPE, OPEN(((int64_t)1 << 20) + 1, (int64_t)1 << 25));
  EXPECT(RESID_BAD_SHAPE, OPEN(huge + 1, 1));
  EXPECT(RESID_BAD_SHAPE, OPEN(1, huge + 1));
  EXPECT(RESID_BAD_SHAPE, OPEN(wraps, 4));
  EXPECT(RESID_BAD_SHAPE, OPEN(wraps, wraps));
  EXPECT(RESID_BAD_SHAPE, OPEN(-1, -1));
  /* A zero counts as a one: the order of sizes does not matter. */
  EXPECT(RESID_OK, OPEN(huge, 0));
  EXPECT(RESID_OK, OPEN(0, huge));
  EXPECT(RESID_BAD_SHAPE, OPEN(huge + 1, 0));
  EXPECT(RESID_BAD_SHAPE, OPEN(0, huge + 1));
  EXPECT(RESID_BAD_SHAPE, OPEN(-1, 0));
  EXPECT(RESID_BAD_SHAPE, OPEN(0, -1));
  /* A pointer that is missing comes first; whether it may be is for its own array's size to say. */
  EXPECT(RESID_BAD_POINTER, fixed(NULL, all, 0, NULL, 1, all, all, all));
  EXPECT(RESID_BAD_POINTER, fixed(NULL, NULL, -1, all, 1, all, all, all));
  EXPECT(RESID_BAD_SHAPE, fixed(NULL, all, 1, NULL, 0, all, all, all));
  EXPECT(RESID_BAD_POINTER, fixed(NULL, NULL, 0, NULL, 0, NULL, NULL, NULL));
  EXPECT(RESID_OK, fixed(NULL, NULL, 0, NULL, 0, all, NULL, NULL));
}

int main(void) {
  int rows, others;
  for (rows = 0; rows < 4; ++rows)
    check_fixed(rows);
  for (rows = 0; rows < 3; ++rows)
    for (others = 0; others < 3; ++others)
      check_unrelated(rows, others);
  check_limits();
  printf("%d failures; %s\n", failures, runs > 1000 && overlaps > 1000 ? "many of each" : "too few");
  return failures == 0 ? 0 : 1;
}
