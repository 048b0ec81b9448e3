// The PTX of a backward whose rows stay in registers, and the terms of its sums down the rows with them, in a loop over
// rows. What all rows share comes a few chunks ahead.

// RUN: residc %s --target=cuda --chip=sm_90 --emit=ptx -o %t.ptx
// RUN: sed '1,/__registers_2(/d; /^\tret;/q' %t.ptx > %t.kept && FileCheck %s < %t.kept

// The kernel says how many blocks of 64 threads a processor should have room for: else ptxas would spill registers to
// make room for one more.
// CHECK: .maxntid 64
// CHECK-NEXT: .minnctapersm 4

// Gamma is not marked as read only: ptxas would load all of it before the loop, and keep it.
// RUN: not grep 'ld.global.nc' %t.kept

// All of dy, x, dsum and gamma is loaded before the first sum of the row. After the last one, each chunk of the result has a
// chunk of gamma in front of the next, as long as there are some. (The first four of gamma are there from the pass
// before.) What is stored after that is the sums.
// RUN: sed '/shfl/q' %t.kept | tac > %t.first && sed '/bra/q' %t.first | grep -c 'ld.global.v2' | grep -x 64
// RUN: tac %t.kept > %t.back && sed '/shfl/q' %t.back | tac | grep -oE '(ld|st)\.global\.v2' | uniq -c | sed 's/^ *//' > %t.all
// RUN: head -24 %t.all > %t.order
// RUN: (for chunk in 4 5 6 7 8 9 10 11 12 13 14 15; do echo 1 st.global.v2; echo 1 ld.global.v2; done) > %t.expected
// RUN: diff %t.expected %t.order

// Narrow rows are prefetched while the row before is computed, 32 bytes by each of 32 threads: two for each of three
// rows of 1,024 columns, and a last one that does not go beyond the end of a row of 1,000. Rows of f32 are not, nor are
// those of open width.
// RUN: not grep prefetch %t.ptx
// RUN: sed 's/xf32>/xbf16>/g; s/<?xbf16>/<?xf32>/g' %s > %t.bf16.mlir && residc %t.bf16.mlir --target=cuda --chip=sm_90 --emit=ptx -o %t.bf16.ptx
// RUN: grep -c 'prefetch.global.L2 \[%rd[0-9]*\];' %t.bf16.ptx | grep -x 6
// RUN: sed 's/1024/1000/g' %t.bf16.mlir > %t.narrow.mlir && residc %t.narrow.mlir --target=cuda --chip=sm_90 --emit=ptx -o %t.narrow.ptx
// RUN: grep -c 'min.[su]64 .*, 1999;' %t.narrow.ptx | grep -x 1
// RUN: sed 's/1024/?/g' %t.bf16.mlir > %t.open.mlir && residc %t.open.mlir --target=cuda --chip=sm_90 --emit=ptx -o %t.open.ptx
// RUN: not grep prefetch %t.open.ptx

func.func @block(%dy: tensor<?x1024xf32>, %x: tensor<?x1024xf32>, %mean: tensor<?xf32>, %correction: tensor<?xf32>, %rstd: tensor<?xf32>,
                 %gamma: tensor<1024xf32>, %dsum: tensor<?x1024xf32>) -> (tensor<?x1024xf32>, tensor<1024xf32>, tensor<1024xf32>) {
  %dx, %dgamma, %dbeta = resid.layer_norm_grad %dy, %x statistics(%mean, %correction, %rstd) gamma(%gamma) sum(%dsum)
      : tensor<?x1024xf32>, tensor<?x1024xf32>, tensor<?xf32>, tensor<1024xf32>
  return %dx, %dgamma, %dbeta : tensor<?x1024xf32>, tensor<1024xf32>, tensor<1024xf32>
}
