// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Answers CPUID and XGETBV as a processor that has less than this one: what the variable FAKE_CPU names. Never more, so
// code that is chosen can run. Calls come from assembly that fake_cpuid.py rewrote.

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/// How often the processor was asked.
atomic_int fake_questions;

/// What remains of the answers, by leaf; leaf 7 has a second part that is none below znver4.
static struct {
  uint32_t leaf1_ecx, leaf7_ebx, leaf7_ecx, leaf7_edx, extended_ecx, state;
  int hasSecondPart;
} masks;

static void __attribute__((constructor)) chooseMasks(void) {
  const char *name = getenv("FAKE_CPU");
  const uint32_t all = ~0u, vectorsOfLeaf1 = 1u << 12 | 1u << 22 | 1u << 28 | 1u << 29; // fma, movbe, avx, f16c
  const uint32_t level3 = 1u << 3 | 1u << 5 | 1u << 8;                                   // bmi, avx2, bmi2
  masks.leaf1_ecx = masks.leaf7_ebx = masks.leaf7_ecx = masks.leaf7_edx = masks.extended_ecx = masks.state = all;
  masks.hasSecondPart = 1;
  if (!name || !strcmp(name, "this"))
    return;
  if (!strcmp(name, "no-wide-state")) { // the operating system keeps no 512-bit registers
    masks.state = 0x7;
    return;
  }
  if (!strcmp(name, "no-xgetbv")) { // nor any
    masks.leaf1_ecx = ~(1u << 27);
    return;
  }
  masks.leaf7_ecx = masks.leaf7_edx = 0;
  masks.hasSecondPart = 0;
  if (!strcmp(name, "x86-64-v4"))
    return;
  masks.leaf7_ebx = level3;
  if (!strcmp(name, "x86-64-v3"))
    return;
  masks.leaf7_ebx = 0;
  masks.extended_ecx = 1; // sahf
  masks.leaf1_ecx = ~vectorsOfLeaf1;
  if (!strcmp(name, "x86-64-v2"))
    return;
  masks.leaf1_ecx = 0;
  if (strcmp(name, "x86-64"))
    abort();
}

/// Called with registers of vectors in use, so it must not touch them.
__attribute__((target("general-regs-only"))) void fake_answer(uint32_t leaf, uint32_t subleaf, uint32_t *out) {
  __asm__ volatile("cpuid" : "=a"(out[0]), "=b"(out[1]), "=c"(out[2]), "=d"(out[3]) : "0"(leaf), "2"(subleaf));
  atomic_fetch_add(&fake_questions, 1);
  if (leaf == 1)
    out[2] &= masks.leaf1_ecx;
  if (leaf == 7 && subleaf == 0) {
    out[0] = masks.hasSecondPart ? out[0] : 0;
    out[1] &= masks.leaf7_ebx;
    out[2] &= masks.leaf7_ecx;
    out[3] &= masks.leaf7_edx;
  }
  if (leaf == 0x80000001u)
    out[2] &= masks.extended_ecx;
}

__attribute__((target("general-regs-only"))) void fake_state(uint32_t *out) {
  if (!(masks.leaf1_ecx >> 27 & 1))
    abort(); // would be an illegal instruction
  __asm__ volatile("xgetbv" : "=a"(out[0]), "=d"(out[1]) : "c"(0));
  out[0] &= masks.state;
}

// Like the instructions, they change nothing but their results.
#define SAVE                                                                                                           \
  "  pushfq\n  pushq %rsi\n  pushq %rdi\n  pushq %r8\n  pushq %r9\n  pushq %r10\n  pushq %r11\n  pushq %rbp\n"       \
  "  movq %rsp, %rbp\n  subq $16, %rsp\n  andq $-16, %rsp\n"
#define RESTORE                                                                                                        \
  "  movq %rbp, %rsp\n  popq %rbp\n  popq %r11\n  popq %r10\n  popq %r9\n  popq %r8\n  popq %rdi\n  popq %rsi\n"     \
  "  popfq\n  ret\n"
__asm__(".text\n.globl fake_cpuid\nfake_cpuid:\n" SAVE "  movl %eax, %edi\n  movl %ecx, %esi\n  movq %rsp, %rdx\n"
        "  callq fake_answer\n  movl (%rsp), %eax\n  movl 4(%rsp), %ebx\n  movl 8(%rsp), %ecx\n  movl 12(%rsp), %edx\n"
        RESTORE ".globl fake_xgetbv\nfake_xgetbv:\n" SAVE "  pushq %rcx\n  pushq %rcx\n  leaq 16(%rsp), %rdi\n"
        "  callq fake_state\n  popq %rcx\n  popq %rcx\n  movl (%rsp), %eax\n  movl 4(%rsp), %edx\n" RESTORE);
