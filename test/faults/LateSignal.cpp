// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A signal that another thread handles, to preload: before a file takes its place, SIGTERM arrives on a thread of its
// own, whose handler has removed the temporary files when the renaming begins, and ends the process a little later.
// RESID_LATE_SIGNAL=child does so where a tool waits for a program that it runs.

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <future>
#include <string>
#include <sys/types.h>
#include <thread>
#include <unistd.h>

template <typename Function> static Function *next(const char *name) {
  return reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name));
}

static std::promise<void> filesAreGone;

static bool comesAt(const char *place) {
  const char *variable = std::getenv("RESID_LATE_SIGNAL");
  return variable && variable == std::string(place);
}

/// Returns when the handler has done all but the end.
static void beginToEnd() {
  std::thread([] { pthread_kill(pthread_self(), SIGTERM); }).detach();
  filesAreGone.get_future().wait();
}

extern "C" int raise(int signal) noexcept {
  filesAreGone.set_value();
  usleep(300000);
  return next<int(int)>("raise")(signal);
}

extern "C" int rename(const char *from, const char *to) noexcept {
  if (comesAt("rename"))
    beginToEnd();
  return next<int(const char *, const char *)>("rename")(from, to);
}

extern "C" pid_t wait4(pid_t child, int *status, int options, struct rusage *usage) noexcept {
  pid_t result = next<pid_t(pid_t, int *, int, struct rusage *)>("wait4")(child, status, options, usage);
  if (comesAt("child"))
    beginToEnd();
  return result;
}
