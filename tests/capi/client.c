// A client of the C interface, as anyone would write one: C99, and C++20 as it stands.
// SPDX-License-Identifier: MIT
#include "client.h"

static int one, two, destroyed;

static void count_destroyed(void* payload) {
    (void)payload;
    ++destroyed;
}

static const char* trees_are_built_by_name(PyObject* names) {
    PyObject* f = name_of(names, "f");
    PyObject* a = PyUnicode_FromString("a");
    PyObject* integer = (PyObject*)&PyLong_Type;
    PyObject* text;
    guardtree_tree* tree = api->tree_new(f);
    guardtree_tree* same = api->tree_of_text(f, "type(a) is int", NULL);
    int64_t node;
    CHECK(tree && same);
    node = api->tree_step(tree, 0, "local", &a, 1);
    CHECK(node == 1 && api->tree_step(tree, 0, "local", &a, 1) == 1);
    CHECK(api->tree_check(tree, node, "type_match", &integer, 1) == 0);
    {
        PyObject* left = api->tree_json(tree);
        PyObject* right = api->tree_json(same);
        CHECK(left && right && PyUnicode_Compare(left, right) == 0);
        api->tree_free(same);
        same = api->tree_of_json(f, PyUnicode_AsUTF8(left));
        CHECK(same);
        Py_DECREF(left);
        Py_DECREF(right);
    }
    text = api->tree_text(same);
    CHECK(text && strstr(PyUnicode_AsUTF8(text), "type(a) is int"));
    Py_DECREF(text);
    Py_DECREF(a);
    api->tree_free(tree);
    api->tree_free(same);
    return NULL;
}

static const char* relations_are_built_by_name(PyObject* names) {
    PyObject* f = name_of(names, "f");
    PyObject *arguments[2], *expression = PyUnicode_FromString("a < b");
    guardtree_tree* tree = api->tree_new(f);
    guardtree_table* table = api->table_new(f);
    struct scene scene;
    int64_t nodes[2];
    arguments[0] = PyUnicode_FromString("a");
    arguments[1] = PyUnicode_FromString("b");
    nodes[0] = api->tree_step(tree, 0, "local", &arguments[0], 1);
    nodes[1] = api->tree_step(tree, 0, "local", &arguments[1], 1);
    CHECK(api->tree_relate(tree, "integers", &expression, 1, nodes, 2) == 0);
    CHECK(api->table_add(table, tree, &one, NULL) == 1);
    start(&scene);
    Py_DECREF(arguments[0]);
    Py_DECREF(arguments[1]);
    arguments[0] = PyLong_FromLong(1);
    arguments[1] = PyLong_FromLong(7);
    CHECK(look_up(table, names, &scene, arguments, 2) == GUARDTREE_HIT);
    CHECK(look_up(table, names, &scene, arguments, 1) == GUARDTREE_HIT);  // b=2
    arguments[0] = arguments[1];
    CHECK(look_up(table, names, &scene, arguments, 2) == GUARDTREE_MISS);
    api->tree_free(tree);
    api->table_free(table);
    Py_DECREF(expression);
    return NULL;
}

static const char* guards_made_in_python_are_copied(PyObject* names) {
    guardtree_tree* tree = api->tree_of_guards(name_of(names, "guards"));
    PyObject* text;
    CHECK(tree);
    text = api->tree_text(tree);
    CHECK(strstr(PyUnicode_AsUTF8(text), "type(a) is int"));
    Py_DECREF(text);
    api->tree_free(tree);
    CHECK(!api->tree_of_guards(Py_None));
    CHECK_RAISES(PyExc_TypeError);
    return NULL;
}

