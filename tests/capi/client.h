// What the C clients of these tests share: tests as functions, their list, checks.
// SPDX-License-Identifier: MIT
#pragma once
#include GUARDTREE_HEADER

#include <string.h>

/// A test: NULL when it passed, else what did not hold. An exception that is set is
/// the test's failure too. `names`: a dict of what the Python side made.
typedef const char* (*test_function)(PyObject* names);

struct test {
    const char* name;
    test_function run;
};

static const guardtree_api* api;

#define TEXT(line) #line
#define CHECK_AT(condition, line) \
    if (!(condition)) return "line " TEXT(line) ": " #condition
#define CHECK(condition) CHECK_AT(condition, __LINE__)

/// An exception of this type is set; it is cleared.
#define CHECK_RAISES(type)                                   \
    CHECK(PyErr_Occurred() && PyErr_ExceptionMatches(type)); \
    PyErr_Clear()

#define WORDS 32

/// A view, with room for what it wants.
struct scene {
    guardtree_view view;
    PyObject* storage[WORDS];
    PyObject* scratch[WORDS];
    guardtree_found found;
};

static inline void start(struct scene* scene) {
    memset(scene, 0, sizeof *scene);
}

static inline PyObject* name_of(PyObject* names, const char* name) {
    return PyDict_GetItemString(names, name);  // borrowed
}

/// A table for `f` with one entry whose guards are a text; NULL with an exception set.
static inline guardtree_table* table_of(PyObject* names, const char* text,
                                        void* payload) {
    PyObject* f = name_of(names, "f");
    guardtree_table* table = api->table_new(f);
    guardtree_tree* tree = api->tree_of_text(f, text, NULL);
    if (!table || !tree || !api->table_add(table, tree, payload, NULL)) {
        api->table_free(table);
        table = NULL;
    }
    api->tree_free(tree);
    return table;
}

/// Looks a call f(*arguments) up; one of the answers.
static inline int look_up(guardtree_table* table, PyObject* names, struct scene* scene,
                          PyObject* const* arguments, size_t count) {
    int answer = api->view_of_call(&scene->view, name_of(names, "f"), arguments, count,
                                   NULL, scene->storage, WORDS);
    if (answer != GUARDTREE_HIT) return answer;
    answer = api->lookup(table, &scene->view, scene->scratch, WORDS, &scene->found);
    api->view_end(&scene->view);
    return answer;
}

/// A module `name` whose run(test, names) runs a test and tests() lists them.
static struct test* all_tests(void);

static inline PyObject* run_test(PyObject* self, PyObject* arguments) {
    const char* name = NULL;
    const char* failure = NULL;
    PyObject* names = NULL;
    struct test* test = all_tests();
    (void)self;
    if (!PyArg_ParseTuple(arguments, "sO", &name, &names)) return NULL;
    while (test->name && strcmp(test->name, name) != 0) ++test;
    if (!test->name) return PyErr_Format(PyExc_KeyError, "no test %s", name);
    failure = test->run(names);
    if (failure && !PyErr_Occurred()) PyErr_SetString(PyExc_AssertionError, failure);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

static inline PyObject* list_tests(PyObject* self, PyObject* ignored) {
    PyObject* list = PyList_New(0);
    struct test* test = all_tests();
    (void)self;
    (void)ignored;
    for (; list && test->name; ++test) {
        PyObject* name = PyUnicode_FromString(test->name);
        if (!name || PyList_Append(list, name) < 0) return NULL;
    }
    return list;
}

static inline PyObject* make_module(const char* name) {
    static PyMethodDef methods[] = {{"run", run_test, METH_VARARGS, NULL},
                                    {"tests", list_tests, METH_NOARGS, NULL},
                                    {NULL, NULL, 0, NULL}};
    static struct PyModuleDef definition = {
        PyModuleDef_HEAD_INIT, NULL, NULL, -1, methods, NULL, NULL, NULL, NULL};
    definition.m_name = name;
    api = guardtree_import();
    if (!api) return NULL;
    return PyModule_Create(&definition);
}
