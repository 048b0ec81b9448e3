// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "diagram/Diagram.h"

#include "diagram/Layout.h"
#include "diagram/SVG.h"

using namespace mlir;
using namespace mlir::resid;

void resid::drawStreams(ModuleOp module, llvm::raw_ostream &stream) {
  std::vector<diagram::FunctionDrawing> functions;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal())
      functions.push_back(diagram::readStreams(function));
  diagram::writeSVG(diagram::layOut(functions), stream);
}
