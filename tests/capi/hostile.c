// A client that does what it should not: it meets errors, and nothing is left broken.
// SPDX-License-Identifier: MIT
#include "client.h"

static int payload, destroyed;

static void count_destroyed(void* context) {
    (void)context;
    ++destroyed;
}

static const char* nulls_are_refused(PyObject* names) {
    PyObject* f = name_of(names, "f");
    guardtree_table* table = api->table_new(f);
    guardtree_tree* tree = api->tree_new(f);
    struct scene scene;
    start(&scene);
    CHECK(!api->tree_new(NULL) && !api->table_new(NULL));
    CHECK_RAISES(PyExc_SystemError);
    CHECK(!api->tree_of_text(NULL, "True", NULL) && !api->tree_of_text(f, NULL, NULL));
    CHECK_RAISES(PyExc_SystemError);
    CHECK(!api->tree_of_json(f, NULL) && !api->tree_of_guards(NULL));
    CHECK_RAISES(PyExc_SystemError);
    CHECK(api->tree_step(NULL, 0, "local", &f, 1) < 0);
    CHECK(api->tree_step(tree, 0, NULL, &f, 1) < 0);
    CHECK(api->tree_step(tree, 0, "local", NULL, 1) < 0);
    CHECK(api->tree_check(tree, 0, NULL, &f, 1) < 0);
    CHECK(api->tree_relate(tree, "integers", &f, 1, NULL, 2) < 0);
    CHECK(!api->tree_text(NULL) && !api->tree_json(NULL));
    CHECK_RAISES(PyExc_SystemError);
    CHECK(!api->check_operand(NULL, NULL) && !api->getter_operand(NULL, NULL));
    CHECK_RAISES(PyExc_SystemError);
    CHECK(!api->table_add(table, NULL, NULL, NULL));
    CHECK(!api->table_add(NULL, tree, NULL, NULL));
    CHECK(api->table_remove(NULL, 1) < 0 && api->table_counts(table, 0, NULL, 8) < 0);
    CHECK_RAISES(PyExc_SystemError);
    CHECK(api->table_scratch(NULL) == 0 && !api->table_explain(table, NULL));
    CHECK_RAISES(PyExc_SystemError);
    CHECK(api->view_of_frame(NULL, NULL) == GUARDTREE_NULL);
    CHECK(api->view_of_frame(&scene.view, NULL) == GUARDTREE_NULL);
    CHECK(api->view_of_locals(&scene.view, f, NULL, 9) == GUARDTREE_NULL);
    CHECK(api->view_of_call(&scene.view, NULL, &f, 1, NULL, scene.storage, WORDS) ==
          GUARDTREE_NULL);
    CHECK(api->view_of_call(&scene.view, f, NULL, 1, NULL, scene.storage, WORDS) ==
          GUARDTREE_NULL);
    CHECK(api->view_of_call(&scene.view, f, &f, 1, NULL, NULL, WORDS) ==
          GUARDTREE_NULL);
    CHECK(api->view_of_mapping(&scene.view, table, NULL, scene.storage, WORDS) ==
          GUARDTREE_NULL);
    CHECK(api->lookup(NULL, &scene.view, scene.scratch, WORDS, &scene.found) ==
          GUARDTREE_NULL);
    CHECK(api->lookup(table, NULL, scene.scratch, WORDS, &scene.found) ==
          GUARDTREE_NULL);
    CHECK(api->lookup(table, &scene.view, scene.scratch, WORDS, NULL) ==
          GUARDTREE_NULL);
    CHECK(!api->frame_code(NULL));
    CHECK_RAISES(PyExc_SystemError);
    api->view_end(NULL);
    api->tree_free(NULL);
    api->table_free(NULL);
    api->tree_free(tree);
    api->table_free(table);
    return NULL;
}

