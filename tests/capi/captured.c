// A client of what the table has grown by: the values that guards checked, handed over.
// SPDX-License-Identifier: MIT
#include "client.h"

static int payload, destroyed;

static void count_destroyed(void* context) {
    (void)context;
    ++destroyed;
}

/// What a foreign step gives, and how often it was asked.
static PyObject* given;
static int asked;

static PyObject* give(PyObject* value, void* context) {
    (void)value;
    (void)context;
    ++asked;
    Py_INCREF(given);
    return given;
}

/// A scene with room for values.
struct captured_scene {
    struct scene scene;
    PyObject* values[4];
    guardtree_captured captured;
};

static void start_captured(struct captured_scene* it) {
    start(&it->scene);
    it->captured.values = it->values;
    it->captured.size = 4;
    it->captured.count = 77;
    given = PyList_New(0);
    asked = destroyed = 0;
}

/// A table whose entry asks native_get(a) once and hands over a, what it got, b and
/// what it got; `text`: further guards.
static guardtree_table* capturing_table(PyObject* names, const char* text) {
    PyObject* f = name_of(names, "f");
    PyObject *a = PyUnicode_FromString("a"), *b = PyUnicode_FromString("b");
    PyObject* operand = api->getter_operand(give, NULL);
    guardtree_table* table = api->table_new(f);
    guardtree_tree* tree = api->tree_of_text(f, text, NULL);
    int64_t nodes[4];
    nodes[0] = api->tree_step(tree, 0, "local", &a, 1);
    nodes[1] = nodes[3] = api->tree_step(tree, nodes[0], "native_get", &operand, 1);
    nodes[2] = api->tree_step(tree, 0, "local", &b, 1);
    if (!api->table_add_capturing(table, tree, &payload, count_destroyed, nodes, 4)) {
        api->table_free(table);
        table = NULL;
    }
    api->tree_free(tree);
    Py_DECREF(a);
    Py_DECREF(b);
    Py_DECREF(operand);
    return table;
}

/// Looks f(argument) up.
static int look_up_captured(guardtree_table* table, PyObject* names,
                            struct captured_scene* it, PyObject* argument) {
    struct scene* scene = &it->scene;
    int answer = api->view_of_call(&scene->view, name_of(names, "f"), &argument, 1,
                                   NULL, scene->storage, WORDS);
    if (answer != GUARDTREE_HIT) return answer;
    answer = api->lookup_captured(table, &scene->view, scene->scratch, WORDS,
                                  &scene->found, &it->captured);
    api->view_end(&scene->view);
    return answer;
}

static void release_values(struct captured_scene* it) {
    while (it->captured.count) Py_DECREF(it->values[--it->captured.count]);
}

static const char* values_are_handed_over_once_fetched(PyObject* names) {
    guardtree_table* table = capturing_table(names, "type(a) is int");
    PyObject* number = PyLong_FromLong(100000);
    Py_ssize_t numbers, gifts;
    struct captured_scene it;
    start_captured(&it);
    CHECK(table && api->table_captured(table) == 4);
    numbers = Py_REFCNT(number);
    gifts = Py_REFCNT(given);
    CHECK(look_up_captured(table, names, &it, number) == GUARDTREE_HIT);
    CHECK(it.scene.found.payload == &payload && it.captured.count == 4 && asked == 1);
    CHECK(it.values[0] == number && it.values[1] == given && it.values[3] == given);
    CHECK(PyLong_AsLong(it.values[2]) == 2);
    CHECK(Py_REFCNT(number) == numbers + 1 && Py_REFCNT(given) == gifts + 2);
    release_values(&it);
    CHECK(look_up(table, names, &it.scene, &number, 1) ==
          GUARDTREE_HIT);  // unasked for
    CHECK(look_up_captured(table, names, &it, Py_None) == GUARDTREE_MISS);
    CHECK(it.captured.count == 0);
    CHECK(Py_REFCNT(number) == numbers && Py_REFCNT(given) == gifts);
    CHECK(api->table_remove(table, 1) == 0 && api->table_captured(table) == 0);
    api->table_free(table);
    Py_DECREF(number);
    Py_DECREF(given);
    return NULL;
}

