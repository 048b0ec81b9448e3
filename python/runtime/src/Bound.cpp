// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Bound.h"

#include "Call.h"
#include "Exchange.h"

#include "structmember.h"

#include <dlfcn.h>

using namespace resid::python;

namespace {

/// libtorch's C interface to tensors of PyTorch, which finds an address in a tenth of DLPack's time.
struct Interface {
  PyObject *makeHandle = nullptr;
  int32_t (*findData)(void *handle, void **address) = nullptr;
  int32_t (*dropHandle)(void *handle) = nullptr;
};

/// Null where this PyTorch has none. No initialisation that other threads wait for: the import may let them have the
/// interpreter.
const Interface *findInterface() {
  static Interface found;
  static bool isKnown = false;
  if (isKnown)
    return found.makeHandle ? &found : nullptr;
  void *library = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
  PyObject *module = library ? PyImport_ImportModule("torch._C._aoti") : nullptr;
  if (module) {
    found.findData = reinterpret_cast<decltype(found.findData)>(dlsym(library, "aoti_torch_get_data_ptr"));
    found.dropHandle = reinterpret_cast<decltype(found.dropHandle)>(dlsym(library, "aoti_torch_delete_tensor_object"));
    if (found.findData && found.dropHandle)
      found.makeHandle = PyObject_GetAttrString(module, "unsafe_alloc_void_ptr_from_tensor");
    Py_DECREF(module);
  }
  PyErr_Clear();
  isKnown = true;
  return findInterface();
}

struct DropHandle {
  void operator()(void *handle) const { findInterface()->dropHandle(handle); }
};

/// A tensor as it was when something was made of it.
struct Watch {
  Py_ssize_t place = 0;
  /// The tensor itself, borrowed, and libtorch's handle of it, null where there is none.
  PyObject *object = nullptr;
  std::unique_ptr<void, DropHandle> handle;
  const void *address = nullptr;
  /// What PyTorch counts writes by, or -1 where writes do not matter.
  long long version = -1;
};

struct Bound {
  PyObject_HEAD vectorcallfunc call;
  PyObject *function;
  /// The tuple that the watches are from, which keeps their memory, or None where nothing holds.
  PyObject *watched;
  std::vector<Py_ssize_t> *inputs;
  std::vector<Watch> *watches;
  Bindings *bindings;
};

PyTypeObject *functionTypeOf = nullptr;

Bound *asBound(PyObject *self) { return reinterpret_cast<Bound *>(self); }

/// Where the elements of a tensor are. False with an exception.
bool findAddress(PyObject *object, const void *&address) {
  if (const Exchange *exchange = findExchange(Py_TYPE(object))) {
    DLTensor tensor;
    if (exchange->dltensor_from_py_object_no_sync(object, &tensor) != 0) {
      if (!PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "a tensor without memory of its own");
      return false;
    }
    address = static_cast<char *>(tensor.data) + tensor.byte_offset;
    return true;
  }
  PyObject *number = PyObject_CallMethod(object, "data_ptr", nullptr);
  address = number ? PyLong_AsVoidPtr(number) : nullptr;
  Py_XDECREF(number);
  return !PyErr_Occurred();
}

/// -1 of a tensor that was made in inference mode, which has none.
long long findVersion(PyObject *object) {
  static PyObject *const name = PyUnicode_InternFromString("_version");
  PyObject *number = PyObject_GetAttr(object, name);
  long long version = number ? PyLong_AsLongLong(number) : -1;
  Py_XDECREF(number);
  PyErr_Clear();
  return version;
}

bool readWatches(PyObject *watched, std::vector<Watch> &watches) {
  for (Py_ssize_t i = 0; i < PyTuple_Size(watched); ++i) {
    Watch watch;
    PyObject *memory;
    if (!PyArg_ParseTuple(PyTuple_GetItem(watched, i), "nOOL", &watch.place, &watch.object, &memory, &watch.version) ||
        !findAddress(memory, watch.address))
      return false;
    if (const Interface *interface = findInterface()) {
      PyObject *capsule = PyObject_CallFunctionObjArgs(interface->makeHandle, watch.object, nullptr);
      watch.handle.reset(capsule ? PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule)) : nullptr);
      Py_XDECREF(capsule);
      if (!watch.handle)
        return false;
    }
    watches.push_back(std::move(watch));
  }
  return true;
}

