// Arming an assumption: what keeps each link from its start to each checked value.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "../../framelocals/attributes.h"
#include "../../framelocals/dict_watch.h"
#include "../../framelocals/no_memory.h"
#include "../objects/dict_lookup.h"
#include "../objects/plain_attribute.h"
#include "../objects/static_attribute.h"
#include "../ops/named_op.h"
#include "../program/program.h"

#include "assumption.h"
#include "what_is_read.h"

namespace guardtree {
namespace {

using TestKind = AssumptionTest::Kind;

/// Types whose instances keep their class: but for modules, which may be given another
/// (object_set_class, Objects/typeobject.c).
bool keeps_class(PyTypeObject* type) noexcept {
    return PyType_HasFeature(type, Py_TPFLAGS_IMMUTABLETYPE) &&
           !PyType_IsSubtype(type, &PyModule_Type);
}

}  // namespace

/// Goes over the ops of a run once. Nothing runs user code, so all values are those
/// that the walk has just seen.
class Arming {
public:
    Arming(Assumption& of, const Program& program, const View& view)
        : assumption_(of),
          program_(program),
          view_(view),
          values_(program.value_count()),
          is_handed_(program.value_count(), false) {
        for (const RelationSource& source : program.sources())
            if (!source.from_local) is_handed_[source.index] = true;
    }

    /// `start`: what the run starts at, which may be another object next time.
    bool run(const Op& end, PyObject* start, size_t first, size_t last) {
        anchor_ = {start, Stay::unknown};
        if (end.starts_at_value()) values_[end.source] = anchor_;
        for (size_t i = first; i < last; ++i) {
            const Op& op = program_.ops()[i];
            if (op.is_internal()) continue;
            number_ = static_cast<uint32_t>(i);
            if (op.is_kind()) {
                dispatch(op, [&](const auto& kind) { check(op, kind); });
            } else if (!dispatch(op, [&](const auto& step) { return go(op, step); })) {
                return false;
            }
        }
        return true;
    }

    /// Makes what was found the assumption's, and gives back what it had.
    void commit(const void* start) {
        assumption_.take_uses_back();
        assumption_.uses_ = std::move(uses_);
        assumption_.handed_ = std::move(handed_);
        assumption_.words_ = std::move(words_);
        assumption_.word_ops_ = std::move(word_ops_);
        assumption_.tests_ = std::move(tests_);
        assumption_.test_words_ = std::move(test_words_);
        assumption_.held_ = std::move(held_);
        assumption_.builtins_ = builtins_;
        assumption_.armed_for_ = start;
        const bool is_told =
            assumption_.words_.empty() && assumption_.tests_.empty() && !builtins_;
        if (is_told) assumption_.told_for_ = start;
    }

    /// Of an arming that failed: it depends on nothing.
    void roll_back() noexcept {
        for (const DictUse& use : uses_) release_dict(assumption_, use);
    }

private:
    /// What is known of a value whenever the assumption is asked.
    enum class Stay : uint8_t {
        unknown,   ///< it may be another object at the same address: all is read anew
        compared,  ///< it is this very object where the tests before it have passed
        watched,   ///< it is: an event would have ended the assumption
    };

    /// A value on the way.
    struct Value {
        PyObject* object = nullptr;
        Stay stay = Stay::unknown;

        bool is_lasting() const noexcept { return stay != Stay::unknown; }
    };

    Value source_of(const Op& op) const {
        return op.is_from_local() ? anchor_ : values_[op.source];
    }

    template <class T>
    bool go(const Op& op, const T& step) {
        if constexpr (GuardStep<T>) {
            const Value source = RootStep<T> ? Value{} : source_of(op);
            PyObject* child = follow_step(op, view_, source.object);
            if (!child) return false;
            Stay stay = link(op, step, source, child);
            if (stay == Stay::unknown && is_fixed_constant(child)) {
                held_.push_back(Owned<>::share(child));
                stay = Stay::compared;
            }
            values_[op.destination] = {child, stay};
            // No other step stores in a place that a relation reads (places.h).
            if (is_handed_[op.destination]) handed_.push_back({child, op.destination});
            return true;
        } else {
            static_cast<void>(op), static_cast<void>(step);
            return false;
        }
    }

