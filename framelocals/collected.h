// Collected: shared C++ objects whose references the garbage collector sees.
// SPDX-License-Identifier: MIT
//
// How it works. Each such object has a Python object of its own, whose reference count
// is the number of its owners. The collector finds what it refers to by T::traverse.
// Owners that are Python objects visit `object()`; an owner that does not, such as a
// look-up that pins a table, keeps the object alive.
#pragma once
#include <Python.h>

#include "ref.h"

namespace guardtree {

namespace collected_detail {

/// What the Python object does with the C++ object.
struct Operations {
    int (*traverse)(const void* shared, visitproc visit, void* arg);
    void (*destroy)(void* shared);
};

/// Throws std::bad_alloc.
Owned<> new_object(const Operations& operations);

/// From here on the collector sees it.
void begin(PyObject* object, void* shared) noexcept;

}  // namespace collected_detail

/// Base of a class T with `int traverse(visitproc, void*) const`. There is no tp_clear:
/// what such an object refers to was there before it, so every cycle goes through an
/// object that can be changed, which has one.
class Collected {
public:
    constexpr Collected() noexcept = default;
    Collected(const Collected&) = delete;
    Collected& operator=(const Collected&) = delete;

    /// What owners visit; null for a static object, which lives for ever.
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
