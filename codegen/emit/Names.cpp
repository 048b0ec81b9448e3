// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which names are taken in C and C++; see Names.h.

#include "codegen/emit/Names.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/TargetLibraryInfo.h"

using namespace mlir::resid;

static llvm::StringSet<> makeSet(llvm::StringRef words) {
  llvm::SmallVector<llvm::StringRef> list;
  llvm::SplitString(words, list);
  llvm::StringSet<> set;
  set.insert(list.begin(), list.end());
  return set;
}

/// Keywords of C11 and C++11, words that compilers define, and what the declarations of a generated header use.
static bool isTaken(llvm::StringRef name) {
  static const llvm::StringSet<> words =
      makeSet("alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t class "
              "compl const const_cast constexpr continue decltype default delete do double dynamic_cast else enum "
              "explicit export extern false float for friend goto if inline int long mutable namespace new "
              "noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast "
              "restrict return short signed sizeof static static_assert static_cast struct switch template this "
              "thread_local throw true try typedef typeid typename typeof union unsigned using virtual void "
              "volatile wchar_t while xor xor_eq ctx int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t "
              "size_t NULL NDEBUG errno offsetof unix linux i386 resid_ctx resid_info resid_status "
              "DLDevice DLDeviceType DLDataType DLDataTypeCode DLTensor DLManagedTensor");
  bool isOurs = name.starts_with("RESID_") || name.starts_with("kDL");
  // `_X` and `__x` belong to the compiler, UINT8_MAX and the like to <stdint.h>.
  bool isCompilers = name.size() > 1 && name[0] == '_' && (name[1] == '_' || llvm::isUpper(name[1]));
  bool isLimit = name.contains("INT") || name.contains("SIZE") || name.contains("CHAR") || name.contains("ATOMIC");
  isLimit &= name.ends_with("_MAX") || name.ends_with("_MIN") || name.ends_with("_C") || name.ends_with("_WIDTH");
  return isOurs || isCompilers || isLimit || words.contains(name);
}

/// Functions of the C library, of the runtime, and helpers of objects.
static bool isFunctionTaken(llvm::StringRef name) {
  static const llvm::StringSet<> functions =
      makeSet("main resid_alloc resid_ctx_init resid_free resid_parallel_for resid_status_string "
              "resid_thread_pool_create resid_thread_pool_destroy resid_thread_pool_size resid_cpu_choice "
              "resid_cpu_state resid_dl_read getauxval");
  static const llvm::TargetLibraryInfoImpl library{llvm::Triple("x86_64-unknown-linux-gnu")};
  llvm::LibFunc function;
  return functions.contains(name) || library.getLibFunc(name, function);
}

static std::string replaceCharacters(llvm::StringRef name) {
  std::string identifier;
  for (char c : name)
    identifier += llvm::isAlnum(c) ? c : '_';
  if (identifier.empty() || llvm::isDigit(identifier.front()))
    identifier.insert(identifier.begin(), '_');
  return identifier;
}

std::string emit::makeIdentifier(llvm::StringRef name) {
  std::string identifier = replaceCharacters(name);
  return isTaken(identifier) ? identifier + "_" : identifier;
}

std::string emit::makeFunctionName(llvm::StringRef name) {
  std::string identifier = replaceCharacters(name);
  return isTaken(identifier) || isFunctionTaken(identifier) ? identifier + "_" : identifier;
}

std::string emit::ParameterNames::take(llvm::StringRef wanted) {
  std::string name = makeIdentifier(wanted);
  while (!taken.insert(name).second)
    name += "_";
  return name;
}
