// The thread's own storage of the frame hook.
// SPDX-License-Identifier: MIT
#include "hook_thread.h"

namespace guardtree {

thread_local constinit HookThread hook_thread;

}  // namespace guardtree
