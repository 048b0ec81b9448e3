// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decoded functions, and the threads that run them. Owns the forms of both. Instructions are in the files *Rules.cpp.
//
// A function has a frame of 64-bit slots: special registers, registers, constants, and parameters of calls. So every
// operand of an instruction is the number of a slot. A handler runs an instruction and returns the next one, or null
// where the thread cannot go on by itself.

#pragma once

#include "test/ptx/Interpreter.h"
#include "test/ptx/Shadow.h"
#include "test/ptx/Types.h"
#include "llvm/ADT/StringMap.h"
#include <array>
#include <cstring>
#include <type_traits>

namespace resid::ptx {

struct Block;
struct Instruction;
struct Thread;

enum class Space : uint8_t { Global, Const, Shared, Generic };

/// An array that a kernel may access in global or constant memory.
struct Region {
  /// The shadow counts from a word's boundary, whatever the address of the array is.
  Region(uint64_t begin, uint64_t bytes, std::string name, Space space)
      : begin(begin), end(begin + bytes), name(std::move(name)), space(space), shadow(end - shadowBegin(), false) {}

  uint64_t shadowBegin() const { return begin & ~uint64_t(3); }
  bool contains(uint64_t address, unsigned bytes) const {
    return address >= begin && address <= end && end - address >= bytes;
  }

  uint64_t begin, end;
  std::string name;
  Space space;
  mutable Shadow shadow;
};

using Handler = const Instruction *(*)(const Instruction *, Thread &);

struct Instruction {
  Handler run;
  std::array<uint32_t, 6> slots;
  uint64_t immediate;
};

/// The special registers, which are the first slots of every frame.
enum Special : unsigned {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  LaneId,
  WarpId,
  NwarpId,
  LaneMaskEq,
  LaneMaskLt,
  LaneMaskLe,
  LaneMaskGt,
  LaneMaskGe,
  DynamicShared, ///< Where a launch's own shared memory begins.
  kSpecials
};

/// An instruction of the text, for messages and counts.
struct SourceLine {
  unsigned line;
  llvm::StringRef text, mnemonic;
  uint32_t entered;       ///< The counter of its basic block.
  uint32_t skipped = ~0u; ///< The counter of how often its predicate was false.
};

struct Function {
  std::string name;
  bool isKernel = false;
  std::vector<Instruction> code;
  std::vector<uint32_t> lineOf; ///< By instruction, an index of `lines`.
  std::vector<SourceLine> lines;
  std::vector<uint64_t> frame; ///< What its slots hold on entry.
  unsigned stackSlots = 0;     ///< Of its frame and those of all calls.
  std::vector<const Function *> callees;
  std::vector<Parameter> parameters, results; ///< Of a kernel in its block, otherwise in the frame, in bytes.
  unsigned parameterBytes = 0;
  uint64_t sharedBytes = 0; ///< Including those of the module.
  unsigned maxThreads = 1024, requiredThreads = 0;
};

struct ModuleCode {
  std::string text; ///< Which names and lines point into.
  std::string version, target;
  std::vector<std::unique_ptr<Function>> functions;
  std::vector<std::unique_ptr<Kernel>> kernels;
  llvm::StringMap<const Kernel *> kernelByName;
  std::vector<std::unique_ptr<uint64_t[]>> storage; ///< Of variables.
  std::vector<Variable> variables;
  std::vector<std::unique_ptr<Region>> regions;
  uint32_t counters = 0; ///< How many counters its functions have.
  uint32_t sites = 0;    ///< How many instructions access memory.
};

/// Shared memory begins here and not at 0, so that a null pointer is out of bounds, as on recent chips.
constexpr uint64_t kSharedBase = 1024;
/// Generic addresses of shared memory. No address of the host is as large.
constexpr uint64_t kSharedWindow = uint64_t(1) << 56;

struct Return {
  uint64_t *registers;
  const Instruction *next;
};

/// A request for global memory, noted until the other lanes of the warp have made theirs.
struct Request {
  const Instruction *instruction;
  uint64_t address;
};

/// A copy into shared memory that nobody has waited for.
struct AsyncCopy {
  const Instruction *instruction;
  uint64_t from;
  uint32_t to;
  unsigned bytes, read; ///< Those that are written, and those of them that are no zeros.
  uint64_t group;
};

enum class State : uint8_t { Runnable, AtWarp, AtBarrier, Done, Failed };

struct Thread {
  uint64_t *registers;
  const Instruction *next;
  Block *block;
  const WarpTime *time;
  const uint8_t *parameters; ///< Of the kernel.
  uint64_t *counters;        ///< Of the launch.
  uint64_t *fuel;            ///< How many basic blocks may still be entered.
  uint16_t id;
  State state;
  bool carry;
  std::vector<Return> calls;
  std::vector<Request> requests;
  std::vector<AsyncCopy> copies; ///< In order.
  uint64_t groups;               ///< Of copies, that were committed.

  template <typename T> T read(uint32_t slot) const {
    if constexpr (std::is_same_v<T, bool>) {
      return registers[slot] & 1;
    } else {
      T value;
      std::memcpy(&value, &registers[slot], sizeof(T));
      return value;
    }
  }
  template <typename T> void write(uint32_t slot, T value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    registers[slot] = bits;
  }
  /// Ends the launch with a message about an instruction. Returns null.
  const Instruction *fail(const Instruction *instruction, const llvm::Twine &message);
  /// Stops here; the scheduler goes on.
  const Instruction *wait(const Instruction *instruction, State why) {
    next = instruction;
    state = why;
    return nullptr;
  }
};

namespace detail {
template <auto F, typename Signature> struct Apply;
template <auto F, typename R, typename... Args> struct Apply<F, R (*)(Args...)> {
  static constexpr size_t operands = 1 + sizeof...(Args);
  static const Instruction *run(const Instruction *i, Thread &t) {
    return runSlots(i, t, std::index_sequence_for<Args...>());
  }
  template <size_t... K>
  static const Instruction *runSlots(const Instruction *i, Thread &t, std::index_sequence<K...>) {
    t.write<R>(i->slots[0], F(t.read<Args>(i->slots[1 + K])...));
    return i + 1;
  }
};
} // namespace detail

/// An instruction that is a function of its operands, and the number of these with its result.
struct Pure {
  Handler run = nullptr;
  size_t operands = 0;
};
template <auto F> constexpr Pure pure = {detail::Apply<F, decltype(F)>::run, detail::Apply<F, decltype(F)>::operands};

} // namespace resid::ptx
