// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reproducers; see InternalError.h. What report() does is safe in the handler of a signal: system calls, and strings
// that are there already. LLVM's CrashRecoveryContext does not serve: its handlers run on the stack that failed, so
// that a full stack ends the process by SIGSEGV.

#include "tools/common/InternalError.h"

#include "tools/common/FatalSignal.h"
#include "tools/common/Parse.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <pthread.h>
#include <unistd.h>

using namespace llvm;
using namespace mlir::resid::tools;

//===----------------------------------------------------------------------===//
// Out of memory
//===----------------------------------------------------------------------===//

static const char *toolName = "resid";
/// What memory is being taken for; see MemoryNote.
static const char *memoryUse = nullptr;

static void print(StringRef text) {
  while (!text.empty()) {
    ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0)
      return;
    text = text.drop_front(written);
  }
}

/// Nothing is allocated any more, and nothing may be.
[[noreturn]] static void exitOutOfMemory() {
  sys::RunInterruptHandlers(); // temporary files go
  for (const char *text : {toolName, ": error: out of memory", memoryUse ? ": " : "", memoryUse ? memoryUse : "", "\n"})
    print(text);
  _exit(ExitMemory);
}

mlir::resid::tools::MemoryNote::MemoryNote(const char *text) { memoryUse = text; }

mlir::resid::tools::MemoryNote::~MemoryNote() { memoryUse = nullptr; }

//===----------------------------------------------------------------------===//
// Standard output and standard error
//===----------------------------------------------------------------------===//

/// Runs before LLVM's streams end, since they treat a failed write as a fatal error. A run that failed for another
/// reason keeps its exit code.
static void endStreams(int status, void *) {
  outs().flush();
  std::error_code failure = outs().error();
  bool isLost = failure || errs().has_error();
  outs().clear_error();
  errs().clear_error();
  if (status != ExitDone || !isLost)
    return;
  if (failure)
    print(std::string(toolName) + ": error: cannot write '<stdout>': " + failure.message() + "\n");
  _exit(ExitFile);
}

void mlir::resid::tools::startTool(const char *name) {
  toolName = name;
  keepIgnoringSignals();
  // A function of the C library of GNU. What is made before it is called ends after it is.
  outs();
  errs();
  if (on_exit(endStreams, nullptr))
    exitOutOfMemory();
  (void)sys::Process::FixupStandardFileDescriptors();
  std::set_new_handler(exitOutOfMemory);
  install_bad_alloc_error_handler([](void *, const char *, bool) { exitOutOfMemory(); });
}

//===----------------------------------------------------------------------===//
// Small requests of malloc
//===----------------------------------------------------------------------===//

/// MLIR takes the memory of interfaces by malloc or calloc, and writes to it without a look
/// (InterfaceMap::insertModel). A small request that cannot be met ends as one of new does. Whoever asks for much, as
/// for arrays, is answered.
static void *checkSmall(void *memory, size_t bytes) {
  constexpr size_t small = 1 << 16;
  if (!memory && bytes <= small)
    if (std::new_handler handler = std::get_new_handler())
      handler();
  return memory;
}

// The linker puts the wrappers in the places of malloc and calloc (CMakeLists.txt), whose names it gives.
extern "C" void *__real_malloc(size_t size);
extern "C" void *__real_calloc(size_t count, size_t size);
extern "C" void *__wrap_malloc(size_t size) { return checkSmall(__real_malloc(size), size); }
extern "C" void *__wrap_calloc(size_t count, size_t size) {
  return checkSmall(__real_calloc(count, size), SaturatingMultiply(count, size));
}

//===----------------------------------------------------------------------===//
// The reproducer
//===----------------------------------------------------------------------===//

