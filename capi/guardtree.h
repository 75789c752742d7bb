// guardtree for C and C++ programs that do not link it: a table of functions, found at
// run time in the capsule guardtree._C_API. C99 and C++20, CPython's public headers.
// SPDX-License-Identifier: MIT
//
//     const guardtree_api *api = guardtree_import();
//     if (!api) return NULL;  // ImportError is set
//
// The table only grows: what is in it stays where it is and means what it means, and
// `size` tells how much the installed library has. A program runs with every library
// that has all that its own header has; guardtree_import() refuses others, and
// guardtree_import_size() is for programs that do with less.
//
// Everything needs the GIL of the main interpreter. What builds and explains sets a
// Python exception when it fails (NULL, -1 or 0, as said); what looks up does not: its
// answers are the GUARDTREE_ numbers below. NULL is checked for wherever a table, tree,
// view, name or array is taken; a pointer to something that was freed is not.
#pragma once
#include <Python.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Another number would mean another table, in a capsule of another name.
#define GUARDTREE_ABI 1

/// Answers of lookup and of the functions that make views.
#define GUARDTREE_HIT  1  ///< an entry's guards pass; a view was made
#define GUARDTREE_MISS 0  ///< none pass
#define GUARDTREE_EXCEPTION \
    (-1)  ///< a Python exception is set: let it reach the caller
#define GUARDTREE_NULL       (-2)  ///< an argument is NULL
#define GUARDTREE_NO_VIEW    (-3)  ///< the view was not made, has ended, or is in use
#define GUARDTREE_OTHER_CODE (-4)  ///< the view is of other code than the table
#define GUARDTREE_TOO_SMALL  (-5)  ///< the array holds fewer words than are needed
#define GUARDTREE_STARTED    (-6)  ///< the frame has begun to run: slots changed
#define GUARDTREE_MISFIT     (-7)  ///< the arguments do not fit the function

struct _PyInterpreterFrame;

/// Guards that are being built; then compiled into entries, any number of times.
typedef struct guardtree_tree guardtree_tree;

/// The entries of one code object, tried in the order they were added. The garbage
/// collector does not see what they hold.
typedef struct guardtree_table guardtree_table;

/// What guards are evaluated against, in memory of yours: set opaque[0] to 0 before it
/// is made for the first time, and leave it where it is. Borrows what it is made of,
/// and keeps what it makes until view_end.
typedef struct guardtree_view {
    uint64_t opaque[48];
} guardtree_view;

/// What lookup found. `payload` is yours, as given to table_add, and lives until the
/// entry is removed.
typedef struct guardtree_found {
    void* payload;
    uint64_t entry;
} guardtree_found;

/// Where lookup_bound puts the values that an entry hands over.
typedef struct guardtree_bound {
    PyObject** values;  ///< room of yours for table_bound values, not in the scratch
    size_t size;        ///< of that room, in words
    size_t count;       ///< set by the look-up: how many of them are yours now
} guardtree_bound;

/// Counters, of an entry or of all.
typedef struct guardtree_counts {
    uint64_t entries;
    uint64_t hits;
    uint64_t misses;  ///< of the table
    uint64_t errors;  ///< guards that raised, which is a miss
} guardtree_counts;

/// Checks a value (borrowed): 1 passes, 0 fails, -1 is an error with an exception set.
typedef int (*guardtree_check)(PyObject* value, void* context);

/// Fetches from a value (borrowed): a new reference; NULL without an exception for
/// nothing, NULL with one for an error.
typedef PyObject* (*guardtree_getter)(PyObject* value, void* context);

/// What goes with a C function of yours. Members may be NULL; `hash` and `equal` come
/// together. They may raise, and may call all of this; what they raise is reported as
/// unraisable where nobody can get it.
typedef struct guardtree_foreign {
    size_t size;  ///< sizeof(guardtree_foreign): so that this may grow
    void* context;
    void (*destroy)(void* context);        ///< when nothing uses it any more
    PyObject* (*describe)(void* context);  ///< a new str, for people
    size_t (*hash)(void* context);
    int (*equal)(void* context, void* other);  ///< 1 when they mean the same
} guardtree_foreign;

