// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/boundary/Names.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/TargetLibraryInfo.h"

using namespace mlir::resid;
using namespace mlir::resid::boundary;

llvm::StringSet<> boundary::makeNameSet(llvm::StringRef words) {
  llvm::SmallVector<llvm::StringRef> list;
  llvm::SplitString(words, list);
  llvm::StringSet<> set;
  set.insert(list.begin(), list.end());
  return set;
}

/// Whether the name is a keyword of C or C++ (to C23 and C++20), a word that compilers define, a macro of C's headers
/// that would become other text in a parameter's place, or a word that the declarations of a generated header use.
static bool isTaken(llvm::StringRef name) {
  static const llvm::StringSet<> words = makeNameSet(
      "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class "
      "co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype "
      "default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline "
      "int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register "
      "reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast struct switch "
      "template this thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned using "
      "virtual void volatile wchar_t while xor xor_eq ctx int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t "
      "uint64_t size_t NULL NDEBUG I complex imaginary noreturn errno offsetof unix linux i386 resid_ctx resid_info "
      "resid_status resid_weight resid_weight_list resid_weights DLDevice DLDeviceType DLDataType DLDataTypeCode "
      "DLPackVersion DLTensor "
      "DLManagedTensor DLManagedTensorVersioned");
  bool isOurs = name.starts_with("RESID_") || name.starts_with("kDL") || name.starts_with("DLPACK_");
  // `_X` and `__x` belong to the compiler, UINT8_MAX and the like to <stdint.h>.
  bool isCompilers = name.size() > 1 && name[0] == '_' && (name[1] == '_' || llvm::isUpper(name[1]));
  constexpr llvm::StringLiteral limited[] = {"INT", "SIZE", "CHAR", "ATOMIC", "PTRDIFF"};
  bool isLimit = llvm::any_of(limited, [&](llvm::StringRef part) { return name.contains(part); });
  isLimit &= name.ends_with("_MAX") || name.ends_with("_MIN") || name.ends_with("_C") || name.ends_with("_WIDTH");
  return isOurs || isCompilers || isLimit || words.contains(name);
}

/// Names of the C library, of the runtime, and helpers of objects.
static bool isFunctionTaken(llvm::StringRef name) {
  static const llvm::StringSet<> functions = makeNameSet(
      "main resid_alloc resid_ctx_init resid_cuda_copy_v1 resid_cuda_ctx_init resid_cuda_fill_v1 "
      "resid_cuda_launch_v1 resid_cuda_load_v1 resid_cuda_unload resid_free resid_parallel_for resid_status_string "
      "resid_thread_pool_create resid_thread_pool_destroy resid_thread_pool_size resid_weights_close "
      "resid_weights_count resid_weights_fill resid_weights_find resid_weights_get resid_weights_open "
      "resid_weights_read resid_weights_set_prefix resid_cpu_choice resid_cpu_state getauxval");
  // What LLVM takes for a function of a library, whatever the headers say.
  static const llvm::TargetLibraryInfoImpl library{llvm::Triple("x86_64-unknown-linux-gnu")};
  llvm::LibFunc function;
  return functions.contains(name) || isLibraryName(name) || library.getLibFunc(name, function);
}

static std::string replaceCharacters(llvm::StringRef name) {
  std::string identifier;
  for (char c : name)
    identifier += llvm::isAlnum(c) ? c : '_';
  if (identifier.empty() || llvm::isDigit(identifier.front()))
    identifier.insert(identifier.begin(), '_');
  return identifier;
}

std::string boundary::makeIdentifier(llvm::StringRef name) {
  std::string identifier = replaceCharacters(name);
  return isTaken(identifier) ? identifier + "_" : identifier;
}

std::string boundary::makeFunctionName(llvm::StringRef name) {
  std::string identifier = replaceCharacters(name);
  return isTaken(identifier) || isFunctionTaken(identifier) ? identifier + "_" : identifier;
}

std::string boundary::ParameterNames::take(llvm::StringRef wanted) {
  std::string name = makeIdentifier(wanted);
  while (!taken.insert(name).second)
    name += "_";
  return name;
}
