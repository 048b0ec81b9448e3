// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs PTX kernels on the host and checks what they do. Owns the interface. Knows nothing of resid, only PTX.
// What is checked, and what the bits of results are, stands in docs/ptx-interpreter.md.

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace resid::ptx {

struct Function;
struct ModuleCode;
struct Region;
class Kernel;

/// Where a parameter lies in a kernel's block of parameters.
struct Parameter {
  unsigned offset, bytes;
};

/// A variable of a module in `.global` or `.const` memory.
struct Variable {
  std::string name;
  void *address;
  uint64_t bytes;
};

/// The kernels of a text, decoded. Its kernels stay where they are when a module is moved.
class Module {
public:
  /// An error names the line. Mistakes that show without running a kernel are errors here: unknown instructions, local
  /// memory, external symbols, rounding that is not `.rn`, approximations.
  static llvm::Expected<Module> parse(llvm::StringRef text);
  Module(Module &&) noexcept;
  Module &operator=(Module &&) noexcept;
  ~Module();

  const Kernel *find(llvm::StringRef name) const;
  llvm::ArrayRef<std::unique_ptr<Kernel>> kernels() const;
  llvm::ArrayRef<Variable> variables() const;
  /// As in the text, for example "sm_80" and "7.0".
  llvm::StringRef target() const;
  llvm::StringRef version() const;

private:
  explicit Module(std::unique_ptr<ModuleCode> code);
  std::unique_ptr<ModuleCode> code;
};

class Kernel {
public:
  Kernel(const ModuleCode &module, const Function &function) : module(module), function(function) {}

  llvm::StringRef name() const;
  llvm::ArrayRef<Parameter> parameters() const;
  /// Of the whole block of parameters.
  unsigned parameterBytes() const;
  /// Of the shared variables that the kernel declares; a launch may add to them.
  uint64_t staticSharedBytes() const;

private:
  friend struct Run;
  const ModuleCode &module;
  const Function &function;
};

/// The memory that kernels may use. Device addresses are host addresses.
class Memory {
public:
  Memory();
  Memory(Memory &&) noexcept;
  Memory &operator=(Memory &&) noexcept;
  ~Memory();
  /// Arrays must not overlap. The name appears in errors.
  void add(void *begin, uint64_t bytes, llvm::StringRef name);
  void remove(void *begin);

private:
  friend struct Run;
  std::vector<std::unique_ptr<Region>> regions; ///< By address.
};

/// In which order blocks run, and the threads of a block between two barriers.
struct Order {
  enum Kind { Forward, Backward, Random };
  Kind kind = Forward;
  uint64_t seed = 0;
  static Order forward() { return {Forward, 0}; }
  static Order backward() { return {Backward, 0}; }
  static Order random(uint64_t seed) { return {Random, seed}; }
};

struct Launch {
  unsigned gridX = 1, blockX = 1;
  /// Dynamic shared memory, beyond what the kernel declares.
  uint64_t sharedBytes = 0;
  llvm::ArrayRef<uint8_t> parameters;
  Order order = {};
  /// A kernel that enters more basic blocks than this is taken for one that never ends.
  uint64_t maxBasicBlocks = uint64_t(1) << 32;
};

/// What warps asked of global memory. A request is one instruction of one warp; a sector is 32 bytes.
struct Traffic {
  uint64_t requests = 0, sectors = 0, bytes = 0;
};

struct Counts {
  /// By mnemonic as written, for example "add.rn.f32". Each thread counts.
  std::map<std::string, uint64_t> opcodes;
  uint64_t instructions = 0;
  Traffic loads, stores;
};

/// Runs all blocks of a launch, one after the other. The first mistake ends it; the error names the block, the thread,
/// the line and the text of the instruction. Launches of several host threads wait for each other.
llvm::Expected<Counts> run(const Kernel &kernel, const Launch &launch, const Memory &memory);

} // namespace resid::ptx
