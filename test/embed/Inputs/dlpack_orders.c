/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A program with a DLPack header of its own, included before the generated header or, with -DAFTER, after it. */

#ifndef AFTER
#include "later_dlpack.h"
#endif

#include "dlpack_kernels.h"

#ifdef AFTER
#include "later_dlpack.h"
#endif

#include <stdio.h>

static int deleted = 0;

static void count_deleted(DLManagedTensorVersioned *self) {
  deleted += (self->flags & DLPACK_FLAG_BITMASK_IS_COPIED) != 0;
}

int main(void) {
  DLManagedTensorVersioned managed;
  const DLTensor *args[1];
  managed.version.major = DLPACK_MAJOR_VERSION;
  managed.version.minor = DLPACK_MINOR_VERSION;
  managed.manager_ctx = NULL;
  managed.deleter = count_deleted;
  managed.flags = DLPACK_FLAG_BITMASK_IS_COPIED;
  managed.dl_tensor.device.device_type = kDLMAIA;
  managed.dl_tensor.dtype.code = kDLFloat4_e2m1fn;
#ifndef AFTER
  managed.dl_tensor.device.device_type = kDLTrn; /* later than what the generated header has */
#endif
  args[0] = &managed.dl_tensor;
  if (norm_dl(NULL, args, 1) != RESID_BAD_SHAPE) /* it takes more tensors */
    return 1;
  managed.deleter(&managed);
  printf("version %d.%d, %d deleted\n", (int)managed.version.major, (int)managed.version.minor, deleted);
  return 0;
}
