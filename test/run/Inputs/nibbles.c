// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hands arrays of i4 to the DLPack entry of the function `widened` as bytes, and as what they cannot be.

#include "nibbles.h"

#include <stdio.h>

static void write_log(void *user, int32_t level, const char *text) {
  (void)user, (void)level;
  printf("%s\n", text);
}

int main(void) {
  uint8_t bytes[] = {0x21, 0x43, 0xf0, 0x8e, 0, 0, 0, 0, 0x70};
  int32_t elements[18] = {0};
  int64_t pairs[] = {3, 3}, shape[] = {3, 6};
  DLTensor q = {bytes, {kDLCPU, 0}, 2, {kDLUInt, 8, 1}, pairs, NULL, 0};
  DLTensor y = {elements, {kDLCPU, 0}, 2, {kDLInt, 32, 1}, shape, NULL, 0};
  const DLTensor *arguments[] = {&q, &y};
  resid_ctx ctx = {0};
  ctx.abi_version = RESID_ABI_VERSION;
  ctx.log = write_log;
  printf("status %d:", (int)widened_dl(&ctx, arguments, 2));
  for (int i = 0; i < 18; ++i)
    printf(" %d", elements[i]);
  printf("\n");
  q.dtype.code = kDLInt;
  printf("status %d\n", (int)widened_dl(&ctx, arguments, 2));
  q.dtype.code = kDLUInt;
  q.shape = shape;
  printf("status %d\n", (int)widened_dl(&ctx, arguments, 2));
  return 0;
}
