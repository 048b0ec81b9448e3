// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The module resid_runtime._caller: the type Function, a compiled function with the speed of a compiled call, the type
// Bound (Bound.h), and the number of threads.

#include "Bound.h"
#include "Call.h"
#include "Pools.h"

#include "structmember.h"

using namespace resid::python;

namespace {

PyObject *callFunction(PyObject *self, PyObject *const *values, size_t flags, PyObject *names) {
  const Body *body = reinterpret_cast<Function *>(self)->body;
  if (!body)
    return PyErr_Format(PyExc_TypeError, "expected a function that was initialised");
  Py_ssize_t count = PyVectorcall_NARGS(flags);
  CallOptions options;
  if (!readOptions(values + count, names, options))
    return nullptr;
  PyObject *results = Call(self, *body, values, count).run(options);
  if (!results || PyTuple_Size(results) != 1)
    return results;
  PyObject *only = Py_NewRef(PyTuple_GetItem(results, 0));
  Py_DECREF(results);
  return only;
}

PyObject *create(PyTypeObject *type, PyObject *, PyObject *) {
  PyObject *self = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc))(type, 0);
  if (self)
    reinterpret_cast<Function *>(self)->call = callFunction;
  return self;
}

int initialise(PyObject *self, PyObject *args, PyObject *) {
  auto body = std::make_unique<Body>();
  if (!readBody(args, *body))
    return -1;
  auto *function = reinterpret_cast<Function *>(self);
  delete function->body;
  function->body = body.release();
  return 0;
}

void destroy(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  delete reinterpret_cast<Function *>(self)->body;
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Function, call), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_new, reinterpret_cast<void *>(create)},
    {Py_tp_init, reinterpret_cast<void *>(initialise)},
    {Py_tp_dealloc, reinterpret_cast<void *>(destroy)},
    {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
    {Py_tp_members, members},
    {Py_tp_doc, const_cast<char *>("A compiled function of resid.")},
    {0, nullptr},
};

PyType_Spec spec = {"resid_runtime._caller.Function", sizeof(Function), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_VECTORCALL, slots};

PyObject *setThreads(PyObject *, PyObject *number) {
  long threads = PyLong_AsLong(number);
  if (threads == -1 && PyErr_Occurred())
    return nullptr;
  if (threads < 0 || threads > RESID_MAX_THREADS)
    return PyErr_Format(PyExc_ValueError, "expected a number of threads from 0 to %d but got %ld", RESID_MAX_THREADS,
                        threads);
  setUsualThreads(int(threads));
  Py_RETURN_NONE;
}

PyObject *getThreads(PyObject *, PyObject *) { return PyLong_FromLong(getUsualThreads()); }

PyMethodDef methods[] = {
    {"set_threads", setThreads, METH_O, "The threads of calls that do not say how many; 0: one for each processor."},
    {"get_threads", getThreads, METH_NOARGS, "The threads of calls that do not say how many."},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_caller", "Calls compiled functions.", -1, methods, nullptr, nullptr, nullptr, nullptr};

} // namespace

PyMODINIT_FUNC PyInit__caller() {
  PyObject *module = PyModule_Create(&definition);
  PyObject *type = PyType_FromSpec(&spec);
  if (!module || !type || PyModule_AddObject(module, "Function", type) != 0)
    return nullptr;
  PyObject *bound = makeBoundType(reinterpret_cast<PyTypeObject *>(type));
  if (!bound || PyModule_AddObject(module, "Bound", bound) != 0)
    return nullptr;
  return module;
}
