// Look-ups of tables of many entries: found by a decision, and tried one by one.
// SPDX-License-Identifier: MIT
//
// Entries differ in one fact of the first local and share a check of the second; mixed
// ones differ in several facts, overlap, and some call Python. A look-up of a table
// with one entry is the base: what more entries cost is the difference. Orders: all
// values in turn, the worst case of a memory of the last hit, and a random one, the
// worst of a branch predictor.
#include <array>
#include <memory>
#include <numeric>
#include <random>

#include "../../guards/lookup/lookup.h"

#include "guarded_function.h"
#include "subjects.h"

namespace guardtree::bench {
namespace {

/// Says of local 0 what the entry of this number does.
template <Described T>
void add_one(Tree& tree, NodeId local, size_t, PyObject* operand) {
    add_check(tree, local, op_of_one<T>(tree, operand));
}

/// By turns equality, a type, a range that overlaps the next ones, rarely Python.
void add_mixed(Tree& tree, NodeId local, size_t number, PyObject* operand) {
    if (number % 16 == 15)
        add_one<Python>(tree, local, number, operand);
    else if (number % 3 == 0)
        add_one<Equals>(tree, local, number, operand);
    else if (number % 3 == 1)
        add_one<TypeMatch>(tree, local, number, operand);
    else
        add_check(tree, local, op_of<IntRange>(tree, operand));
}

/// What the entries of a table differ in: Python for the K operands, and for K values
/// that pass one entry each.
struct Difference {
    const char* name;
    void (*add)(Tree& tree, NodeId local, size_t number, PyObject* operand);
    const char* operands;
    const char* values;
    size_t most;  ///< entries
    bool is_mixed = false;
};

constexpr Difference differences[] = {
    {"int", add_one<Equals>, "[1000 + i for i in range(n)]",
     "[1000 + i for i in range(n + 1)]", 16384},
    {"type", add_one<TypeMatch>, "[type('T', (), {}) for i in range(n)]",
     "[t() for t in operands] + [0]", 1024},
    {"identity", add_one<IdMatch>, "[type('T', (), {})() for i in range(n)]",
     "operands + [0]", 1024},
    {"str", add_one<Equals>, "['name %d' % i for i in range(n)]",
     "['name %d' % i for i in range(n + 1)]", 1024},
    {"size", add_one<TensorMatch>, "[numpy.zeros((8, i + 1), 'f') for i in range(n)]",
     "[numpy.zeros((8, i + 1), 'f') for i in range(n + 1)]", 1024},
    {"mixed", add_mixed,
     "[(lambda v, k=1000 + 10 * i: v == k) if i % 16 == 15 else 1000 + 10 * i if i % 3 "
     "== 0 else type('T', (), {}) if i % 3 == 1 else (1000 + 10 * i, 1025 + 10 * i) "
     "for "
     "i in range(n)]",
     "[o() if type(o) is type else 1002 + 10 * i if type(o) is tuple else 1000 + 10 * "
     "i "
     "for i, o in enumerate(operands)] + [None]",
     1024, true},
};

const Entry* found(const Table& table, const View& view, PyObject** values) {
    Lookup lookup(table, view, values, Lookup::Mode::quiet);
    return lookup.find();
}

const Entry* found_by_scan(const Table& table, const View& view, PyObject** values) {
    Lookup lookup(table, view, values, Lookup::Mode::quiet);
    return lookup.find_by_scan();
}

/// A table, values that pass one entry each, and one that passes none; in one view, as
/// the slots of a frame are.
class Entries {
public:
    Entries(const Difference& difference, size_t count)
        : is_mixed_(difference.is_mixed) {
        const Owned<> globals = new_globals();
        subject_.function = function_of_locals(2, globals.get());
        scope_.code = subject_.code();
        const std::string made = made_of(difference, count);
        made_ = evaluated(made.c_str());
        PyObject* operands = PyTuple_GET_ITEM(made_.get(), 0);
        PyObject* values = PyTuple_GET_ITEM(made_.get(), 1);
        std::vector<Shared<Entry>> entries;
        for (size_t i = 0; i < count; ++i)
            entries.push_back(made_entry(
                difference, i, PyList_GET_ITEM(operands, static_cast<Py_ssize_t>(i))));
        table_ = Table::of(entries);
        for (size_t i = 0; i <= count; ++i)
            words_.push_back(reinterpret_cast<SlotWord>(
                PyList_GET_ITEM(values, static_cast<Py_ssize_t>(i))));
    }

    const Table& table() const { return *table_; }

    /// The view, with the value of this number in its slot.
    const View& view(size_t number) const {
        slots_[0] = words_[number];
        return view_;
    }

    /// The entry that the value passes; null behind the last one.
    const Entry* entry(size_t number) const {
        const auto& all = table_->entries();
        if (is_mixed_) {
            std::vector<PyObject*> values(table_->value_count() + 1u);
            return found_by_scan(*table_, view(number), values.data());
        }
        return number < all.size() ? all[number].get() : nullptr;
    }

private:
    static std::string made_of(const Difference& difference, size_t count) {
        const std::string numpy =
            difference.name == std::string("size") ? "__import__('numpy')" : "None";
        return "(lambda n, numpy: (lambda operands: (operands, " +
               std::string(difference.values) + "))(" + difference.operands + "))(" +
               std::to_string(count) + ", " + numpy + ")";
    }

