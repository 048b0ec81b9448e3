// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/boundary/Header.h"

#include "codegen/boundary/Passes.h"
#include "codegen/boundary/SharedDeclarations.inc"
#include "runtime/resid.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::resid::boundary;

static std::string describeSize(const KernelSignature &signature, int64_t code) {
  if (SizeExpr derived = signature.getDerivedSize(code))
    return signature.printSize(derived);
  return code >= 0 ? std::to_string(code) : signature.sizes[-1 - code].name;
}

static std::string describeArray(const KernelSignature &signature, const KernelValue &array) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  bool isNibbles = array.getElementType().isInteger(4);
  stream << (isNibbles ? "pairs of " : "") << array.getElementType() << " [";
  llvm::interleaveComma(array.shape, stream, [&](int64_t code) { stream << describeSize(signature, code); });
  stream << "]" << (isNibbles ? ", the first of a pair in the low half of its byte" : "");
  if (array.isStrided())
    stream << ", rows " << array.stride << " apart";
  return text;
}

/// Text of others as a comment may hold it: printable, and nothing that ends or begins a comment.
static std::string makeCommentText(StringRef text) {
  std::string safe;
  for (auto [index, c] : llvm::enumerate(text)) {
    bool isMark = index > 0 && ((c == '/' && text[index - 1] == '*') || (c == '*' && text[index - 1] == '/'));
    safe += llvm::isPrint(c) && c != '\\' && !isMark ? c : ' ';
  }
  return safe;
}

static std::string describeSharing(const KernelSignature &signature, unsigned result) {
  SmallVector<std::string> names;
  bool hasStrides = signature.results[result].isStrided();
  for (auto [index, argument] : llvm::enumerate(signature.arguments))
    if (signature.mayShareBuffer(result, index)) {
      names.push_back(argument.name);
      hasStrides |= argument.isStrided();
    }
  if (names.empty())
    return "; must not overlap an input";
  return "; may be exactly the buffer of " + llvm::join(names, " or ") + (hasStrides ? ", with rows as far apart" : "");
}

static bool is16BitFloat(const KernelValue &value) {
  return value.getElementType().isF16() || value.getElementType().isBF16();
}

static void writeConstraints(llvm::raw_ostream &stream, const KernelSignature &signature) {
  for (auto [index, size] : llvm::enumerate(signature.sizes)) {
    if (size.fixed >= 0)
      stream << " *   " << size.name << " must be " << size.fixed << "\n";
    else if (size.sameAs != index)
      stream << " *   " << size.name << " must be equal to " << signature.sizes[size.sameAs].name << "\n";
  }
  for (auto [a, b] : signature.equalities) {
    auto [size, condition] = signature.describeEquality(a, b);
    stream << " *   " << signature.printSize(size) << " must be " << condition << "\n";
  }
}

/// The conditions on values, each once. Texts of assertions may hold anything, but nothing that ends or begins a
/// comment.
static void writeChecks(llvm::raw_ostream &stream, const KernelSignature &signature, resid_status status,
                        bool isInside) {
  llvm::SmallSetVector<StringRef, 4> texts;
  for (const ValueCheck &check : signature.checks)
    if (check.isInside == isInside && check.status == status)
      texts.insert(check.text);
  if (texts.empty())
    return;
  stream << (status == RESID_BAD_SHAPE ? " * RESID_BAD_SHAPE " : " * RESID_BAD_VALUE ")
         << (isInside ? "while it works, so that outputs may have been written:\n" : "before anything is written:\n");
  for (StringRef text : texts) {
    auto [before, after] = text.split(text.contains(" are {0}") ? " are {0}" : " is {0}");
    stream << " *   " << makeCommentText((before + after).str()) << "\n";
  }
}

