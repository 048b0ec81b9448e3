// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/KernelReport.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlir::resid;

namespace json = llvm::json;

//===------------------------------------------- text -------------------------------------------------------------===//

static void printOperand(raw_ostream &stream, const ReportedOperand &operand) {
  const rows::OperandTraffic &traffic = operand.traffic;
  stream << "    " << (traffic.isOutput ? "writes " : "reads ") << operand.name << " : " << operand.type << ", "
         << traffic.bytes.print() << " bytes";
  // What stands in a row for later phases is stored, and loaded, beside the result itself.
  if (!traffic.isOutput && traffic.loads > 1)
    stream << ", in " << traffic.loads << " passes over a row";
  if (traffic.isOutput && traffic.stores > 1)
    stream << ", stored " << traffic.stores << " times to its row";
  if (traffic.isOutput && traffic.loads > 0)
    stream << ", read back " << traffic.loads << (traffic.loads == 1 ? " time" : " times");
  stream << "\n";
}

static void printPlan(raw_ostream &stream, const kernels::PlanDescription &plan) {
  stream << "    " << plan.machine << ": ";
  llvm::ListSeparator comma;
  for (const kernels::PlanDecision &decision : plan.decisions) {
    if (decision.text.empty())
      continue;
    stream << comma << decision.text;
    if (!decision.reason.empty())
      stream << " (" << decision.reason << ")";
    if (!decision.source.empty())
      stream << " [" << decision.source << (decision.asked.empty() ? "" : " asks for " + decision.asked) << "]";
  }
  stream << "\n";
}

/// The last plan that falls back to slower code; null where none does.
static const kernels::PlanDescription *findFallback(const ReportedKernel &kernel) {
  auto found = llvm::find_if(llvm::reverse(kernel.plans),
                             [](const kernels::PlanDescription &plan) { return !plan.fallbackReason.empty(); });
  return found == kernel.plans.rend() ? nullptr : &*found;
}

static void printRefusals(raw_ostream &stream, ArrayRef<ReportedRefusal> refusals) {
  for (const ReportedRefusal &refusal : refusals)
    stream << "    " << refusal.op.print() << ": " << refusal.reason << "\n";
}

/// Of a kernel or a transition.
template <typename T> static void printBytes(raw_ostream &stream, const T &mover) {
  stream << "    bytes: reads " << mover.read.print() << ", writes " << mover.written.print() << ", compulsory "
         << mover.compulsory.print() << "\n";
}

static void printTransition(raw_ostream &stream, const ReportedTransition &transition) {
  stream << "  transition of " << llvm::join(transition.kernels, ", ") << "\n";
  printBytes(stream, transition);
}

static void printKernel(raw_ostream &stream, const ReportedKernel &kernel) {
  stream << "  kernel " << kernel.name << "\n";
  for (const rows::SourceOp &op : kernel.fused)
    stream << "    " << op.print() << "\n";
  SmallVector<StringRef> lines;
  StringRef(kernel.program).split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines)
    stream << "    " << line << "\n";
  for (const ReportedOperand &operand : kernel.operands)
    printOperand(stream, operand);
  printBytes(stream, kernel);
  for (const kernels::PlanDescription &plan : kernel.plans)
    printPlan(stream, plan);
  if (const kernels::PlanDescription *plan = findFallback(kernel))
    stream << "    " << plan->fallbackName << ": " << plan->fallbackReason << "\n";
  printRefusals(stream, kernel.refusals);
}

void KernelReport::printText(raw_ostream &stream) const {
  for (const ReportedFunction &function : functions) {
    auto isOurs = [&](const ReportedKernel &kernel) { return kernel.function == function.name; };
    auto count = llvm::count_if(kernels, isOurs);
    stream << "function " << function.name << ": " << count << (count == 1 ? " kernel" : " kernels");
    auto others = llvm::map_range(function.otherOps, [](const rows::SourceOp &op) { return op.print(); });
    stream << (others.empty() ? "" : ", beside ") << llvm::join(others, ", ") << "\n";
    printRefusals(stream, function.refusals);
    for (const ReportedKernel &kernel : llvm::make_filter_range(kernels, isOurs))
      printKernel(stream, kernel);
    for (const ReportedTransition &transition : function.transitions)
      printTransition(stream, transition);
  }
  for (const ReportedProgramRefusal &refusal : programRefusals)
    stream << "refused" << (refusal.place.empty() ? "" : " at " + refusal.place) << ": " << refusal.reason << "\n";
}

