// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/ptx/Images.h"

#include "codegen/cuda/Launch.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"

using namespace mlir::resid;

/// The number of resid_cuda_module.version. The kinds of images have those of resid_cuda_image.kind.
static constexpr unsigned kVersion = 1;

static llvm::GlobalVariable *addConstant(llvm::Module &module, llvm::Constant *value) {
  return new llvm::GlobalVariable(module, value->getType(), /*isConstant=*/true, llvm::GlobalValue::PrivateLinkage,
                                  value);
}

static llvm::GlobalVariable *addText(llvm::Module &module, llvm::StringRef text) {
  return addConstant(module, llvm::ConstantDataArray::getString(module.getContext(), text, /*AddNull=*/true));
}

/// Drivers read machine code in words.
static llvm::GlobalVariable *addImage(llvm::Module &module, llvm::StringRef contents) {
  llvm::GlobalVariable *image = addText(module, contents);
  image->setAlignment(llvm::Align(16));
  return image;
}

static llvm::Constant *addTable(llvm::Module &module, llvm::ArrayRef<llvm::Constant *> elements) {
  auto *type = llvm::ArrayType::get(elements.front()->getType(), elements.size());
  return addConstant(module, llvm::ConstantArray::get(type, elements));
}

void cuda::Images::addTo(llvm::Module &host) const {
  llvm::GlobalVariable *declared = host.getGlobalVariable(kModuleName, /*AllowInternal=*/true);
  if (!declared)
    return;
  llvm::IRBuilder<> builder(host.getContext());
  llvm::Constant *null = llvm::ConstantPointerNull::get(builder.getPtrTy());
  auto tables = llvm::map_to_vector(images, [&](const Image &image) -> llvm::Constant * {
    return llvm::ConstantStruct::getAnon({builder.getInt32(image.chip), builder.getInt32(image.kind),
                                          builder.getInt64(image.contents.size() + 1), addImage(host, image.contents)});
  });
  auto names =
      llvm::map_to_vector(kernels, [&](const std::string &name) -> llvm::Constant * { return addText(host, name); });
  llvm::Constant *table = names.empty() ? null : addTable(host, names);
  llvm::Constant *contents =
      llvm::ConstantStruct::getAnon({builder.getInt32(kVersion), builder.getInt32(images.size()),
                                     addTable(host, tables), builder.getInt64(names.size()), table, null});
  auto *defined = new llvm::GlobalVariable(host, contents->getType(), /*isConstant=*/false,
                                           llvm::GlobalValue::InternalLinkage, contents);
  defined->takeName(declared);
  declared->replaceAllUsesWith(defined);
  declared->eraseFromParent();
}
