// Reads the bounds of the calling thread's stack, and of stacks that a program
// allocated.
// SPDX-License-Identifier: MIT
//
// Fibers (ucontext, Boost.Context, Julia's tasks) run Python on stacks that the program
// allocated itself. The bounds of such a stack are those of the mapping in
// /proc/self/maps that contains the stack pointer. Each mapping is read once and kept,
// because reading takes tens of microseconds.
#include "stack_floor.h"

#include <algorithm>
#include <cstddef>

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

namespace guardtree {

namespace {

struct Range {
    uintptr_t low = 0;
    uintptr_t high = 0;

    bool has(uintptr_t address) const noexcept {
        return low <= address && address < high;
    }
};

/// The calling thread's own stack, as last read.
thread_local constinit Range own_stack;

uintptr_t floor_of(const Range& stack, size_t most) noexcept {
    return stack.low + std::min(most, (stack.high - stack.low) / 4);
}

/// Reads the lines of /proc/self/maps: "low-high ...", both in hexadecimal.
class MapReader {
public:
    MapReader() noexcept : file_(open("/proc/self/maps", O_RDONLY | O_CLOEXEC)) {}
    MapReader(const MapReader&) = delete;
    MapReader& operator=(const MapReader&) = delete;

    ~MapReader() {
        if (file_ >= 0) close(file_);
    }

    bool next(Range& mapping) noexcept {
        if (file_ < 0 || !number(mapping.low) || !number(mapping.high)) return false;
        for (int c = character(); c != '\n'; c = character()) {
            if (c < 0) return false;
        }
        return true;
    }

private:
    /// Reads a number and the character after it.
    bool number(uintptr_t& value) noexcept {
        value = 0;
        for (;;) {
            const int c = character();
            if (c == '-' || c == ' ') return true;
            const int digit = c >= 'a' ? c - 'a' + 10 : c - '0';
            if (digit < 0 || digit > 15) return false;
            value = value << 4 | static_cast<uintptr_t>(digit);
        }
    }

    int character() noexcept {
        if (at_ == end_) {
            const ssize_t count = read(file_, buffer_, sizeof buffer_);
            if (count <= 0) return -1;
            at_ = 0;
            end_ = static_cast<size_t>(count);
        }
        return static_cast<unsigned char>(buffer_[at_++]);
    }

    int file_;
    size_t at_ = 0;
    size_t end_ = 0;
    /// Not on the stack, which may be nearly full. Protected by the GIL.
    static inline char buffer_[4096];
};

/// Mappings that fibers have run on, sorted by address. Protected by the GIL.
class ForeignStacks {
public:
    /// The mapping that contains `address`, as last read. Null if it was never read.
    const Range* find(uintptr_t address) const noexcept {
        const auto is_under = [](uintptr_t a, const Range& range) {
            return a < range.low;
        };
        const Range* after = std::upper_bound(kept_, kept_ + count_, address, is_under);
        if (after == kept_ || !after[-1].has(address)) return nullptr;
        return after - 1;
    }

    /// The same, read now. Null if it cannot be read.
    const Range* read(uintptr_t address) noexcept {
        MapReader reader;
        Range mapping;
        while (reader.next(mapping)) {
            if (mapping.has(address)) return keep(mapping);
        }
        return nullptr;
    }

private:
    const Range* keep(const Range& mapping) noexcept {
        // Mappings that overlap it no longer exist.
        Range* end = std::remove_if(kept_, kept_ + count_, [&](const Range& each) {
            return each.low < mapping.high && mapping.low < each.high;
        });
        count_ = static_cast<size_t>(end - kept_);
        if (count_ == most) count_ = 0;
        Range* place = kept_ + count_;
        for (; place > kept_ && place[-1].low > mapping.low; --place)
            *place = place[-1];
        *place = mapping;
        ++count_;
        return place;
    }

    static constexpr size_t most = 1024;
    Range kept_[most];
    size_t count_ = 0;
};

constinit ForeignStacks foreign_stacks;

/// Whether less than 16 KiB (or a quarter of a small stack) is left on the stack that
/// contains `here` and is not the thread's own: a fiber's. The end of the memory
/// mapping counts as the end of the stack. False if it cannot be read. Needs the GIL.
bool is_foreign_stack_low(uintptr_t here) noexcept {
    constexpr size_t margin = size_t{16} * 1024;
    const Range* stack = foreign_stacks.find(here);
    if (stack && here >= floor_of(*stack, margin)) return false;
    // Unknown, or low: the mapping may have changed.
    stack = foreign_stacks.read(here);
    return stack && here < floor_of(*stack, margin);
}

}  // namespace

uintptr_t find_stack_floor() noexcept {
    void* low = nullptr;
    size_t size = 0;
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &low, &size);
        pthread_attr_destroy(&attributes);
    }
    // The bounds are unknown: returns an address that no frame is below.
    if (!low) return 1;
    own_stack.low = reinterpret_cast<uintptr_t>(low);
    own_stack.high = own_stack.low + size;
    return floor_of(own_stack, size_t{256} * 1024);
}

[[gnu::noinline]] bool is_stack_low(uintptr_t& floor) noexcept {
    if (floor == unread_stack_floor) [[unlikely]]
        floor = find_stack_floor();
    const uintptr_t here = stack_pointer();
    if (here >= floor) return false;
    if (own_stack.has(here)) return true;
    // The main thread's stack can grow if its limit was raised after it was read.
    if (!foreign_stacks.find(here)) {
        floor = find_stack_floor();
        if (own_stack.has(here)) return here < floor;
    }
    return is_foreign_stack_low(here);
}

}  // namespace guardtree
