// The PTX of a backward whose rows stay in registers, and the terms of its sums down the rows with them, in a loop over
// rows. What does not stay comes a few chunks ahead.

// RUN: residc %s --target=cuda --chip=sm_90 --emit=ptx -o %t.ptx
// RUN: sed '1,/__registers_2(/d; /^\tret;/q' %t.ptx > %t.kept && FileCheck %s < %t.kept

// The kernel says how many blocks of 64 threads a processor should have room for: else ptxas would spill registers to
// make room for one more.
// CHECK: .maxntid 64
// CHECK-NEXT: .minnctapersm 4

// Gamma is not marked as read only: ptxas would load all of it before the loop, and keep it.
// RUN: not grep 'ld.global.nc' %t.kept

// Behind the last sum of the row, four chunks of dsum wait together. (The first four of gamma are there from the pass
// before.) Each chunk of the result has one more of both in front of it, as long as there are some. What is stored
// behind that is the sums.
// RUN: tac %t.kept | sed '/shfl/q' | tac | grep -oE '(ld|st)\.global\.v2' | uniq -c | sed 's/^ *//' | head -25 > %t.order
// RUN: (echo 4 ld.global.v2; for chunk in 4 5 6 7 8 9 10 11 12 13 14 15; do echo 1 st.global.v2; echo 2 ld.global.v2; done) > %t.expected
// RUN: diff %t.expected %t.order

func.func @block(%dy: tensor<?x1024xf32>, %x: tensor<?x1024xf32>, %mean: tensor<?xf32>, %correction: tensor<?xf32>, %rstd: tensor<?xf32>,
                 %gamma: tensor<1024xf32>, %dsum: tensor<?x1024xf32>) -> (tensor<?x1024xf32>, tensor<1024xf32>, tensor<1024xf32>) {
  %dx, %dgamma, %dbeta = resid.layer_norm_grad %dy, %x statistics(%mean, %correction, %rstd) gamma(%gamma) sum(%dsum)
      : tensor<?x1024xf32>, tensor<?x1024xf32>, tensor<?xf32>, tensor<1024xf32>
  return %dx, %dgamma, %dbeta : tensor<?x1024xf32>, tensor<1024xf32>, tensor<1024xf32>
}
