// One record for each dict, one list for each key of it that somebody depends on now.
// SPDX-License-Identifier: MIT
//
// How it works. The watcher's callback finds the dict's record (none: not ours, it may
// belong to a former owner of the id), looks whether the key can be one that matters
// (64 bits of the hashes that do), then breaks whoever depends on it. It allocates
// nothing, runs no Python code, and only marks: what was relied on is checked in full
// at the next check, which finds the dict as it is then.
//
// Requirements that a change must keep: 1. a record that says `watched` is of a live
// dict: its death comes as an event; 2. an assumption is not told which of its uses
// were taken out: it gives all back when it is armed again or destroyed; 3. nothing
// arms within a watcher. Another library's watcher that runs Python code, which CPython
// forbids, breaks that.
#include "watched_dicts.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <tsl/robin_map.h>

#include "../../framelocals/cpython/dict_layout.h"
#include "../../framelocals/dict_watch.h"
#include "../objects/dict_lookup.h"

#include "assumption.h"

namespace guardtree {

AssumptionCounts assumption_counts;

namespace {

/// Changes of what is relied on after which a dict is read directly instead.
constexpr uint32_t max_changes = 12;

/// Whoever depends on one thing. Those that were broken are taken out: what nobody
/// relies on costs nothing.
class Dependents {
public:
    void add(Assumption& who, const DictUse& use) {
        all_.push_back({&who, use.arming, use.op});
        ++live_;
    }

    /// False when it is not there. Amortised O(log n): armings are numbered, and what
    /// is taken out leaves a gap until there are too many.
    bool take_out(const Assumption& who, const DictUse& use) noexcept {
        auto at = std::ranges::lower_bound(all_, use.arming, {}, &Dependent::arming);
        for (; at != all_.end() && at->arming == use.arming; ++at) {
            if (at->who != &who || at->op != use.op) continue;
            at->who = nullptr;
            if (--live_ * 2 < all_.size()) {
                std::erase_if(all_, [](const Dependent& each) { return !each.who; });
            }
            return true;
        }
        return false;
    }

    bool is_empty() const noexcept { return live_ == 0; }

    /// Takes all out; the number that there were. True in `was_relied_on` when one was
    /// armed.
    uint32_t break_all(Breach breach, bool& was_relied_on) noexcept {
        for (const Dependent& each : all_) {
            if (each.who) was_relied_on |= each.who->break_by(each.op, breach);
        }
        all_.clear();
        return std::exchange(live_, 0u);
    }

private:
    struct Dependent {
        Assumption* who;  ///< null: taken out
        uint64_t arming;
        uint32_t op;
    };

    std::vector<Dependent> all_;
    uint32_t live_ = 0;
};

/// Addresses and hashes of small ints are regular: their high bits are what a power of
/// two leaves.
size_t mixed(size_t value) noexcept {
    value *= 0x9E3779B97F4A7C15u;
    return value ^ (value >> 32);
}

uint64_t bit_of(Py_hash_t hash) noexcept {
    return uint64_t{1} << (mixed(static_cast<size_t>(hash)) & 63);
}

/// Whoever depends on items of one dict, by the hash of the key. A key that nobody
/// depends on any more takes no place.
class Items {
public:
    Dependents& at(Py_hash_t hash) {
        hashes_ |= bit_of(hash);
        return all_.try_emplace(hash).first.value();
    }

    /// False: nobody depends on a key of this hash.
    bool may_have(Py_hash_t hash) const noexcept { return hashes_ & bit_of(hash); }

    /// As those of Dependents.
    bool take_out(Py_hash_t hash, const Assumption& who, const DictUse& use) noexcept {
        const auto found = all_.find(hash);
        if (found == all_.end() || !found.value().take_out(who, use)) return false;
        if (found.value().is_empty()) erase(found);
        return true;
    }

    uint32_t break_item(Py_hash_t hash, Breach breach, bool& was_relied_on) noexcept {
        const auto found = all_.find(hash);
        if (found == all_.end()) return 0;
        const uint32_t count = found.value().break_all(breach, was_relied_on);
        erase(found);
        return count;
    }

