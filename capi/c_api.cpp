// The table of the C interface, its layout, and the library's features.
// SPDX-License-Identifier: MIT
#include "../framelocals/cpython/cpython.h"

#include <cstddef>
#include <iterator>
#include <string_view>

#include "../framelocals/dict_watch.h"
#include "../framelocals/no_memory.h"

#include "handles.h"

namespace guardtree {
namespace {

// Clients were compiled with this layout. A member never moves, and new members are
// added at the end.
#define GUARDTREE_AT(member, word) \
    static_assert(offsetof(guardtree_api, member) == (word) * sizeof(void*))
GUARDTREE_AT(abi, 0);
GUARDTREE_AT(size, 1);
GUARDTREE_AT(version, 2);
GUARDTREE_AT(feature, 3);
GUARDTREE_AT(answer_text, 4);
GUARDTREE_AT(tree_new, 5);
GUARDTREE_AT(tree_of_text, 6);
GUARDTREE_AT(tree_of_json, 7);
GUARDTREE_AT(tree_of_guards, 8);
GUARDTREE_AT(tree_free, 9);
GUARDTREE_AT(tree_step, 10);
GUARDTREE_AT(tree_check, 11);
GUARDTREE_AT(tree_relate, 12);
GUARDTREE_AT(tree_text, 13);
GUARDTREE_AT(tree_json, 14);
GUARDTREE_AT(check_operand, 15);
GUARDTREE_AT(getter_operand, 16);
GUARDTREE_AT(table_new, 17);
GUARDTREE_AT(table_free, 18);
GUARDTREE_AT(table_add, 19);
GUARDTREE_AT(table_remove, 20);
GUARDTREE_AT(table_scratch, 21);
GUARDTREE_AT(table_counts, 22);
GUARDTREE_AT(table_explain, 23);
GUARDTREE_AT(view_of_frame, 24);
GUARDTREE_AT(view_of_locals, 25);
GUARDTREE_AT(view_of_call, 26);
GUARDTREE_AT(view_of_mapping, 27);
GUARDTREE_AT(view_end, 28);
GUARDTREE_AT(lookup, 29);
GUARDTREE_AT(frame_code, 30);
GUARDTREE_AT(table_add_capturing, 31);
GUARDTREE_AT(table_captured, 32);
GUARDTREE_AT(lookup_captured, 33);
#undef GUARDTREE_AT
static_assert(sizeof(guardtree_api) == 34 * sizeof(void*));
static_assert(sizeof(guardtree_view) == 384);
static_assert(sizeof(guardtree_found) == 16);
static_assert(sizeof(guardtree_captured) == 24);
static_assert(sizeof(guardtree_counts) == 32);
static_assert(sizeof(guardtree_foreign) == 6 * sizeof(void*));

int64_t feature(const char* name) {
    constexpr int series_shift = 16;
    const std::string_view wanted = name ? name : "";
    if (wanted == "cpython") return static_cast<int64_t>(Py_Version >> series_shift);
    if (wanted == "dict_watcher") return has_dict_watcher();
    if (wanted == "free_threaded") return 0;
    if (wanted == "guards_calls_by_entry") return CPython::has_vectorcall_entry;
    if (wanted == "init_may_escape_hook") return CPython::init_may_escape_hook;
    return -1;
}

/// Wraps a function of the table for C clients: if an allocation in it fails, it sets
/// MemoryError and returns the result that stands for an exception.
template <auto function, auto failed>
struct Caught;

template <class Result, class... Arguments, Result (*function)(Arguments...),
          auto failed>
struct Caught<function, failed> {
    static Result call(Arguments... arguments) {
        Result result{};
        if (allocating([&] { result = function(arguments...); })) return result;
        return static_cast<Result>(failed);
    }
};

template <auto function, auto failed = nullptr>
constexpr auto caught = Caught<function, failed>::call;

}  // namespace

const char* answer_text(int answer) noexcept {
    // Indexed by the distance from GUARDTREE_HIT.
    constexpr const char* texts[] = {
        "an entry's guards pass, or a view was made",
        "no entry's guards pass",
        "a Python exception is set",
        "an argument is NULL",
        "the view was not made, has ended, or is in use",
        "the view is of other code than the table",
        "the array holds fewer words than are needed (table_scratch, co_nlocalsplus)",
        "the frame has begun to run: make its view as it is entered",
        "the arguments do not fit the function",
    };
    const auto index = static_cast<unsigned>(GUARDTREE_HIT - answer);
    return index < std::size(texts) ? texts[index] : "no answer of guardtree's";
}

void raise_diagnostic(const Diagnostic& problem) noexcept {
    PyErr_SetString(problem.exception, problem.message.c_str());
}

void raise_null(const char* function) noexcept {
    PyErr_Format(PyExc_SystemError, "guardtree's %s was given NULL", function);
}

const guardtree_api* c_api(const char* version) noexcept {
    using namespace c_functions;
    static const guardtree_api api = {GUARDTREE_ABI,
                                      0,
                                      sizeof(api),
                                      version,
                                      feature,
                                      guardtree::answer_text,
                                      caught<tree_new>,
                                      caught<tree_of_text>,
                                      caught<tree_of_json>,
                                      caught<tree_of_guards>,
                                      tree_free,
                                      caught<tree_step, -1>,
                                      caught<tree_check, -1>,
                                      caught<tree_relate, -1>,
                                      caught<tree_text>,
                                      caught<tree_json>,
                                      caught<check_operand>,
                                      caught<getter_operand>,
                                      caught<table_new>,
                                      table_free,
                                      caught<table_add, 0>,
                                      caught<table_remove, -1>,
                                      table_scratch,
                                      table_counts,
                                      caught<table_explain>,
                                      view_of_frame,
                                      caught<view_of_locals, GUARDTREE_EXCEPTION>,
                                      caught<view_of_call, GUARDTREE_EXCEPTION>,
                                      caught<view_of_mapping, GUARDTREE_EXCEPTION>,
                                      view_end,
                                      c_functions::lookup,
                                      frame_code,
                                      caught<table_add_capturing, 0>,
                                      table_captured,
                                      lookup_captured};
    return &api;
}

}  // namespace guardtree
