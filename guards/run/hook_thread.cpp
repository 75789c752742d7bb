// The thread-local state of the frame hook, and the records of waiting greenlets.
// SPDX-License-Identifier: MIT
#include "hook_thread.h"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

namespace guardtree {

thread_local constinit HookThread hook_thread;

namespace {

/// The records of a greenlet while another greenlet runs.
struct Parked {
    const StackChunk* owner;
    PyCodeObject* passing;
    int busy;
    Mode most;
    Parked* next;
};

/// The waiting greenlets of one thread that have records, found by their owner. A
/// server may have thousands. If there is no memory, records are dropped; the greenlet
/// then continues as if it had none, and its records still end correctly. This is a
/// hash table of its own because those of libraries throw, and nothing here may throw.
class ParkedGreenlets {
public:
    ParkedGreenlets() = default;
    ParkedGreenlets(const ParkedGreenlets&) = delete;
    ParkedGreenlets& operator=(const ParkedGreenlets&) = delete;

    ~ParkedGreenlets() { clear(); }

    int count() const noexcept { return static_cast<int>(count_); }

    void put(const Parked& what) noexcept {
        if (count_ >= size_) grow();
        if (!size_) return;
        Parked*& head = bucket(what.owner);
        auto* made = new (std::nothrow) Parked(what);
        if (!made) return;
        made->next = std::exchange(head, made);
        ++count_;
    }

    /// Moves the records stored for `owner` to `taken`. Returns false if there are
    /// none.
    bool take(const StackChunk* owner, Parked& taken) noexcept {
        if (!count_) return false;
        for (Parked** link = &bucket(owner); *link; link = &(*link)->next) {
            if ((*link)->owner != owner) continue;
            const std::unique_ptr<Parked> found(*link);
            *link = found->next;
            taken = *found;
            --count_;
            return true;
        }
        return false;
    }

    void clear() noexcept {
        for (size_t i = 0; i < size_; ++i) {
            while (Parked* each = buckets_[i]) {
                buckets_[i] = each->next;
                delete each;
            }
        }
        buckets_.reset();
        size_ = count_ = 0;
    }

private:
    Parked*& bucket(const StackChunk* owner) const noexcept {
        // Chunks are aligned to pages.
        const auto page = reinterpret_cast<uintptr_t>(owner) >> 12;
        return buckets_[(page ^ (page >> 9)) & (size_ - 1)];
    }

    void grow() noexcept {
        const size_t larger = std::max<size_t>(16, size_ * 2);
        std::unique_ptr<Parked*[]> made(new (std::nothrow) Parked*[larger]());
        if (!made) return;
        std::swap(made, buckets_);
        const size_t before = std::exchange(size_, larger);
        for (size_t i = 0; i < before; ++i) {
            while (Parked* each = made[i]) {
                made[i] = each->next;
                each->next = std::exchange(bucket(each->owner), each);
            }
        }
    }

    std::unique_ptr<Parked*[]> buckets_;
    size_t size_ = 0;
    size_t count_ = 0;
};

thread_local ParkedGreenlets waiting;

void park_owner(HookThread& hot) noexcept {
    if (!hot.has_records() || !hot.owner) return;
    waiting.put({hot.owner, hot.passing, hot.busy, hot.most, nullptr});
}

/// Makes `owner` the owner, with its parked records or none.
void load_owner(HookThread& hot, const StackChunk* owner, const Parked& of) noexcept {
    hot.owner = owner;
    hot.passing = of.passing;
    hot.busy = of.busy;
    hot.most = of.most;
    hot.parked = waiting.count();
    hot.update();
}

constexpr Parked no_records{nullptr, nullptr, 0, Mode::compile, nullptr};

}  // namespace

[[gnu::noinline]] void HookThread::settle_in(PyThreadState* thread) noexcept {
    const StackChunk* top = top_chunk(thread);
    if (has_records() && owner && is_in_stack(owner, top)) return;
    const StackChunk* first = first_chunk(top);
    // The chunk of an owner without records may belong to another greenlet by now.
    if (!has_records() && first && first == owner) return;
    park_owner(*this);
    Parked found = no_records;
    for (const StackChunk* each = top; each; each = each->previous) {
        if (waiting.take(each, found)) return load_owner(*this, each, found);
    }
    load_owner(*this, first, found);
}

[[gnu::cold, gnu::noinline]] void HookThread::change_owner(
    const StackChunk* owner_of_record) noexcept {
    park_owner(*this);
    Parked found = no_records;
    waiting.take(owner_of_record, found);
    load_owner(*this, owner_of_record, found);
}

const StackChunk* HookThread::begin_record(PyThreadState* thread) noexcept {
    if (active == Mode::held)
        settle(thread);
    else
        owner = top_chunk(thread);
    if (!owner) owner = require_chunk(thread);
    return owner;
}

[[gnu::noinline]] bool HookThread::is_settled_paused() noexcept {
    settle(PyThreadState_Get());
    return busy != 0;
}

void HookThread::forget_records() noexcept {
    waiting.clear();
    busy = parked = 0;
    most = Mode::compile;
    passing = nullptr;
    owner = nullptr;
    update();
}

}  // namespace guardtree
