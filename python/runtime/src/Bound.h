// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The type Bound: a compiled function whose last arguments are taken once, for as long as the tensors that they are
// made of stay as they are. Not: how one call runs (Call.h), and what is made of the tensors (resid/torch/pieces.py).

#ifndef RESID_PYTHON_BOUND_H
#define RESID_PYTHON_BOUND_H

#include "Body.h"

namespace resid::python {

/// Of a new type. `functionType` is that of functions that are bound. Null with an exception.
PyObject *makeBoundType(PyTypeObject *functionType);

} // namespace resid::python

#endif // RESID_PYTHON_BOUND_H
