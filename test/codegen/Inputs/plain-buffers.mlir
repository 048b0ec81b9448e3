// Ops on buffers that no other buffer was made of.
func.func @plain(%x: memref<?xf32>, %i: index) -> (f32, index) {
  %c0 = arith.constant 0 : index
  %size = memref.dim %x, %c0 : memref<?xf32>
  %base, %offset, %sizes, %strides = memref.extract_strided_metadata %x : memref<?xf32> -> memref<f32>, index, index, index
  %at = arith.addi %offset, %i : index
  %value = memref.load %x[%at] : memref<?xf32>
  memref.store %value, %x[%i] : memref<?xf32>
  return %value, %size : f32, index
}