//===------------------------------------------- JSON -------------------------------------------------------------===//

template <typename T> static json::Array toArray(ArrayRef<T> values, json::Value (*convert)(const T &)) {
  json::Array array;
  for (const T &value : values)
    array.push_back(convert(value));
  return array;
}

static json::Value toJSON(const rows::ByteCount &bytes) {
  if (std::optional<int64_t> number = bytes.getNumber())
    return *number;
  return bytes.print();
}

static json::Value toJSON(const rows::SourceOp &op) { return json::Object{{"op", op.name}, {"place", op.place}}; }

static json::Value toJSON(const ReportedRefusal &refusal) {
  return json::Object{{"op", refusal.op.name}, {"place", refusal.op.place}, {"reason", refusal.reason}};
}

static json::Value toJSON(const kernels::PlanDescription &plan) {
  json::Object object{{plan.machineKind, plan.machine}};
  for (const kernels::PlanDecision &decision : plan.decisions) {
    object[decision.key] = decision.value;
    if (decision.hasReason)
      object[decision.key + "_reason"] = decision.reason.empty() ? json::Value(nullptr) : decision.reason;
    object[decision.key + "_source"] = decision.source.empty() ? "default" : decision.source;
  }
  return object;
}

static json::Value toJSON(const ReportedOperand &operand) {
  return json::Object{{"name", operand.name},
                      {"type", operand.type},
                      {"kind", operand.traffic.isOutput ? "output" : "input"},
                      {"bytes", toJSON(operand.traffic.bytes)},
                      {"loads", operand.traffic.loads},
                      {"stores", operand.traffic.stores}};
}

static json::Value toJSON(const ReportedKernel &kernel) {
  SmallVector<StringRef> lines;
  StringRef(kernel.program).split(lines, '\n', -1, /*KeepEmpty=*/false);
  json::Object object{{"name", kernel.name},
                      {"function", kernel.function},
                      {"fused", toArray<rows::SourceOp>(kernel.fused, toJSON)},
                      {"program", json::Array(lines)},
                      {"operands", toArray<ReportedOperand>(kernel.operands, toJSON)},
                      {"schedule", toArray<kernels::PlanDescription>(kernel.plans, toJSON)},
                      {"bytes_read", toJSON(kernel.read)},
                      {"bytes_written", toJSON(kernel.written)},
                      {"bytes_compulsory", toJSON(kernel.compulsory)},
                      {"refusals", toArray<ReportedRefusal>(kernel.refusals, toJSON)}};
  for (const kernels::PlanDescription &plan : kernel.plans) {
    std::string name = plan.fallbackName;
    llvm::replace(name, ' ', '_');
    object.try_emplace(name, nullptr);
    if (!plan.fallbackReason.empty())
      object[name] = plan.fallbackReason;
  }
  return object;
}

static json::Value toJSON(const ReportedTransition &transition) {
  return json::Object{{"kernels", json::Array(transition.kernels)},
                      {"bytes_read", toJSON(transition.read)},
                      {"bytes_written", toJSON(transition.written)},
                      {"bytes_compulsory", toJSON(transition.compulsory)}};
}

static json::Value toJSON(const ReportedFunction &function) {
  return json::Object{{"name", function.name},
                      {"transitions", toArray<ReportedTransition>(function.transitions, toJSON)},
                      {"other_ops", toArray<rows::SourceOp>(function.otherOps, toJSON)},
                      {"refusals", toArray<ReportedRefusal>(function.refusals, toJSON)}};
}

static json::Value toJSON(const ReportedProgramRefusal &refusal) {
  return json::Object{{"place", refusal.place}, {"reason", refusal.reason}};
}

void KernelReport::printJSON(raw_ostream &stream) const {
  json::Object report{{"version", 1},
                      {"functions", toArray<ReportedFunction>(functions, toJSON)},
                      {"kernels", toArray<ReportedKernel>(kernels, toJSON)},
                      {"refused", toArray<ReportedProgramRefusal>(programRefusals, toJSON)}};
  stream << llvm::formatv("{0:2}", json::Value(std::move(report))) << "\n";
}
