// Views that own their values.
// SPDX-License-Identifier: MIT
#include "kept_view.h"

#include <new>

namespace guardtree {

Shared<KeptView> KeptView::of(const View& frame) noexcept {
    const auto count = static_cast<size_t>(frame.code().get()->co_nlocalsplus);
    std::unique_ptr<SlotWord[]> words(new (std::nothrow) SlotWord[count + 1]());
    KeptView* made = nullptr;
    if (words) made = new (std::nothrow) KeptView(frame, std::move(words));
    if (!made) PyErr_NoMemory();
    return Shared<KeptView>(made);
}

KeptView::KeptView(const View& frame, std::unique_ptr<SlotWord[]> words) noexcept
    : View(words.get(), frame.code().get()),
      words_(std::move(words)),
      kept_code_(Owned<PyCodeObject>::share(frame.code().get())),
      globals_(Owned<>::share(frame.globals().get())),
      builtins_(Owned<>::share(frame.builtins().get())),
      function_(Owned<>::share(frame.function().get())),
      namespace_(Owned<>::share(frame.mapping().get())),
      kept_scope_{code_, globals_.get(), builtins_.get(), frame.closure().get(),
                  function_.get()} {
    scope_ = &kept_scope_;
    mapping_ = namespace_.get();
    share_dict(frame);
    for (int i = 0; i < code_->co_nlocalsplus; ++i) {
        PyObject* value = Owned<>::share(slot_object(frame.slots()[i])).release();
        words_[static_cast<size_t>(i)] = reinterpret_cast<SlotWord>(value);
    }
}

KeptView::~KeptView() {
    for (int i = 0; i < code_->co_nlocalsplus; ++i)
        Owned<>::steal(slot_object(words_[static_cast<size_t>(i)])).reset();
}

}  // namespace guardtree
