// SPDX-License-Identifier: Apache-2.0
// The hart's state and the parts it is made of; private to sim/host.
//
// Invariants:
// - x[0] is 0 and never written: an instruction with rd = x0 is decoded to write x[RV64_SINK].
// - retired = retired_end - left, at every instruction boundary; cycles = retired + extra_cycles. With timing
// extra_cycles
//   is brought up to date whenever code outside of the interpreter could see it.
// - A decoded page holds one slot per 2 bytes of code. Slots are decoded when first executed and stay until fence.i.
// - While the hart runs, the host FPU rounds to nearest-even with exceptions masked; its sticky flags belong to the
//   program and are merged into fflags whenever code outside of the interpreter could see or change them.
#ifndef SIM_HOST_RV64_H
#define SIM_HOST_RV64_H

#include "sim/host/host.h"

enum {
  RV64_SINK = 32,
  RV64_PAGE_BYTES = 4096,
  RV64_PAGE_SLOTS = RV64_PAGE_BYTES / 2,
  RV64_PAGE_GUARDS = 2,  // an instruction at the page's end leads to slot 2048 or, if it straddles the end, 2049
};

enum {
  RV64_FETCH_MISALIGNED = 0,
  RV64_FETCH_ACCESS = 1,
  RV64_ILLEGAL = 2,
  RV64_BREAKPOINT = 3,
  RV64_LOAD_MISALIGNED = 4,
  RV64_LOAD_ACCESS = 5,
  RV64_STORE_MISALIGNED = 6,
  RV64_STORE_ACCESS = 7,
  RV64_ECALL = 11,
};

enum { RV64_NX = 1, RV64_UF = 2, RV64_OF = 4, RV64_DZ = 8, RV64_NV = 16 };
enum { RV64_RNE, RV64_RTZ, RV64_RDN, RV64_RUP, RV64_RMM, RV64_DYN = 7 };

#define RV64_STATUS_MIE (UINT64_C(1) << 3)
#define RV64_STATUS_MPIE (UINT64_C(1) << 7)
#define RV64_STATUS_MPP (UINT64_C(3) << 11)
#define RV64_STATUS_FS (UINT64_C(3) << 13)
#define RV64_STATUS_XS (UINT64_C(3) << 15)
#define RV64_STATUS_SD (UINT64_C(1) << 63)

// Operations: what the hart does inside itself, then the instructions.
typedef enum {
  RV64_OP_DECODE,    // the slot was not executed yet
  RV64_OP_PAGE_END,  // behind the page's last slot
  RV64_OP_ILLEGAL,
  RV64_OP_SELF_JUMP,  // jal to itself
#define OP(name, ...) RV64_OP_##name,
#define OPC(name, ...) RV64_OP_##name,
#include "sim/host/rv64_ops.def"
  RV64_OP_COUNT,
} rv64_op_index;

// Timing classes, for an instantiation of rv64_exec.inc that models time.
typedef enum {
  RV64_CLASS_ALU,
  RV64_CLASS_MUL,
  RV64_CLASS_DIV,
  RV64_CLASS_LOAD,
  RV64_CLASS_STORE,
  RV64_CLASS_BRANCH,
  RV64_CLASS_JUMP,
  RV64_CLASS_FP_ADD,
  RV64_CLASS_FP_MUL,
  RV64_CLASS_FP_DIV,
  RV64_CLASS_CSR,
  RV64_CLASS_CUSTOM,
} rv64_class;
_Static_assert((unsigned)RV64_CLASS_FP_ADD == (unsigned)HOST_FLOAT_ADD, "classes are counted as kinds");
_Static_assert((unsigned)RV64_CLASS_CUSTOM + 1 == (unsigned)HOST_KINDS, "classes are counted as kinds");

// A pre-decoded instruction.
typedef struct rv64_op {
  const void *handler;  // a label of the interpreter
  int32_t imm;
  uint8_t rd, rs1, rs2, rs3;
} rv64_op;
_Static_assert(sizeof(rv64_op) == 16, "an op is 16 bytes: the interpreter scales offsets by 8 per byte of code");

typedef struct rv64_page {
  rv64_op ops[RV64_PAGE_SLOTS + RV64_PAGE_GUARDS];  // first: the interpreter finds slots from the page's address
  uint64_t pc;                                      // of the first slot
  struct rv64_page *next;                           // in use or free
} rv64_page;

typedef struct rv64_timing rv64_timing;

struct host {
  uint64_t x[RV64_SINK + 1];
  uint64_t f[32];
  uint64_t pc;  // valid outside the interpreter