int initialise(PyObject *self, PyObject *args, PyObject *) {
  Bound *own = asBound(self);
  PyObject *function, *inputs, *weights, *watched;
  if (own->function) {
    PyErr_SetString(PyExc_TypeError, "expected a function that is bound once");
    return -1;
  }
  if (!PyArg_ParseTuple(args, "O!O!O!O", functionTypeOf, &function, &PyTuple_Type, &inputs, &PyTuple_Type, &weights,
                        &watched))
    return -1;
  auto places = std::make_unique<std::vector<Py_ssize_t>>();
  for (Py_ssize_t i = 0; i < PyTuple_Size(inputs); ++i)
    places->push_back(PyLong_AsSsize_t(PyTuple_GetItem(inputs, i)));
  auto watches = std::make_unique<std::vector<Watch>>();
  auto bindings = std::make_unique<Bindings>();
  if (PyErr_Occurred() || (watched != Py_None && !readWatches(watched, *watches)) ||
      !bindings->take(*reinterpret_cast<Function *>(function)->body, PyTuple_Size(inputs), weights))
    return -1;
  own->inputs = places.release();
  own->watches = watches.release();
  own->bindings = bindings.release();
  own->function = Py_NewRef(function);
  own->watched = Py_NewRef(watched);
  return 0;
}

/// Whether the given tensors are as they were.
PyObject *holds(PyObject *self, PyObject *given) {
  Bound *own = asBound(self);
  if (!own->function || own->watched == Py_None)
    Py_RETURN_FALSE;
  for (const Watch &watch : *own->watches) {
    PyObject *object = PyTuple_GetItem(given, watch.place);
    void *data = nullptr;
    const void *address;
    if (object == watch.object && watch.handle && findInterface()->findData(watch.handle.get(), &data) == 0)
      address = data;
    else if (!object || !findAddress(object, address))
      return nullptr;
    if (address != watch.address || (watch.version >= 0 && findVersion(object) != watch.version))
      Py_RETURN_FALSE;
  }
  Py_RETURN_TRUE;
}

/// The tensor, or a copy without gaps. A new reference, or null with an exception.
PyObject *withoutGaps(PyObject *object) {
  const Exchange *exchange = findExchange(Py_TYPE(object));
  DLTensor tensor;
  if (exchange && exchange->dltensor_from_py_object_no_sync(object, &tensor) == 0) {
    int64_t step = 1;
    bool hasGaps = false;
    for (int i = tensor.ndim; tensor.strides && i-- > 0; step *= tensor.shape[i])
      hasGaps |= tensor.shape[i] != 1 && tensor.strides[i] != step;
    if (!hasGaps)
      return Py_NewRef(object);
  }
  PyErr_Clear();
  return PyObject_CallMethod(object, "contiguous", nullptr);
}

PyObject *callBound(PyObject *self, PyObject *const *values, size_t flags, PyObject *names) {
  Bound *own = asBound(self);
  Py_ssize_t count = PyVectorcall_NARGS(flags);
  CallOptions options;
  if (!readOptions(values + count, names, options))
    return nullptr;
  if (!own->function || count != 1 || !PyTuple_Check(values[0]))
    return PyErr_Format(PyExc_TypeError, "expected a tuple of arguments");
  std::vector<PyObject *> inputs;
  for (Py_ssize_t place : *own->inputs) {
    PyObject *object = PyTuple_GetItem(values[0], place);
    inputs.push_back(object ? withoutGaps(object) : nullptr);
    if (!inputs.back())
      break;
  }
  PyObject *results = nullptr;
  if (inputs.empty() || inputs.back())
    results = Call(own->function, *reinterpret_cast<Function *>(own->function)->body, inputs.data(),
                   Py_ssize_t(inputs.size()), own->bindings)
                  .run(options);
  for (PyObject *input : inputs)
    Py_XDECREF(input);
  return results;
}

PyObject *create(PyTypeObject *type, PyObject *, PyObject *) {
  PyObject *self = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc))(type, 0);
  if (self)
    asBound(self)->call = callBound;
  return self;
}

void destroy(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  Bound *own = asBound(self);
  delete own->inputs;
  delete own->watches;
  delete own->bindings;
  Py_XDECREF(own->function);
  Py_XDECREF(own->watched);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

PyMethodDef methods[] = {
    {"holds", holds, METH_O, "Whether the tensors of this tuple have the addresses and versions that they had."},
    {nullptr, nullptr, 0, nullptr},
};

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Bound, call), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_new, reinterpret_cast<void *>(create)},
    {Py_tp_init, reinterpret_cast<void *>(initialise)},
    {Py_tp_dealloc, reinterpret_cast<void *>(destroy)},
    {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
    {Py_tp_methods, methods},
    {Py_tp_members, members},
    {Py_tp_doc, const_cast<char *>("A compiled function with its last arguments.")},
    {0, nullptr},
};

PyType_Spec spec = {"resid_runtime._caller.Bound", sizeof(Bound), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
                    slots};

} // namespace

PyObject *resid::python::makeBoundType(PyTypeObject *functionType) {
  functionTypeOf = functionType;
  return PyType_FromSpec(&spec);
}
