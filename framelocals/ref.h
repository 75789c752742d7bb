// Borrowed<T>, Owned<T> and Shared<T>: the type says who owns a reference.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace guardtree {

template <class T>
PyObject* as_object(T* pointer) noexcept {
    return reinterpret_cast<PyObject*>(pointer);
}

/// A reference to an object that something else keeps alive (a frame, a program, a
/// container that no Python code can change in the meantime). May be null. Trivially
/// copyable.
template <class T = PyObject>
class Borrowed {
public:
    constexpr Borrowed() noexcept = default;

    constexpr Borrowed(T* pointer) noexcept
        : pointer_(pointer) {}  // NOLINT: implicit on purpose

    constexpr T* get() const noexcept { return pointer_; }

    constexpr explicit operator bool() const noexcept { return pointer_ != nullptr; }

    friend constexpr bool operator==(Borrowed, Borrowed) noexcept = default;

private:
    T* pointer_ = nullptr;
};

/// A strong reference. May be null. Copying and destroying it needs the GIL.
template <class T = PyObject>
class Owned {
public:
    constexpr Owned() noexcept = default;

    /// Steals a reference that the caller owns ("new reference"), or null.
    static Owned steal(T* pointer) noexcept { return Owned(pointer); }

    /// Makes a new strong reference to an object that something else owns, or null.
    static Owned share(T* pointer) noexcept {
        Py_XINCREF(as_object(pointer));
        return Owned(pointer);
    }

    Owned(const Owned& other) noexcept : pointer_(other.pointer_) {
        Py_XINCREF(as_object(pointer_));
    }

    Owned(Owned&& other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}

    Owned& operator=(Owned other) noexcept {
        std::swap(pointer_, other.pointer_);
        return *this;
    }

    ~Owned() { Py_XDECREF(as_object(pointer_)); }

    T* get() const noexcept { return pointer_; }

    PyObject* object() const noexcept { return as_object(pointer_); }

    explicit operator bool() const noexcept { return pointer_ != nullptr; }

    /// Returns the reference to the caller; this becomes null.
    [[nodiscard]] T* release() noexcept { return std::exchange(pointer_, nullptr); }

    /// Returns an additional reference ("new reference").
    [[nodiscard]] T* new_reference() const noexcept { return Owned(*this).release(); }

    void reset() noexcept { Owned().swap(*this); }

    void swap(Owned& other) noexcept { std::swap(pointer_, other.pointer_); }

private:
    explicit constexpr Owned(T* pointer) noexcept : pointer_(pointer) {}

    T* pointer_ = nullptr;
};

template <class T>
class Shared;

/// Base of objects that several owners share through Shared<T>. Changing the count
/// needs the GIL.
class Counted {
public:
    Counted() noexcept = default;
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;

private:
    template <class>
    friend class Shared;

    using Owners = Counted;

    template <class T, class... Arguments>
    static Shared<T> make(Arguments&&... arguments) {
        return Shared<T>(new T(std::forward<Arguments>(arguments)...));
    }

    void add_owner() const noexcept { ++count_; }

    template <class T>
    static void drop_owner(T* shared) noexcept {
        if (--static_cast<const Counted*>(shared)->count_ == 0) delete shared;
    }

    bool has_one_owner() const noexcept { return count_ == 1; }

    mutable uintptr_t count_ = 0;
};

/// Shared ownership of an object of a class that derives from Counted, or from
/// Collected (collected.h) if the collector has to see the object's references.
template <class T>
class Shared {
public:
    constexpr Shared() noexcept = default;

    explicit Shared(T* pointer) noexcept : pointer_(pointer) {
        if (pointer_) owners()->add_owner();
    }

    Shared(const Shared& other) noexcept : Shared(other.pointer_) {}

    Shared(Shared&& other) noexcept
        : pointer_(std::exchange(other.pointer_, nullptr)) {}

    Shared& operator=(Shared other) noexcept {
        std::swap(pointer_, other.pointer_);
        return *this;
    }

    ~Shared() {
        if (pointer_) T::Owners::drop_owner(pointer_);
    }

    T* get() const noexcept { return pointer_; }

    T* operator->() const noexcept { return pointer_; }

    T& operator*() const noexcept { return *pointer_; }

    explicit operator bool() const noexcept { return pointer_ != nullptr; }

    /// Whether this is the only owner.
    bool is_only() const noexcept { return pointer_ && owners()->has_one_owner(); }

    template <class... Arguments>
    static Shared make(Arguments&&... arguments) {
        return T::Owners::template make<T>(std::forward<Arguments>(arguments)...);
    }

private:
    auto owners() const noexcept -> const typename T::Owners* { return pointer_; }

    T* pointer_ = nullptr;
};

template <class T, class... Arguments>
Shared<T> make_shared_counted(Arguments&&... arguments) {
    return Shared<T>::make(std::forward<Arguments>(arguments)...);
}

}  // namespace guardtree
