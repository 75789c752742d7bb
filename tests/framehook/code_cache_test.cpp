// Caches of code objects: made once, reset whole, freed with code; the entry limit.
// SPDX-License-Identifier: MIT
#include "../../framehook/code_cache.h"

#include <gtest/gtest.h>

#include "../support/guards.h"
#include "../support/interpreter.h"

namespace guardtree::tests {
namespace {

class CodeCacheTest : public Interpreter {
protected:
    void SetUp() override {
        ASSERT_TRUE(CodeCache::set_up());
        code = names.code("def f(x): return x");
    }

    Shared<Entry> entry(const std::string& payload) {
        return make_shared_counted<Entry>(Program(), names.eval(payload), Owned<>());
    }

    Namespace names;
    Owned<PyCodeObject> code;
};

TEST_F(CodeCacheTest, a_code_object_has_none_until_asked_for_and_then_keeps_it) {
    EXPECT_EQ(CodeCache::find(code.get()), nullptr);
    CodeCache* cache = CodeCache::of(code.get());
    ASSERT_NE(cache, nullptr);
    EXPECT_EQ(CodeCache::of(code.get()), cache);
    EXPECT_EQ(CodeCache::find(code.get()), cache);
    EXPECT_EQ(CodeCache::find(names.code("def f(x): return x, x").get()), nullptr);
}

TEST_F(CodeCacheTest, entries_are_counted_and_kept_in_order) {
    CodeCache* cache = CodeCache::of(code.get());
    const Shared<Entry> first = entry("1");
    cache->add(first);
    cache->add(entry("2"));
    ASSERT_EQ(cache->table()->entries().size(), 2u);
    EXPECT_EQ(cache->table()->entries()[0].get(), first.get());
    EXPECT_EQ(cache->counters.compiled, 2u);
}

TEST_F(CodeCacheTest, a_reset_forgets_everything) {
    CodeCache* cache = CodeCache::of(code.get());
    cache->add(entry("1"));
    cache->counters.misses = 7;
    cache->skipped = cache->limit_reached = true;
    const Owned<> state = Owned<>::share(cache->frame_state());
    cache->reset();
    EXPECT_TRUE(cache->table()->entries().empty());
    EXPECT_EQ(cache->counters.misses, 0u);
    EXPECT_EQ(cache->counters.compiled, 0u);
    EXPECT_FALSE(cache->skipped || cache->limit_reached);
    EXPECT_NE(cache->frame_state(), state.get());
}

TEST_F(CodeCacheTest, what_a_reset_frees_may_look_at_the_cache) {
    static CodeCache* cache = nullptr;
    static size_t seen = 0;
    cache = CodeCache::of(code.get());
    static PyMethodDef method = {"look",
                                 [](PyObject*, PyObject*) -> PyObject* {
                                     seen = cache->table()->entries().size();
                                     cache->frame_state();
                                     cache->reset();
                                     return PyBool_FromLong(1);
                                 },
                                 METH_NOARGS, nullptr};
    names.set("look", Owned<>::steal(PyCFunction_New(&method, nullptr)).get());
    names.run("class Dies:\n  def __del__(self): look()");
    cache->add(entry("Dies()"));
    seen = 99;
    cache->reset();
    EXPECT_EQ(seen, 0u);
    EXPECT_TRUE(cache->table()->entries().empty());
}

TEST_F(CodeCacheTest, a_cache_is_freed_with_its_code) {
    names.run("import weakref, gc\nclass P: pass\np = P()\nw = weakref.ref(p)");
    Owned<PyCodeObject> own = names.code("def own(): return 12345\nf = own\ndel own");
    CodeCache::of(own.get())->add(entry("p"));
    PyDict_SetItemString(CodeCache::of(own.get())->frame_state(), "k",
                         names.eval("p").get());
    names.run("del p, f");
    EXPECT_TRUE(names.is_true("w() is not None"));
    own.reset();
    names.run("gc.collect()");
    EXPECT_TRUE(names.is_true("w() is None"));
}

TEST_F(CodeCacheTest, dead_entries_are_dropped_and_live_ones_stay) {
    names.run("class C: pass\nc = C()");
    Guards guards(names);
    guards.guard({"local('x')", "id_match(c)"});
    Program program;
    Diagnostic problem;
    ASSERT_TRUE(Program::compile(guards.tree, guards.code(), program, problem));
    CodeCache* cache = CodeCache::of(code.get());
    cache->add(make_shared_counted<Entry>(std::move(program), Owned<>(), Owned<>()));
    cache->add(entry("2"));
    cache->drop_dead_entries();
    EXPECT_EQ(cache->table()->entries().size(), 2u);
    names.run("del c");
    cache->drop_dead_entries();
    EXPECT_EQ(cache->table()->entries().size(), 1u);
}

TEST_F(CodeCacheTest, the_policy_is_its_own_or_that_of_all) {
    CodeCache* cache = CodeCache::of(code.get());
    EXPECT_EQ(default_policy().entry_limit, 64u);
    EXPECT_EQ(&cache->policy(), &default_policy());
    cache->own_policy = Policy{.entry_limit = 3};
    EXPECT_EQ(cache->policy().entry_limit, 3u);
    EXPECT_EQ(default_policy().entry_limit, 64u);
}

}  // namespace
}  // namespace guardtree::tests
