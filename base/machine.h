// SPDX-License-Identifier: Apache-2.0
// WF_FOR_MACHINE before a function: it is compiled for more than one instruction set, and the one of the machine is
// taken when the program starts. The dynamic linker makes the choice before a sanitizer is ready for it, so sanitized
// programs have only one.
#ifndef BASE_MACHINE_H
#define BASE_MACHINE_H

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define WF_FOR_MACHINE __attribute__((target_clones("avx2", "default")))
#else
#define WF_FOR_MACHINE
#endif

#endif