static const char* wrong_names_and_numbers_are_refused(PyObject* names) {
    PyObject *f = name_of(names, "f"), *a = PyUnicode_FromString("a");
    PyObject* none = Py_None;
    guardtree_tree* tree = api->tree_new(f);
    int64_t node = api->tree_step(tree, 0, "local", &a, 1), nodes[2] = {1, 77};
    CHECK(!api->tree_new(Py_None));
    CHECK_RAISES(PyExc_TypeError);
    CHECK(api->tree_step(tree, 2, "type", NULL, 0) < 0);
    CHECK_RAISES(PyExc_IndexError);
    CHECK(api->tree_step(tree, -1, "type", NULL, 0) < 0);
    CHECK_RAISES(PyExc_IndexError);
    CHECK(api->tree_check(tree, INT64_MAX, "is_none", NULL, 0) < 0);
    CHECK_RAISES(PyExc_IndexError);
    CHECK(api->tree_step(tree, node, "is_none", NULL, 0) < 0);  // a kind
    CHECK_RAISES(PyExc_ValueError);
    CHECK(api->tree_check(tree, node, "no_such_kind", NULL, 0) < 0);
    CHECK_RAISES(PyExc_ValueError);
    CHECK(api->tree_step(tree, node, "local", &a, 1) < 0);  // a root
    CHECK_RAISES(PyExc_ValueError);
    CHECK(api->tree_check(tree, 0, "is_none", NULL, 0) < 0);  // of no value
    CHECK_RAISES(PyExc_ValueError);
    CHECK(api->tree_check(tree, node, "type_match", &none, 1) < 0);
    CHECK_RAISES(PyExc_TypeError);
    CHECK(api->tree_check(tree, node, "type_match", NULL, 0) < 0);
    CHECK_RAISES(PyExc_TypeError);
    CHECK(api->tree_check(tree, node, "native", &a, 1) < 0);  // no capsule
    CHECK_RAISES(PyExc_TypeError);
    CHECK(api->tree_relate(tree, "same_object", NULL, 0, nodes, 2) < 0);
    CHECK_RAISES(PyExc_IndexError);
    CHECK(!api->tree_of_text(f, "type(a) is", NULL));
    CHECK_RAISES(PyExc_SyntaxError);
    CHECK(!api->tree_of_text(f, "True", Py_None));
    CHECK_RAISES(PyExc_TypeError);
    CHECK(!api->tree_of_json(f, "{"));
    CHECK_RAISES(PyExc_ValueError);
    Py_DECREF(a);
    api->tree_free(tree);
    return NULL;
}

static const char* wrong_views_are_refused(PyObject* names) {
    PyObject *f = name_of(names, "f"), *other = name_of(names, "calls");
    PyObject *none = Py_None, *first = PyLong_FromLong(0);
    PyObject* a = PyUnicode_FromString("a");
    guardtree_table* table = api->table_new(f);
    guardtree_tree* tree = api->tree_new(f);
    int64_t node = api->tree_step(tree, 0, "local", &a, 1);
    struct scene scene;
    start(&scene);
    node = api->tree_step(tree, node, "tuple_item", &first, 1);
    CHECK(api->tree_check(tree, node, "is_none", NULL, 0) == 0);
    CHECK(api->table_add(table, tree, &payload, NULL) == 1);
    CHECK(api->table_scratch(table) == 1);
    CHECK(api->lookup(table, &scene.view, scene.scratch, WORDS, &scene.found) ==
          GUARDTREE_NO_VIEW);
    CHECK(!api->table_explain(table, &scene.view));
    CHECK_RAISES(PyExc_ValueError);
    CHECK(api->view_of_call(&scene.view, f, &none, 1, NULL, scene.storage, 1) ==
          GUARDTREE_TOO_SMALL);
    CHECK(api->view_of_call(&scene.view, none, &none, 1, NULL, scene.storage, 1) ==
          GUARDTREE_EXCEPTION);
    CHECK_RAISES(PyExc_TypeError);
    CHECK(api->view_of_call(&scene.view, f, &none, 1, none, scene.storage, WORDS) ==
          GUARDTREE_EXCEPTION);
    CHECK_RAISES(PyExc_TypeError);
    CHECK(api->view_of_locals(&scene.view, f, &none, 1) == GUARDTREE_TOO_SMALL);
    CHECK(api->view_of_mapping(&scene.view, table, none, scene.storage, WORDS) ==
          GUARDTREE_EXCEPTION);
    CHECK_RAISES(PyExc_TypeError);
    CHECK(api->view_of_mapping(&scene.view, table, name_of(names, "raises"),
                               scene.storage, WORDS) == GUARDTREE_EXCEPTION);
    CHECK_RAISES(PyExc_ZeroDivisionError);
    CHECK(api->lookup(table, &scene.view, scene.scratch, WORDS, &scene.found) ==
          GUARDTREE_NO_VIEW);
    CHECK(api->view_of_call(&scene.view, f, &none, 1, NULL, scene.storage, WORDS) ==
          GUARDTREE_HIT);
    CHECK(api->lookup(table, &scene.view, scene.scratch, 0, &scene.found) ==
          GUARDTREE_TOO_SMALL);
    CHECK(api->lookup(table, &scene.view, NULL, WORDS, &scene.found) == GUARDTREE_NULL);
    CHECK(api->lookup(table, &scene.view, scene.scratch, 1, &scene.found) ==
          GUARDTREE_MISS);
    {
        guardtree_view moved = scene.view;
        CHECK(api->lookup(table, &moved, scene.scratch, 1, &scene.found) ==
              GUARDTREE_NO_VIEW);
    }
    // Made again while it lives, and of other code.
    CHECK(api->view_of_call(&scene.view, other, NULL, 0, NULL, scene.storage, WORDS) ==
          GUARDTREE_HIT);
    CHECK(api->lookup(table, &scene.view, scene.scratch, WORDS, &scene.found) ==
          GUARDTREE_OTHER_CODE);
    api->view_end(&scene.view);
    api->view_end(&scene.view);
    CHECK(api->lookup(table, &scene.view, scene.scratch, WORDS, &scene.found) ==
          GUARDTREE_NO_VIEW);
    api->tree_free(tree);
    api->table_free(table);
    return NULL;
}

