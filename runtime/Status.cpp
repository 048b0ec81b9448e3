// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text of every status code. Does not own: the codes themselves (resid.h).

#include "runtime/resid.h"

const char *resid_status_string(resid_status status) {
  // The type of the codes, of which the compiler knows all.
  switch (static_cast<decltype(RESID_OK)>(status)) {
  case RESID_OK:
    return "RESID_OK: done";
  case RESID_BAD_POINTER:
    return "RESID_BAD_POINTER: a pointer is NULL although its array has elements";
  case RESID_BAD_SHAPE:
    return "RESID_BAD_SHAPE: a size or row stride is negative, too large, too small or disagrees with another one";
  case RESID_BAD_DTYPE:
    return "RESID_BAD_DTYPE: an array has another element type than the function takes";
  case RESID_BAD_VALUE:
    return "RESID_BAD_VALUE: a scalar is out of its range, an assertion does not hold, or a file is wrong";
  case RESID_ALIAS:
    return "RESID_ALIAS: an output overlaps an array that it must not overlap";
  case RESID_UNSUPPORTED:
    return "RESID_UNSUPPORTED: this machine lacks what the object was compiled for, or a tensor is on a device or has "
           "gaps";
  case RESID_OOM:
    return "RESID_OOM: no memory, or no allocation hook although scratch memory is needed";
  case RESID_NO_DEVICE:
    return "RESID_NO_DEVICE: no device, or no driver for it";
  case RESID_LAUNCH:
    return "RESID_LAUNCH: the device refused to run the kernel";
  case RESID_VERSION:
    return "RESID_VERSION: the context or the driver has another version than expected";
  case RESID_INTERNAL:
    return "RESID_INTERNAL: a mistake in resid itself";
  }
  return "unknown status";
}
