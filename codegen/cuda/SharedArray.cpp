// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/SharedArray.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::resid;

static constexpr unsigned kSharedSpace = unsigned(NVVM::NVVMMemorySpace::Shared);

cuda::SharedArray::SharedArray(Code &code, Type element, int64_t count, StringRef suffix) : element(element) {
  Operation *around = code.getInsertionBlock()->getParentOp();
  auto function = dyn_cast<func::FuncOp>(around);
  if (!function)
    function = around->getParentOfType<func::FuncOp>();
  OpBuilder top = OpBuilder::atBlockBegin(function->getParentOfType<ModuleOp>().getBody());
  name = (function.getName() + suffix).str();
  LLVM::GlobalOp::create(top, code.getLoc(), LLVM::LLVMArrayType::get(element, count), /*isConstant=*/false,
                         LLVM::Linkage::Internal, name, Attribute(), /*alignment=*/16, kSharedSpace);
}

Value cuda::SharedArray::getStart(Code &code) const {
  return code.create<LLVM::AddressOfOp>(code.getType<LLVM::LLVMPointerType>(kSharedSpace), name);
}
