// The structs behind the C interface's opaque names, and the functions of its table.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstddef>
#include <cstdint>

#include "../framelocals/views/view.h"
#include "../guards/lookup/table.h"

#include "c_api.h"

struct guardtree_tree {
    guardtree::OwnedScope scope;
    guardtree::Tree tree;
};

/// Counted, so that a look-up whose guards run user code keeps it alive if they call
/// table_free.
struct guardtree_table : guardtree::Counted {
    // The members that a look-up reads come first.
    guardtree::Identity code;  ///< weak: code objects support weak references
    guardtree::Shared<guardtree::Table> entries =
        guardtree::make_shared_counted<guardtree::Table>();
    /// The kind of look-up that it needs: only leaf kinds on locals; guards that fetch
    /// values; entries with captured values; guards that run user code, with or without
    /// captured values.
    enum class Way : uint8_t { leaf, values, captured, pinned } way = Way::leaf;
    size_t max_captured = 0;  ///< maximum number of captured values
    uint64_t misses = 0;
    /// refers to no object if the scope is a code object
    guardtree::Identity function;
    guardtree::References references;
    uint64_t last_entry = 0;
    /// the client's reference; empty after table_free
    guardtree::Shared<guardtree_table> own;

    /// The table's code object, or None if it has died.
    const PyObject* living_code() const noexcept { return code.weak->wr_object; }
};

namespace guardtree {

/// The content of a guardtree_view. `mark` is its first word, which clients set to 0.
/// In a view that was made, it encodes the view's address and code object.
struct HeldView {
    enum class Kind : uint8_t { frame, slots, mapping, arguments };

    // not a pointer, not a size
    static constexpr uint64_t made_mark = 0x6775617264747265;
    static constexpr size_t room = 256;

    uint64_t mark = 0;
    const PyObject* code = nullptr;
    uint32_t users = 0;      ///< running look-ups that may run user code
    bool is_ending = false;  ///< the last of them must end the view
    Kind kind = Kind::frame;
    const View* view = nullptr;
    alignas(8) std::byte storage[room];

    static HeldView* of(guardtree_view* view) noexcept {
        return reinterpret_cast<HeldView*>(view);
    }

    /// A view must stay where it was made; a copied one is not valid.
    bool is_made() const noexcept { return is_made_of(code); }

    /// The same, for this code object, in one compare. False for None.
    bool is_made_of(const PyObject* other) const noexcept {
        return mark == mark_of(other);
    }

    /// Called after all other members are set.
    void set_made() noexcept {
        code = reinterpret_cast<const PyObject*>(view->code().get());
        mark = mark_of(code);
    }

    /// Ends the view, or makes the last look-up end it.
    void end() noexcept;

private:
    uint64_t mark_of(const PyObject* of) const noexcept {
        return made_mark ^ reinterpret_cast<uintptr_t>(this) ^
               reinterpret_cast<uintptr_t>(of);
    }
};

static_assert(sizeof(HeldView) <= sizeof(guardtree_view));

/// Prevents a view from being ended while user code may run.
class ViewUse {
public:
    explicit ViewUse(HeldView& held) noexcept : held_(held) { ++held_.users; }

    ~ViewUse() {
        if (--held_.users == 0 && held_.is_ending) held_.end();
    }

    ViewUse(const ViewUse&) = delete;
    ViewUse& operator=(const ViewUse&) = delete;

private:
    HeldView& held_;
};

/// Sets the Python exception of a Diagnostic.
void raise_diagnostic(const Diagnostic& problem) noexcept;

/// Sets the exception of an argument that must not be NULL.
void raise_null(const char* function) noexcept;

/// A result as a sentence.
const char* answer_text(int answer) noexcept;

namespace c_functions {

guardtree_tree* tree_new(PyObject* scope);
guardtree_tree* tree_of_text(PyObject* scope, const char* text, PyObject* names);
guardtree_tree* tree_of_json(PyObject* scope, const char* text);
guardtree_tree* tree_of_guards(PyObject* guards);
void tree_free(guardtree_tree* tree);
int64_t tree_step(guardtree_tree* tree, int64_t parent, const char* step,
                  PyObject* const* operands, size_t count);
int tree_check(guardtree_tree* tree, int64_t node, const char* kind,
               PyObject* const* operands, size_t count);
int tree_relate(guardtree_tree* tree, const char* relation, PyObject* const* operands,
                size_t count, const int64_t* nodes, size_t node_count);
PyObject* tree_text(const guardtree_tree* tree);
PyObject* tree_json(const guardtree_tree* tree);
PyObject* check_operand(guardtree_check check, const guardtree_foreign* about);
PyObject* getter_operand(guardtree_getter get, const guardtree_foreign* about);

guardtree_table* table_new(PyObject* scope);
void table_free(guardtree_table* table);
uint64_t table_add(guardtree_table* table, const guardtree_tree* tree, void* payload,
                   void (*destroy)(void*));
int table_remove(guardtree_table* table, uint64_t entry);
size_t table_scratch(const guardtree_table* table);
int table_counts(const guardtree_table* table, uint64_t entry, guardtree_counts* to,
                 size_t size);
PyObject* table_explain(guardtree_table* table, guardtree_view* view);
int lookup(guardtree_table* table, guardtree_view* view, PyObject** scratch,
           size_t size, guardtree_found* found);

int view_of_frame(guardtree_view* view, _PyInterpreterFrame* frame);
int view_of_locals(guardtree_view* view, PyObject* scope, PyObject* const* locals,
                   size_t count);
int view_of_call(guardtree_view* view, PyObject* function, PyObject* const* arguments,
                 size_t count, PyObject* names, PyObject** storage, size_t size);
int view_of_mapping(guardtree_view* view, const guardtree_table* table,
                    PyObject* mapping, PyObject** storage, size_t size);
void view_end(guardtree_view* view);
PyObject* frame_code(_PyInterpreterFrame* frame);

uint64_t table_add_capturing(guardtree_table* table, const guardtree_tree* tree,
                             void* payload, void (*destroy)(void*),
                             const int64_t* nodes, size_t count);
size_t table_captured(const guardtree_table* table);
int lookup_captured(guardtree_table* table, guardtree_view* view, PyObject** scratch,
                    size_t size, guardtree_found* found, guardtree_captured* captured);

}  // namespace c_functions
}  // namespace guardtree
