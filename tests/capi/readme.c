/* A module around kernel_for, the C function of README.md. The test writes it to the
   header that is included here. */
#include <Python.h>

#include "guardtree.h"
#include "kernel_for.h"

/// look_up(function, text, *arguments): "kernel" if the guards of the text pass.
static PyObject* look_up(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    const guardtree_api* gt = guardtree_import();
    guardtree_tree* tree = NULL;
    guardtree_table* table = NULL;
    PyObject* result = NULL;
    (void)self;
    if (!gt) return NULL;
    tree = gt->tree_of_text(args[0], PyUnicode_AsUTF8(args[1]), NULL);
    table = tree ? gt->table_new(args[0]) : NULL;
    if (table && gt->table_add(table, tree, (void*)"kernel", NULL)) {
        const size_t given = (size_t)count - 2;
        const char* found = kernel_for(gt, table, args[0], args + 2, given, NULL);
        result = Py_BuildValue("z", found);
    }
    gt->table_free(table);
    gt->tree_free(tree);
    return result;
}

static PyMethodDef methods[] = {
    {"look_up", (PyCFunction)(void (*)(void))look_up, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "readme", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_readme(void) {
    return PyModule_Create(&module);
}