/// What holds for all arrays, and the answers.
static void writeRules(llvm::raw_ostream &stream, const KernelSignature &signature) {
  stream << " *\n * Sizes are in elements, arrays are contiguous and row-major, "
         << (signature.isForDevice ? "in the memory of the device, and\n * aligned to their elements.\n"
                                   : "of any alignment.\n");
  bool hasStrides = llvm::any_of(llvm::concat<const KernelValue>(signature.arguments, signature.results),
                                 [](const KernelValue &value) { return value.isStrided(); });
  if (hasStrides)
    stream << " * Of an array with rows s apart, row r (all dimensions but the last, flattened) begins at element\n"
           << " * r * s; s is at least the width, and what lies between rows is left alone. Such arrays may take\n"
           << " * turns in one buffer: with rows equally far apart in bytes, each in columns of its own.\n";
  stream
      << " * Answers RESID_OK, or RESID_BAD_POINTER (NULL for an array that has elements"
      << (signature.weights.empty() ? "" : ", or for the\n * struct") << "), RESID_BAD_SHAPE (a\n"
      << " * size that is negative, disagrees, or makes an array of more than 2^47 bytes"
      << (hasStrides ? "; rows that overlap" : "") << "), RESID_ALIAS\n"
      << " * (an output overlaps another array, unless it says so above), RESID_BAD_VALUE"
      << (signature.checks.empty() ? "" : " (below)") << ", RESID_UNSUPPORTED\n"
      << (signature.isForDevice
              ? " * (the device), RESID_VERSION (ctx, or the driver), RESID_OOM (memory of the device), "
                "RESID_NO_DEVICE\n"
                " * or RESID_LAUNCH; ctx->log is told why. Work is enqueued on ctx->stream, and nothing waits for it. "
                "May\n"
                " * be called from several threads at once.\n"
              : " * (the processor), RESID_VERSION (ctx) or RESID_OOM (scratch memory); ctx->log is told why. May be\n"
                " * called from several threads at once.\n");
  for (bool isInside : {false, true})
    for (resid_status status : {RESID_BAD_SHAPE, RESID_BAD_VALUE})
      writeChecks(stream, signature, status, isInside);
  stream << " */\n";
}

static void writeComment(llvm::raw_ostream &stream, const KernelSignature &signature) {
  stream << "/* " << signature.symbol << ": " << signature.typeText << "\n *\n";
  stream << " *   ctx: " << (signature.isForDevice ? "stream and memory of the device" : "threads and memory")
         << ", or NULL\n";
  bool hasStruct = false;
  for (const KernelValue &argument : signature.arguments) {
    if (argument.isMember()) {
      if (!hasStruct)
        stream << " *   " << signature.weights << ": the struct above, read; its arrays too\n";
      hasStruct = true;
      continue;
    }
    stream << " *   " << argument.name << ": ";
    if (argument.isArray())
      stream << describeArray(signature, argument) << ", read\n";
    else
      stream << argument.type << "\n";
  }
  for (auto [index, result] : llvm::enumerate(signature.results))
    stream << " *   " << result.name << ": " << describeArray(signature, result) << ", written"
           << describeSharing(signature, index) << "\n";
  writeConstraints(stream, signature);
  if (llvm::any_of(signature.arguments, is16BitFloat) || llvm::any_of(signature.results, is16BitFloat))
    stream << " *   f16 and bf16 are passed as their 16 bits\n";
  writeRules(stream, signature);
}

static std::string elementTypeName(const KernelValue &value) { return getCTypeName(value.getElementType()).str(); }

static SmallVector<std::string> getSizeParameters(const KernelSignature &signature) {
  return llvm::map_to_vector(signature.sizes, [](const SizeParameter &size) { return "int64_t " + size.name; });
}

static SmallVector<std::string> getParameters(const KernelSignature &signature) {
  SmallVector<std::string> parameters = {"const resid_ctx *ctx"};
  bool hasStruct = false;
  for (const KernelValue &argument : signature.arguments) {
    if (argument.isMember()) {
      if (!hasStruct)
        parameters.push_back("const " + signature.getWeightsType() + " *" + signature.weights);
      hasStruct = true;
      continue;
    }
    parameters.push_back(argument.isArray() ? "const " + elementTypeName(argument) + " *" + argument.name
                                            : elementTypeName(argument) + " " + argument.name);
    for (int64_t code : argument.shape)
      if (code < 0)
        parameters.push_back("int64_t " + signature.sizes[-1 - code].name);
    if (argument.isStrided())
      parameters.push_back("int64_t " + argument.stride);
  }
  for (const KernelValue &result : signature.results) {
    parameters.push_back(elementTypeName(result) + " *" + result.name);
    if (result.isStrided())
      parameters.push_back("int64_t " + result.stride);
  }
  return parameters;
}

/// A declaration, wrapped at 100 columns.
static void writeDeclaration(llvm::raw_ostream &stream, StringRef start, ArrayRef<std::string> parameters) {
  std::string line = start.str() + "(";
  std::string indent(line.size() > 60 ? 4 : line.size(), ' ');
  for (auto [index, parameter] : llvm::enumerate(parameters)) {
    std::string next = parameter + (index + 1 == parameters.size() ? "" : ",");
    if (index > 0 && line.size() + 1 + next.size() > 100) {
      stream << line << "\n";
      line = indent + next;
      continue;
    }
    line += (index > 0 ? " " : "") + next;
  }
  stream << line << (parameters.empty() ? "void" : "") << ");\n";
}

