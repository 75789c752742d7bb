// The parts below Triton's run method in C, as they are on a GPU: a tensor's data_ptr, the
// driver's answers for device and stream, and the launcher. It launches nothing.
// SPDX-License-Identifier: MIT
#include <Python.h>

#include <stddef.h>
#include <structmember.h>

typedef struct {
    PyObject head;
    unsigned long long address;
    PyObject* dtype;
} Pointer;

static int pointer_init(PyObject* self, PyObject* arguments, PyObject* keywords) {
    Pointer* made = (Pointer*)self;
    PyObject* dtype = NULL;
    PyObject* before = made->dtype;
    if (keywords && PyDict_GET_SIZE(keywords)) {
        PyErr_SetString(PyExc_TypeError, "Pointer takes no keywords");
        return -1;
    }
    if (!PyArg_ParseTuple(arguments, "KO", &made->address, &dtype)) return -1;
    Py_INCREF(dtype);
    made->dtype = dtype;
    Py_XDECREF(before);
    return 0;
}

static void pointer_free(PyObject* self) {
    PyTypeObject* type = Py_TYPE(self);
    Py_XDECREF(((Pointer*)self)->dtype);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject* data_ptr(PyObject* self, PyObject* unused) {
    (void)unused;
    return PyLong_FromUnsignedLongLong(((Pointer*)self)->address);
}

static PyMethodDef pointer_methods[] = {
    {"data_ptr", data_ptr, METH_NOARGS, "The address."}, {NULL, NULL, 0, NULL}};

static PyMemberDef pointer_members[] = {
    {"address", T_ULONGLONG, offsetof(Pointer, address), 0, NULL},
    {"dtype", T_OBJECT_EX, offsetof(Pointer, dtype), 0, NULL},
    {NULL, 0, 0, 0, NULL}};

static PyType_Slot pointer_slots[] = {{Py_tp_init, (void*)pointer_init},
                                      {Py_tp_dealloc, (void*)pointer_free},
                                      {Py_tp_methods, pointer_methods},
                                      {Py_tp_members, pointer_members},
                                      {0, NULL}};

static PyType_Spec pointer_spec = {"native_standin.Pointer", sizeof(Pointer), 0,
                                   Py_TPFLAGS_DEFAULT, pointer_slots};

static PyObject* get_current_device(PyObject* self, PyObject* unused) {
    (void)self;
    (void)unused;
    return PyLong_FromLong(0);
}

static PyObject* get_current_stream(PyObject* self, PyObject* device) {
    (void)self;
    if (PyLong_AsLong(device) == -1 && PyErr_Occurred()) return NULL;
    return PyLong_FromLong(7);
}

static PyObject* launch(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
    (void)self;
    (void)arguments;
    if (count < 9) {
        PyErr_SetString(PyExc_TypeError, "expected a grid and what a launch takes");
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"get_current_device", get_current_device, METH_NOARGS, "Device 0."},
    {"get_current_stream", get_current_stream, METH_O, "Stream 7."},
    {"launch", (PyCFunction)(void (*)(void))launch, METH_FASTCALL, "Launches nothing."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "native_standin", NULL, -1,
                                    functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_native_standin(void) {
    PyObject* made = PyModule_Create(&module);
    PyObject* type = made ? PyType_FromSpec(&pointer_spec) : NULL;
    if (!type || PyModule_AddObjectRef(made, "Pointer", type) < 0) {
        Py_XDECREF(made);
        made = NULL;
    }
    Py_XDECREF(type);
    return made;
}
