// SPDX-License-Identifier: Apache-2.0
/* What the C program and the platform module share: plain data and functions. The module (C++, loaded at run time)
 * depends on no C code of the project; what it needs comes as pointers.
 */
#ifndef SIM_SYSTEMC_SHELL_H
#define SIM_SYSTEMC_SHELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/memory.h"
#include "sim/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_platform weft_platform;

typedef struct weft_platform_config {
  uint64_t half_cycle_ps;
  uint64_t quantum_cycles; /* that the hart may run ahead; 0: none */
  arch_memory *memory;     /* main memory: its bytes, */
  bool (*read)(arch_memory *memory, uint64_t address, void *to, size_t length); /* accesses of the accelerator */
  bool (*write)(arch_memory *memory, uint64_t address, const void *from, size_t length);
  void *timing; /* and its timing for what the hart moves at once: asks, returns the cycle behind */
  uint64_t (*host_access)(void *timing, uint64_t cycle, uint64_t address, bool write);
  unsigned unit_bytes; /* of what host_access times at once */
  /* Makes the engine inside of the accelerator module, on a memory that leads to the module's socket. May make
   * SystemC modules, which become children. NULL: an error was reported. */
  sim_engine *(*make_accelerator)(void *context, arch_memory *memory);
  void *context;
} weft_platform_config;

/* The functions after `enter` may be called inside and outside of the hart's thread. */
typedef struct weft_platform_api {
  uint32_t config_size;                                         /* as the module was compiled */
  bool (*available)(void);                                      /* the process has not had a platform yet */
  weft_platform *(*create)(const weft_platform_config *config); /* NULL: make_accelerator gave none */
  void (*destroy)(weft_platform *platform); /* the accelerator's engine is destroyed by who made it, before */
  sim_engine *(*accelerator)(weft_platform *platform);
  void (*enter)(weft_platform *platform, void (*body)(void *context), void *context);
  sim_push_result (*push)(weft_platform *platform, uint64_t cycle, const arch_command *command, uint64_t *response);
  uint64_t (*advance)(weft_platform *platform, uint64_t cycle);
  bool (*busy)(weft_platform *platform);
  uint64_t (*drain)(weft_platform *platform, uint64_t cycle);
  uint64_t (*access)(weft_platform *platform, uint64_t cycle, bool write, uint64_t address, void *data,
                     unsigned length);
} weft_platform_api;

#define WEFT_PLATFORM_API "weft_platform_shell"

#ifdef __cplusplus
}
#endif

#endif
