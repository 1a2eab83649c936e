// SPDX-License-Identifier: Apache-2.0
// Main memory: bytes from ARCH_MEMORY_BASE up, zero at the start, allocated when touched.
// It holds data only; its timing is another module's business. Every engine and the host see the same object.
#ifndef ARCH_MEMORY_H
#define ARCH_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARCH_MEMORY_BASE UINT64_C(0x80000000)

// Told of every access of the accelerator (not of the host) before it happens. Used by the trace writer.
typedef struct arch_memory_observer {
  void *context;
  void (*on_read)(void *context, uint64_t address, size_t length);
  void (*on_write)(void *context, uint64_t address, const void *bytes, size_t length);
} arch_memory_observer;

// Carries accesses of the accelerator to the memory that holds the bytes, over a model of what lies between. False if
// it could not. Reads and writes are then counted and observed there.
typedef struct arch_memory_carrier {
  void *context;
  bool (*read)(void *context, uint64_t address, void *to, size_t length);
  bool (*write)(void *context, uint64_t address, const void *from, size_t length);
} arch_memory_carrier;

typedef struct arch_memory {
  uint8_t *bytes;       // of ARCH_MEMORY_BASE
  uint64_t size;        // in bytes
  uint64_t read_bytes;  // moved by the accelerator so far
  uint64_t written_bytes;
  arch_memory_observer observer;
  arch_memory_carrier carrier;  // NULL: this is the memory
} arch_memory;

arch_memory *arch_memory_create(uint64_t size);  // NULL if the address space cannot be reserved
void arch_memory_destroy(arch_memory *memory);

// The bytes at `address`, or NULL if [address, address + length) is not inside the memory.
static inline uint8_t *arch_memory_at(const arch_memory *memory, uint64_t address, size_t length) {
  uint64_t offset = address - ARCH_MEMORY_BASE;
  if (offset > memory->size || length > memory->size - offset) return NULL;
  return memory->bytes + offset;
}

// Accelerator accesses: checked, counted and observed. False if outside the memory (nothing is then copied).
bool arch_memory_read(arch_memory *memory, uint64_t address, void *to, size_t length);
bool arch_memory_write(arch_memory *memory, uint64_t address, const void *from, size_t length);

#endif