/// As a shell reads it back.
static std::string quote(StringRef argument) {
  auto isPlain = [](char c) { return isAlnum(c) || StringRef("-_=.,/:+@%").contains(c); };
  if (!argument.empty() && all_of(argument, isPlain))
    return argument.str();
  std::string text = "'";
  for (char c : argument)
    text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

static const ToolRun *current = nullptr;

ToolRun::ToolRun(StringRef tool, ArrayRef<const char *> arguments, std::optional<unsigned> input)
    : tool(tool), input(input) {
  for (StringRef argument : arguments)
    this->arguments.push_back(quote(argument));
  current = this;
}

ToolRun::~ToolRun() { current = nullptr; }

void ToolRun::setProgram(StringRef text) {
  program = text.str();
  if (!text.starts_with("ML\xefR")) {
    std::string command = tool;
    for (size_t i = 0; i != arguments.size(); ++i)
      command += " " + (i == input ? "%s" : arguments[i]);
    if (!input)
      command += " %s";
    llvm::replace(command, '\n', ' ');
    std::string comment =
        "\n// resid " RESID_TOOL_VERSION " (LLVM " LLVM_VERSION_STRING ") failed on this by: " + command;
    // A reproducer that is run again stays the same file.
    if (!text.rtrim('\n').ends_with(comment))
      program += comment + "\n";
  }
  paths.clear();
  std::string stem = "resid-crash-" + utohexstr(xxh3_64bits(program));
  for (StringRef suffix : {"", "-1", "-2", "-3", "-4", "-5", "-6", "-7", "-8", "-9"})
    paths.push_back(stem + suffix.str() + ".mlir");
}

bool ToolRun::writeProgram(int descriptor) const {
  for (size_t done = 0; done != program.size();) {
    ssize_t written = write(descriptor, program.data() + done, program.size() - done);
    if (written < 0 && errno != EINTR)
      return false;
    done += written > 0 ? written : 0;
  }
  return fsync(descriptor) == 0 || errno == EINVAL;
}

bool ToolRun::holdsProgram(const char *path) const {
  int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return false;
  char bytes[4096];
  size_t done = 0;
  ssize_t count;
  while ((count = read(descriptor, bytes, sizeof(bytes))) > 0) {
    if (program.size() - done < static_cast<size_t>(count) || memcmp(bytes, program.data() + done, count) != 0)
      break;
    done += count;
  }
  close(descriptor);
  return count == 0 && done == program.size();
}

/// Writes the program to a file that was not there, or finds it in one that was. The index of its path, or -1 with the
/// reason in errno.
int ToolRun::keepProgram() const {
  for (size_t i = 0; i != paths.size(); ++i) {
    const char *path = paths[i].c_str();
    int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0) {
      if (errno != EEXIST)
        return -1;
      if (holdsProgram(path))
        return i;
      errno = EEXIST;
      continue;
    }
    bool ok = writeProgram(descriptor);
    int reason = errno;
    close(descriptor);
    if (ok)
      return i;
    unlink(path);
    errno = reason;
    return -1;
  }
  return -1;
}

/// With `path` in place of the input, or with the input as it was.
void ToolRun::printCommand(const char *path) const {
  print("  ");
  print(tool);
  for (size_t i = 0; i != arguments.size(); ++i) {
    print(" ");
    print(path && i == input ? path : StringRef(arguments[i]));
  }
  if (path && !input) {
    print(" ");
    print(path);
  }
  print("\n");
}

ExitCode ToolRun::report(const char *reason) const {
  for (StringRef text : {StringRef(tool), StringRef(": internal error: "), StringRef(reason), StringRef("\n")})
    print(text);
  if (hint)
    for (StringRef text : {StringRef(tool), StringRef(": note: "), StringRef(hint), StringRef("\n")})
      print(text);
  int kept = program.empty() ? -1 : keepProgram();
  const char *failure = strerrordesc_np(errno);
  const char *path = kept < 0 ? nullptr : paths[kept].c_str();
  print(tool);
  if (path) {
    for (StringRef text : {": please report it with the file '", path, "', which shows it again:\n"})
      print(text);
  } else {
    if (!program.empty())
      for (StringRef text : {": cannot write '", paths.front().c_str(), "': ", failure, "\n"})
        print(text);
    print(program.empty() ? "" : StringRef(tool));
    print(": please report it with the program; this shows it again:\n");
  }
  printCommand(path);
  return ExitInternal;
}

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

