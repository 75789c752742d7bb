// One record for each dict, one list for each key of it that somebody depends on.
// SPDX-License-Identifier: MIT
//
// How it works. The watcher's callback finds the dict's record (none: not ours, it may
// belong to a former owner of the id), looks whether the key can be one that matters
// (64 bits of the hashes that do), then breaks whoever depends on it. It allocates
// nothing, runs no Python code, and only marks: what was relied on is checked in full
// at the next check, which finds the dict as it is then.
//
// Requirements that a change must keep: 1. a record that says `watched` is of a live
// dict: its death comes as an event; 2. what breaks an assumption leaves its uses where
// they are; it takes them back itself when it is armed again or destroyed.
#include "watched_dicts.h"

#include <algorithm>
#include <vector>

#include <tsl/robin_map.h>

#include "../../framelocals/dict_watch.h"

#include "assumption.h"

namespace guardtree {

AssumptionCounts assumption_counts;

namespace {

/// Changes of what is relied on after which a dict is read directly instead.
constexpr uint32_t most_changes = 16;

struct Dependent {
    Assumption* who;
    uint32_t op;
    uint32_t arming;
};

using Dependents = std::vector<Dependent>;

struct Record {
    uint64_t hashes = 0;  ///< a bit for each hash of a key that somebody depends on
    uint32_t uses = 0;
    uint32_t changes = 0;
    bool is_watched = false;
    bool is_busy = false;
    Dependents by_keys;
    Dependents by_entries;
    std::vector<Py_hash_t> items;  ///< keys of `by_item` with this dict
};

struct Item {
    PyObject* dict;
    Py_hash_t hash;

