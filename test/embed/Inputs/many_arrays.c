/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Calls functions of so many arrays that their overlaps are looked for in a table, with the arrays at random places: apart, one
 * after the other, in place, in columns of a buffer, or over one another. Whether a call is refused, and about which arrays, is
 * found here from each pair. */

#include "many.h"
#include "calls.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 3 * CACHES > 2 * COLUMNS ? 3 * CACHES : 2 * COLUMNS, PLACES = 128, SLOT = 256 };

static _Alignas(64) char room[PLACES * SLOT];
static char message[256];
static unsigned long state = 1;
static int failures = 0, refused = 0, accepted = 0;

static unsigned draw(unsigned below) {
  state = state * 6364136223846793005UL + 1442695040888963407UL;
  return (unsigned)(state >> 33) % below;
}

static void keep(void *user, int level, const char *text) {
  (void)user, (void)level;
  strncpy(message, text, sizeof(message) - 1);
}

/* Arrays by their bytes in the room; inputs first. `stride`: 0, or the bytes from row to row of strided ones. */
typedef struct Array {
  long start, width, stride, rows;
} Array;

typedef struct Call {
  Array arrays[MOST];
  int count, inputs;
  int partner[MOST]; /* of an output: the input whose place it may have, or -1 */
} Call;

static long get_end(const Array *array) {
  if (array->rows == 0)
    return array->start;
  return array->start + (array->rows - 1) * (array->stride ? array->stride : array->width) + array->width;
}

static int share_bytes(const Array *a, const Array *b) {
  long row, other;
  if (a->rows == 0 || b->rows == 0 || a->start >= get_end(b) || b->start >= get_end(a))
    return 0;
  if (a->stride == 0 || a->stride != b->stride)
    return 1;
  for (row = 0; row < a->rows; ++row)
    for (other = 0; other < b->rows; ++other) {
      long from = a->start + row * a->stride, to = b->start + other * b->stride;
      if (from < to + b->width && to < from + a->width)
        return 1;
    }
  return 0;
}

static int find_clash(const Call *call, int *output, int *other) {
  for (*output = call->inputs; *output < call->count; ++*output)
    for (*other = 0; *other < *output; ++*other) {
      const Array *a = &call->arrays[*output], *b = &call->arrays[*other];
      int is_same = a->start == b->start && get_end(a) == get_end(b);
      if (!(is_same && call->partner[*output] == *other) && share_bytes(a, b))
        return 1;
    }
  return 0;
}

static void describe(const Call *call, int array, const char *input, char *text) {
  if (array < call->inputs)
    sprintf(text, "argument '%s'", input);
  else
    sprintf(text, "output 'out%d'", array - call->inputs);
}

static void judge(const Call *call, resid_status status, const char *input, const char *function) {
  int output, other, clashes = find_clash(call, &output, &other);
  char wanted[128] = "", before[64], after[64];
  if (clashes) {
    describe(call, output, "", before);
    describe(call, other, input, after);
    sprintf(wanted, "%s: %s overlaps %s", function, before, after);
  }
  clashes ? ++refused : ++accepted;
  if (status == (clashes ? RESID_ALIAS : RESID_OK) && strncmp(message, wanted, strlen(wanted)) == 0)
    return;
  printf("%s: expected '%s' but got %d '%s'\n", function, wanted, (int)status, message);
  ++failures;
}

/* A permutation of places, of which each array takes one. */
static void shuffle(long *places) {
  int i;
  for (i = 0; i < PLACES; ++i)
    places[i] = (long)i * SLOT;
  for (i = PLACES - 1; i > 0; --i) {
    unsigned j = draw((unsigned)i + 1);
    long place = places[i];
    places[i] = places[j], places[j] = place;
  }
}