static const char* calls_are_looked_up(PyObject* names) {
    PyObject *arguments[3], *keywords, *f = name_of(names, "f");
    guardtree_table* table = table_of(names, "type(a) is int and b == 2", &one);
    struct scene scene;
    CHECK(table);
    start(&scene);
    arguments[0] = PyLong_FromLong(1000);
    arguments[1] = PyLong_FromLong(2);
    arguments[2] = arguments[1];
    CHECK(look_up(table, names, &scene, arguments, 2) == GUARDTREE_HIT);
    CHECK(scene.found.payload == &one && scene.found.entry == 1);
    CHECK(look_up(table, names, &scene, arguments, 1) == GUARDTREE_HIT);
    CHECK(look_up(table, names, &scene, arguments, 3) == GUARDTREE_HIT);
    CHECK(look_up(table, names, &scene, arguments, 0) == GUARDTREE_MISFIT);
    CHECK(look_up(table, names, &scene, &f, 1) == GUARDTREE_MISS);
    keywords = Py_BuildValue("(s)", "b");
    CHECK(api->view_of_call(&scene.view, f, arguments, 1, keywords, scene.storage,
                            WORDS) == GUARDTREE_HIT);
    CHECK(api->lookup(table, &scene.view, scene.scratch, WORDS, &scene.found) ==
          GUARDTREE_HIT);
    api->view_end(&scene.view);
    Py_DECREF(keywords);
    Py_DECREF(arguments[0]);
    api->table_free(table);
    return NULL;
}

static const char* mappings_and_arrays_are_looked_up(PyObject* names) {
    PyObject* f = name_of(names, "f");
    PyObject *locals[WORDS] = {0}, *mapping;
    guardtree_table* table = table_of(names, "type(a) is int and b == 2", &one);
    struct scene scene;
    CHECK(table);
    start(&scene);
    mapping = Py_BuildValue("{s:i,s:i}", "a", 1, "b", 2);
    CHECK(api->view_of_mapping(&scene.view, table, mapping, scene.storage, WORDS) ==
          GUARDTREE_HIT);
    CHECK(api->lookup(table, &scene.view, scene.scratch, WORDS, &scene.found) ==
          GUARDTREE_HIT);
    api->view_end(&scene.view);
    locals[0] = PyDict_GetItemString(mapping, "a");
    locals[1] = PyDict_GetItemString(mapping, "b");
    CHECK(api->view_of_locals(&scene.view, f, locals, WORDS) == GUARDTREE_HIT);
    CHECK(api->lookup(table, &scene.view, scene.scratch, WORDS, &scene.found) ==
          GUARDTREE_HIT);
    locals[1] = NULL;  // unbound
    CHECK(api->lookup(table, &scene.view, scene.scratch, WORDS, &scene.found) ==
          GUARDTREE_MISS);
    api->view_end(&scene.view);
    PyDict_Clear(mapping);
    CHECK(api->view_of_mapping(&scene.view, table, mapping, scene.storage, WORDS) ==
          GUARDTREE_HIT);
    CHECK(api->lookup(table, &scene.view, scene.scratch, WORDS, &scene.found) ==
          GUARDTREE_MISS);
    api->view_end(&scene.view);
    Py_DECREF(mapping);
    api->table_free(table);
    return NULL;
}

// A frame evaluator of its own, which asks the table about each frame.
static guardtree_table* frames_table;
static int frames_hit, frames_missed, frames_other, frames_started;

static PyObject* evaluate(PyThreadState* thread, struct _PyInterpreterFrame* frame,
                          int throwing) {
    guardtree_view view;
    view.opaque[0] = 0;
    if (api->view_of_frame(&view, frame) == GUARDTREE_HIT) {
        PyObject* scratch[WORDS];
        guardtree_found found;
        switch (api->lookup(frames_table, &view, scratch, WORDS, &found)) {
        case GUARDTREE_HIT: ++frames_hit; break;
        case GUARDTREE_MISS: ++frames_missed; break;
        case GUARDTREE_OTHER_CODE: ++frames_other; break;
        default: break;
        }
    } else {
        ++frames_started;
    }
    api->view_end(&view);
    return _PyEval_EvalFrameDefault(thread, frame, throwing);
}