// Checks that misbehave, one after another.
static struct {
    int answer;
    PyObject* raised;
} said;

static int says(PyObject* value, void* context) {
    (void)value;
    (void)context;
    if (said.raised) PyErr_SetString(said.raised, "of a check");
    return said.answer;
}

static PyObject* gives_and_raises(PyObject* value, void* context) {
    (void)context;
    PyErr_SetString(PyExc_ZeroDivisionError, "of a getter");
    Py_INCREF(value);
    return value;
}

/// A table whose one entry asks `check`, and then that `a` is None.
static guardtree_table* table_asking(PyObject* names, guardtree_check check) {
    PyObject *f = name_of(names, "f"), *a = PyUnicode_FromString("a");
    PyObject* operand = api->check_operand(check, NULL);
    guardtree_tree* tree = api->tree_new(f);
    guardtree_table* table = api->table_new(f);
    int64_t node = api->tree_step(tree, 0, "local", &a, 1);
    destroyed = 0;
    if (api->tree_check(tree, node, "native", &operand, 1) < 0 ||
        api->tree_check(tree, node, "is_none", NULL, 0) < 0 ||
        api->table_add(table, tree, &payload, count_destroyed) != 1)
        return NULL;
    Py_DECREF(operand);
    Py_DECREF(a);
    api->tree_free(tree);
    return table;
}

static const char* checks_that_misbehave_miss(PyObject* names) {
    guardtree_table* table = table_asking(names, says);
    PyObject* none = Py_None;
    guardtree_counts counts;
    struct scene scene;
    int i;
    start(&scene);
    CHECK(table);
    for (i = 0; i < 5; ++i) {
        static const int answers[] = {1, -1, -1, 1, 0};
        said.answer = answers[i];
        said.raised = i == 1 || i == 3 || i == 4 ? PyExc_KeyError : NULL;
        CHECK(look_up(table, names, &scene, &none, 1) ==
              (i == 0 ? GUARDTREE_HIT : GUARDTREE_MISS));
        CHECK(!PyErr_Occurred());
    }
    CHECK(api->table_counts(table, 1, &counts, sizeof counts) == 0);
    CHECK(counts.hits == 1 && counts.errors == 4);
    said.answer = -1;
    said.raised = PyExc_KeyboardInterrupt;
    CHECK(look_up(table, names, &scene, &none, 1) == GUARDTREE_EXCEPTION);
    CHECK_RAISES(PyExc_KeyboardInterrupt);
    api->table_free(table);
    return NULL;
}