typedef struct guardtree_api {
    uint32_t abi;         ///< GUARDTREE_ABI
    uint32_t reserved;    ///< 0
    size_t size;          ///< bytes of this table that the library has
    const char* version;  ///< of the library: "0.1.0"

    /// What the library can do here: "cpython" (0x30c for 3.12), "dict_watcher",
    /// "free_threaded", "guards_calls_by_entry", "init_may_escape_hook"; -1 for a name
    /// that it does not know.
    int64_t (*feature)(const char* name);

    /// One of the answers as a sentence; never NULL.
    const char* (*answer_text)(int answer);

    // Trees. A scope is a function, whose globals give names their meaning, or a code
    // object. NULL with an exception set; tree_free takes NULL.

    guardtree_tree* (*tree_new)(PyObject* scope);

    /// The guards that a text claims, in the language of guardtree.parse. `names`: a
    /// dict of further objects by name, or NULL.
    guardtree_tree* (*tree_of_text)(PyObject* scope, const char* text, PyObject* names);

    /// The guards that a JSON text has, as guardtree.from_json reads them.
    guardtree_tree* (*tree_of_json)(PyObject* scope, const char* text);

    /// A copy of what a Python GuardManager holds now.
    guardtree_tree* (*tree_of_guards)(PyObject* guards);

    void (*tree_free)(guardtree_tree* tree);

    /// The node that a step fetches from `parent` (0: the view, where paths start), by
    /// the step's name and its operands: tree_step(tree, 0, "local", &name, 1). Equal
    /// paths are one node. Its number, from 1; -1 with an exception set.
    int64_t (*tree_step)(guardtree_tree* tree, int64_t parent, const char* step,
                         PyObject* const* operands, size_t count);

    /// Adds a check of a node by its kind's name. 0, or -1 with an exception set.
    int (*tree_check)(guardtree_tree* tree, int64_t node, const char* kind,
                      PyObject* const* operands, size_t count);

    /// Adds a relation over nodes. 0, or -1 with an exception set.
    int (*tree_relate)(guardtree_tree* tree, const char* relation,
                       PyObject* const* operands, size_t count, const int64_t* nodes,
                       size_t node_count);

    /// One line per guard, for people: a new str.
    PyObject* (*tree_text)(const guardtree_tree* tree);

    /// The canonical JSON: a new str.
    PyObject* (*tree_json)(const guardtree_tree* tree);

    // C functions as guards: an operand of the kind `native`, of the step `native_get`,
    // here and in Python. New references; NULL with an exception set, and `context` is
    // still yours. `about` may be NULL. Of functions and contexts that are equal there
    // is one operand, so guards on them are recognised as the same; the context that is
    // not needed is destroyed at once.

    PyObject* (*check_operand)(guardtree_check check, const guardtree_foreign* about);
    PyObject* (*getter_operand)(guardtree_getter get, const guardtree_foreign* about);

    // Tables.

    /// NULL with an exception set. Holds the scope weakly.
    guardtree_table* (*table_new)(PyObject* scope);

    /// Takes NULL. Safe in a check that the table runs: the look-up then misses.
    void (*table_free)(guardtree_table* table);

    /// Compiles a tree, as it is now, into an entry behind all others. The entry's
    /// number, from 1 and never used again; 0 with an exception set, and `payload` is
    /// still yours. `destroy` (or NULL) is called with the payload when nothing uses
    /// the entry any more. O(entries).
    uint64_t (*table_add)(guardtree_table* table, const guardtree_tree* tree,
                          void* payload, void (*destroy)(void* payload));

    /// 0, or -1 with LookupError set where the table has no such entry.
    int (*table_remove)(guardtree_table* table, uint64_t entry);

    /// Words of scratch that a look-up needs; table_add may raise it.
    size_t (*table_scratch)(const guardtree_table* table);

    /// Counters of an entry, or (0) of all: fills the first `size` bytes of `to`. 0, or
    /// -1 with an exception set.
    int (*table_counts)(const guardtree_table* table, uint64_t entry,
                        guardtree_counts* to, size_t size);

    /// Why each entry passes or not: a new str, for people.
    PyObject* (*table_explain)(guardtree_table* table, guardtree_view* view);

    // Views: GUARDTREE_HIT when one was made. Each is ended by view_end, which takes
    // views that were not made. A view is one thread's.

    /// A frame that was entered and has not run its first instruction: what a PEP 523
    /// evaluator is given. Valid until the frame runs. A guard that runs user code may
    /// give the frame's function other code. CPython makes a generator by its
    /// function's code: do not run the frame of a generator or coroutine afterwards
    /// where that is no longer the frame's own.
    int (*view_of_frame)(guardtree_view* view, struct _PyInterpreterFrame* frame);

    /// The locals of a call as an array, by slot: `count` is co_nlocalsplus, unbound
    /// ones are NULL, cells hold their raw arguments. Free variables come from the
    /// function's cells.
    int (*view_of_locals)(guardtree_view* view, PyObject* scope,
                          PyObject* const* locals, size_t count);

    /// The arguments of a vectorcall (PEP 590), bound as the function would bind them.
    /// `storage` holds co_nlocalsplus words and is the view's until it ends.
    int (*view_of_call)(guardtree_view* view, PyObject* function,
                        PyObject* const* arguments, size_t count, PyObject* names,
                        PyObject** storage, size_t size);

    /// A mapping of names to values, for the names that the table's guards want now.
    int (*view_of_mapping)(guardtree_view* view, const guardtree_table* table,
                           PyObject* mapping, PyObject** storage, size_t size);

    void (*view_end)(guardtree_view* view);

    /// The first entry whose guards pass: GUARDTREE_HIT, and `found` is filled. Called
    /// without a pending exception. Does
    /// not allocate and sets no exception but those that must reach the program
    /// (KeyboardInterrupt, MemoryError); others are counted as errors. `scratch` holds
    /// table_scratch words. A few ns.
    int (*lookup)(guardtree_table* table, guardtree_view* view, PyObject** scratch,
                  size_t size, guardtree_found* found);

    // What the table has grown by since its first version: GUARDTREE_HAS tells.

    /// The code object of a frame that was entered, for which CPython 3.11 has no
    /// public function: a new reference, or NULL with an exception set.
    PyObject* (*frame_code)(struct _PyInterpreterFrame* frame);

    /// table_add for an entry that hands over the values of `nodes` of the tree, in
    /// this order: lookup_bound gives the very objects that the guards checked, so that
    /// nothing is fetched twice. A node without a check only has to be there. A node
    /// may come more than once.
    uint64_t (*table_add_bound)(guardtree_table* table, const guardtree_tree* tree,
                                void* payload, void (*destroy)(void* payload),
                                const int64_t* nodes, size_t count);

    /// The most values that an entry of the table hands over; adding may raise it.
    size_t (*table_bound)(const guardtree_table* table);

    /// lookup that gives the values of the entry it hits, too: new references, the
    /// first `bound->count` of `bound->values`. With any other answer there are none,
    /// and `count` is 0. GUARDTREE_TOO_SMALL where the room is less than table_bound.
    int (*lookup_bound)(guardtree_table* table, guardtree_view* view,
                        PyObject** scratch, size_t size, guardtree_found* found,
                        guardtree_bound* bound);
} guardtree_api;