namespace mlir::resid::tools {

/// The way from a fault to ToolRun::report().
struct Faults {
  static const char *describe(int signal, const siginfo_t *info);
  static void handle(int signal, siginfo_t *info, void *);
  static void handleFatal(void *, const char *reason, bool);
  [[noreturn]] static void end(const char *reason);
  static void install();
  static void findStack(ToolRun &run);
};

} // namespace mlir::resid::tools

const char *Faults::describe(int signal, const siginfo_t *info) {
  switch (signal) {
  case SIGSEGV: {
    auto *address = static_cast<const char *>(info->si_addr);
    bool isFull = current && address >= current->stackLow && address < current->stackGuardEnd;
    return isFull ? "stack overflow" : "segmentation fault";
  }
  case SIGABRT:
    return "aborted";
  case SIGBUS:
    return "bus error";
  case SIGFPE:
    return "arithmetic exception";
  case SIGILL:
    return "illegal instruction";
  default:
    return "fatal signal";
  }
}

/// Of several threads that fail, the first one speaks. Where it fails again while it does, nobody else is to come: the
/// process ends.
void Faults::end(const char *reason) {
  static std::atomic<pid_t> speaker{0};
  pid_t first = 0, self = gettid();
  if (!speaker.compare_exchange_strong(first, self)) {
    while (first != self)
      pause();
    for (const char *text : {toolName, ": internal error: ", reason, " while the one before was reported\n"})
      print(text);
    _exit(ExitInternal);
  }
  sys::RunInterruptHandlers(); // temporary files go
  if (hasParserRefused())
    _exit(ExitProgram); // the error was printed
  if (current)
    current->report(reason);
  _exit(ExitInternal);
}

void Faults::handle(int signal, siginfo_t *info, void *) { end(describe(signal, info)); }

void Faults::handleFatal(void *, const char *reason, bool) { end(reason); }

void Faults::install() {
  // LLVM puts handlers of its own in place when it first has a file to remove. Ours shall stay, so its come first.
  sys::SetInterruptFunction(nullptr);
  // A file that grows beyond the limit is one that cannot be written.
  signal(SIGXFSZ, SIG_IGN);
  install_fatal_error_handler(handleFatal);
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS})
    sigaction(signal, &action, nullptr);
}

/// Of the calling thread. An access in its guard page, or a little beside it, is by a stack that is full.
void Faults::findStack(ToolRun &run) {
  constexpr size_t margin = 64 << 10;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes))
    return;
  void *low = nullptr;
  size_t size = 0, guardSize = 0;
  pthread_attr_getstack(&attributes, &low, &size);
  pthread_attr_getguardsize(&attributes, &guardSize);
  run.stackLow = static_cast<char *>(low) - guardSize - margin;
  run.stackGuardEnd = static_cast<char *>(low) + guardSize + margin;
  pthread_attr_destroy(&attributes);
}

namespace {
/// What guard()'s thread does.
struct Work {
  ToolRun &run;
  llvm::function_ref<int()> work;
  int code;
};
} // namespace

static void *runWork(void *pointer) {
  auto *work = static_cast<Work *>(pointer);
  // Where a full stack is reported from. Larger than LLVM's, which then keeps it.
  std::vector<char> handlerStack(256 << 10);
  stack_t stack = {}, before = {};
  stack.ss_sp = handlerStack.data();
  stack.ss_size = handlerStack.size();
  sigaltstack(&stack, &before);
  Faults::findStack(work->run);
  work->code = work->work();
  sigaltstack(&before, nullptr);
  return nullptr;
}

int ToolRun::guard(llvm::function_ref<int()> work) {
  Faults::install();
  Work todo{*this, work, ExitInternal};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stackBytes);
  pthread_t thread;
  if (pthread_create(&thread, &attributes, runWork, &todo))
    exitOutOfMemory();
  pthread_attr_destroy(&attributes);
  // A signal that ends the process comes to the thread that works. Handled on this one, it would remove temporary files
  // while that one goes on and makes another, or asks a program about one that is gone.
  sigset_t ending, before;
  sigemptyset(&ending);
  for (int signal : {SIGHUP, SIGINT, SIGTERM, SIGUSR2})
    sigaddset(&ending, signal);
  pthread_sigmask(SIG_BLOCK, &ending, &before);
  pthread_join(thread, nullptr);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return todo.code;
}
