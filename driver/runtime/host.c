// SPDX-License-Identifier: Apache-2.0
// The RISC-V side of the port: console and exit through HTIF, the default trap handler, and the note that names the
// array the program was built for.
//
// HTIF: an odd value in `tohost` ends the program with code value >> 1; an even one is the address of eight doublewords
// {call, arguments...}, answered through `fromhost`.
#include <stdint.h>

#include "weft/console.h"
#include "weft/port.h"
#include "weft/trap.h"
#include "weft_array.h"

extern volatile uint64_t tohost, fromhost;

enum { HTIF_WRITE = 64, HTIF_STDOUT = 1 };

void weft_write(const char *text, size_t length) {
  volatile uint64_t call[8] __attribute__((aligned(64))) = {HTIF_WRITE, HTIF_STDOUT, (uintptr_t)text, length};
  __sync_synchronize();
  tohost = (uintptr_t)call;
  while (fromhost == 0) {
  }
  fromhost = 0;
  __sync_synchronize();
}

_Noreturn void weft_exit(int code) {
  __sync_synchronize();
  for (;;) tohost = (uint64_t)(unsigned)code << 1 | 1;
}

__attribute__((weak)) bool weft_on_trap(struct weft_trap *trap, uint64_t cause, uint64_t value) {
  (void)trap, (void)cause, (void)value;
  return false;
}

void weft_trap_enter(struct weft_trap *trap, uint64_t cause, uint64_t value);  // called by start.S

void weft_trap_enter(struct weft_trap *trap, uint64_t cause, uint64_t value) {
  if (weft_on_trap(trap, cause, value)) return;
  weft_printf("trap: cause 0x%lx pc 0x%lx value 0x%lx ra 0x%lx\n", cause, trap->pc, value, trap->x[0]);
  weft_exit(WEFT_EXIT_TRAP);
}

// An ELF note: the machine refuses a program that was built for another array.
struct note {
  uint32_t owner_bytes, content_bytes, type;
  char owner[8];  // "Weft", zeros up to a multiple of 4
  uint64_t hash;
  char name[sizeof WEFT_ARRAY_NAME];
} __attribute__((packed, aligned(4)));

__attribute__((section(".note.weft"), used, aligned(4))) static const struct note array_note = {
    .owner_bytes = sizeof "Weft",
    .content_bytes = sizeof(struct note) - offsetof(struct note, hash),
    .type = 1,
    .owner = "Weft",
    .hash = WEFT_ARRAY_HASH,
    .name = WEFT_ARRAY_NAME,
};
