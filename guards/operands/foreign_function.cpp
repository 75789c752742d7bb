// Foreign functions in capsules: made, found again, described, destroyed.
// SPDX-License-Identifier: MIT
#include "foreign_function.h"

#include <cstring>
#include <memory>
#include <unordered_map>
#include <vector>

#include "../../framelocals/exception.h"
#include "../../framelocals/no_memory.h"

#include "operand.h"

namespace guardtree {
namespace {

/// The capsule's pointer is the function and its context the function's, as everyone's
/// are who makes such capsules. The rest is found through the name, which lies in here.
struct Foreign {
    char name[32];  // first: the capsule's name is the address of this
    ForeignContext about;
    size_t hash = 0;
};

/// Those that have a hash, by it; borrowed.
std::unordered_multimap<size_t, PyObject*>& known() {
    static auto* const made = new std::unordered_multimap<size_t, PyObject*>();
    return *made;
}

/// Calls back at a point where nobody can be told of an exception.
template <class Callback>
void call_quietly(PyObject* about, Callback callback) noexcept {
    const ExceptionPause pause;
    callback();
    if (PyErr_Occurred()) PyErr_WriteUnraisable(about);
}

void end(PyObject* capsule) {
    const char* name = PyCapsule_GetName(capsule);
    std::unique_ptr<Foreign> foreign(
        reinterpret_cast<Foreign*>(const_cast<char*>(name)));
    const auto [first, last] = known().equal_range(foreign->hash);
    for (auto at = first; at != last; ++at) {
        if (at->second != capsule) continue;
        known().erase(at);
        break;
    }
    const ForeignContext& about = foreign->about;
    if (about.destroy) call_quietly(nullptr, [&] { about.destroy(about.context); });
}

const Foreign* foreign_of(PyObject* capsule) noexcept {
    if (PyCapsule_GetDestructor(capsule) != end) return nullptr;
    return reinterpret_cast<const Foreign*>(PyCapsule_GetName(capsule));
}

/// A living capsule with an equal context. Null where there is none, with an exception
/// set where one was raised.
Owned<> find_equal(const char* name, void* function, const ForeignContext& about,
                   size_t hash) {
    References candidates;  // held: `equal` may run user code
    const auto [first, last] = known().equal_range(hash);
    for (auto at = first; at != last; ++at)
        candidates.push_back(Owned<>::share(at->second));
    for (const Owned<>& each : candidates) {
        const Foreign& other = *foreign_of(each.get());
        if (std::strcmp(other.name, name) != 0 || other.about.equal != about.equal ||
            PyCapsule_GetPointer(each.get(), name) != function)
            continue;
        const int answer = about.equal(about.context, other.about.context);
        if (PyErr_Occurred()) return {};
        if (answer > 0) return each;
    }
    return {};
}

}  // namespace

Owned<> foreign_capsule(const char* name, void* function, const ForeignContext& about) {
    size_t hash = 0;
    if (about.hash && about.equal) {
        hash = about.hash(about.context);
        if (PyErr_Occurred()) return {};
        Owned<> found = find_equal(name, function, about, hash);
        if (PyErr_Occurred()) return {};
        if (found) {
            if (about.destroy)
                call_quietly(found.get(), [&] { about.destroy(about.context); });
            return found;
        }
    }
    auto foreign = std::make_unique<Foreign>();
    std::strncpy(foreign->name, name, sizeof(foreign->name) - 1);
    foreign->about = about;
    foreign->hash = hash;
    auto capsule = Owned<>::steal(PyCapsule_New(function, foreign->name, nullptr));
    if (!capsule || PyCapsule_SetContext(capsule.get(), about.context) < 0) return {};
    if (PyCapsule_SetDestructor(capsule.get(), end) < 0) return {};
    foreign.release();
    if (about.hash && about.equal) known().emplace(hash, capsule.get());
    return capsule;
}

std::string foreign_text(PyObject* capsule) {
    const Foreign* foreign = foreign_of(capsule);
    if (!foreign || !foreign->about.describe) return {};
    const ExceptionPause pause;
    const auto text = Owned<>::steal(foreign->about.describe(foreign->about.context));
    const char* utf8 =
        text && PyUnicode_Check(text.get()) ? PyUnicode_AsUTF8(text.get()) : nullptr;
    std::string result = utf8 && !PyErr_Occurred() ? utf8 : "";
    drop_exception();
    return result;
}

}  // namespace guardtree
