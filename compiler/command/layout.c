// SPDX-License-Identifier: Apache-2.0
// Where tensors lie in main memory.
#include <inttypes.h>

#include "arch/memory.h"
#include "compiler/command/private.h"

enum { LINE_BYTES = 64 };

static uint64_t memory_end(const command_program *program) {
  return ARCH_MEMORY_BASE + ((uint64_t)program->array->memory.capacity_mib << 20);
}

static bool no_room(const command_program *program, const command_tensor *tensor, uint64_t address, wf_diag *diag) {
  wf_error(diag, wf_in_file(program->name),
           "tensor %s at 0x%" PRIx64 ", %" PRIu64 " bytes: main memory is 0x%" PRIx64 "..0x%" PRIx64, tensor->name,
           address, command_tensor_bytes(tensor), (uint64_t)ARCH_MEMORY_BASE, memory_end(program) - 1);
  return false;
}

static bool fits(const command_program *program, uint64_t address, uint64_t bytes) {
  uint64_t end = memory_end(program);
  return address >= ARCH_MEMORY_BASE && address <= end && bytes <= end - address;
}

bool command_place(const command_program *program, uint64_t start, uint64_t *address, wf_diag *diag) {
  for (int t = 0; t < program->tensor_count; t++) {
    const uint64_t bytes = command_tensor_bytes(&program->tensors[t]);
    address[t] = start = (start + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    if (bytes > COMMAND_TENSOR_BYTES_MAX || !fits(program, start, bytes))
      return no_room(program, &program->tensors[t], start, diag);
    start += bytes;
  }
  return true;
}

bool command_layout_ok(const command_program *program, const command_layout *layout, wf_diag *diag) {
  bool good = true;
  for (int t = 0; t < program->tensor_count; t++) {
    const command_tensor *tensor = &program->tensors[t];
    if (!fits(program, layout->tensor_address[t], command_tensor_bytes(tensor)))
      good = no_room(program, tensor, layout->tensor_address[t], diag);
  }
  return good;
}