/// The bytes of the table up to and with a member: for guardtree_import_size.
#define GUARDTREE_SIZE_WITH(member) \
    (offsetof(guardtree_api, member) + sizeof(((const guardtree_api*)0)->member))

/// Whether the library at hand has a member.
#define GUARDTREE_HAS(api, member) ((api)->size >= GUARDTREE_SIZE_WITH(member))

/// The table of the installed guardtree, which has at least `size` bytes; NULL with
/// ImportError set when it has fewer, or is not installed. It lives as long as the
/// process.
static inline const guardtree_api* guardtree_import_size(size_t size) {
    const guardtree_api* api =
        (const guardtree_api*)PyCapsule_Import("guardtree._C_API", 0);
    if (!api) {
        if (PyErr_ExceptionMatches(PyExc_AttributeError)) {
            PyErr_SetString(PyExc_ImportError,
                            "the installed guardtree has no C interface: it is older "
                            "than the one this extension was built for; install a "
                            "newer guardtree");
        }
        return NULL;
    }
    if (api->abi != GUARDTREE_ABI) {
        PyErr_Format(PyExc_ImportError,
                     "this extension was built for guardtree's C interface %d, the "
                     "installed guardtree %s has %d: install a guardtree that has %d, "
                     "or build the extension anew",
                     GUARDTREE_ABI, api->version, (int)api->abi, GUARDTREE_ABI);
        return NULL;
    }
    if (api->size < size) {
        PyErr_Format(PyExc_ImportError,
                     "this extension needs %zu bytes of guardtree's C interface, the "
                     "installed guardtree %s has %zu: it is older than the one the "
                     "extension was built for; install a newer guardtree",
                     size, api->version, api->size);
        return NULL;
    }
    return api;
}

/// The same, with all that this header has.
static inline const guardtree_api* guardtree_import(void) {
    return guardtree_import_size(sizeof(guardtree_api));
}

#ifdef __cplusplus
}
#endif
