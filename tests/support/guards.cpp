// Reading ops from call texts; compiling and evaluating trees for tests.
// SPDX-License-Identifier: MIT
#include "guards.h"

#include <ostream>

#include "../../guards/run/evaluate.h"

namespace guardtree::tests {
namespace {

template <Described T>
bool read_as(std::span<PyObject* const> operands, Op& to, References& keep,
             Diagnostic& problem) {
    T concrete;
    if (!read_operands(operands, concrete, keep, problem)) return false;
    to = Op(concrete);
    return true;
}

}  // namespace

bool read_op(std::string_view name, PyObject* operands, Op& to, References& keep,
             Diagnostic& problem) {
    const std::span<PyObject* const> items(PySequence_Fast_ITEMS(operands),
                                           static_cast<size_t>(Py_SIZE(operands)));
#define X(type, stem) \
    if (name == #stem) return read_as<type>(items, to, keep, problem);
    GUARDTREE_OPS(X)
#undef X
    throw PythonError("no kind, step or relation is called " + std::string(name));
}

MappingScene::MappingScene(const Scope& scope, PyObject* mapping,
                           std::span<const SlotName> names)
    : scope_(scope),
      storage_(static_cast<size_t>(scope.code->co_nlocalsplus)),
      view_(scope_, storage_) {
    if (!view_.fill(mapping, names)) throw PythonError(taken_error_text());
}

Guards::Guards(const Namespace& names, const std::string& function)
    : names_(&names), code_(names.code(function)) {}

Op Guards::op(const std::string& call) {
    const size_t open = call.find('(');
    const std::string inner = call.substr(open + 1, call.rfind(')') - open - 1);
    const Owned<> operands = names_->eval(inner.empty() ? "()" : "(" + inner + ",)");
    Op made;
    Diagnostic problem;
    if (!read_op(call.substr(0, open), operands.get(), made, tree.references(),
                 problem)) {
        throw PythonError(problem.message);
    }
    return made;
}

NodeId Guards::node(Path steps) {
    NodeId id = 0;
    Diagnostic problem;
    is_stale_ = true;
    for (const std::string& step : steps) {
        if (!tree.child(id, op(step), id, problem)) throw PythonError(problem.message);
    }
    return id;
}

void Guards::check(NodeId node, const std::string& call) {
    Diagnostic problem;
    is_stale_ = true;
    if (!tree.check(node, op(call), problem)) throw PythonError(problem.message);
}

Guards& Guards::guard(Path ops) {
    NodeId id = 0;
    for (const std::string* each = ops.begin(); each + 1 < ops.end(); ++each) {
        Diagnostic problem;
        if (!tree.child(id, op(*each), id, problem)) throw PythonError(problem.message);
    }
    check(id, *(ops.end() - 1));
    return *this;
}

void Guards::relate(const std::string& call, std::initializer_list<Path> paths) {
    std::vector<NodeId> nodes;
    for (const Path& path : paths) nodes.push_back(node(path));
    Diagnostic problem;
    is_stale_ = true;
    if (!tree.relate(op(call), nodes, problem)) throw PythonError(problem.message);
}

const Program& Guards::program() {
    Diagnostic problem;
    if (is_stale_ && !Program::compile(tree, code_.get(), program_, problem)) {
        throw PythonError(problem.message);
    }
    is_stale_ = false;
    return program_;
}

Scope Guards::scope() const noexcept {
    return {.code = code_.get(),
            .globals = names_->dict(),
            .builtins = Namespace::builtins(),
            .closure = closure.get()};
}

Verdict Guards::verdict(PyObject* locals) {
    const MappingScene scene(scope(), locals, program().names());
    auto values = scratch(program().value_count());
    error.reset();
    return evaluate(program(), scene.view(), values.data(), error);
}

Verdict Guards::verdict(const std::string& locals) {
    return verdict(names_->eval(locals).get());
}

Explanation Guards::explained(PyObject* locals) {
    const MappingScene scene(scope(), locals, program().names());
    Explanation explanation;
    if (!explain(program(), scene.view(), explanation)) {
        throw PythonError(taken_error_text());
    }
    return explanation;
}

Explanation Guards::explained(const std::string& locals) {
    return explained(names_->eval(locals).get());
}

std::vector<PyObject*> scratch(size_t count) {
    return std::vector<PyObject*>(count,
                                  reinterpret_cast<PyObject*>(uintptr_t{0xBAD0}));
}

std::string text(Verdict verdict) {
    if (verdict == Verdict::pass) return "pass";
    return verdict == Verdict::fail ? "fail" : "error";
}

}  // namespace guardtree::tests

void guardtree::PrintTo(Verdict verdict, std::ostream* to) {
    *to << tests::text(verdict);
}