    Shared<Entry> made_entry(const Difference& difference, size_t number,
                             PyObject* operand) {
        Tree tree;
        difference.add(tree, add_local(tree, local_name(0)), number, operand);
        add_check(tree, add_local(tree, local_name(1)),
                  op_of_one<TypeMatch>(tree, as_object(&PyLong_Type)));
        if (!compile(tree, subject_)) give_up("the guards of a table do not compile");
        return make_shared_counted<Entry>(std::move(subject_.program), Owned<>(),
                                          Owned<>());
    }

    bool is_mixed_;
    GuardedFunction subject_;
    Scope scope_;
    Owned<> made_;
    Owned<> shared_ = evaluated("10**6");
    Shared<Table> table_;
    std::vector<SlotWord> words_;
    SlotWord word_ = reinterpret_cast<SlotWord>(shared_.get());
    mutable std::array<SlotWord, 2> slots_{0, word_};
    DictView view_{scope_, slots_.data()};
};

bool has_numpy() {
    const Owned<> found =
        evaluated("__import__('importlib.util').util.find_spec('numpy') is not None");
    return found.get() == Py_True;
}

enum class Order { cyclic, random, miss };

/// Which value each look-up is for, again and again. Random ones are more than a branch
/// predictor learns, and take little of the cache.
std::vector<uint16_t> order_of(Order order, size_t count) {
    std::vector<uint16_t> numbers(order == Order::random ? 4 * 4096 : count);
    std::mt19937 random(1);
    for (size_t i = 0; i < numbers.size(); ++i) {
        const size_t number = order == Order::cyclic   ? i
                              : order == Order::random ? random() % count
                                                       : count;
        numbers[i] = static_cast<uint16_t>(number);
    }
    return numbers;
}

using LookUp = const Entry* (*)(const Table&, const View&, PyObject**);

void measure(benchmark::State& state, const Entries& entries, Order order,
             LookUp look_up) {
    const size_t count = entries.table().entries().size();
    const std::vector<uint16_t> numbers = order_of(order, count);
    std::vector<PyObject*> values(entries.table().value_count() + 1u);
    size_t next = 0;
    size_t hits = 0;
    for ([[maybe_unused]] auto _ : state) {
        const View& view = entries.view(numbers[next]);
        const Entry* entry = look_up(entries.table(), view, values.data());
        benchmark::DoNotOptimize(entry);
        hits += entry != nullptr;
        next = next + 1 == numbers.size() ? 0 : next + 1;
    }
    const bool all = hits == static_cast<size_t>(state.iterations());
    bool passed = order == Order::miss ? hits == 0 : all;
    for (size_t i = 0; i < count; ++i) {
        passed &= look_up(entries.table(), entries.view(i), values.data()) ==
                  entries.entry(i);
    }
    demand_pass(state, passed);
}

/// What it takes to add one entry behind all others, or to make the table anew.
void measure_adding(benchmark::State& state, const Entries& entries, bool one) {
    const auto& all = entries.table().entries();
    const Shared<Table> before = Table::of({all.data(), all.size() - 1});
    for ([[maybe_unused]] auto _ : state) {
        const Shared<Table> made = one ? before->with(all.back()) : Table::of(all);
        benchmark::DoNotOptimize(made->entries().size());
    }
}

}  // namespace

void register_tables(const Register& add) {
    constexpr size_t counts[] = {1, 2, 4, 8, 16, 64, 1024, 16384};
    constexpr size_t max_scanned = 1024;
    constexpr std::pair<const char*, Order> orders[] = {
        {"cyclic", Order::cyclic}, {"random", Order::random}, {"miss", Order::miss}};
    for (const Difference& difference : differences) {
        if (difference.name == std::string("size") && !has_numpy()) continue;
        for (const size_t count : counts) {
            if (count > difference.most) continue;
            // Made when it is first measured: a filter leaves most of them out.
            auto made = std::make_shared<std::unique_ptr<Entries>>();
            const auto get = [&difference, count, made]() -> const Entries& {
                if (!*made) *made = std::make_unique<Entries>(difference, count);
                return **made;
            };
            const std::string entries = "/entries:" + std::to_string(count);
            for (const bool one : {true, false}) {
                add(std::string("table/") + difference.name + (one ? "/add" : "/make") +
                        entries,
                    [get, one](benchmark::State& state) {
                        measure_adding(state, get(), one);
                    });
            }
            for (const auto& [name, order] : orders) {
                const std::string whole =
                    std::string("table/") + difference.name + "/" + name + entries;
                add(whole, [get, order = order](benchmark::State& state) {
                    measure(state, get(), order, found);
                });
                if (count > max_scanned) continue;
                add(whole + "/one_by_one",
                    [get, order = order](benchmark::State& state) {
                        measure(state, get(), order, found_by_scan);
                    });
            }
        }
    }
}

}  // namespace guardtree::bench