  // Time.
  int64_t left;  // instructions until the interpreter returns
  uint64_t retired_end, extra_cycles;
  uint64_t cycle_offset, instret_offset;  // what writes to mcycle and minstret added
  uint64_t commands;
  rv64_timing *timing;  // NULL: none

  // Control and status.
  uint64_t mstatus, mtvec, mepc, mcause, mtval, mscratch, mie, mcounteren;
  uint32_t frm, fflags;
  bool fp_on, mtvec_written;
  uint64_t reservation;  // address; RV64_NO_RESERVATION: none

  // Memory.
  arch_memory *memory;
  uint64_t tohost_at;  // offset of tohost in memory, or RV64_NO_TOHOST
  rv64_page **pages;   // by page number in memory; NULL: not decoded
  size_t page_count;
  rv64_page *used, *unused;

  host_config config;
  host_end end;  // valid when the interpreter returned true
  uint64_t exit_code;
  uint64_t traps;
  host_trap last_trap;
  uint64_t semihost_errno, features_read;
};

#define RV64_NO_RESERVATION UINT64_C(1)
#define RV64_NO_TOHOST (UINT64_C(1) << 63)

static inline uint64_t rv64_retired(const host *h) { return h->retired_end - (uint64_t)h->left; }
static inline uint64_t rv64_cycles(const host *h) { return rv64_retired(h) + h->extra_cycles; }

// rv64_decode.c: the instruction at `pc` into op's operands; its length (2 or 4) in *length. An instruction whose
// bytes are not all in memory: *length is 0 and the result the first address that cannot be fetched.
typedef struct rv64_decoded {
  rv64_op_index index;
  unsigned length;
  uint64_t fault;
} rv64_decoded;
rv64_decoded rv64_decode(const host *h, uint64_t pc, rv64_op *op);
// Raw bits at `pc` (16 or 32 of them), 0 if they are not in memory.
uint32_t rv64_fetch(const host *h, uint64_t pc);
const char *rv64_op_name(rv64_op_index index);

// rv64_compressed.c: the 4-byte equal of a compressed instruction; 0 (illegal) if there is none.
uint32_t rv64_expand(uint16_t c);

// host.c: decoded pages.
rv64_page *rv64_page_take(host *h, uint64_t offset);
void rv64_pages_flush(host *h);

// rv64_untimed.c, rv64_watched.c, rv64_timed.c: runs `budget` instructions; true if the run ended (h->end), false if
// the budget is used up.
bool rv64_run_untimed(host *h, uint64_t budget);
bool rv64_run_watched(host *h, uint64_t budget);
bool rv64_run_timed(host *h, uint64_t budget);

// rv64_csr.c
typedef enum { RV64_CSR_READ, RV64_CSR_WRITE, RV64_CSR_SET, RV64_CSR_CLEAR } rv64_csr_mode;
// False: illegal instruction. h->left counts the CSR instruction as retired already.
bool rv64_csr(host *h, uint32_t csr, rv64_csr_mode mode, uint64_t operand, uint64_t *old);
void rv64_csr_reset(host *h);
// Where the hart goes on; false if the run ends with this trap.
bool rv64_trap(host *h, uint64_t pc, uint64_t cause, uint64_t value);
uint64_t rv64_mret(host *h);

// What a service or a custom instruction leads to.
typedef enum { RV64_GO_ON, RV64_TRAP_ILLEGAL, RV64_TRAP_STORE, RV64_TRAP_BREAK, RV64_END } rv64_outcome;
// htif.c: tohost has just been written. RV64_TRAP_STORE: a request the host cannot make sense of.
rv64_outcome rv64_htif(host *h, uint64_t *bad);
void rv64_console(const host *h, bool error, const void *bytes, size_t length);
// semihost.c: an ebreak at `pc`. RV64_TRAP_BREAK: it is no semihosting call.
rv64_outcome rv64_semihost(host *h, uint64_t pc);
// port.c
rv64_outcome rv64_port_command(host *h, const rv64_op *op, uint64_t pc, bool returns);
rv64_outcome rv64_port_fence(host *h);
// The same with timing: the clock is the caller's.
rv64_outcome rv64_port_timed_command(host *h, const rv64_op *op, uint64_t pc, bool returns, uint64_t *cycle);
rv64_outcome rv64_port_timed_fence(host *h, uint64_t *cycle);
uint64_t rv64_port_room(host *h, uint64_t cycle);
uint64_t rv64_port_memory(host *h, uint64_t cycle, uint64_t address, bool write);

#endif
