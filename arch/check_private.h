// SPDX-License-Identifier: Apache-2.0
// Inside the checker: what its files share. check.c drives, check_move.c judges loads and stores, check_execute.c
// products, check_tokens.c tokens; check_memo.c remembers
// loops.
#ifndef ARCH_CHECK_PRIVATE_H
#define ARCH_CHECK_PRIVATE_H

#include "arch/check.h"
#include "arch/local.h"
#include "arch/loops/loops.h"
#include "arch/tokens.h"

// A preload that waits for its compute.
typedef struct arch_check_preload {
  bool armed;
  uint64_t c;  // its second register: address and size of the result
} arch_check_preload;

// Operands of products that were legal since the last configuration: registers that differ in nothing but the row, from
// row `first` on, `count` of them.
typedef struct arch_check_seen {
  uint64_t others;  // their other bits
  uint32_t first, count;
} arch_check_seen;

typedef enum { CHECK_A, CHECK_BD, CHECK_LOADED, CHECK_RESULT, CHECK_ROLES } arch_check_role;
enum { CHECK_SEEN = 8 };  // entries of each role

// Bytes of main memory, none while low >= end.
typedef struct arch_check_extent {
  uint64_t low, end;
} arch_check_extent;

typedef struct arch_check_memo arch_check_memo;

// Of an instruction: the bits that decide whether its fields are legal, and what they were when they last were.
typedef struct arch_check_fields {
  uint64_t decides[2], legal[2];  // rs1, rs2
  bool known;
} arch_check_fields;

struct arch_checker {
  const hw_array *array;
  const arch_memory *memory;
  hw_derived derived;
  arch_config config;
  arch_loop_ws loop_ws;
  arch_loop_conv loop_conv;
  arch_check_preload preload;
  bool result_seen;  // the preload's result was legal with the configuration of now
  arch_check_seen seen[CHECK_ROLES][CHECK_SEEN];
  bool sums_left;      // output-stationary: the sums have been handed to the drain and a new chain should follow
  uint64_t undefined;  // commands that passed although their data is undefined
  uint64_t walked;     // legal loops whose primitives were looked at one by one, without a sink
  uint32_t tokens[ARCH_UNITS][ARCH_UNITS];  // that wait, by giver and taker
  uint32_t later[ARCH_UNITS];               // of execute, by taker: that wait for the compute of a preload
  // The command being checked, for messages.
  const arch_command *program;
  const char *loop;  // name of the loop that made the primitive, NULL for a command of the program
  const char *name;
  arch_fault *fault;
  arch_check_fields fields[ISA_ID_COUNT];
  arch_check_memo *memo;      // NULL: no loop was looked up yet
  arch_check_extent *extent;  // grows by what a primitive touches; NULL: not recorded
};

// Reports and returns false.
bool arch_check_fail(arch_checker *checker, arch_fault_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Rows first, first + stride, ... (count of them) of one operand, called `what` in the message.
bool arch_check_rows(arch_checker *checker, const char *what, bool accumulator, int64_t first, int64_t count,
                     int64_t stride);
bool arch_check_bytes(arch_checker *checker, const char *verb, uint64_t address, uint64_t length);
bool arch_check_byte_rows(arch_checker *checker, const char *verb, uint64_t address, uint32_t rows, uint64_t stride,
                          uint64_t length);

// check_memo.c. Before a loop: its key, from the plan and the state of the checker.
enum { CHECK_OPERANDS = 4 };
void arch_check_memo_begin_ws(arch_checker *checker, const arch_loop_ws_plan *plan);
void arch_check_memo_begin_conv(arch_checker *checker, const arch_loop_conv_plan *plan);
// The loop is known to be legal; the checker is then as after the loop.
bool arch_check_memo_passes(arch_checker *checker);
// Where to note what the primitives of a part touch.
arch_check_extent *arch_check_memo_extent(arch_checker *checker, unsigned part);
// The loop was legal.
void arch_check_memo_keep(arch_checker *checker);

// check_tokens.c: of a command of the program, before it is looked at otherwise.
bool arch_check_tokens(arch_checker *checker, const arch_command *command);

bool arch_check_mvin(arch_checker *checker, unsigned state, uint64_t rs1, uint64_t rs2);
bool arch_check_mvout(arch_checker *checker, uint64_t rs1, uint64_t rs2);
bool arch_check_mvout_spad(arch_checker *checker, uint64_t rs1, uint64_t rs2);

bool arch_check_config_ex(arch_checker *checker, uint64_t rs1, uint64_t rs2);
bool arch_check_preload_command(arch_checker *checker, uint64_t rs1, uint64_t rs2);
bool arch_check_compute(arch_checker *checker, bool preloaded, uint64_t rs1, uint64_t rs2);
// The command is a preload or compute that passes like those before it, and has done so; false: the rules will tell.
bool arch_check_product_repeats(arch_checker *checker, const arch_command *command);
// The configuration of products, or what is known of the preload, has changed.
void arch_check_forget_products(arch_checker *checker);

#endif