    /// Notes what keeps a child where it is.
    template <class T>
    Stay link(const Op& op, const T& step, Value source, PyObject* child) {
        constexpr Reads reads = T::info.reads;
        if constexpr (reads == Reads::item || reads == Reads::keys ||
                      reads == Reads::entries) {
            if constexpr (std::same_as<T, Builtin>) builtins_ = view_.builtins().get();
            PyObject* dict = dict_read(step, view_, source.object);
            bool is_its_dict = true;
            if constexpr (std::same_as<T, ModuleAttr>) {
                is_its_dict = keeps_dict_of_module(source);
            } else if constexpr (std::same_as<T, Module>) {
                const HashedKey modules = name_of_modules();
                is_its_dict =
                    use(sys_dict(), modules.value, reads, {}) != Stay::unknown;
            }
            if (is_its_dict) {
                const Stay stay = use(dict, key_read(step), reads, source);
                if (stay != Stay::unknown) return stay;
            }
            if constexpr (reads == Reads::entries) {
                const Stay stay = use_entry(dict, step.position.value, source);
                if (stay != Stay::unknown) return stay;
            }
        } else if constexpr (reads == Reads::attribute) {
            if (has_dict_of(source)) {
                PyObject* dict = *place_of_dict(source.object);
                const Stay stay = use(dict, key_read(step), Reads::item, {});
                if (stay != Stay::unknown) return stay;
            }
        } else if constexpr (reads == Reads::class_and_attribute) {
            PyObject* const name = key_read(step);
            if (keeps_plain_name(source, name) && has_dict_of(source)) {
                PyObject* dict = *place_of_dict(source.object);
                const Stay stay = use(dict, name, Reads::item, {});
                if (stay != Stay::unknown) return stay;
            }
        } else if constexpr (reads == Reads::type) {
            return has_type(source) ? Stay::compared : Stay::unknown;
        } else if constexpr (std::same_as<T, FunctionGlobals>) {
            if (source.is_lasting()) return keep_globals_of(source);
        } else if constexpr (reads == Reads::identity) {
            if (source.is_lasting()) return source.stay;
        }
        if (!is_known_part(op, source)) {
            add({source.object,
                 child,
                 number_,
                 TestKind::step,
                 {},
                 fetch_of_step(op.code())});
        }
        return Stay::unknown;
    }

    /// A step without operands that was taken from the same value before.
    bool is_known_part(const Op& op, Value source) {
        if (!source.is_lasting() || !operands_of(op.code()).empty()) return false;
        return !parts_.insert({source.object, op.code()}).second;
    }

    template <class T>
    void check(const Op& op, const T& kind) {
        if constexpr (GuardKind<T>) {
            const Value value = source_of(op);
            need_operands(kind);
            if (!is_kept(kind, value)) {
                AssumptionTest test{value.object, nullptr, number_, TestKind::check,
                                    check_of_kind(op.code())};
                if constexpr (sizeof(T) <= sizeof(test.expected)) {
                    std::memcpy(&test.expected, &kind, sizeof(T));
                    test.kind = TestKind::near_check;
                }
                add(test);
            }
        }
    }

    /// Whether what the kind said of the value stays true without being asked again.
    template <class T>
    bool is_kept(const T& kind, Value value) {
        constexpr Reads reads = T::info.reads;
        if constexpr (reads == Reads::identity) return true;
        if constexpr (reads == Reads::type) {
            has_type(value);
            return true;
        }
        if constexpr (T::info.is_by_value) {
            if (value.is_lasting() && is_fixed_constant(value.object)) return true;
        }
        if constexpr (reads == Reads::item || reads == Reads::keys ||
                      reads == Reads::entries) {
            PyObject* dict = dict_read(kind, view_, value.object);
            return use(dict, key_read(kind), reads, value) != Stay::unknown;
        }
        if constexpr (reads == Reads::attribute) {
            return keeps_attribute(value, key_read(kind));
        }
        if constexpr (reads == Reads::class_and_attribute) {
            PyObject* const name = key_read(kind);
            return keeps_names_of_class(value, name) && keeps_attribute(value, name);
        }
        return false;
    }

    /// What the value's own dict says of a name stays, or that it has no dict.
    bool keeps_attribute(Value value, PyObject* name) {
        if (has_dict_of(value)) {
            PyObject* dict = *place_of_dict(value.object);
            return use(dict, name, Reads::item, {}) != Stay::unknown;
        }
        if (PyType_Check(value.object)) return false;
        PyTypeObject* const type = Py_TYPE(value.object);
        if (has_managed_dict(type) || !has_type(value)) return false;
        if (type->tp_dictoffset == 0) return true;
        compare_size(value);
        compare(value.stay, _PyObject_GetDictPtr(value.object), nullptr);
        return true;
    }