static const char* getters_that_misbehave_miss(PyObject* names) {
    PyObject *f = name_of(names, "f"), *a = PyUnicode_FromString("a");
    PyObject *none = Py_None, *operand = api->getter_operand(gives_and_raises, NULL);
    guardtree_tree* tree = api->tree_new(f);
    guardtree_table* table = api->table_new(f);
    int64_t node = api->tree_step(tree, 0, "local", &a, 1);
    struct scene scene;
    start(&scene);
    node = api->tree_step(tree, node, "native_get", &operand, 1);
    CHECK(api->tree_check(tree, node, "is_none", NULL, 0) == 0);
    CHECK(api->table_add(table, tree, NULL, NULL) == 1);
    CHECK(look_up(table, names, &scene, &none, 1) == GUARDTREE_MISS);
    CHECK(!PyErr_Occurred());
    api->tree_free(tree);
    api->table_free(table);
    Py_DECREF(operand);
    Py_DECREF(a);
    return NULL;
}

// What a check does to the look-up that it runs in.
static struct scene inner;
static struct scene* outer;
static guardtree_table* attacked;
static PyObject* attacked_names;
static int depth, answers_inside[2];

static int looks_up_again(PyObject* value, void* context) {
    (void)context;
    if (depth++) return 1;
    answers_inside[0] = look_up(attacked, attacked_names, &inner, &value, 1);
    // With the very view and scratch of the look-up that runs.
    answers_inside[1] =
        api->lookup(attacked, &outer->view, outer->scratch, WORDS, &outer->found);
    return api->view_of_call(&outer->view, name_of(attacked_names, "f"), &value, 1,
                             NULL, outer->storage, WORDS) == GUARDTREE_NO_VIEW;
}

static int ends_the_view(PyObject* value, void* context) {
    (void)value;
    (void)context;
    api->view_end(&outer->view);
    return 1;
}

static int frees_the_table(PyObject* value, void* context) {
    (void)value;
    (void)context;
    api->table_free(attacked);
    return 1;
}

static int removes_the_entry(PyObject* value, void* context) {
    (void)value;
    (void)context;
    return api->table_remove(attacked, 1) == 0 ? 1 : -1;
}

static const char* checks_may_do_anything_to_their_look_up(PyObject* names) {
    static const guardtree_check attacks[] = {looks_up_again, ends_the_view,
                                              frees_the_table, removes_the_entry};
    static const int expected[] = {GUARDTREE_HIT, GUARDTREE_HIT, GUARDTREE_MISS,
                                   GUARDTREE_MISS};
    PyObject* none = Py_None;
    size_t i;
    attacked_names = names;
    for (i = 0; i < sizeof attacks / sizeof *attacks; ++i) {
        struct scene scene;
        int answer;
        start(&scene);
        start(&inner);
        outer = &scene;
        depth = 0;
        attacked = table_asking(names, attacks[i]);
        CHECK(attacked);
        answer = look_up(attacked, names, &scene, &none, 1);
        CHECK(answer == expected[i] && !PyErr_Occurred());
        CHECK(destroyed == (i >= 2));
        if (i == 0) CHECK(answers_inside[0] == 1 && answers_inside[1] == 1);
        if (i != 2) api->table_free(attacked);
        CHECK(destroyed == 1);
    }
    return NULL;
}

// Payloads whose end uses their table again.
static guardtree_tree* tree_again;

static void adds_and_removes(void* entry) {
    (void)entry;
    ++destroyed;
    if (destroyed == 1) {
        api->table_add(attacked, tree_again, &payload, adds_and_removes);
        api->table_remove(attacked, 2);
    }
    PyErr_SetString(PyExc_ValueError, "of a destructor");
}

static const char* payloads_may_use_the_table_as_they_end(PyObject* names) {
    PyObject* f = name_of(names, "f");
    guardtree_counts counts;
    destroyed = 0;
    attacked = api->table_new(f);
    tree_again = api->tree_of_text(f, "a is None", NULL);
    CHECK(api->table_add(attacked, tree_again, &payload, adds_and_removes) == 1);
    CHECK(api->table_add(attacked, tree_again, &payload, adds_and_removes) == 2);
    CHECK(api->table_remove(attacked, 1) == 0);
    CHECK(destroyed == 2 && !PyErr_Occurred());
    CHECK(api->table_counts(attacked, 0, &counts, sizeof counts) == 0);
    CHECK(counts.entries == 1);
    destroyed = 0;
    api->table_free(attacked);  // its end adds to a table that is going
    CHECK(destroyed == 1);
    CHECK(!PyErr_Occurred());
    api->tree_free(tree_again);
    return NULL;
}

