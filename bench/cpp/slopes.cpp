// What one more guard costs, by shape: programs of 8 and of 32 guards of one shape, and
// the same checks written by hand. The slope is the difference over 24.
// SPDX-License-Identifier: MIT
//
// Each shape exists in several programs that are evaluated in turn: one alone would be
// learned by the branch predictor whole.
#include <memory>

#include "../../framelocals/views/frame_view.h"
#include "../../guards/run/evaluate.h"

#include "guarded_function.h"
#include "live_frame.h"
#include "straight_line.h"
#include "subjects.h"

namespace guardtree::bench {
namespace {

constexpr int programs_in_turn = 4;

/// Adds guard number `i` of a shape to a tree.
using AddGuard = std::function<void(Tree&, int i)>;

struct Shape {
    std::string name;
    std::string locals;  ///< Python expression of local number i, over `i` and `n`
    AddGuard add_guard;
    HandShape by_hand = HandShape::none;
    std::vector<std::string> expected = {};  ///< what by_hand compares with, in turn
    bool one_program = false;  ///< the first program, on the frames of all in turn
};

template <Described T, class... Texts>
Op op(Tree& tree, const Owned<>& globals, Texts... operands) {
    const auto tuple = Owned<>::steal(PyTuple_New(sizeof...(operands)));
    Py_ssize_t i = 0;
    (PyTuple_SET_ITEM(tuple.get(), i++, evaluated(operands, globals.get()).release()),
     ...);
    return op_of<T>(tree, tuple.get());
}

std::string number(int i) {
    return std::to_string(i);
}

/// A function of `count` locals with a program of `count` guards of the shape.
std::shared_ptr<GuardedFunction> subject_of(const Shape& shape, int count,
                                            const Owned<>& globals) {
    auto subject = std::make_shared<GuardedFunction>();
    subject->function = function_of_locals(count, globals.get());
    for (int i = 0; i < count; ++i) {
        const std::string text = "(lambda i, n: " + shape.locals + ")(" + number(i) +
                                 ", " + number(count) + ")";
        subject->arguments.push_back(evaluated(text, globals.get()));
    }
    Tree tree;
    for (int i = 0; i < count; ++i) shape.add_guard(tree, i);
    if (!compile(tree, *subject)) give_up(shape.name + " does not compile");
    return subject;
}

using Subjects = std::vector<std::shared_ptr<GuardedFunction>>;

using Frames = std::vector<const _PyInterpreterFrame*>;

/// Calls `use` inside of calls of all functions, with the frame of each.
void in_frames_of(const Subjects& subjects,
                  const std::function<void(const Frames&)>& use, Frames frames = {}) {
    if (frames.size() == subjects.size()) return use(frames);
    const GuardedFunction& next = *subjects[frames.size()];
    in_frame_of(next.function.get(), next.arguments,
                [&](const _PyInterpreterFrame* frame) {
                    Frames longer = frames;
                    longer.push_back(frame);
                    in_frames_of(subjects, use, longer);
                });
}

/// Evaluates all programs in turn, each on its own function's frame.
void evaluate_in_turn(benchmark::State& state, const Shape& shape,
                      const Subjects& subjects) {
    bool passed = true;
    PyObject* values[256];
    size_t turn = 0;
    in_frames_of(subjects, [&](const Frames& frames) {
        for ([[maybe_unused]] auto _ : state) {
            const FrameView view(frames[turn]);
            Owned<> error;
            const Program& program = subjects[shape.one_program ? 0 : turn]->program;
            passed &= evaluate(program, view, values, error) == Verdict::pass;
            turn = (turn + 1) % subjects.size();
        }
    });
    demand_pass(state, passed);
}

/// What the checks by hand compare with, for `count` guards.
HandConstants hand_constants(size_t count, const References& expected) {
    HandConstants constants;
    constants.places.resize(count);
    constants.keys.resize(count);
    for (size_t i = 0; i < constants.keys.size() && !expected.empty(); ++i) {
        PyObject* value = expected[i % expected.size()].get();
        constants.keys[i] = {value, PyObject_Hash(value)};
    }
    return constants;
}

/// The checks by hand, on the same frames in turn.
void by_hand_in_turn(benchmark::State& state, ByHand by_hand, const Subjects& subjects,
                     const References& expected) {
    std::vector<HandConstants> constants;
    for (const auto& subject : subjects) {
        constants.push_back(hand_constants(subject->arguments.size(), expected));
    }
    bool passed = true;
    size_t turn = 0;
    in_frames_of(subjects, [&](const Frames& frames) {
        for ([[maybe_unused]] auto _ : state) {
            const FrameView view(frames[turn]);
            passed &= by_hand(view.slots(), constants[turn]);
            turn = (turn + 1) % subjects.size();
        }
    });
    demand_pass(state, passed);
}

void register_shape(const Register& add, const Shape& shape, const Owned<>& globals) {
    for (const int count : {8, 32}) {
        Subjects subjects;
        for (int i = 0; i < programs_in_turn; ++i) {
            subjects.push_back(subject_of(shape, count, globals));
        }
        const std::string name = "slope/" + shape.name + "/guards:" + number(count);
        add(name, [shape, subjects](benchmark::State& state) {
            evaluate_in_turn(state, shape, subjects);
        });
        const ByHand by_hand = straight_line(shape.by_hand, count);
        if (!by_hand) continue;
        auto expected = std::make_shared<References>();
        for (const std::string& text : shape.expected) {
            expected->push_back(evaluated(text, globals.get()));
        }
        add("by_hand/" + shape.name + "/guards:" + number(count),
            [by_hand, subjects, expected](benchmark::State& state) {
                by_hand_in_turn(state, by_hand, subjects, *expected);
            });
    }
}

NodeId local(Tree& tree, int i) {
    return add_local(tree, local_name(i));
}

std::vector<Shape> shapes(const Owned<>& globals) {
    const auto type_int = [](Tree& tree, NodeId node) {
        add_check(
            tree, node,
            op_of_one<TypeMatch>(tree, reinterpret_cast<PyObject*>(&PyLong_Type)));
    };
    std::vector<Shape> all;
    all.push_back({"local_type", "10**6 + i",
                   [=](Tree& tree, int i) { type_int(tree, local(tree, i)); },
                   HandShape::local_type});
    all.push_back({"list_item_type", "[10**6 + i]",
                   [=](Tree& tree, int i) {
                       const Op step = op<ListItem>(tree, globals, "0");
                       type_int(tree, add_step(tree, local(tree, i), step));
                   },
                   HandShape::list_item_type});
    all.push_back({"tuple_item_type", "(10**6 + i,)", [=](Tree& tree, int i) {
                       const Op step = op<TupleItem>(tree, globals, "0");
                       type_int(tree, add_step(tree, local(tree, i), step));
                   }});
    all.push_back({"list_block", "[10**6 + j for j in range(n)]",
                   [=](Tree& tree, int i) {
                       const Op step = op<ListItem>(tree, globals, number(i));
                       type_int(tree, add_step(tree, local(tree, 0), step));
                   },
                   HandShape::list_block});
    all.push_back({"dict_item_type", "{intern('k%d' % j): 10**6 + j for j in range(n)}",
                   [=](Tree& tree, int i) {
                       const Op step =
                           op<DictItem>(tree, globals, "'k" + number(i) + "'");
                       type_int(tree, add_step(tree, local(tree, 0), step));
                   }});
    all.push_back({"dict_item_type_of_two_layouts",
                   "dict([(intern('k%d' % j), 10**6) for j in range(n)]"
                   "[::-1 if i == 0 and next(turns) % 2 else 1])",
                   [=](Tree& tree, int i) {
                       const Op step =
                           op<DictItem>(tree, globals, "'k" + number(i) + "'");
                       type_int(tree, add_step(tree, local(tree, 0), step));
                   },
                   HandShape::none,
                   {},
                   true});
    all.push_back({"mixed",
                   "[10**6, 10**6, ''.join(['ab', 'cd']), {intern('k'): 10**6}][i % 4]",
                   [=](Tree& tree, int i) {
                       NodeId node = local(tree, i);
                       if (i % 4 == 1) {
                           add_check(tree, node, op<Equals>(tree, globals, "10**6"));
                       } else if (i % 4 == 2) {
                           add_check(tree, node, op<Equals>(tree, globals, "'abcd'"));
                       } else {
                           const Op step = op<DictItem>(tree, globals, "'k'");
                           if (i % 4 == 3) node = add_step(tree, node, step);
                           type_int(tree, node);
                       }
                   },
                   HandShape::mixed,
                   {"0", "10**6", "'abcd'", "intern('k')"}});
    all.push_back({"instance_attr_type", "C(i)", [=](Tree& tree, int i) {
                       const Op step = op<InstanceAttr>(tree, globals, "'b'");
                       type_int(tree, add_step(tree, local(tree, i), step));
                   }});
    all.push_back({"global_type", "0", [=](Tree& tree, int i) {
                       const Op step =
                           op<Global>(tree, globals, "'g" + number(i) + "'");
                       type_int(tree, add_step(tree, 0, step));
                   }});
    all.push_back({"int_constant", "10**6", [=](Tree& tree, int i) {
                       add_check(tree, local(tree, i),
                                 op<Equals>(tree, globals, "10**6"));
                   }});
    all.push_back({"str_constant", "''.join(['ab', 'cd'])", [=](Tree& tree, int i) {
                       add_check(tree, local(tree, i),
                                 op<Equals>(tree, globals, "'abcd'"));
                   }});
    all.push_back({"integer_relation", "64 if i % 2 else 128", [=](Tree& tree, int i) {
                       const Op relation = op<Integers>(tree, globals, "'a == b * 2'");
                       const NodeId nodes[] = {local(tree, i & ~1), local(tree, i | 1)};
                       Diagnostic problem;
                       if (!tree.relate(relation, nodes, problem))
                           give_up(problem.message);
                   }});
    return all;
}

}  // namespace

void register_slopes(const Register& add) {
    const Owned<> globals = new_globals();
    Owned<>::steal(PyRun_String(
        "import itertools; from sys import intern\nturns = itertools.count()\n"
        "class C:\n  def __init__(self, i): self.a = 1; self.b = 10**6 + i; self.c = "
        "3\n"
        "for i in range(32): globals()[intern('g%d' % i)] = 10**6 + i\n",
        Py_file_input, globals.get(), globals.get()));
    for (const Shape& shape : shapes(globals)) register_shape(add, shape, globals);
}

}  // namespace guardtree::bench
