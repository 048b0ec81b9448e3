// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares functions of equal hashes, operation by operation.

#include "codegen/kernels/EqualFunctions.h"

using namespace mlir;
using namespace mlir::resid;

/// The attributes but for the name.
static DictionaryAttr getAttributes(func::FuncOp function) {
  NamedAttrList attributes(function->getAttrDictionary());
  attributes.erase(SymbolTable::getSymbolAttrName());
  return attributes.getDictionary(function.getContext());
}

static size_t computeHash(func::FuncOp function) {
  llvm::hash_code hash = hash_value(getAttributes(function));
  function.getBody().walk([&](Operation *op) {
    hash = llvm::hash_combine(hash, OperationEquivalence::computeHash(op, OperationEquivalence::ignoreHashValue,
                                                                      OperationEquivalence::ignoreHashValue,
                                                                      OperationEquivalence::IgnoreLocations));
  });
  return hash;
}

static bool areEqual(func::FuncOp a, func::FuncOp b) {
  return getAttributes(a) == getAttributes(b) &&
         OperationEquivalence::isRegionEquivalentTo(&a.getBody(), &b.getBody(), OperationEquivalence::IgnoreLocations);
}

func::FuncOp kernels::EqualFunctions::add(OwningOpRef<func::FuncOp> function) {
  auto &candidates = functions[computeHash(*function)];
  auto *equal = llvm::find_if(candidates, [&](func::FuncOp other) { return areEqual(*function, other); });
  if (equal != candidates.end())
    return *equal;
  func::FuncOp added = candidates.emplace_back(*function);
  owned[added] = std::move(function);
  return added;
}

void kernels::EqualFunctions::insert(func::FuncOp function, func::FuncOp place) {
  auto entry = owned.find(function);
  if (entry == owned.end())
    return;
  symbols.insert(entry->second.release(), place->getIterator());
  owned.erase(entry);
}
