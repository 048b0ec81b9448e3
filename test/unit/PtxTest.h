// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs PTX in tests. Owns the frame around single instructions. Does not own what they should give.

#pragma once

#include "test/ptx/Interpreter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

#include "gtest/gtest.h"
#include <array>
#include <cmath>
#include <cstring>
#include <random>

namespace resid::ptx {

/// Up to three operands, as the low bits of 64.
using Operands = std::array<uint64_t, 3>;

inline const char *const kHead = ".version 7.0\n.target sm_80\n.address_size 64\n";

/// A kernel `k` of three pointers, with registers of all kinds.
inline std::string kernelText(const std::string &body, const std::string &before = "") {
  return std::string(kHead) + before +
         ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c)\n{\n"
         ".reg .pred %p<20>;\n.reg .b16 %h<20>;\n.reg .b32 %r<40>;\n.reg .b64 %d<40>;\n"
         ".reg .pred %py;\n.reg .b16 %hy;\n.reg .b32 %ry;\n.reg .b64 %dy;\n" +
         body + "\nret;\n}\n";
}

inline std::string messageOf(llvm::Error error) { return error ? llvm::toString(std::move(error)) : ""; }

inline std::string parseError(const std::string &text) {
  auto module = Module::parse(text);
  return module ? "" : messageOf(module.takeError());
}

/// The bytes of a kernel's parameters, one after the other.
template <typename... T> std::vector<uint8_t> pack(T... values) {
  std::vector<uint8_t> bytes;
  auto add = [&](auto value) {
    bytes.resize((bytes.size() + sizeof(value) - 1) / sizeof(value) * sizeof(value));
    bytes.resize(bytes.size() + sizeof(value));
    std::memcpy(bytes.data() + bytes.size() - sizeof(value), &value, sizeof(value));
  };
  (add(values), ...);
  return bytes;
}

/// Launches kernel `k`.
inline llvm::Expected<Counts> runKernel(const Module &module, const Memory &memory,
                                        const std::vector<uint8_t> &parameters, Launch launch = {}) {
  launch.parameters = parameters;
  return run(*module.find("k"), launch, memory);
}

/// Runs kernel `k` on up to three arrays, which lie as a GPU's allocator places them: at multiples of 256 bytes. The
/// result is the error, or empty.
struct Runner {
  std::vector<uint32_t> a = std::vector<uint32_t>(256), b = a, c = a;
  Launch launch;
  Counts counts;