    bool operator==(const Item&) const = default;
};

/// Addresses and hashes of small ints are regular: their high bits are what a power of
/// two leaves.
size_t mixed(size_t value) noexcept {
    value *= 0x9E3779B97F4A7C15u;
    return value ^ (value >> 32);
}

struct HashDict {
    size_t operator()(PyObject* dict) const noexcept {
        return mixed(reinterpret_cast<size_t>(dict));
    }
};

struct HashItem {
    size_t operator()(const Item& item) const noexcept {
        return mixed(reinterpret_cast<size_t>(item.dict) ^
                     mixed(static_cast<size_t>(item.hash)));
    }
};

struct WatchedDicts {
    tsl::robin_map<PyObject*, Record, HashDict> records;
    tsl::robin_map<Item, Dependents, HashItem> by_item;
    bool is_set_up = false;
};

/// Never destroyed: programs may outlive what is destroyed at exit.
WatchedDicts& watched() {
    static auto& all = *new WatchedDicts;
    return all;
}

uint64_t bit_of(Py_hash_t hash) noexcept {
    return uint64_t{1} << (mixed(static_cast<size_t>(hash)) & 63);
}

bool break_all(const Dependents& dependents, Breach breach) noexcept {
    bool was_relied_on = false;
    for (const Dependent& each : dependents) {
        was_relied_on |= each.who->break_by(each.op, breach);
    }
    return was_relied_on;
}

bool break_item(PyObject* dict, Py_hash_t hash, Breach breach) noexcept {
    const auto& by_item = watched().by_item;
    const auto found = by_item.find(Item{dict, hash});
    return found != by_item.end() && break_all(found->second, breach);
}

bool break_everything(PyObject* dict, const Record& record, Breach breach) noexcept {
    bool was_relied_on = break_all(record.by_keys, breach);
    was_relied_on |= break_all(record.by_entries, breach);
    for (const Py_hash_t hash : record.items) {
        was_relied_on |= break_item(dict, hash, breach);
    }
    return was_relied_on;
}

void stop_watching(PyObject* dict, Record& record) noexcept {
    if (!record.is_watched) return;
    unwatch_dict(dict);
    record.is_watched = false;
    --assumption_counts.watched;
}

void count_change(PyObject* dict, Record& record) noexcept {
    if (++record.changes < most_changes || record.is_busy) return;
    record.is_busy = true;
    ++assumption_counts.demotions;
    break_everything(dict, record, Breach::change);  // nobody will tell the others
}

void forget(PyObject* dict) noexcept {
    WatchedDicts& all = watched();
    const auto found = all.records.find(dict);
    if (found->second.is_watched) --assumption_counts.watched;
    for (const Py_hash_t hash : found->second.items) {
        all.by_item.erase(Item{dict, hash});
    }
    all.records.erase(found);
}

/// The watcher.
void hear(DictEvent event, PyObject* dict, PyObject* key) noexcept {
    WatchedDicts& all = watched();
    const auto found = all.records.find(dict);
    if (found == all.records.end()) return;
    Record& record = found.value();
    bool was_relied_on = false;
    Py_hash_t hash = 0;
    if (event == DictEvent::died) {
        break_everything(dict, record, Breach::death);
        forget(dict);
        return;
    }
    if (event == DictEvent::all || !plain_hash(key, hash)) {
        was_relied_on = break_everything(dict, record, Breach::change);
    } else {
        if (record.hashes & bit_of(hash)) {
            was_relied_on = break_item(dict, hash, Breach::change);
        }
        was_relied_on |= break_all(record.by_entries, Breach::change);
        if (event == DictEvent::keys) {
            was_relied_on |= break_all(record.by_keys, Breach::change);
        }
    }
    if (!was_relied_on) return;
    ++assumption_counts.events;
    count_change(dict, record);
}

Dependents& dependents_of(Record& record, const DictUse& use) {
    switch (use.part) {
    case DictPart::keys: return record.by_keys;
    case DictPart::entries: return record.by_entries;
    case DictPart::item: break;
    }
    Dependents& all = watched().by_item[Item{use.dict, use.hash}];
    if (all.empty()) record.items.push_back(use.hash);
    record.hashes |= bit_of(use.hash);
    return all;
}

/// Takes one dependent out; false when it is not there.
bool take_out(Dependents& from, const Assumption& who, const DictUse& use) noexcept {
    const auto found = std::ranges::find_if(from, [&](const Dependent& each) {
        return each.who == &who && each.op == use.op && each.arming == use.arming;
    });
    if (found == from.end()) return false;
    *found = from.back();
    from.pop_back();
    return true;
}

bool take_item_out(Record& record, const Assumption& who, const DictUse& use) noexcept {
    auto& by_item = watched().by_item;
    const auto found = by_item.find(Item{use.dict, use.hash});
    if (found == by_item.end() || !take_out(found.value(), who, use)) return false;
    if (found->second.empty()) {
        by_item.erase(found);
        std::erase(record.items, use.hash);  // its bit may stay: a needless look
    }
    return true;
}

}  // namespace

void set_up_watched_dicts() noexcept {
    take_dict_watcher(hear);
    watched().is_set_up = true;
}

void tear_down_watched_dicts() noexcept {
    WatchedDicts& all = watched();
    all.is_set_up = false;
    for (auto each = all.records.begin(); each != all.records.end(); ++each) {
        break_everything(each->first, each->second, Breach::end);
        stop_watching(each->first, each.value());
    }
    all.records.clear();
    all.by_item.clear();
    give_dict_watcher_back();
}

bool assumptions_can_arm() noexcept {
    return watched().is_set_up;
}

DictCare use_dict(Assumption& who, const DictUse& use) {
    const DictNews news = dict_news(use.dict);
    if (news == DictNews::none) return DictCare::direct;
    Record& record = watched().records[use.dict];
    dependents_of(record, use).push_back({&who, use.op, use.arming});
    ++record.uses;
    if (record.is_busy) {
        stop_watching(use.dict, record);  // 3.12 undoes that after a watcher has run
        return DictCare::direct;
    }
    if (news == DictNews::tag) return DictCare::tag;
    if (!record.is_watched) {
        watch_dict(use.dict);
        record.is_watched = true;
        ++assumption_counts.watched;
    }
    return DictCare::events;
}

void release_dict(const Assumption& who, const DictUse& use) noexcept {
    auto& records = watched().records;
    const auto found = records.find(use.dict);
    if (found == records.end()) return;
    Record& record = found.value();
    bool was_there = false;
    switch (use.part) {
    case DictPart::item: was_there = take_item_out(record, who, use); break;
    case DictPart::keys: was_there = take_out(record.by_keys, who, use); break;
    case DictPart::entries: was_there = take_out(record.by_entries, who, use); break;
    }
    if (!was_there || --record.uses > 0) return;
    stop_watching(use.dict, record);
    records.erase(found);
}

void note_found_change(PyObject* dict) noexcept {
    auto& records = watched().records;
    const auto found = records.find(dict);
    if (found != records.end()) count_change(dict, found.value());
}

bool plain_hash(PyObject* key, Py_hash_t& to) noexcept {
    PyTypeObject* type = Py_TYPE(key);
    if (type != &PyUnicode_Type && type != &PyLong_Type && type != &PyBytes_Type &&
        type != &PyBool_Type && type != &PyFloat_Type && key != Py_None) {
        return false;
    }
    to = PyObject_Hash(key);
    return true;
}

}  // namespace guardtree
