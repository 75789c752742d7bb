// Foreign functions in capsules: creates, finds, describes and destroys them.
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

/// As in every capsule of this kind, the pointer is the function and the context is the
/// function's context. The other data is found through the name, which is stored in
/// this struct.
struct Foreign {
    char name[32];  // must come first: the capsule's name points to it
    ForeignContext about;
    size_t hash = 0;
};

/// The capsules that have a hash, by that hash. Borrowed.
std::unordered_multimap<size_t, PyObject*>& known() {
    static auto* const made = new std::unordered_multimap<size_t, PyObject*>();
    return *made;
}

/// Calls back at a point where no exception can be raised.
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

/// Finds a live capsule with an equal context. Null if there is none. If a callback
/// raised, an exception is set.
Owned<> find_equal(const char* name, void* function, const ForeignContext& about,
                   size_t hash) {
    References candidates;  // kept alive, because `equal` may run user code
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
