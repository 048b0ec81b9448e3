# A tool with LLVM and MLIR in it, so that it starts without the 25 ms that loading the shared libraries takes.
# Owns: whether that is done, and the static libraries that resid itself calls. Does not own: what these need, which the
# packages of LLVM and MLIR say.

set(RESID_STATIC_LLVM_COMPONENTS
  AArch64AsmParser AArch64CodeGen AArch64Desc AArch64Info Analysis AsmParser Core InstCombine Linker MC Object Passes
  ScalarOpts Support TargetParser TransformUtils Vectorize X86AsmParser X86CodeGen X86Desc X86Info)
set(RESID_STATIC_MLIR_COMPONENTS
  AffineDialect AffineToStandard Analysis ArithDialect ArithToLLVM ArithTransforms ArithUtils AsmParser
  BufferizationDialect BufferizationTransforms BuiltinToLLVMIRTranslation ControlFlowDialect ControlFlowInterfaces
  ControlFlowToLLVM ControlFlowTransforms DestinationStyleOpInterface DialectUtils FuncDialect FuncInlinerExtension
  FuncToLLVM FunctionInterfaces IR IndexDialect IndexToLLVM InferIntRangeInterface InferTypeOpInterface LLVMDialect
  LLVMIRTransforms LLVMToLLVMIRTranslation LinalgDialect LinalgTransforms LinalgUtils LoopLikeInterface MathDialect
  MathToLLVM MathTransforms MemRefDialect MemRefToLLVM MemRefTransforms Parser Pass ReconcileUnrealizedCasts Rewrite
  SCFDialect SCFToControlFlow SCFTransforms SideEffectInterfaces Support TargetLLVMIRExport TensorDialect
  TensorInferTypeOpInterfaceImpl TensorTilingInterfaceImpl TensorTransforms TransformUtils Transforms UBDialect
  UBToLLVM VectorDialect VectorToLLVMPass VectorToSCF)

set(RESID_STATIC_LLVM_LIBRARIES)
list(TRANSFORM RESID_STATIC_LLVM_COMPONENTS PREPEND LLVM OUTPUT_VARIABLE llvm)
list(TRANSFORM RESID_STATIC_MLIR_COMPONENTS PREPEND MLIR OUTPUT_VARIABLE mlir)

# resid_collect_archives(<archives> <missing> <targets…>): the files of static libraries and of all that they need; or
# the first one that is not there. The package's own links cannot be used: there, static MLIR needs shared LLVM.
function(resid_collect_archives archives missing)
  set(todo ${ARGN})
  set(seen)
  set(files)
  while(todo)
    list(POP_FRONT todo library)
    # Anything else is a library of the system, or the shared LLVM.
    if(library IN_LIST seen OR NOT library MATCHES "^(LLVM|MLIR)[A-Za-z0-9]+$")
      continue()
    endif()
    list(APPEND seen ${library})
    set(type)
    if(TARGET ${library})
      get_target_property(type ${library} TYPE)
      get_target_property(file ${library} LOCATION)
      get_target_property(needed ${library} INTERFACE_LINK_LIBRARIES)
      if(needed)
        list(APPEND todo ${needed})
      endif()
    endif()
    if(type STREQUAL "STATIC_LIBRARY" AND EXISTS "${file}")
      list(APPEND files "${file}")
    elseif(NOT type STREQUAL "INTERFACE_LIBRARY")
      set(${missing} ${library} PARENT_SCOPE)
      return()
    endif()
  endwhile()
  set(${archives} ${files} PARENT_SCOPE)
endfunction()

option(RESID_STATIC_LLVM "Have LLVM and MLIR in residc itself, where their static libraries are installed" ON)
if(RESID_STATIC_LLVM)
  # LLVM compresses with these. Where it runs they are there, with or without their development files.
  find_library(RESID_LIBZ NAMES z libz.so.1)
  find_library(RESID_LIBZSTD NAMES zstd libzstd.so.1)
  resid_collect_archives(archives missing ${mlir} ${llvm})
  if(archives AND RESID_LIBZ AND RESID_LIBZSTD)
    set(RESID_STATIC_LLVM_LIBRARIES
      "-Wl,--start-group" ${archives} "-Wl,--end-group" ${RESID_LIBZ} ${RESID_LIBZSTD} ${CMAKE_DL_LIBS})
    message(STATUS "resid: residc holds LLVM and MLIR itself")
  else()
    message(STATUS "resid: residc loads the shared libraries, and starts slower: no ${missing}, libz or libzstd")
  endif()
endif()

# resid_link_statically(<tool>): the static libraries take the place of the shared ones in all that the tool links.
function(resid_link_statically tool)
  if(RESID_STATIC_LLVM_LIBRARIES)
    set_target_properties(${tool} PROPERTIES RESID_LINKS_STATICALLY ON)
    target_link_libraries(${tool} PRIVATE ${RESID_STATIC_LLVM_LIBRARIES})
    target_link_options(${tool} PRIVATE "LINKER:--gc-sections")
  endif()
endfunction()