static const char* frames_are_looked_up_in_an_evaluator(PyObject* names) {
    PyInterpreterState* interpreter = PyInterpreterState_Get();
    const _PyFrameEvalFunction before =
        _PyInterpreterState_GetEvalFrameFunc(interpreter);
    PyObject* result;
    frames_hit = frames_missed = frames_other = frames_started = 0;
    frames_table = table_of(names, "type(a) is int and b == 2", &one);
    CHECK(frames_table);
    _PyInterpreterState_SetEvalFrameFunc(interpreter, evaluate);
    result = PyObject_CallNoArgs(name_of(names, "calls"));
    _PyInterpreterState_SetEvalFrameFunc(interpreter, before);
    api->table_free(frames_table);
    CHECK(result);
    Py_DECREF(result);
    CHECK(frames_hit == 2 && frames_missed == 1);
    CHECK(frames_other > 0 && frames_started > 0);  // generators that go on
    return NULL;
}

static const char* payloads_end_with_their_entries(PyObject* names) {
    PyObject* f = name_of(names, "f");
    guardtree_tree* tree = api->tree_of_text(f, "a is None", NULL);
    guardtree_table* table = api->table_new(f);
    PyObject* none = Py_None;
    struct scene scene;
    start(&scene);
    destroyed = 0;
    CHECK(api->table_add(table, tree, &one, count_destroyed) == 1);
    CHECK(api->table_add(table, tree, &two, count_destroyed) == 2);
    CHECK(look_up(table, names, &scene, &none, 1) == 1);
    CHECK(scene.found.payload == &one);
    CHECK(api->table_remove(table, 1) == 0 && destroyed == 1);
    CHECK(look_up(table, names, &scene, &none, 1) == 1);
    CHECK(scene.found.payload == &two && scene.found.entry == 2);
    CHECK(api->table_add(table, tree, &one, count_destroyed) == 3);
    CHECK(api->table_remove(table, 1) < 0);
    CHECK_RAISES(PyExc_LookupError);
    api->table_free(table);
    CHECK(destroyed == 3);
    api->tree_free(tree);
    return NULL;
}

static const char* counters_and_reasons_are_told(PyObject* names) {
    guardtree_table* table = table_of(names, "type(a) is int", &one);
    guardtree_counts counts;
    PyObject *number = PyLong_FromLong(5), *none = Py_None, *text;
    struct scene scene;
    start(&scene);
    look_up(table, names, &scene, &number, 1);
    look_up(table, names, &scene, &number, 1);
    look_up(table, names, &scene, &none, 1);
    CHECK(api->table_counts(table, 0, &counts, sizeof counts) == 0);
    CHECK(counts.entries == 1 && counts.hits == 2 && counts.misses == 1);
    CHECK(api->table_counts(table, 1, &counts, 2 * sizeof counts.hits) == 0);
    CHECK(api->table_counts(table, 9, &counts, sizeof counts) < 0);
    CHECK_RAISES(PyExc_LookupError);
    CHECK(api->view_of_call(&scene.view, name_of(names, "f"), &none, 1, NULL,
                            scene.storage, WORDS) == GUARDTREE_HIT);
    text = api->table_explain(table, &scene.view);
    CHECK(text && strstr(PyUnicode_AsUTF8(text), "entry 1: a: expected type_match"));
    api->view_end(&scene.view);
    Py_DECREF(text);
    Py_DECREF(number);
    api->table_free(table);
    return NULL;
}

// A foreign kind: the number is below the context's; and a step: the number's double.
static int is_below(PyObject* value, void* context) {
    long number = PyLong_AsLong(value);
    if (number == -1 && PyErr_Occurred()) return -1;
    return number < *(int*)context;
}

static PyObject* doubled(PyObject* value, void* context) {
    (void)context;
    return PyNumber_Add(value, value);
}

static PyObject* describe_limit(void* context) {
    return PyUnicode_FromFormat("below_%d", *(int*)context);
}