    /// Each is broken once: the next time there is nothing to go over.
    uint32_t break_all(Breach breach, bool& was_relied_on) noexcept {
        uint32_t count = 0;
        for (auto each = all_.begin(); each != all_.end(); ++each) {
            count += each.value().break_all(breach, was_relied_on);
        }
        *this = {};
        return count;
    }

private:
    struct HashKey {
        size_t operator()(Py_hash_t hash) const noexcept {
            return mixed(static_cast<size_t>(hash));
        }
    };

    using Map = tsl::robin_map<Py_hash_t, Dependents, HashKey>;

    /// As bits are shared, they are found again when most of the keys have gone.
    void erase(Map::iterator at) noexcept {
        all_.erase(at);
        if (++erased_ <= all_.size()) return;
        erased_ = 0;
        hashes_ = 0;
        for (const auto& [hash, _] : all_) hashes_ |= bit_of(hash);
    }

    uint64_t hashes_ = 0;  ///< a bit for each hash in `all_`, and for some that went
    size_t erased_ = 0;    ///< since the bits were found
    Map all_;
};

struct Record {
    Items items;
    uint32_t uses = 0;
    uint32_t changes = 0;
    bool is_watched = false;
    bool is_busy = false;
    Dependents by_keys;
    Dependents by_entries;
};

struct HashDict {
    size_t operator()(PyObject* dict) const noexcept {
        return mixed(reinterpret_cast<size_t>(dict));
    }
};

struct WatchedDicts {
    tsl::robin_map<PyObject*, Record, HashDict> records;
    bool is_set_up = false;
};

/// Never destroyed: programs may outlive what is destroyed at exit.
WatchedDicts& watched() {
    static auto& all = *new WatchedDicts;
    return all;
}

/// The record that an event was about last, for those who store into one dict again and
/// again. Of no dict from a change of the records on: they move.
struct LastHeard {
    PyObject* dict = nullptr;
    Record* record = nullptr;
};

constinit LastHeard last_heard;

/// Null of a dict that is not ours.
Record* record_of(PyObject* dict) noexcept {
    if (last_heard.dict == dict) [[likely]]
        return last_heard.record;
    auto& records = watched().records;
    const auto found = records.find(dict);
    if (found == records.end()) return nullptr;
    last_heard = {dict, &found.value()};
    return last_heard.record;
}

/// Breaks whoever depends on an item; true when one was relied on.
bool break_item(Record& record, Py_hash_t hash, Breach breach) noexcept {
    bool was_relied_on = false;
    if (record.items.may_have(hash)) {
        record.uses -= record.items.break_item(hash, breach, was_relied_on);
    }
    return was_relied_on;
}

bool break_list(Record& record, Dependents& list, Breach breach) noexcept {
    bool was_relied_on = false;
    record.uses -= list.break_all(breach, was_relied_on);
    return was_relied_on;
}

bool break_everything(Record& record, Breach breach) noexcept {
    bool was_relied_on = break_list(record, record.by_keys, breach);
    was_relied_on |= break_list(record, record.by_entries, breach);
    record.uses -= record.items.break_all(breach, was_relied_on);
    return was_relied_on;
}

void stop_watching(PyObject* dict, Record& record) noexcept {
    if (!record.is_watched) return;
    unwatch_dict(dict);
    record.is_watched = false;
    --assumption_counts.watched;
}

/// From now on the dict is read directly.
void demote(Record& record) noexcept {
    if (record.is_busy) return;
    record.is_busy = true;
    ++assumption_counts.demotions;
    break_everything(record, Breach::change);  // nobody will tell the others
}

void count_change(Record& record) noexcept {
    if (++record.changes >= max_changes) demote(record);
}

/// Drops the record of a dict that is dead or not watched.
void forget(PyObject* dict) noexcept {
    WatchedDicts& all = watched();
    last_heard = {};
    const auto found = all.records.find(dict);
    if (found->second.is_watched) --assumption_counts.watched;
    all.records.erase(found);
}

/// An event that may be about what somebody depends on.
[[gnu::noinline]] void hear_out(DictEvent event, PyObject* dict, PyObject* key,
                                Record& record) noexcept {
    bool was_relied_on = false;
    Py_hash_t hash = 0;
    if (event == DictEvent::died) {
        break_everything(record, Breach::death);
        forget(dict);
        return;
    }
    const bool is_plain = event != DictEvent::all && plain_hash(key, hash);
    if (event == DictEvent::all || (!is_plain && !differs_from_scalars(key))) {
        was_relied_on = break_everything(record, Breach::change);
        // An instance's values go one by one, after this event, and finalizers run in
        // between (gh-130555).
        if (event == DictEvent::all && split_values(dict)) demote(record);
    } else {
        if (is_plain) was_relied_on = break_item(record, hash, Breach::change);
        was_relied_on |= break_list(record, record.by_entries, Breach::change);
        if (event == DictEvent::keys) {
            was_relied_on |= break_list(record, record.by_keys, Breach::change);
        }
    }
    if (!was_relied_on) return;
    ++assumption_counts.events;
    count_change(record);
}

/// The watcher. Most events are about another str's value: 3 ns (bench `store`).
void hear(DictEvent event, PyObject* dict, PyObject* key) noexcept {
    Record* const record = record_of(dict);
    if (!record) return;
    if (event == DictEvent::value && PyUnicode_CheckExact(key) &&
        record->by_entries.is_empty()) [[likely]] {
        const Py_hash_t hash = reinterpret_cast<PyASCIIObject*>(key)->hash;
        if (hash != -1 && !record->items.may_have(hash)) [[likely]]
            return;
    }
    hear_out(event, dict, key, *record);
}

Dependents& dependents_of(Record& record, const DictUse& use) {
    switch (use.part) {
    case DictPart::keys: return record.by_keys;
    case DictPart::entries: return record.by_entries;
    case DictPart::item: break;
    }
    return record.items.at(use.hash);
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
        break_everything(each.value(), Breach::end);
        stop_watching(each->first, each.value());
    }
    last_heard = {};
    all.records.clear();
    give_dict_watcher_back();
}

bool assumptions_can_arm() noexcept {
    return watched().is_set_up;
}

DictCare use_dict(Assumption& who, const DictUse& use) {
    const DictNews news = dict_news(use.dict);
    if (news == DictNews::none) return DictCare::direct;
    if (news == DictNews::tag && use.part == DictPart::entries) return DictCare::direct;
    last_heard = {};  // records move
    Record& record = watched().records[use.dict];
    dependents_of(record, use).add(who, use);
    ++record.uses;
    if (record.is_busy) {
        stop_watching(use.dict, record);  // 3.12 undoes that after a watcher has run
        return DictCare::direct;
    }
    if (news == DictNews::tag) return DictCare::tag;
    if (!record.is_watched) {
        if (!watch_dict(use.dict)) return DictCare::direct;
        record.is_watched = true;
        ++assumption_counts.watched;
    }
    return DictCare::events;
}

void release_dict(const Assumption& who, const DictUse& use) noexcept {
    WatchedDicts& all = watched();
    const auto found = all.records.find(use.dict);
    if (found == all.records.end()) return;
    Record& record = found.value();
    bool was_there = false;
    switch (use.part) {
    case DictPart::keys: was_there = record.by_keys.take_out(who, use); break;
    case DictPart::entries: was_there = record.by_entries.take_out(who, use); break;
    case DictPart::item: was_there = record.items.take_out(use.hash, who, use); break;
    }
    if (was_there) --record.uses;
    if (record.uses > 0) return;
    stop_watching(use.dict, record);
    forget(use.dict);
}

void note_found_change(PyObject* dict) noexcept {
    auto& records = watched().records;
    const auto found = records.find(dict);
    if (found != records.end()) count_change(found.value());
}

bool plain_hash(PyObject* key, Py_hash_t& to) noexcept {
    if (PyUnicode_CheckExact(key)) {
        to = reinterpret_cast<PyASCIIObject*>(key)->hash;  // -1: never asked for
        if (to != -1) [[likely]]
            return true;
    }
    if (!is_scalar(key)) return false;
    to = PyObject_Hash(key);
    return true;
}

}  // namespace guardtree