static const char* entries_without_any_are_found_as_ever(PyObject* names) {
    guardtree_table* table = table_of(names, "type(a) is int", &payload);
    PyObject* number = PyLong_FromLong(100000);
    struct captured_scene it;
    start_captured(&it);
    it.captured.values = NULL;
    it.captured.size = 0;
    CHECK(table && api->table_captured(table) == 0);
    CHECK(look_up_captured(table, names, &it, number) == GUARDTREE_HIT);
    CHECK(it.captured.count == 0 && it.scene.found.payload == &payload);
    api->table_free(table);
    Py_DECREF(number);
    Py_DECREF(given);
    return NULL;
}

static const char* wrong_nodes_and_rooms_are_refused(PyObject* names) {
    PyObject* f = name_of(names, "f");
    guardtree_table* table = capturing_table(names, "type(a) is int");
    guardtree_tree* tree = api->tree_of_text(f, "type(a) is int", NULL);
    PyObject* number = PyLong_FromLong(100000);
    const int64_t wrong[] = {0, -1, 2, INT64_MAX};
    struct captured_scene it;
    size_t i;
    start_captured(&it);
    for (i = 0; i < 4; ++i) {
        CHECK(!api->table_add_capturing(table, tree, NULL, count_destroyed, &wrong[i],
                                        1));
        CHECK_RAISES(PyExc_IndexError);
    }
    CHECK(!api->table_add_capturing(table, tree, NULL, count_destroyed, NULL, 1));
    CHECK_RAISES(PyExc_SystemError);
    CHECK(destroyed == 0 && api->table_captured(table) == 4 &&
          api->table_captured(NULL) == 0);
    it.captured.size = 3;
    CHECK(look_up_captured(table, names, &it, number) == GUARDTREE_TOO_SMALL);
    it.captured.size = 4;
    it.captured.values = NULL;
    CHECK(look_up_captured(table, names, &it, number) == GUARDTREE_NULL);
    CHECK(it.captured.count == 0 && asked == 0);
    CHECK(api->lookup_captured(table, &it.scene.view, it.scene.scratch, WORDS,
                               &it.scene.found, NULL) == GUARDTREE_NULL);
    CHECK(api->lookup_captured(NULL, &it.scene.view, it.scene.scratch, WORDS,
                               &it.scene.found, &it.captured) == GUARDTREE_NULL);
    api->tree_free(tree);
    api->table_free(table);
    Py_DECREF(number);
    Py_DECREF(given);
    return NULL;
}

// Guards that end what they are part of, once the value has been fetched.
static guardtree_table* ended_table;
static struct captured_scene* ended_scene;

static int end_the_entry(PyObject* value, void* context) {
    (void)value;
    (void)context;
    return api->table_remove(ended_table, 1) == 0 ? 1 : -1;
}

static int end_everything(PyObject* value, void* context) {
    (void)value;
    (void)context;
    api->table_free(ended_table);
    api->view_end(&ended_scene->scene.view);
    return 1;
}

static int look_up_again(PyObject* value, void* context) {
    PyObject* f = *(PyObject**)context;
    struct captured_scene inner;
    int answer;
    if (asked > 1) return 1;
    memset(&inner, 0, sizeof inner);
    answer = api->view_of_call(&inner.scene.view, f, &value, 1, NULL,
                               inner.scene.storage, WORDS);
    inner.captured.values = inner.values;
    inner.captured.size = 4;
    if (answer == GUARDTREE_HIT)
        answer = api->lookup_captured(ended_table, &inner.scene.view,
                                      ended_scene->scene.scratch, WORDS,
                                      &inner.scene.found, &inner.captured);
    api->view_end(&inner.scene.view);
    release_values(&inner);
    return answer == GUARDTREE_HIT;
}

static int raise_error(PyObject* value, void* context) {
    (void)context;
    PyErr_SetObject(PyExc_ValueError, value);
    return -1;
}

static int interrupt(PyObject* value, void* context) {
    (void)value;
    (void)context;
    PyErr_SetNone(PyExc_KeyboardInterrupt);
    return -1;
}

