// Policies: misses, warm-up, limits; adding and removing entries by hand.
// SPDX-License-Identifier: MIT
#include <array>

#include <pybind11/pybind11.h>

#include "../../framehook/hook.h"
#include "../bindings.h"
#include "../guarded_code.h"
#include "../table_entry.h"

namespace guardtree {
namespace {

constexpr std::array<const char*, 3> miss_words{"ask", "plain", "raise"};
constexpr std::array<const char*, 2> full_words{"evict", "keep"};

/// The enumerator for a word. Throws ValueError.
template <class Enum, size_t count>
Enum enumerator_of(const char* name, const std::string& word,
                   const std::array<const char*, count>& words) {
    std::string known;
    for (size_t i = 0; i < count; ++i) {
        if (word == words[i]) return static_cast<Enum>(i);
        known += std::string(i ? ", '" : "'") + words[i] + "'";
    }
    throw py::value_error(std::string(name) + ": expected one of " + known +
                          ", found '" + word + "'");
}

py::dict dict_of(const Policy& policy) {
    py::dict dict;
    dict["entry_limit"] = policy.entry_limit;
    dict["when_full"] = full_words[static_cast<size_t>(policy.when_full)];
    dict["on_miss"] = miss_words[static_cast<size_t>(policy.on_miss)];
    dict["warm_up"] = policy.warm_up;
    return dict;
}

uint64_t count_of(const char* name, py::ssize_t given) {
    if (given >= 0) return static_cast<uint64_t>(given);
    throw py::value_error(std::string(name) + ": expected a number >= 0, found " +
                          std::to_string(given));
}

CodeCache& cache_of(py::handle code) {
    CodeCache* cache = CodeCache::of(code_of_python(code));
    if (!cache) throw py::error_already_set();
    return *cache;
}

py::dict set_policy(const py::object& code, std::optional<py::ssize_t> entry_limit,
                    const std::optional<std::string>& when_full,
                    const std::optional<std::string>& on_miss,
                    std::optional<py::ssize_t> warm_up) {
    CodeCache* cache = code.is_none() ? nullptr : &cache_of(code);
    const Policy prior = cache ? cache->policy() : default_policy();
    Policy made = prior;
    if (entry_limit) made.entry_limit = count_of("entry_limit", *entry_limit);
    if (when_full)
        made.when_full = enumerator_of<WhenFull>("when_full", *when_full, full_words);
    if (on_miss) made.on_miss = enumerator_of<OnMiss>("on_miss", *on_miss, miss_words);
    if (warm_up) made.warm_up = count_of("warm_up", *warm_up);
    if (cache)
        cache->own_policy = made;
    else
        default_policy() = made;
    return dict_of(prior);
}

py::dict get_policy(const py::object& code) {
    if (code.is_none()) return dict_of(default_policy());
    const CodeCache* cache = CodeCache::find(code_of_python(code));
    return dict_of(cache ? cache->policy() : default_policy());
}

void limit_inside(py::handle code, Mode most) {
    cache_of(code).max_inside = most;
}

void skip_code(py::handle code, bool recursive) {
    CodeCache& cache = cache_of(code);
    cache.skipped = true;
    if (recursive) cache.max_inside = Mode::off;
}

void fail_code(py::handle code, const std::string& reason) {
    CodeCache& cache = cache_of(code);
    cache.skipped = true;
    cache.failure = reason;
}

Shared<Entry> entry_for(py::handle code, const py::object& guarded) {
    return initialised<GuardedCode>(guarded).entry_for(code_of_python(code));
}

/// Throws, with the exception of a failure.
void add_to_cache(py::handle code, const Shared<Entry>& entry) {
    if (!add_entry(code_of_python(code), cache_of(code), entry))
        throw py::error_already_set();
}

py::object add_guarded_code(py::handle code, const py::object& guarded) {
    const Shared<Entry> entry = entry_for(code, guarded);
    py::object handle = py::cast(CacheEntryHandle(Table::empty()->with(entry), 0));
    add_to_cache(code, entry);
    return handle;
}

/// Adds an entry, and stores it in the dict `entries` with `value`. If one of these
/// fails, neither is done. The entry's payload is `target`.
py::object add_listed_entry(py::handle code, const py::object& guarded,
                            const py::object& entries, const py::object& value,
                            const py::object& target) {
    const Shared<Entry> entry = entry_for(code, guarded);
    py::object handle =
        py::cast(TableEntryHandle{entry, Owned<>::share(target.ptr())});
    if (PyDict_SetItem(entries.ptr(), handle.ptr(), value.ptr()) < 0)
        throw py::error_already_set();
    try {
        add_to_cache(code, entry);
    } catch (...) {
        if (PyDict_DelItem(entries.ptr(), handle.ptr()) < 0) PyErr_Clear();
        throw;
    }
    return handle;
}

void remove_from_cache(py::handle code, const Entry& entry,
                       const std::string& reason) {
    CodeCache* cache = CodeCache::find(code_of_python(code));
    if (!cache || !cache->remove(entry, "invalidated: " + reason))
        throw py::value_error("this entry is not among those of the code (any more)");
}

void remove_entry(py::handle code, const CacheEntryHandle& entry,
                  const std::string& reason) {
    remove_from_cache(code, entry.entry(), reason);
}

void remove_listed_entry(py::handle code, const TableEntryHandle& entry,
                         const std::string& reason) {
    remove_from_cache(code, *entry.entry, reason);
}

/// (hits, reason) of the last removed entries.
py::list removed_entries(py::handle code) {
    py::list all;
    const CodeCache* cache = CodeCache::find(code_of_python(code));
    if (!cache) return all;
    for (const Removal& each : cache->removals())
        all.append(py::make_tuple(each.hits, each.reason));
    return all;
}

}  // namespace

void bind_policy(py::module_& module) {
    define_function(
        module, "set_policy", calling<&set_policy>, py::arg("code") = py::none(),
        py::kw_only(), py::arg("entry_limit") = py::none(),
        py::arg("when_full") = py::none(), py::arg("on_miss") = py::none(),
        py::arg("warm_up") = py::none(),
        "Settle what holds for a code (or function), or for every code that has no "
        "policy of its own; what is not given stays. Returns the prior policy. "
        "entry_limit: entries a code may have (64). when_full: 'evict' the entry that "
        "was hit longest ago, or 'keep' them and ask the callback no longer. on_miss: "
        "'ask' the callback, run 'plain', or 'raise' GuardMiss where there are "
        "entries. warm_up: how many frames run plain before the callback is asked "
        "(0).");
    define_function(module, "get_policy", calling<&get_policy>,
                    py::arg("code") = py::none(),
                    "What set_policy settled, as a dict of its arguments.");
    define_function(
        module, "skip_code", calling<&skip_code>, py::arg("code"),
        py::arg("recursive") = false,
        "Run this code (or function) plain from now on, until reset_code; with "
        "`recursive` also all that it calls.");
    define_function(
        module, "run_only",
        [](py::handle code) { limit_inside(code, Mode::lookup_only); }, py::arg("code"),
        "Ask no callback for this code (or function) and all that it calls, until "
        "reset_code: hits run, misses run plain.");
    define_function(
        module, "fail_code", calling<&fail_code>, py::arg("code"), py::arg("reason"),
        "Give this code up: it runs plain until reset_code, and code_stats says why.");
    define_function(module, "add_entry", calling<&add_guarded_code>, py::arg("code"),
                    py::arg("guarded_code"),
                    "Add an entry outside a callback, from any thread, and return it: "
                    "compile in the background, answer ASK_AGAIN meanwhile.");
    define_function(module, "_add_listed_entry", calling<&add_listed_entry>,
                    py::arg("code"), py::arg("guarded_code"), py::arg("entries"),
                    py::arg("value"), py::arg("target"),
                    "For guard_function on CPython 3.11: add_entry, and entries[entry] "
                    "= value. Returns a TableEntry with the payload `target`.");
    define_function(module, "_remove_listed_entry", calling<&remove_listed_entry>,
                    py::arg("code"), py::arg("entry"), py::arg("reason"),
                    "invalidate, for what _add_listed_entry returns.");
    define_function(
        module, "invalidate", calling<&remove_entry>, py::arg("code"), py::arg("entry"),
        py::arg("reason"),
        "Take an entry out of its code, for a reason that `removed_entries` and "
        "explain tell. Frames that run its code go on.");
    define_function(
        module, "removed_entries", calling<&removed_entries>, py::arg("code"),
        "(hits, reason) of the last entries that were evicted or invalidated, the "
        "newest last; eight at most.");
}

}  // namespace guardtree
