// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A signal that ends the process while another of its threads is at work. LLVM's handler takes temporary files away and
// then ends the process; what the other threads find missing in between is no error to report.

#ifndef RESID_TOOLS_COMMON_FATALSIGNAL_H
#define RESID_TOOLS_COMMON_FATALSIGNAL_H

namespace mlir::resid::tools {

/// Call first: what the caller told this process to ignore (as nohup does, and shells for what runs in the background)
/// stays ignored. LLVM's handlers would take the files away and not end the process.
void keepIgnoringSignals();

/// Call where a temporary file, registered with llvm::sys::RemoveFileOnSignal, is missing or may have been. Where a
/// signal is ending the process this does not return, unless the end takes longer than ten seconds. Returns whether a
/// signal was seen.
bool awaitFatalSignal();

} // namespace mlir::resid::tools

#endif // RESID_TOOLS_COMMON_FATALSIGNAL_H