static size_t hash_limit(void* context) {
    return (size_t) * (int*)context;
}

static int same_limit(void* context, void* other) {
    return *(int*)context == *(int*)other;
}

static const char* foreign_functions_are_guards(PyObject* names) {
    static int limits[3] = {10, 10, 20};
    guardtree_foreign about = {sizeof(guardtree_foreign),
                               &limits[0],
                               count_destroyed,
                               describe_limit,
                               hash_limit,
                               same_limit};
    PyObject *f = name_of(names, "f"), *a = PyUnicode_FromString("a");
    PyObject *below, *equal, *other, *step, *number, *text;
    guardtree_tree* tree = api->tree_new(f);
    guardtree_table* table = api->table_new(f);
    struct scene scene;
    int64_t node;
    start(&scene);
    destroyed = 0;
    below = api->check_operand(is_below, &about);
    about.context = &limits[1];
    equal = api->check_operand(is_below, &about);
    CHECK(below && below == equal && destroyed == 1);
    about.context = &limits[2];
    other = api->check_operand(is_below, &about);
    CHECK(other && other != below && destroyed == 1);
    step = api->getter_operand(doubled, NULL);
    node = api->tree_step(tree, 0, "local", &a, 1);
    node = api->tree_step(tree, node, "native_get", &step, 1);
    CHECK(node > 1 && api->tree_check(tree, node, "native", &below, 1) == 0);
    text = api->tree_text(tree);
    CHECK(text && strstr(PyUnicode_AsUTF8(text), "below_10"));
    Py_DECREF(text);
    CHECK(api->table_add(table, tree, &one, NULL) == 1);
    api->tree_free(tree);
    Py_DECREF(below);
    Py_DECREF(equal);
    Py_DECREF(step);
    number = PyLong_FromLong(4);
    CHECK(look_up(table, names, &scene, &number, 1) == GUARDTREE_HIT);
    number = PyLong_FromLong(5);
    CHECK(look_up(table, names, &scene, &number, 1) == GUARDTREE_MISS);
    CHECK(look_up(table, names, &scene, &a, 1) == GUARDTREE_MISS);  // it raises
    {
        guardtree_counts counts;
        CHECK(api->table_counts(table, 1, &counts, sizeof counts) == 0);
        CHECK(counts.hits == 1 && counts.errors == 1);
    }
    CHECK(destroyed == 1);
    api->table_free(table);
    CHECK(destroyed == 2);
    Py_DECREF(other);
    CHECK(destroyed == 3);
    Py_DECREF(a);
    return NULL;
}

static const char* features_and_answers_are_told(PyObject* names) {
    int answer;
    (void)names;
    CHECK(api->abi == GUARDTREE_ABI && GUARDTREE_HAS(api, lookup));
    CHECK(api->feature("cpython") == PY_VERSION_HEX >> 16);
    CHECK(api->feature("free_threaded") == 0);
    CHECK(api->feature("no such") == -1 && api->feature(NULL) == -1);
    for (answer = GUARDTREE_MISFIT; answer <= GUARDTREE_HIT; ++answer)
        CHECK(strlen(api->answer_text(answer)) > 10);
    CHECK(strstr(api->answer_text(99), "no answer"));
    return NULL;
}

#define TEST(name) \
    { #name, name }

static struct test* all_tests(void) {
    static struct test all[] = {TEST(trees_are_built_by_name),
                                TEST(relations_are_built_by_name),
                                TEST(guards_made_in_python_are_copied),
                                TEST(calls_are_looked_up),
                                TEST(mappings_and_arrays_are_looked_up),
                                TEST(frames_are_looked_up_in_an_evaluator),
                                TEST(payloads_end_with_their_entries),
                                TEST(counters_and_reasons_are_told),
                                TEST(foreign_functions_are_guards),
                                TEST(features_and_answers_are_told),
                                {NULL, NULL}};
    return all;
}

PyMODINIT_FUNC PyInit_client(void) {
    return make_module("client");
}