/// The struct of weights. What each member is stands after it: what checkpoints call it, or who makes it.
static void writeWeights(llvm::raw_ostream &stream, const KernelSignature &signature) {
  if (signature.weights.empty())
    return;
  std::string type = signature.getWeightsType();
  stream << "/* The weights of " << signature.symbol << ", by their names in checkpoints. resid_weights_fill of the\n"
         << " * runtime library fills the struct from a file. */\ntypedef struct " << type << " {\n";
  for (const KernelValue &argument : signature.arguments) {
    if (!argument.isMember())
      continue;
    stream << "  const " << elementTypeName(argument) << " *" << argument.name << "; /* ";
    if (argument.weight->empty())
      stream << "made by " << signature.symbol << "_prepare";
    else
      stream << '"' << makeCommentText(*argument.weight) << '"';
    stream << ": " << describeArray(signature, argument) << " */\n";
  }
  stream << "} " << type << ";\n\n/* The members of " << type << " in their order. Never NULL. */\n";
  writeDeclaration(stream, "RESID_API const resid_weight_list *" + signature.getWeightListName(), {});
  stream << "\n";
}

static void writeFunction(llvm::raw_ostream &stream, const KernelSignature &signature) {
  const std::string &name = signature.symbol;
  writeWeights(stream, signature);
  writeComment(stream, signature);
  writeDeclaration(stream, "RESID_API resid_status " + name, getParameters(signature));
  stream
      << "\n/* " << name << " on DLPack tensors " << (signature.isForDevice ? "of CUDA" : "on the CPU")
      << ": args has its arguments, then its results, n in all. Scalars have no\n"
      << " * dimensions. Answers also RESID_BAD_DTYPE, RESID_BAD_SHAPE (another n, or a tensor of another shape),\n"
      << " * RESID_UNSUPPORTED (another device, or elements in another order) and RESID_BAD_POINTER (a tensor or its\n"
      << " * shape is NULL)."
      << (signature.weights.empty() ? "" : " Weights are among the arguments, in the order of the MLIR\n * function.")
      << " */\n";
  writeDeclaration(stream, "RESID_API resid_status " + name + "_dl",
                   {"const resid_ctx *ctx", "const DLTensor *const *args", "int32_t n"});
  if (signature.isForDevice) {
    stream << "\n/* Loads the kernels of " << name
           << " into the context of ctx->stream, as the first call does. A call that is\n"
              " * captured into a graph cannot load them. Answers the errors of the device and its driver. */\n";
    writeDeclaration(stream, "RESID_API resid_status " + name + kPreloadSuffix.str(), {"const resid_ctx *ctx"});
  }
  stream << "\n/* What " << name << " was compiled for. Never NULL. */\n";
  writeDeclaration(stream, "RESID_API const resid_info *" + name + "_info", {});
  stream << "\n/* Bytes of scratch memory that one call of " << name
         << " takes from ctx->alloc, at any number of threads;\n"
            " * RESID_BAD_SHAPE for sizes that it refuses. */\n";
  writeDeclaration(stream, "RESID_API int64_t " + name + "_scratch_bytes", getSizeParameters(signature));
  stream << "\n";
}

/// Which CPUs there is code for, where it is chosen at run time.
static void writeCPUs(llvm::raw_ostream &stream, ArrayRef<std::string> cpus) {
  if (cpus.size() < 2)
    return;
  stream << "/* For several processors: the first call chooses the first of these that the processor is able to run,\n"
         << " * and F_info()->cpu names it:\n";
  for (const std::string &cpu : cpus)
    stream << " *   " << cpu << "\n";
  stream << " * On other processors functions answer RESID_UNSUPPORTED. */\n\n";
}

/// The declarations above are another header's where that was included first.
static void writeVersionCheck(llvm::raw_ostream &stream) {
  stream << "#if RESID_ABI_VERSION != " << RESID_ABI_VERSION << "\n"
         << "#error \"expected declarations of resid's ABI version " << RESID_ABI_VERSION
         << ", but a header before this one has those of another; make all headers with one version of residc\"\n"
         << "#endif\n\n";
}

std::string mlir::resid::boundary::writeHeader(ArrayRef<KernelSignature> kernels, ArrayRef<std::string> cpus) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  std::string guard = "RESID_KERNELS";
  for (const KernelSignature &signature : kernels)
    guard += "_" + signature.symbol;
  guard += "_H";
  stream << "/* Made by residc. */\n#ifndef " << guard << "\n#define " << guard << "\n\n"
         << kSharedDeclarations << "\n";
  writeVersionCheck(stream);
  writeCPUs(stream, cpus);
  stream << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  for (const KernelSignature &signature : kernels)
    writeFunction(stream, signature);
  stream << "#ifdef __cplusplus\n}\n#endif\n\n#endif /* " << guard << " */\n";
  return text;
}