  std::string operator()(const std::string &text) {
    auto module = Module::parse(text);
    if (!module)
      return "parse: " + messageOf(module.takeError());
    struct alignas(256) Line {
      uint32_t words[64];
    };
    Memory memory;
    std::array<std::vector<Line>, 3> arrays;
    std::vector<uint32_t> *values[] = {&a, &b, &c};
    for (unsigned i = 0; i < 3; ++i) {
      arrays[i].resize(values[i]->size() / 64 + 1);
      llvm::copy(*values[i], arrays[i].front().words);
      memory.add(arrays[i].data(), values[i]->size() * 4, std::string(1, "abc"[i]));
    }
    auto result = runKernel(*module, memory, pack(arrays[0].data(), arrays[1].data(), arrays[2].data()), launch);
    for (unsigned i = 0; i < 3; ++i)
      std::copy_n(arrays[i].front().words, values[i]->size(), values[i]->begin());
    if (!result)
      return messageOf(result.takeError());
    counts = *result;
    return "";
  }
};

inline float asFloat(uint64_t bits) { return llvm::bit_cast<float>(uint32_t(bits)); }
inline double asDouble(uint64_t bits) { return llvm::bit_cast<double>(bits); }
inline uint64_t bitsOf(float value) { return value != value ? 0x7fffffff : llvm::bit_cast<uint32_t>(value); }
inline uint64_t bitsOf(double value) { return llvm::bit_cast<uint64_t>(value); }
template <typename T> std::enable_if_t<std::is_integral_v<T>, uint64_t> bitsOf(T value) { return uint64_t(value); }

/// An operand, as whatever type a function takes it.
struct Word {
  uint64_t bits;
  template <typename T> operator T() const {
    if constexpr (std::is_same_v<T, float>)
      return asFloat(bits);
    else if constexpr (std::is_same_v<T, double>)
      return asDouble(bits);
    else
      return T(bits);
  }
};

/// Calls a function of the first operands, as many as it takes.
template <typename F> auto callWith(const F &function, const Operands &x) {
  Word a{x[0]}, b{x[1]}, c{x[2]};
  if constexpr (std::is_invocable_v<F, Word, Word, Word>)
    return function(a, b, c);
  else if constexpr (std::is_invocable_v<F, Word, Word>)
    return function(a, b);
  else
    return function(a);
}

/// The letter of the register that an instruction writes.
inline char kindOfResult(const std::string &instruction) {
  for (char kind : {'r', 'h', 'd', 'p'})
    if (instruction.find(std::string("%") + kind + 'y') != std::string::npos)
      return kind;
  ADD_FAILURE() << "no result: " << instruction;
  return 'r';
}

/// The results of one instruction for many operands. Operands are %r0 to %r2, and likewise %h0, %d0 and %p0. The
/// instruction writes %ry, %hy, %dy or %py.
inline std::vector<uint64_t> apply(const std::string &instruction, std::vector<Operands> operands) {
  char kind = kindOfResult(instruction);
  std::string body = "mov.u32 %r10, %tid.x;\nmov.u32 %r11, %ctaid.x;\nmov.u32 %r12, %ntid.x;\n"
                     "mad.lo.u32 %r10, %r11, %r12, %r10;\nld.param.b64 %d10, [a];\nmul.wide.u32 %d11, %r10, 24;\n"
                     "add.s64 %d10, %d10, %d11;\nld.param.b64 %d12, [b];\nmul.wide.u32 %d11, %r10, 8;\n"
                     "add.s64 %d12, %d12, %d11;\n";
  for (char index : {'0', '1', '2'}) {
    std::string number(1, index);
    body += "ld.global.b64 %d" + number + ", [%d10+" + std::to_string(8 * (index - '0')) + "];\n";
    body += "cvt.u32.u64 %r" + number + ", %d" + number + ";\ncvt.u16.u64 %h" + number + ", %d" + number + ";\n";
    body += "and.b32 %r13, %r" + number + ", 1;\nsetp.eq.u32 %p" + number + ", %r13, 1;\n";
  }
  body += "mov.b16 %hy, 0;\nmov.b32 %ry, 0;\nmov.b64 %dy, 0;\n" + instruction + "\n";
  body += kind == 'r'   ? "cvt.u64.u32 %dy, %ry;\n"
          : kind == 'h' ? "cvt.u64.u16 %dy, %hy;\n"
          : kind == 'p' ? "selp.b64 %dy, 1, 0, %py;\n"
                        : "";
  body += "st.global.b64 [%d12], %dy;";
  auto module = Module::parse(kernelText(body));
  if (!module) {
    ADD_FAILURE() << messageOf(module.takeError());
    return {};
  }
  constexpr unsigned threads = 128;
  // Full blocks, with operands that every instruction takes.
  operands.resize((operands.size() + threads - 1) / threads * threads, {1, 1, 1});
  std::vector<uint64_t> results(operands.size());
  Memory memory;
  memory.add(operands.data(), operands.size() * sizeof(Operands), "operands");
  memory.add(results.data(), results.size() * 8, "results");
  Launch launch;
  launch.gridX = operands.size() / threads;
  launch.blockX = threads;
  auto counts = runKernel(*module, memory, pack(operands.data(), results.data(), uint64_t(0)), launch);
  if (!counts)
    ADD_FAILURE() << messageOf(counts.takeError());
  return results;
}

/// Compares with a function of the host, on given operands. The types of its parameters say how it sees them. NaN of
/// f64 has no bits that NVIDIA states.
template <typename F>
void expectEach(const std::string &instruction, const std::vector<Operands> &operands, const F &expected) {
  std::vector<uint64_t> results = apply(instruction, operands);
  if (results.empty())
    return;
  char kind = kindOfResult(instruction);
  unsigned wrong = 0;
  for (size_t index = 0; index < operands.size(); ++index) {
    const Operands &x = operands[index];
    auto value = callWith(expected, x);
    uint64_t should = bitsOf(value);
    should = kind == 'r' ? uint32_t(should) : kind == 'h' ? uint16_t(should) : kind == 'p' ? should != 0 : should;
    if constexpr (std::is_same_v<decltype(value), double>)
      if (std::isnan(value) && std::isnan(asDouble(results[index])))
        continue;
    if (results[index] != should && ++wrong < 4)
      ADD_FAILURE() << instruction << std::hex << " of 0x" << x[0] << ", 0x" << x[1] << ", 0x" << x[2]
                    << ": expected 0x" << should << " but got 0x" << results[index];
  }
}

/// All triples of some values, and random ones after them.
inline std::vector<Operands> triples(const std::vector<uint64_t> &values, unsigned random = 500) {
  std::vector<Operands> result;
  for (uint64_t x : values)
    for (uint64_t y : values)
      for (uint64_t z : values)
        result.push_back({x, y, z});
  std::mt19937_64 next(1);
  for (unsigned index = 0; index < random; ++index)
    result.push_back({next(), next(), next()});
  return result;
}

} // namespace resid::ptx