/// Adds an entry whose last guard is `check`, and looks it up; the answer. What is
/// handed over is counted in `references`: of `given`, beyond what there was.
static int look_up_checked(PyObject* names, guardtree_check check,
                           struct captured_scene* it, Py_ssize_t* references) {
    PyObject *f = name_of(names, "f"), *number = PyLong_FromLong(100000);
    PyObject *a = PyUnicode_FromString("a"), *b = PyUnicode_FromString("b");
    guardtree_foreign about = {sizeof(guardtree_foreign), &f, NULL, NULL, NULL, NULL};
    PyObject* getter = api->getter_operand(give, NULL);
    PyObject* operand = api->check_operand(check, &about);
    guardtree_tree* tree = api->tree_new(f);
    int64_t node, other;
    int answer;
    start_captured(it);
    ended_scene = it;
    *references = Py_REFCNT(given);
    ended_table = api->table_new(f);
    node = api->tree_step(tree, 0, "local", &a, 1);
    node = api->tree_step(tree, node, "native_get", &getter, 1);
    other = api->tree_step(tree, 0, "local", &b, 1);
    api->tree_check(tree, node, "is_not_none", NULL, 0);
    api->tree_check(tree, other, "native", &operand, 1);
    api->table_add_capturing(ended_table, tree, &payload, count_destroyed, &node, 1);
    api->tree_free(tree);
    Py_DECREF(getter);
    Py_DECREF(operand);
    Py_DECREF(a);
    Py_DECREF(b);
    answer = look_up_captured(ended_table, names, it, number);
    *references = Py_REFCNT(given) - *references;
    Py_DECREF(number);
    return answer;
}

/// Looks up an entry whose last guard ends the entry, or its table: nothing is handed
/// over, and the payload is destroyed.
static const char* ends_with(PyObject* names, guardtree_check ending) {
    struct captured_scene it;
    Py_ssize_t more;
    CHECK(look_up_checked(names, ending, &it, &more) == GUARDTREE_MISS);
    CHECK(it.captured.count == 0 && more == 0 && asked == 1 && destroyed == 1);
    Py_DECREF(given);
    return NULL;
}

static const char* an_entry_that_ended_hands_nothing_over(PyObject* names) {
    const char* const failed = ends_with(names, end_the_entry);
    api->table_free(ended_table);
    return failed;
}

static const char* a_table_that_ended_hands_nothing_over(PyObject* names) {
    return ends_with(names, end_everything);
}

static const char* look_ups_in_look_ups_have_values_of_their_own(PyObject* names) {
    struct captured_scene it;
    Py_ssize_t more;
    CHECK(look_up_checked(names, look_up_again, &it, &more) == GUARDTREE_HIT);
    CHECK(it.captured.count == 1 && it.values[0] == given && more == 1 && asked == 2);
    release_values(&it);
    api->table_free(ended_table);
    Py_DECREF(given);
    return NULL;
}

static const char* guards_that_raise_hand_nothing_over(PyObject* names) {
    struct captured_scene it;
    Py_ssize_t more;
    CHECK(look_up_checked(names, raise_error, &it, &more) == GUARDTREE_MISS);
    CHECK(!PyErr_Occurred() && it.captured.count == 0 && more == 0);
    api->table_free(ended_table);
    Py_DECREF(given);
    CHECK(look_up_checked(names, interrupt, &it, &more) == GUARDTREE_EXCEPTION);
    CHECK_RAISES(PyExc_KeyboardInterrupt);
    CHECK(it.captured.count == 0 && more == 0);
    api->table_free(ended_table);
    Py_DECREF(given);
    return NULL;
}

#define TEST(name) \
    { #name, name }

static struct test* all_tests(void) {
    static struct test tests[] = {
        TEST(values_are_handed_over_once_fetched),
        TEST(entries_without_any_are_found_as_ever),
        TEST(wrong_nodes_and_rooms_are_refused),
        TEST(an_entry_that_ended_hands_nothing_over),
        TEST(a_table_that_ended_hands_nothing_over),
        TEST(look_ups_in_look_ups_have_values_of_their_own),
        TEST(guards_that_raise_hand_nothing_over),
        {NULL, NULL},
    };
    return tests;
}

PyMODINIT_FUNC PyInit_captured(void) {
    return make_module("captured");
}
