// SPDX-License-Identifier: Apache-2.0
// The command IR: the instruction stream of a program with explicit local addresses.
//
// A program is a list of nodes in order: commands, loops around commands, fences, host steps. A command has the operand
// values of its first execution; inside loops each operand advances by a step per loop. Operands that are memory
// addresses are relative to a tensor, so the same program serves every placement of its tensors.
//
// Straight programs (no loops) are what schedules produce; command_roll finds the loops again, which changes no
// execution. Two programs are the same if command_walk gives the same sequence.
#ifndef COMPILER_COMMAND_COMMAND_H
#define COMPILER_COMMAND_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/diag.h"
#include "hw/array.h"
#include "isa/isa.h"

enum { COMMAND_NO_TENSOR = -1, COMMAND_LOOPS_MAX = 16, COMMAND_TENSORS_MAX = 1024 };
#define COMMAND_TENSOR_BYTES_MAX (UINT64_C(1) << 32)

typedef struct command_tensor {
  const char *name;
  unsigned element_bytes;
  bool is_float;
  uint64_t elements;   // with what wide loads may read behind the end; at most COMMAND_TENSOR_BYTES_MAX
  bool read, written;  // by the program
  // Of a constant, which the program brings along: its elements, int8, never written. NULL: the caller's.
  const int8_t *contents;
} command_tensor;

typedef enum { COMMAND_INSN, COMMAND_LOOP, COMMAND_END, COMMAND_FENCE } command_kind;

// What a command does to memory it says by `tensor`: rs1 (rs2 for the second address of a loop command) counts bytes
// from its start.
typedef struct command_insn {
  uint8_t kind;  // COMMAND_INSN
  uint8_t funct;
  int16_t tensor_rs1, tensor_rs2;  // or COMMAND_NO_TENSOR
  uint64_t rs1, rs2;
} command_insn;

// A loop runs the nodes up to its END `trips` times (1 or more); loops nest at most COMMAND_LOOPS_MAX deep. Steps of a
// command: one pair per enclosing loop, outermost first, added to the operands (64-bit, wrapping) for each iteration of
// that loop.
typedef struct command_step {
  uint64_t rs1, rs2;
} command_step;

// Programs have hundreds of thousands of nodes: the kind lies where the command has its own.
typedef struct command_node {
  union {
    uint8_t kind;  // command_kind
    command_insn insn;
  };
  union {
    uint64_t trips;             // of a loop
    const command_step *steps;  // of an instruction inside loops; NULL: all zero
  };
} command_node;

typedef struct command_program {
  wf_arena *arena;
  const char *name;
  const hw_array *array;  // borrowed
  command_tensor *tensors;
  int tensor_count;
  command_node *nodes;  // allocated; the rest is in the arena
  size_t count, room;
  size_t loops, fences;      // among them
  int open;                  // loops without END yet, while the program is made
  uint64_t macs;             // of its products, without those with padding; 0: not known
  bool verified;             // command_prove has passed it as it is, on an array with these values:
  uint64_t verified_values;  // hw_array_values_hash
} command_program;

// What is left of a layer's multiply-accumulates without those on padding; all of them if the program does not know.
static inline uint64_t command_useful_macs(const command_program *program, uint64_t layer) {
  return program->macs != 0 && program->macs < layer ? program->macs : layer;
}

command_program *command_create(const char *name, const hw_array *array);
void command_destroy(command_program *program);
void command_reserve(command_program *program, size_t nodes);  // room for `nodes` nodes
int command_add_tensor(command_program *program, const command_tensor *tensor);
void command_add(command_program *program, const command_insn *insn);
// Room for `nodes` more nodes of a program without open loops, which the caller fills.
static inline command_node *command_extend(command_program *program, size_t nodes) {
  if (program->room - program->count < nodes) command_reserve(program, 2 * program->room + nodes);
  program->count += nodes;
  program->verified = false;
  return &program->nodes[program->count - nodes];
}
// A command without tensors.
static inline command_node command_plain(uint8_t funct, uint64_t rs1, uint64_t rs2) {
  return (command_node){
      .insn = {
          .funct = funct, .tensor_rs1 = COMMAND_NO_TENSOR, .tensor_rs2 = COMMAND_NO_TENSOR, .rs1 = rs1, .rs2 = rs2}};
}
void command_add_fence(command_program *program);
// Loops: what is added up to command_add_end runs `trips` times. `steps` has one entry per open loop, or is NULL.
void command_add_loop(command_program *program, uint64_t trips);
void command_add_end(command_program *program);
void command_add_stepped(command_program *program, const command_insn *insn, const command_step *steps);

static inline uint64_t command_tensor_bytes(const command_tensor *tensor) {
  return tensor->elements * tensor->element_bytes;
}
// The instruction that a command is: its funct and rs1 select it. Never NULL for a command of a program.
const isa_insn *command_isa(const command_program *program, const command_insn *insn);

// Every execution in order; stops when `visit` returns false. NULL stands for a fence.
bool command_walk(const command_program *program, bool (*visit)(void *context, const command_insn *insn),
                  void *context);
uint64_t command_executions(const command_program *program);

// Well formed and legal for the array: loops nest, fields are legal (isa_check), local rows exist, units exist, every
// access lies in its tensor, a load state is configured before it is used. Reports each violation.
bool command_verify(const command_program *program, wf_diag *diag);
// The same, and the program remembers that it passed, until it is changed.
bool command_prove(command_program *program, wf_diag *diag);
// Whether it did, and neither the program nor its array was changed since.
static inline bool command_is_proved(const command_program *program) {
  return program->verified && program->verified_values == hw_array_values_hash(program->array);
}

// ---- text, in the syntax that command_parse reads
void command_print(const command_program *program, FILE *out);
command_program *command_parse(const char *file, const char *text, size_t length, const hw_array *array, wf_diag *diag);

// ---- passes: each returns a new program

// Drops configuration that sets what is set already, and the parts that no command uses before they are set again.
command_program *command_fold_config(const command_program *program);
// The same of a program that is no longer needed: it becomes the new one or is destroyed.
command_program *command_fold_own(command_program *program);
// On an array with tokens: the compiler writes into each command of a program without loops, which a fence ends, the
// tokens that it pops and pushes.
// Takes the program, and returns it as it is on an array with a reservation station or if it has tokens.
command_program *command_give_tokens(command_program *program);
// Finds loops: runs of equal commands whose operands advance by constant steps, nested.
command_program *command_roll(const command_program *program);

// ---- out of it

// Where each tensor lies in memory, for consumers that need addresses.
typedef struct command_layout {
  const uint64_t *tensor_address;
} command_layout;

// Tensors one after the other from `start`, each at a multiple of 64 bytes. False after an error was reported: they do
// not fit in main memory.
bool command_place(const command_program *program, uint64_t start, uint64_t *tensor_address, wf_diag *diag);

// A trace that `weft sim` replays: data lines from `bytes` (NULL per tensor: zeros) and constants, and the commands.
bool command_write_trace(const command_program *program, const command_layout *layout, const uint8_t *const *bytes,
                         FILE *out, wf_diag *diag);
// Readable C: a function NAME(tensor pointers...) that gives the commands; needs the driver's headers. Constants are no
// parameters: the function has them.
bool command_write_c(const command_program *program, FILE *out, wf_diag *diag);
// A disassembly: each execution with its tensor-relative addresses.
void command_write_listing(const command_program *program, FILE *out);

#endif
