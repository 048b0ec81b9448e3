// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/common/ChildTrial.h"

#include "tools/common/ExitCodes.h"
#include "llvm/Support/ErrorHandling.h"
#include <cerrno>
#include <csignal>
#include <new>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace mlir::resid;

/// The child falls without a word, a reproducer or a core file.
static void becomeSilent(unsigned seconds) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGXCPU})
    ::signal(signal, SIG_DFL);
  remove_fatal_error_handler();
  remove_bad_alloc_error_handler();
  install_bad_alloc_error_handler([](void *, const char *, bool) { _exit(tools::ExitMemory); });
  std::set_new_handler([] { _exit(tools::ExitMemory); });
  rlimit none = {}, time = {seconds, seconds};
  setrlimit(RLIMIT_CORE, &none);
  setrlimit(RLIMIT_CPU, &time);
}

bool tools::comesToAnEnd(function_ref<void()> work, unsigned seconds) {
  pid_t child = fork();
  if (child < 0)
    report_bad_alloc_error("a process");
  if (child == 0) {
    becomeSilent(seconds);
    work();
    _exit(ExitDone);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    continue;
  return WIFEXITED(status) && (WEXITSTATUS(status) == ExitDone || WEXITSTATUS(status) == ExitMemory);
}