// What goes with foreign functions, misbehaving.
static PyObject* describes_wrongly(void* context) {
    if (context) return PyLong_FromLong(1);
    PyErr_SetString(PyExc_ValueError, "of describe");
    return NULL;
}

static size_t hash_raises(void* context) {
    if (context) PyErr_SetString(PyExc_ValueError, "of hash");
    return 1;
}

static int equal_raises(void* context, void* other) {
    (void)context;
    (void)other;
    PyErr_SetString(PyExc_ValueError, "of equal");
    return 1;
}

static const char* foreign_contexts_that_misbehave_are_refused(PyObject* names) {
    guardtree_foreign about = {sizeof(guardtree_foreign), NULL,        count_destroyed,
                               describes_wrongly,         hash_raises, equal_raises};
    PyObject *f = name_of(names, "f"), *a = PyUnicode_FromString("a");
    PyObject* operand = api->check_operand(says, &about);
    guardtree_tree* tree = api->tree_new(f);
    int64_t node = api->tree_step(tree, 0, "local", &a, 1);
    PyObject* text;
    destroyed = 0;
    CHECK(operand);
    CHECK(api->tree_check(tree, node, "native", &operand, 1) == 0);
    text = api->tree_text(tree);  // describe raises: the capsule's repr
    CHECK(text && strstr(PyUnicode_AsUTF8(text), "capsule"));
    CHECK(!api->check_operand(says, &about));  // equal raises
    CHECK_RAISES(PyExc_ValueError);
    about.context = &payload;
    CHECK(!api->check_operand(says, &about));  // hash raises
    CHECK_RAISES(PyExc_ValueError);
    CHECK(destroyed == 0);
    about.equal = NULL;
    CHECK(!api->check_operand(says, &about));
    CHECK_RAISES(PyExc_ValueError);
    about.size = 8;
    CHECK(!api->check_operand(says, &about));
    CHECK_RAISES(PyExc_ValueError);
    Py_DECREF(operand);
    Py_DECREF(text);
    Py_DECREF(a);
    api->tree_free(tree);
    CHECK(destroyed == 1);
    return NULL;
}

static const char* what_died_is_noticed(PyObject* names) {
    PyObject* made = PyObject_CallNoArgs(name_of(names, "make"));
    guardtree_table* table = api->table_new(made);
    guardtree_tree* tree = api->tree_of_text(made, "True", NULL);
    PyObject* empty = PyDict_New();
    struct scene scene;
    start(&scene);
    CHECK(api->table_add(table, tree, NULL, NULL) == 1);
    api->tree_free(tree);
    tree = api->tree_new(name_of(names, "f"));
    Py_DECREF(made);
    CHECK(api->view_of_mapping(&scene.view, table, empty, scene.storage, WORDS) ==
          GUARDTREE_OTHER_CODE);
    CHECK(!api->table_add(table, tree, NULL, NULL));
    CHECK_RAISES(PyExc_ValueError);
    Py_DECREF(empty);
    api->tree_free(tree);
    api->table_free(table);
    return NULL;
}

#define TEST(name) \
    { #name, name }

static struct test* all_tests(void) {
    static struct test all[] = {TEST(nulls_are_refused),
                                TEST(wrong_names_and_numbers_are_refused),
                                TEST(wrong_views_are_refused),
                                TEST(checks_that_misbehave_miss),
                                TEST(getters_that_misbehave_miss),
                                TEST(checks_may_do_anything_to_their_look_up),
                                TEST(payloads_may_use_the_table_as_they_end),
                                TEST(foreign_contexts_that_misbehave_are_refused),
                                TEST(what_died_is_noticed),
                                {NULL, NULL}};
    return all;
}

PyMODINIT_FUNC PyInit_hostile(void) {
    return make_module("hostile");
}
