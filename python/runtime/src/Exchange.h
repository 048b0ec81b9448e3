// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that a type of tensors lends by its attribute __dlpack_c_exchange_api__, as DLPack 1.3 declares them: the
// fast way to a tensor, without a call of Python.

#ifndef RESID_PYTHON_EXCHANGE_H
#define RESID_PYTHON_EXCHANGE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/resid.h"

namespace resid::python {

struct Exchange {
  DLPackVersion version;
  const Exchange *older;
  int (*managed_tensor_allocator)(DLTensor *prototype, DLManagedTensorVersioned **out, void *error,
                                  void (*set_error)(void *error, const char *kind, const char *message));
  int (*managed_tensor_from_py_object_no_sync)(void *object, DLManagedTensorVersioned **out);
  int (*managed_tensor_to_py_object_no_sync)(DLManagedTensorVersioned *tensor, void **object);
  int (*dltensor_from_py_object_no_sync)(void *object, DLTensor *out);
  int (*current_work_stream)(DLDeviceType device, int32_t number, void **stream);
};

/// Of a type, borrowed; null where it lends none of version 1, or not the functions that are called here.
const Exchange *findExchange(PyTypeObject *type);

} // namespace resid::python

#endif // RESID_PYTHON_EXCHANGE_H
