// A client of the C interface for the matrix: calls it with Python callables inside.
// SPDX-License-Identifier: MIT
#include <guardtree.h>

#define WORDS 32

static const guardtree_api* api;

/// The table and the entry of the call that runs, for remove().
static guardtree_table* current;
static uint64_t current_entry;

static void call_and_release(void* payload) {
    PyObject* result = PyObject_CallNoArgs((PyObject*)payload);
    if (!result) PyErr_WriteUnraisable((PyObject*)payload);
    Py_XDECREF(result);
    Py_DECREF((PyObject*)payload);
}

static guardtree_table* table_for(PyObject* scope, PyObject* guards, PyObject* payload) {
    guardtree_table* table = api->table_new(scope);
    guardtree_tree* tree = table ? api->tree_of_guards(guards) : NULL;
    uint64_t entry = 0;
    if (payload != Py_None) Py_INCREF(payload);
    if (tree) {
        void (*destroy)(void*) = payload == Py_None ? NULL : call_and_release;
        entry = api->table_add(table, tree, payload, destroy);
    }
    api->tree_free(tree);
    if (!entry) {
        if (payload != Py_None) Py_DECREF(payload);
        api->table_free(table);
        return NULL;
    }
    current = table;
    current_entry = entry;
    return table;
}

/// look_up(how, scope, guards, subject): the answer's number, or explain's text.
static PyObject* look_up(PyObject* self, PyObject* arguments) {
    const char* how;
    PyObject *scope, *guards, *subject, *text = NULL;
    PyObject *storage[WORDS] = {0}, *scratch[WORDS] = {0};
    guardtree_view view = {0};
    guardtree_found found = {0};
    guardtree_table* table;
    int answer;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "sOOO", &how, &scope, &guards, &subject))
        return NULL;
    table = table_for(scope, guards, Py_None);
    if (!table) return NULL;
    answer = how[0] == 'm'
                 ? api->view_of_mapping(&view, table, subject, storage, WORDS)
                 : api->view_of_call(&view, scope, &subject, 1, NULL, storage, WORDS);
    if (answer == GUARDTREE_HIT) {
        if (how[0] == 'e')
            text = api->table_explain(table, &view);
        else
            answer = api->lookup(table, &view, scratch, WORDS, &found);
        api->view_end(&view);
    }
    if (current == table) current = NULL;
    api->table_free(table);
    if (PyErr_Occurred()) {
        Py_XDECREF(text);
        return NULL;
    }
    return text ? text : PyLong_FromLong(answer);
}

/// drop(scope, guards, payload): adds an entry and removes it; the payload is called.
static PyObject* drop(PyObject* self, PyObject* arguments) {
    PyObject *scope, *guards, *payload;
    guardtree_table* table;
    int removed;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOO", &scope, &guards, &payload)) return NULL;
    table = table_for(scope, guards, payload);
    if (!table) return NULL;
    removed = api->table_remove(table, current_entry);
    current = NULL;
    api->table_free(table);
    if (removed < 0) return NULL;
    Py_RETURN_NONE;
}

/// free_table(scope, guards, payload): the payload is called by the end of the table.
static PyObject* free_table(PyObject* self, PyObject* arguments) {
    PyObject *scope, *guards, *payload;
    guardtree_table* table;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOO", &scope, &guards, &payload)) return NULL;
    table = table_for(scope, guards, payload);
    if (!table) return NULL;
    current = NULL;
    api->table_free(table);
    Py_RETURN_NONE;
}

/// remove(): takes the entry out of the table of the call that runs.
static PyObject* remove_entry(PyObject* self, PyObject* ignored) {
    (void)self;
    (void)ignored;
    if (current && api->table_remove(current, current_entry) < 0) return NULL;
    Py_RETURN_NONE;
}

static int check_by_call(PyObject* value, void* context) {
    PyObject* result = PyObject_CallOneArg((PyObject*)context, value);
    if (!result) return -1;
    Py_DECREF(result);
    return 1;
}

static PyObject* get_by_call(PyObject* value, void* context) {
    return PyObject_CallOneArg((PyObject*)context, value);
}

static void release(void* context) {
    Py_DECREF((PyObject*)context);
}

/// checking(callable), getting(callable): operands of native and native_get.
static PyObject* checking(PyObject* self, PyObject* callable) {
    guardtree_foreign about = {sizeof about, callable, release, NULL, NULL, NULL};
    (void)self;
    Py_INCREF(callable);
    return api->check_operand(check_by_call, &about);
}

static PyObject* getting(PyObject* self, PyObject* callable) {
    guardtree_foreign about = {sizeof about, callable, release, NULL, NULL, NULL};
    (void)self;
    Py_INCREF(callable);
    return api->getter_operand(get_by_call, &about);
}

PyMODINIT_FUNC PyInit_client(void) {
    static PyMethodDef methods[] = {
        {"look_up", look_up, METH_VARARGS, NULL},
        {"drop", drop, METH_VARARGS, NULL},
        {"free_table", free_table, METH_VARARGS, NULL},
        {"remove", remove_entry, METH_NOARGS, NULL},
        {"checking", checking, METH_O, NULL},
        {"getting", getting, METH_O, NULL},
        {NULL, NULL, 0, NULL}};
    static struct PyModuleDef definition = {
        PyModuleDef_HEAD_INIT, "client", NULL, -1, methods, NULL, NULL, NULL, NULL};
    api = guardtree_import();
    return api ? PyModule_Create(&definition) : NULL;
}
