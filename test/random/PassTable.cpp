// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/random/PassTable.h"
#include "dialect/ResidDialect.h"
#include "test/random/Program.h"

namespace mlir::resid::random {

/// Shifting norms keeps the bits between post and post_shifted, but from and to pre it makes another function.
static bool canShift(ModuleOp module) {
  bool found = false, isPre = false;
  module.walk([&](BlockOp block) {
    found = true;
    isPre |= block.getPlacement() == Placement::Pre;
  });
  return found && !isPre;
}

/// All blocks have this placement, and none narrows what its branch takes.
template <Placement placement> static bool isPlain(ModuleOp module) {
  bool found = false;
  bool hasOther = module
                      .walk([&](BlockOp block) {
                        found = true;
                        bool isSame = block.getPlacement() == placement &&
                                      block.getBranch().getArgument(0).getType() == block.getX().getType();
                        return isSame ? WalkResult::advance() : WalkResult::interrupt();
                      })
                      .wasInterrupted();
  return found && !hasOther;
}

/// Whether isPlain() holds, and no norm stands outside of blocks, where it could be taken for a final norm.
template <Placement placement> static bool isBare(ModuleOp module) {
  bool hasNorm = module
                     .walk([](Operation *op) {
                       return isa<NormOpInterface>(op) ? WalkResult::interrupt() : WalkResult::advance();
                     })
                     .wasInterrupted();
  return !hasNorm && isPlain<placement>(module);
}

llvm::ArrayRef<PassEntry> getPassTable() {
  static constexpr PassEntry table[] = {
      {"canonicalize", "canonicalize", RewriteClass::BitExact},
      {"cse", "cse", RewriteClass::BitExact},
      {"expand-blocks", "resid-expand-blocks", RewriteClass::BitExact},
      {"fuse-add-norm", "resid-fuse-add-norm", RewriteClass::BitExact},
      {"expand-add-norm", "resid-expand-add-norm", RewriteClass::BitExact},
      {"form-blocks", "resid-form-blocks", RewriteClass::BitExact},
      {"expand-and-form", "resid-expand-blocks,resid-form-blocks", RewriteClass::BitExact},
      {"convert-to-post-shifted", "resid-convert-norm-placement{to=post_shifted params=shift}", RewriteClass::BitExact,
       /*mayRefuse=*/true, canShift},
      {"convert-to-post", "resid-convert-norm-placement{to=post params=shift}", RewriteClass::BitExact,
       /*mayRefuse=*/true, canShift},
      // There and back, where nothing has to be made up on the way.
      {"shift-to-pre-and-back",
       "resid-convert-norm-placement{to=pre params=shift},resid-convert-norm-placement{to=post params=shift}",
       RewriteClass::BitExact, /*mayRefuse=*/true, isPlain<Placement::Post>},
      {"keep-to-pre-and-back",
       "resid-convert-norm-placement{to=pre params=keep final-norm=identity},"
       "resid-convert-norm-placement{to=post params=keep}",
       RewriteClass::BitExact, /*mayRefuse=*/true, isBare<Placement::Post>},
      {"keep-to-branch-post-and-back",
       "resid-convert-norm-placement{to=branch_post params=keep final-norm=identity},"
       "resid-convert-norm-placement{to=pre params=keep final-norm=identity}",
       RewriteClass::BitExact, /*mayRefuse=*/true, isPlain<Placement::Pre>},
      {"rotate-pre-norm", "resid-rotate-pre-norm", RewriteClass::BitExact},
      {"rotate-for-fusion", "resid-expand-blocks,resid-rotate-pre-norm,resid-fuse-add-norm", RewriteClass::BitExact},
      {"fold-norm-affine", "resid-fold-norm-affine", RewriteClass::Exact, /*mayRefuse=*/false, isDoubleOnly},
      {"fold-deepnorm", "resid-fold-deepnorm", RewriteClass::Exact, /*mayRefuse=*/false, isDoubleOnly},
      {"fold-layer-scale", "resid-fold-layer-scale", RewriteClass::Exact, /*mayRefuse=*/false, isDoubleOnly},
      {"center-stream", "resid-center-stream", RewriteClass::Exact, /*mayRefuse=*/false, isDoubleOnly},
      {"form-and-center", "resid-form-blocks,resid-center-stream,resid-fold-norm-affine", RewriteClass::Exact,
       /*mayRefuse=*/false, isDoubleOnly},
      {"pack-weights", "resid-pack-weights", RewriteClass::BitExact},
      {"raise", "resid-raise", RewriteClass::BitExact},
      {"check-stream", "resid-check-stream", RewriteClass::BitExact},
      {"resid-passes", "resid-passes", RewriteClass::BitExact},
      // No rewrite that keeps anything where there is dropout: it shows that this program can find one.
      {"inference", "resid-inference", RewriteClass::BitExact, /*mayRefuse=*/false, nullptr, /*isDrawn=*/false},
  };
  return table;
}

const PassEntry *findPass(llvm::StringRef name) {
  const PassEntry *found = llvm::find_if(getPassTable(), [&](const PassEntry &entry) { return entry.name == name; });
  return found == getPassTable().end() ? nullptr : found;
}

} // namespace mlir::resid::random
