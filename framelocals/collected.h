// Collected: shared C++ objects whose references the garbage collector can see.
// SPDX-License-Identifier: MIT
//
// How it works. Each such object has a Python object of its own, whose reference count
// is the number of owners. The collector finds its references with T::traverse. Owners
// that are Python objects visit `object()`. An owner that does not, such as a look-up
// that holds a table, keeps the object alive.
#pragma once
#include <Python.h>

#include "ref.h"

namespace guardtree {

namespace collected_detail {

/// How the Python object traverses and destroys the C++ object.
struct Operations {
    int (*traverse)(const void* shared, visitproc visit, void* arg);
    void (*destroy)(void* shared);
};

/// Throws std::bad_alloc.
Owned<> new_object(const Operations& operations);

/// Starts to track the object in the collector.
void begin(PyObject* object, void* shared) noexcept;

}  // namespace collected_detail

/// Base of a class T with `int traverse(visitproc, void*) const`. There is no tp_clear:
/// such an object only refers to objects that are older than itself, so every cycle
/// goes through a mutable object, and that one has a tp_clear.
class Collected {
public:
    constexpr Collected() noexcept = default;
    Collected(const Collected&) = delete;
    Collected& operator=(const Collected&) = delete;

    /// The object that owners visit. Null for a static object, which lives forever.
    PyObject* object() const noexcept { return object_; }

private:
    template <class>
    friend class Shared;

    using Owners = Collected;

    template <class T, class... Arguments>
    static Shared<T> make(Arguments&&... arguments) {
        static constexpr collected_detail::Operations operations = {
            [](const void* shared, visitproc visit, void* arg) {
                return static_cast<const T*>(shared)->traverse(visit, arg);
            },
            [](void* shared) { delete static_cast<T*>(shared); }};
        const Owned<> object = collected_detail::new_object(operations);
        auto* made = new T(std::forward<Arguments>(arguments)...);
        static_cast<Collected*>(made)->object_ = object.get();
        collected_detail::begin(object.get(), made);
        return Shared<T>(made);
    }

    void add_owner() const noexcept { (void)Owned<>::share(object_).release(); }

    template <class T>
    static void drop_owner(T* shared) noexcept {
        Owned<>::steal(static_cast<const Collected*>(shared)->object_).reset();
    }

    bool has_one_owner() const noexcept { return object_ && Py_REFCNT(object_) == 1; }

    PyObject* object_ = nullptr;
};

}  // namespace guardtree
