// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decodes a module: its variables and their first values, then its functions.

#include "test/ptx/Decoder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

using namespace resid::ptx;

static Rules allRules() {
  Rules rules;
  addIntegerRules(rules);
  addBitRules(rules);
  addCompareRules(rules);
  addFloatRules(rules);
  addConvertRules(rules);
  addMoveRules(rules);
  addMemoryRules(rules);
  addControlRules(rules);
  addWarpRules(rules);
  addAsyncRules(rules);
  addMatrixRules(rules);
  return rules;
}

/// Where a variable lies. Values come later, since they may be addresses of others.
static llvm::Error placeVariable(const Declaration &declared, ModuleNames &names) {
  ModuleCode &module = names.module;
  bool isDynamic = declared.space == "shared" && declared.external && declared.count == 0;
  if (declared.external && !isDynamic)
    return errorAtLine(declared.line, "external variable '" + declared.name + "'");
  if (isDynamic) {
    names.variables[declared.name] = {0, Space::Shared};
    return llvm::Error::success();
  }
  if (declared.space == "shared") {
    names.sharedBytes = llvm::alignTo(names.sharedBytes, declared.alignment());
    names.variables[declared.name] = {kSharedBase + names.sharedBytes, Space::Shared};
    names.sharedBytes += declared.bytes();
    return llvm::Error::success();
  }
  // Room for the largest alignment that PTX text has in practice.
  constexpr uint64_t kAlign = 256;
  if (declared.alignment() > kAlign)
    return errorAtLine(declared.line, "alignment of '" + declared.name + "' is over 256");
  module.storage.push_back(std::make_unique<uint64_t[]>((declared.bytes() + kAlign) / 8 + 1));
  uint64_t begin = llvm::alignTo(reinterpret_cast<uint64_t>(module.storage.back().get()), kAlign);
  Space space = declared.space == "const" ? Space::Const : Space::Global;
  names.variables[declared.name] = {begin, space};
  module.variables.push_back({declared.name.str(), reinterpret_cast<void *>(begin), declared.bytes()});
  module.regions.push_back(std::make_unique<Region>(begin, declared.bytes(), declared.name.str(), space));
  return llvm::Error::success();
}

static llvm::Error initialize(const Declaration &declared, ModuleNames &names) {
  if (declared.initial.size() > declared.count)
    return errorAtLine(declared.line, "more values than '" + declared.name + "' has elements");
  auto *to = reinterpret_cast<uint8_t *>(names.variables[declared.name].value);
  unsigned bytes = bytesOf(declared.type);
  for (const Operand &value : declared.initial) {
    uint64_t bits = value.bits;
    if (value.kind == Operand::Symbol) {
      auto found = names.variables.find(value.name);
      if (found == names.variables.end() || found->second.space == Space::Shared || bytes != 8)
        return errorAtLine(declared.line, "unsupported value '" + value.name + "' of '" + declared.name + "'");
      bits += found->second.value;
    } else if (value.kind != Operand::Integer && value.kind != Operand::Float) {
      return errorAtLine(declared.line, "expected numbers as values of '" + declared.name + "'");
    }
    std::memcpy(to, &bits, bytes);
    to += bytes;
  }
  return llvm::Error::success();
}

/// The slots of the stack that a function needs with all it calls, or an error where calls go in a circle.
static llvm::Error measureStack(Function &function, llvm::SmallVectorImpl<const Function *> &path) {
  if (llvm::is_contained(path, &function))
    return llvm::createStringError("recursive call of '" + function.name + "'");
  if (function.stackSlots)
    return llvm::Error::success();
  path.push_back(&function);
  unsigned deepest = 0;
  for (const Function *callee : function.callees) {
    if (llvm::Error error = measureStack(const_cast<Function &>(*callee), path))
      return error;
    deepest = std::max(deepest, callee->stackSlots);
  }
  path.pop_back();
  function.stackSlots = function.frame.size() + deepest;
  return llvm::Error::success();
}

static void declareFunction(const FunctionText &text, ModuleNames &names) {
  Function *&function = names.functions[text.name];
  if (!function) {
    names.module.functions.push_back(std::make_unique<Function>());
    function = names.module.functions.back().get();
    function->name = text.name.str();
    function->isKernel = text.isKernel;
  }
}

/// All signatures come before the first body, since functions may call what is defined further down.
static llvm::Error decodeFunctions(const ModuleText &text, ModuleNames &names) {
  for (const FunctionText &function : text.functions)
    declareFunction(function, names);
  std::vector<std::unique_ptr<Decoder>> decoders;
  llvm::StringSet<> defined;
  for (const FunctionText &body : text.functions) {
    if (!body.hasBody)
      continue;
    if (!defined.insert(body.name).second)
      return errorAtLine(body.line, "function '" + body.name + "' twice");
    Function &function = *names.functions[body.name];
    function.maxThreads = body.maxThreads ? body.maxThreads : 1024;
    function.requiredThreads = body.requiredThreads;
    function.sharedBytes = names.sharedBytes;
    decoders.push_back(std::make_unique<Decoder>(names, function, body));
  }
  for (auto &decoder : decoders)
    if (llvm::Error error = decoder->decode())
      return error;
  return llvm::Error::success();
}

llvm::Error resid::ptx::decodeModule(const ModuleText &text, ModuleCode &module) {
  ModuleNames names{module, allRules(), {}, {}};
  module.version = text.version.str();
  module.target = text.target.str();
  for (const Declaration &declared : text.variables)
    if (llvm::Error error = placeVariable(declared, names))
      return error;
  for (const Declaration &declared : text.variables)
    if (llvm::Error error = initialize(declared, names))
      return error;
  if (llvm::Error error = decodeFunctions(text, names))
    return error;
  for (auto &function : module.functions) {
    if (function->code.empty())
      return llvm::createStringError("function '" + function->name + "' has no body");
    llvm::SmallVector<const Function *> path;
    if (llvm::Error error = measureStack(*function, path))
      return error;
    if (!function->isKernel)
      continue;
    // What a chip has beyond this is for the memory of a launch.
    constexpr uint64_t kMaxDeclared = 48 << 10;
    if (function->sharedBytes > kMaxDeclared)
      return llvm::createStringError("kernel '" + function->name + "' declares " + llvm::Twine(function->sharedBytes) +
                                     " bytes of shared memory, and at most " + llvm::Twine(kMaxDeclared) +
                                     " can be declared");
    module.kernels.push_back(std::make_unique<Kernel>(module, *function));
    module.kernelByName[function->name] = module.kernels.back().get();
  }
  return llvm::Error::success();
}