    /// Where objects of a type have several sizes, the dict's place goes by theirs:
    /// another object at the address may have it elsewhere.
    void compare_size(Value value) {
        if (value.is_lasting() || Py_TYPE(value.object)->tp_itemsize == 0) return;
        const Py_ssize_t& size = reinterpret_cast<PyVarObject*>(value.object)->ob_size;
        compare(value.stay, &size, reinterpret_cast<const void*>(size));
    }

    /// The value stays of a type whose MRO says the same of a name. Not of a slot.
    bool keeps_names_of_class(Value value, PyObject* name) {
        PyTypeObject* const type = Py_TYPE(value.object);
        if (PyType_Check(value.object) || !version_tag(type)) return false;
        const Borrowed<> found = find_in_mro(type, name);
        if (found && slot_content(found.get(), value.object).is_slot) return false;
        if (!has_type(value)) return false;
        // After the words, of which one says that a class of the heap is alive.
        if (compared_.insert(&type->tp_version_tag).second) {
            const auto tag = static_cast<uintptr_t>(type->tp_version_tag);
            add({type, reinterpret_cast<const void*>(tag), number_, TestKind::version});
        }
        return true;
    }

    /// The same, and what the MRO says of the name leaves the value's own dict its
    /// say: as a descriptor it is of a type that cannot change.
    bool keeps_plain_name(Value value, PyObject* name) {
        const PlainPlace place = plain_place(value.object, name);
        return place.kind == PlainPlace::Kind::instance && place.is_lasting &&
               keeps_names_of_class(value, name);
    }

    /// The objects that a kind's operands name weakly: once one died, what is at its
    /// address is another.
    template <class T>
    void need_operands(const T& kind) {
        std::apply([&](const auto&... each) { (need_operand(kind.*each.member), ...); },
                   T::operands());
    }

    template <class V>
    void need_operand(const V& operand) {
        if constexpr (std::derived_from<V, Identity>) {
            if (operand.weak) {
                compare(Stay::watched, &operand.weak->wr_object, operand.object);
            }
        }
    }

    /// The value's type stays: because it cannot change, or compared. True when the
    /// type object is lasting: a heap type is told by a weak reference from one at the
    /// same address.
    bool has_type(Value value) {
        PyTypeObject* type = Py_TYPE(value.object);
        if (!value.is_lasting() || !keeps_class(type)) {
            compare(value.stay, &value.object->ob_type, type);
        }
        if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) return true;
        const Owned<> weak = Owned<>::steal(PyWeakref_NewRef(as_object(type), nullptr));
        if (!weak) PyErr_Clear();
        if (!weak) return false;
        compare(Stay::watched,
                &reinterpret_cast<PyWeakReference*>(weak.get())->wr_object, type);
        held_.push_back(weak);
        return true;
    }

    /// The object keeps its attributes in a dict, and stays with it.
    bool has_dict_of(Value value) {
        PyObject* const* place = place_of_dict(value.object);
        if (!place || !has_type(value)) return false;
        compare_size(value);
        compare(value.stay, place, *place);
        return true;
    }

    /// The module stays with its dict. A module that lasts does, and another class that
    /// it is given is a module's too; but the collector takes the dict away from one
    /// that it destroys, and what is read by its address must not have gone.
    bool keeps_dict_of_module(Value module) {
        PyObject* const* place = place_of_dict(module.object);
        if (!place) return false;
        if (!module.is_lasting() && !has_type(module)) return false;
        if (module.stay != Stay::watched) compare(module.stay, place, *place);
        return true;
    }

    /// A function that lasts stays with its globals, until the collector destroys it.
    Stay keep_globals_of(Value function) {
        auto* const object = reinterpret_cast<PyFunctionObject*>(function.object);
        compare(function.stay, &object->func_globals, object->func_globals);
        return Stay::compared;
    }

    /// Notes that a part of a dict is read, and what tells of its changes. `value`: the
    /// dict, where it was itself fetched.
    Stay use(PyObject* dict, PyObject* key, Reads reads, Value value) {
        if (!dict) return Stay::unknown;
        DictUse made{dict, 0, part_of(reads), number_, arming_};
        if (made.part == DictPart::item && !plain_hash(key, made.hash)) {
            return Stay::unknown;
        }
        const auto [known, is_new] =
            stays_.insert({{dict, made.hash, made.part}, Stay::unknown});
        if (!is_new) return known->second;
        uses_.push_back(made);  // first: it is taken back where there is no memory
        const DictCare care = use_dict(assumption_, made);
        if (care == DictCare::tag) compare_tag(made, key, value);
        return known->second = stay_of(care);
    }

