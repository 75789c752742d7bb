// guardtree for C and C++ programs that do not link it: a table of functions, found at
// run time in the capsule guardtree._C_API. For C99 and C++20, with CPython's public
// headers.
// SPDX-License-Identifier: MIT
//
//     const guardtree_api *api = guardtree_import();
//     if (!api) return NULL;  // ImportError is set
//
// The table only grows: a member never moves or changes its meaning, and `size` says
// how much of it the installed library has. A client runs with every library that has
// all members of its own header. guardtree_import() refuses other libraries;
// guardtree_import_size() is for clients that need fewer members.
//
// Every function needs the GIL of the main interpreter. Functions that build and
// explain set a Python exception on failure and return NULL, -1 or 0, as documented.
// Look-ups do not; they return one of the GUARDTREE_ numbers below. Every table, tree,
// view, name and array argument is checked for NULL. Pointers to freed objects are not
// detected.
#pragma once
#include <Python.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The version of the table. Another version would be in a capsule with another name.
#define GUARDTREE_ABI 1

/// Results of lookup and of the functions that make views.
#define GUARDTREE_HIT  1  ///< an entry passes, or a view was made
#define GUARDTREE_MISS 0  ///< no entry passes
#define GUARDTREE_EXCEPTION \
    (-1)  ///< a Python exception is set: return it to the caller
#define GUARDTREE_NULL       (-2)  ///< an argument is NULL
#define GUARDTREE_NO_VIEW    (-3)  ///< the view was not made, has ended, or is in use
#define GUARDTREE_OTHER_CODE (-4)  ///< view and table have different code objects
#define GUARDTREE_TOO_SMALL  (-5)  ///< the array has fewer words than are needed
#define GUARDTREE_STARTED    (-6)  ///< the frame has started to run: its slots changed
#define GUARDTREE_MISFIT     (-7)  ///< the arguments do not match the signature

struct _PyInterpreterFrame;

/// Guards that are being built. They can be compiled into entries any number of times.
typedef struct guardtree_tree guardtree_tree;

/// The entries of one code object, tried in the order in which they were added. The
/// garbage collector does not see the objects that they hold.
typedef struct guardtree_table guardtree_table;

/// What guards are evaluated against, in the caller's memory. Set opaque[0] to 0 before
/// the first use, and do not move the struct. A view borrows the objects that it is
/// made from, and keeps the objects that it creates until view_end.
typedef struct guardtree_view {
    uint64_t opaque[48];
} guardtree_view;

/// The result of lookup. `payload` is the pointer passed to table_add. It is valid
/// until the entry is removed.
typedef struct guardtree_found {
    void* payload;
    uint64_t entry;
} guardtree_found;

/// Receives the captured values of an entry in lookup_captured.
typedef struct guardtree_captured {
    /// the caller's array, for table_captured values; not in the scratch
    PyObject** values;
    size_t size;   ///< size of that array, in words
    size_t count;  ///< set by the look-up: the number of new references
} guardtree_captured;

/// Counters of one entry or of all entries.
typedef struct guardtree_counts {
    uint64_t entries;
    uint64_t hits;
    uint64_t misses;  ///< misses of the table
    uint64_t errors;  ///< guards that raised, which counts as a miss
} guardtree_counts;

/// Checks a value (borrowed). Returns 1 for pass, 0 for fail, -1 for error with an
/// exception set.
typedef int (*guardtree_check)(PyObject* value, void* context);

/// Fetches a part of a value (borrowed). Returns a new reference. NULL without an
/// exception means that there is no such part; NULL with one means error.
typedef PyObject* (*guardtree_getter)(PyObject* value, void* context);

/// The context and callbacks of a client's C function. Members may be NULL; `hash` and
/// `equal` must be set together. The callbacks may raise and may call any function of
/// this table. Exceptions are reported as unraisable if they cannot be returned.
typedef struct guardtree_foreign {
    size_t size;  ///< sizeof(guardtree_foreign), so that the struct can grow
    void* context;
    void (*destroy)(void* context);  ///< called when nothing uses the context any more
    PyObject* (*describe)(void* context);  ///< a new str, for reports
    size_t (*hash)(void* context);
    int (*equal)(void* context, void* other);  ///< 1 if both mean the same
} guardtree_foreign;