static void try_caches(resid_ctx *ctx) {
  Call call;
  long places[PLACES];
  void *a[MOST];
  int i;
  call.count = 3 * CACHES, call.inputs = 2 * CACHES;
  shuffle(places);
  for (i = 0; i < call.count; ++i) {
    Array array = {places[i], i < call.inputs && i % 2 ? 8 : 32, 0, 1};
    call.arrays[i] = array;
    call.partner[i] = i < call.inputs ? -1 : 2 * (i - call.inputs);
    if (i >= call.inputs && draw(2))
      call.arrays[i].start = call.arrays[call.partner[i]].start;
  }
  if (draw(2)) { /* one array over the edge of another, or beside it */
    Array *moved = &call.arrays[draw((unsigned)call.count)], *other = &call.arrays[draw((unsigned)call.count)];
    moved->start = other->start + 4 * (long)draw(18) - 32;
    moved->start = moved->start < 0 ? 0 : moved->start;
  }
  for (i = 0; i < call.count; ++i)
    a[i] = room + call.arrays[i].start;
  message[0] = 0;
  {
    int output, other;
    char input[16] = "";
    if (find_clash(&call, &output, &other))
      sprintf(input, "%s%d", other % 2 ? "x" : "c", other / 2);
    judge(&call, CALL_CACHES(ctx, a), input, "caches");
  }
}

/* Every third array has a place of its own; the others are columns of few buffers, now and then over one another. */
static void try_columns(resid_ctx *ctx) {
  Call call;
  long places[PLACES];
  int64_t rows[COLUMNS], strides[2 * COLUMNS];
  void *a[MOST];
  int i, next = 0, output, other, swapped = (int)draw(2);
  char input[16] = "";
  call.count = 2 * COLUMNS, call.inputs = COLUMNS;
  shuffle(places);
  for (i = 0; i < call.count; ++i) {
    Array array = {0, 8, 8, i % COLUMNS % 4};
    call.partner[i] = -1;
    if (i % 3 == 0)
      array.start = places[next++];
    else
      array.start = (long)(PLACES - 40 + i % 20) * SLOT + (long)(swapped ? 2 - i / 20 : i / 20) * 8, array.stride = 24;
    if (draw(200) == 0)
      array.start += 4 * (long)draw(5);
    if (array.start > (PLACES - 41) * SLOT && i % 3 == 0)
      array.start = places[next++] % ((PLACES - 41) * SLOT);
    call.arrays[i] = array;
  }
  for (i = 0; i < call.count; ++i) {
    a[i] = room + call.arrays[i].start;
    strides[i] = call.arrays[i].stride / 4;
    if (i < COLUMNS)
      rows[i] = call.arrays[i].rows;
  }
  message[0] = 0;
  if (find_clash(&call, &output, &other))
    sprintf(input, "x%d", other);
  judge(&call, CALL_COLUMNS(ctx, a, rows, strides), input, "columns");
}

/* A missing array is named; one without elements may be missing. */
static void try_missing(resid_ctx *ctx) {
  int64_t rows[COLUMNS], strides[2 * COLUMNS];
  void *a[MOST];
  int i;
  for (i = 0; i < 2 * COLUMNS; ++i) {
    a[i] = room + (long)i * SLOT;
    strides[i] = 2;
    if (i < COLUMNS)
      rows[i] = i == 7 ? 0 : 1;
  }
  message[0] = 0;
  a[7] = a[COLUMNS + 7] = NULL;
  printf("%d '%s'\n", (int)CALL_COLUMNS(ctx, a, rows, strides), message);
  a[COLUMNS + 9] = NULL;
  printf("%d '%s'\n", (int)CALL_COLUMNS(ctx, a, rows, strides), message);
  a[11] = NULL;
  printf("%d '%s'\n", (int)CALL_COLUMNS(ctx, a, rows, strides), message);
  strides[12] = 1;
  printf("%d\n", (int)CALL_COLUMNS(ctx, a, rows, strides));
  a[11] = a[COLUMNS + 9] = room;
  printf("%d '%s'\n", (int)CALL_COLUMNS(ctx, a, rows, strides), message);
}

int main(void) {
  resid_ctx ctx;
  int i;
  memset(&ctx, 0, sizeof(ctx));
  ctx.abi_version = RESID_ABI_VERSION;
  ctx.log = keep;
  for (i = 0; i < 4000; ++i)
    try_caches(&ctx);
  for (i = 0; i < 4000; ++i)
    try_columns(&ctx);
  try_missing(&ctx);
  printf("%d failures; %s\n", failures, refused > 1000 && accepted > 1000 ? "many of each" : "too few");
  printf("%d refused, %d accepted\n", refused, accepted);
  return failures == 0 ? 0 : 1;
}
