// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/common/FatalSignal.h"

#include <csignal>
#include <unistd.h>

void mlir::resid::tools::keepIgnoringSignals() {
  sigset_t ignored;
  sigemptyset(&ignored);
  for (int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2}) {
    struct sigaction action = {};
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN)
      sigaddset(&ignored, signal);
  }
  // Threads that are made later inherit this.
  pthread_sigmask(SIG_BLOCK, &ignored, nullptr);
}

/// LLVM's handler first puts back what was there before it, and then removes files.
static bool isEnding() {
  struct sigaction action = {};
  sigaction(SIGTERM, nullptr, &action);
  return action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN;
}

bool mlir::resid::tools::awaitFatalSignal() {
  if (!isEnding())
    return false;
  for (unsigned left = 10; left > 0;)
    left = sleep(left);
  return true;
}