typedef struct guardtree_api {
    uint32_t abi;         ///< GUARDTREE_ABI
    uint32_t reserved;    ///< 0
    size_t size;          ///< size of the library's table in bytes
    const char* version;  ///< version of the library: "0.1.0"

    /// The value of a feature: "cpython" (0x30c for 3.12), "dict_watcher",
    /// "free_threaded", "guards_calls_by_entry", "init_may_escape_hook". -1 for an
    /// unknown name.
    int64_t (*feature)(const char* name);

    /// A result as a sentence. Never NULL.
    const char* (*answer_text)(int answer);

    // Trees. A scope is a function, in whose globals names are looked up, or a code
    // object. These functions return NULL with an exception set. tree_free accepts
    // NULL.

    guardtree_tree* (*tree_new)(PyObject* scope);

    /// Parses guards in the language of guardtree.parse. `names`: a dict of additional
    /// objects by name, or NULL.
    guardtree_tree* (*tree_of_text)(PyObject* scope, const char* text, PyObject* names);

    /// Reads guards from JSON, like guardtree.from_json.
    guardtree_tree* (*tree_of_json)(PyObject* scope, const char* text);

    /// Copies the current guards of a Python GuardManager.
    guardtree_tree* (*tree_of_guards)(PyObject* guards);

    void (*tree_free)(guardtree_tree* tree);

    /// The node that a step fetches from `parent` (0: the view, where paths start), by
    /// the step's name and its operands: tree_step(tree, 0, "local", &name, 1). Equal
    /// paths are one node. Returns its number, from 1, or -1 with an exception set.
    int64_t (*tree_step)(guardtree_tree* tree, int64_t parent, const char* step,
                         PyObject* const* operands, size_t count);

    /// Adds a check to a node, by the name of its kind. Returns 0, or -1 with an
    /// exception set.
    int (*tree_check)(guardtree_tree* tree, int64_t node, const char* kind,
                      PyObject* const* operands, size_t count);

    /// Adds a relation over nodes. Returns 0, or -1 with an exception set.
    int (*tree_relate)(guardtree_tree* tree, const char* relation,
                       PyObject* const* operands, size_t count, const int64_t* nodes,
                       size_t node_count);

    /// One line per guard, for reports: a new str.
    PyObject* (*tree_text)(const guardtree_tree* tree);

    /// The canonical JSON: a new str.
    PyObject* (*tree_json)(const guardtree_tree* tree);

    // C functions as guards: an operand for the kind `native` and the step
    // `native_get`, here and in Python. Returns a new reference. If it returns NULL
    // with an exception set, the caller still owns `context`. `about` may be NULL.
    // Equal functions with equal contexts share one operand, so guards with them are
    // recognised as equal. A context that is not needed is destroyed at once.

    PyObject* (*check_operand)(guardtree_check check, const guardtree_foreign* about);
    PyObject* (*getter_operand)(guardtree_getter get, const guardtree_foreign* about);

    // Tables.

    /// Returns NULL with an exception set. Refers to the scope weakly.
    guardtree_table* (*table_new)(PyObject* scope);

    /// Accepts NULL. Safe in a check that the table runs; that look-up then misses.
    void (*table_free)(guardtree_table* table);

    /// Compiles the current state of a tree into an entry after all others. Returns the
    /// entry's number, which starts at 1 and is never reused. If it returns 0 with an
    /// exception set, the caller still owns `payload`. `destroy` (or NULL) is called
    /// with the payload when nothing uses the entry any more. O(entries).
    uint64_t (*table_add)(guardtree_table* table, const guardtree_tree* tree,
                          void* payload, void (*destroy)(void* payload));

    /// Returns 0, or -1 with LookupError set if the table has no such entry.
    int (*table_remove)(guardtree_table* table, uint64_t entry);

    /// The number of words of scratch that a look-up needs. table_add may increase it.
    size_t (*table_scratch)(const guardtree_table* table);

    /// Reads the counters of an entry, or (0) of all entries, into the first `size`
    /// bytes of `to`. Returns 0, or -1 with an exception set.
    int (*table_counts)(const guardtree_table* table, uint64_t entry,
                        guardtree_counts* to, size_t size);

    /// Why each entry passes or fails: a new str, for reports.
    PyObject* (*table_explain)(guardtree_table* table, guardtree_view* view);

    // Views. Each function returns GUARDTREE_HIT if it made the view. End each view
    // with view_end, which also accepts views that were not made. A view belongs to one
    // thread.

    /// A view of a frame that was entered and has not run its first instruction, as a
    /// PEP 523 evaluator gets it. Valid until the frame runs. A guard that runs user
    /// code may replace the code of the frame's function. CPython creates a generator
    /// from its function's code. So after that, do not run the frame of a generator or
    /// coroutine if the function's code is no longer the frame's code.
    int (*view_of_frame)(guardtree_view* view, struct _PyInterpreterFrame* frame);

    /// The locals of a call as an array, by slot: `count` is co_nlocalsplus, unbound
    /// slots are NULL, cells contain their raw arguments. Free variables come from the
    /// function's cells.
    int (*view_of_locals)(guardtree_view* view, PyObject* scope,
                          PyObject* const* locals, size_t count);

    /// The arguments of a vectorcall (PEP 590), bound as the function would bind them.
    /// `storage` has co_nlocalsplus words and belongs to the view until it ends.
    int (*view_of_call)(guardtree_view* view, PyObject* function,
                        PyObject* const* arguments, size_t count, PyObject* names,
                        PyObject** storage, size_t size);

    /// A mapping of names to values. Looks up the names that the table's guards need
    /// now.
    int (*view_of_mapping)(guardtree_view* view, const guardtree_table* table,
                           PyObject* mapping, PyObject** storage, size_t size);

    void (*view_end)(guardtree_view* view);

    /// Finds the first entry whose guards pass: returns GUARDTREE_HIT and fills
    /// `found`. Call it without a pending exception. It does not allocate, and sets
    /// only exceptions that must reach the program (KeyboardInterrupt, MemoryError);
    /// others are counted as errors. `scratch` has table_scratch words. A few ns.
    int (*lookup)(guardtree_table* table, guardtree_view* view, PyObject** scratch,
                  size_t size, guardtree_found* found);

    // Members that were added after the first version: test with GUARDTREE_HAS.

    /// The code object of a frame that was entered. CPython 3.11 has no public function
    /// for this. A new reference, or NULL with an exception set.
    PyObject* (*frame_code)(struct _PyInterpreterFrame* frame);

    /// Like table_add, for an entry that binds the values of `nodes` of the tree, in
    /// this order. lookup_captured returns the very objects that the guards checked, so
    /// you need not fetch them again. If a node has no check, the value only has to
    /// exist. A node may occur several times.
    uint64_t (*table_add_capturing)(guardtree_table* table, const guardtree_tree* tree,
                                    void* payload, void (*destroy)(void* payload),
                                    const int64_t* nodes, size_t count);

    /// The maximum number of captured values of an entry of the table. Adding entries
    /// may increase it.
    size_t (*table_captured)(const guardtree_table* table);

    /// Like lookup, but also returns the captured values of the entry that it finds, as
    /// new references in the first `captured->count` elements of `captured->values`.
    /// With any other result there are none, and `count` is 0. GUARDTREE_TOO_SMALL if
    /// the array is smaller than table_captured.
    int (*lookup_captured)(guardtree_table* table, guardtree_view* view,
                           PyObject** scratch, size_t size, guardtree_found* found,
                           guardtree_captured* captured);
} guardtree_api;

/// The size of the table up to and including a member, for guardtree_import_size.
#define GUARDTREE_SIZE_WITH(member) \
    (offsetof(guardtree_api, member) + sizeof(((const guardtree_api*)0)->member))

/// Whether the installed library has a member.
#define GUARDTREE_HAS(api, member) ((api)->size >= GUARDTREE_SIZE_WITH(member))

/// Returns the table of the installed guardtree, if it has at least `size` bytes. NULL,
/// with ImportError set, if it has fewer or guardtree is not installed. The table lives
/// as long as the process.
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
                     "or build the extension again",
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

/// The same, with all members of this header.
static inline const guardtree_api* guardtree_import(void) {
    return guardtree_import_size(sizeof(guardtree_api));
}

#ifdef __cplusplus
}
#endif
