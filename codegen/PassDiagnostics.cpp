// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/PassDiagnostics.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/Regex.h"

using namespace mlir;
using namespace mlir::resid;

namespace {
struct RunningPass {
  Pass *pass;
  Operation *op;
};
} // namespace

/// The passes that run on this thread, one in another.
static thread_local SmallVector<RunningPass> running;
/// Whether this thread hands a completed diagnostic on.
static thread_local bool isHandingOn = false;

PassDiagnostics::PassDiagnostics(MLIRContext *context, StringRef upstreamMeans, StringRef input)
    : upstreamMeans(upstreamMeans), input(input),
      handler(context, [this](Diagnostic &diagnostic) { return isHandingOn ? failure() : complete(diagnostic); }) {}

void PassDiagnostics::runBeforePass(Pass *pass, Operation *op) { running.push_back({pass, op}); }
void PassDiagnostics::runAfterPass(Pass *, Operation *) { running.pop_back(); }
void PassDiagnostics::runAfterPassFailed(Pass *, Operation *) { running.pop_back(); }

static bool isKnown(Location location) { return static_cast<bool>(location->findInstanceOf<FileLineColLoc>()); }

/// Where `op` stands, or else what is around it, or else the first op in it of which that is known.
Location PassDiagnostics::findPlace(Operation *op) const {
  for (Operation *around = op; around; around = around->getParentOp())
    if (isKnown(around->getLoc()))
      return around->getLoc();
  Location found = UnknownLoc::get(op->getContext());
  op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
    if (!isKnown(inner->getLoc()))
      return WalkResult::advance();
    found = inner->getLoc();
    return WalkResult::interrupt();
  });
  return found;
}

/// "function 'f'", where the pass runs on one or there is but one.
static std::string describe(Operation *op) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    function = op->getParentOfType<FunctionOpInterface>();
  if (auto module = dyn_cast<ModuleOp>(op)) {
    auto functions = module.getOps<FunctionOpInterface>();
    auto isDefined = [](FunctionOpInterface candidate) { return !candidate.isExternal(); };
    if (llvm::count_if(functions, isDefined) == 1)
      function = *llvm::find_if(functions, isDefined);
  }
  return function ? ("function '" + function.getName() + "'").str() : "the program";
}

static bool namesOp(StringRef text) {
  static const llvm::Regex name("'[a-z_]+\\.[a-z_.]+'");
  return name.match(text);
}

/// Whether the pass is MLIR's, whose texts are not written for users of resid.
static bool isUpstream(const Pass *pass) { return !pass->getArgument().starts_with("resid-"); }

LogicalResult PassDiagnostics::complete(Diagnostic &diagnostic) {
  if (running.empty())
    return failure(); // others have it as it is
  auto [pass, op] = running.back();
  bool isUpstreamError = diagnostic.getSeverity() == DiagnosticSeverity::Error && isUpstream(pass);
  bool hasPlace = isKnown(diagnostic.getLocation());
  Location place = hasPlace ? diagnostic.getLocation() : findPlace(op);
  std::string text = diagnostic.str();
  bool isMeant = isUpstreamError && !upstreamMeans.empty();
  bool isBare = isUpstreamError && !namesOp(text);
  if (!isMeant && !isBare && hasPlace)
    return failure();
  bool isLost = !isKnown(place);
  if (isLost && !input.empty())
    place = FileLineColLoc::get(op->getContext(), input, 1, 1);
  isHandingOn = true;
  InFlightDiagnostic completed = op->getContext()->getDiagEngine().emit(place, diagnostic.getSeverity());
  if (isMeant)
    completed << upstreamMeans;
  else if (isBare)
    completed << "while lowering " << describe(op) << ": " << text;
  else
    completed << (isLost ? "in " + describe(op) + ": " : "") << text;
  if (isMeant)
    completed.attachNote(place) << "MLIR's " << pass->getArgument() << " says: " << text;
  for (Diagnostic &note : diagnostic.getNotes())
    completed.attachNote(isKnown(note.getLocation()) ? note.getLocation() : place) << note.str();
  completed.report();
  isHandingOn = false;
  return success();
}