    /// The same of the value at a position, of a dict without events: its tag, its
    /// table and the value's word.
    Stay use_entry(PyObject* dict, Py_ssize_t position, Value value) {
        if (!dict || dict_news(dict) != DictNews::tag) return Stay::unknown;
        PyObject* const* const place = place_of_entry(dict, position).value;
        if (!place || use(dict, nullptr, Reads::keys, value) != Stay::compared) {
            return Stay::unknown;
        }
        compare(Stay::compared, place_of_keys(dict), dict_keys(dict));
        compare(Stay::compared, place, *place);
        return Stay::compared;
    }

    static Stay stay_of(DictCare care) noexcept {
        if (care == DictCare::events) return Stay::watched;
        return care == DictCare::tag ? Stay::compared : Stay::unknown;
    }

    /// The tag of a dict, and the word of the item: a specialised store of an attribute
    /// drops the old value, whose finalizer may ask, before it makes the new tag
    /// (STORE_ATTR_WITH_HINT, Python/ceval.c of 3.11).
    void compare_tag(const DictUse& made, PyObject* key, Value value) {
        // What is not a dict any more has no tag.
        if (value.object == made.dict && !value.is_lasting()) has_type(value);
        const uint64_t* tag = dict_tag(made.dict);
        compare(Stay::compared, tag, reinterpret_cast<const void*>(*tag),
                TestKind::tag);
        if (made.part != DictPart::item) return;
        PyObject* const* place = place_in_dict(made.dict, {key, made.hash});
        if (!place) return;
        // A key that is no exact str makes a new table, with the same tag where its
        // value is the one that was there.
        compare(Stay::compared, place_of_keys(made.dict), dict_keys(made.dict));
        compare(Stay::compared, place, *place);
    }

    /// A word that is compared each time; once is enough. `stay`: of what it lies in.
    void compare(Stay stay, const void* at, const void* expected,
                 TestKind kind = TestKind::word) {
        if (!compared_.insert(at).second) return;
        if (stay == Stay::watched) {
            words_.push_back({at, expected});
            word_ops_.push_back(number_);
        } else {
            add({at, expected, number_, kind});
        }
    }

    void add(const AssumptionTest& test) {
        static const void* const word = nullptr;
        const bool is_word = test.kind == TestKind::word || test.kind == TestKind::tag;
        tests_.push_back(test);
        test_words_.push_back(is_word ? KeptWord{test.at, test.expected}
                                      : KeptWord{&word, &word});
    }

    Assumption& assumption_;
    const Program& program_;
    const View& view_;
    std::vector<Value> values_;
    std::vector<bool> is_handed_;  ///< by place: a relation reads it
    std::vector<HandedValue> handed_;
    Value anchor_;
    const void* builtins_ = nullptr;
    uint32_t number_ = 0;
    const uint64_t arming_ = assumption_counts.tried++;
    std::vector<AssumptionTest> tests_;
    std::vector<KeptWord> test_words_;
    std::vector<KeptWord> words_;
    std::vector<uint32_t> word_ops_;
    std::vector<DictUse> uses_;
    References held_;
    std::set<const void*> compared_;
    std::set<std::pair<PyObject*, OpCode>> parts_;
    std::map<std::tuple<PyObject*, Py_hash_t, DictPart>, Stay> stays_;
};

void Assumption::passed(const Program& program, const View& view, const Op& end,
                        PyObject* start) {
    if (!assumptions_can_arm()) return;
    if (start != candidate_) {
        candidate_ = start;
        passes_ = 0;
    }
    if (++passes_ < wanted_passes_ || !start) return;
    if (armed_for_) break_by(0, Breach::moved);  // armed for another start
    passes_ = 0;
    std::optional<Arming> arming;
    const auto last = static_cast<size_t>(&end - program.ops().data());
    // Up to 3.11 making a weak reference may collect garbage: finalizers would run.
    const int collects = PyGC_Disable();
    bool did_arm = false;
    const bool has_memory = allocating([&] {
        arming.emplace(*this, program, view);
        did_arm = arming->run(end, start, last - end.skip, last);
    });
    if (!has_memory) PyErr_Clear();  // it is armed another time
    if (has_memory && did_arm) arming->commit(start);
    if (collects) PyGC_Enable();
    if (!has_memory || !did_arm) {
        if (arming) arming->roll_back();
        return;
    }
    if (arms_ == 0) wanted_passes_ = 1;
    armed_at_ = std::chrono::steady_clock::now();
    ++arms_;
    ++assumption_counts.arms;
    ++assumption_counts.armed;
    if (arms_ > 1) ++assumption_counts.rearms;
}

}  // namespace guardtree
