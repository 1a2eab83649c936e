// SPDX-License-Identifier: Apache-2.0
// Control and status registers, traps and mret.
// A register is a row of the table: its addresses and what it is. Registers that start-up code for larger harts writes
// (physical memory protection, delegation, supervisor state, triggers) exist and stay zero.
#include "sim/host/rv64_fp.h"

typedef enum {
  CSR_ZERO,  // reads zero, ignores writes
  CSR_FFLAGS,
  CSR_FRM,
  CSR_FCSR,
  CSR_CYCLES,
  CSR_TIME,
  CSR_INSTRET,
  CSR_STATUS,
  CSR_ISA,
  CSR_TVEC,
  CSR_EPC,
  CSR_CAUSE,
  CSR_TVAL,
  CSR_SCRATCH,
  CSR_IE,
  CSR_COUNTEREN,
} csr_kind;

typedef struct {
  uint16_t first, last;
  csr_kind kind;
} csr_row;

static const csr_row rows[] = {
    {0x001, 0x001, CSR_FFLAGS},  {0x002, 0x002, CSR_FRM},     {0x003, 0x003, CSR_FCSR},
    {0xc00, 0xc00, CSR_CYCLES},                                                          // cycle
    {0xc01, 0xc01, CSR_TIME},    {0xc02, 0xc02, CSR_INSTRET},                            // instret
    {0xc03, 0xc1f, CSR_ZERO},                                                            // hpmcounter3..31
    {0x300, 0x300, CSR_STATUS},  {0x301, 0x301, CSR_ISA},     {0x302, 0x303, CSR_ZERO},  // medeleg, mideleg
    {0x304, 0x304, CSR_IE},      {0x305, 0x305, CSR_TVEC},    {0x306, 0x306, CSR_COUNTEREN},
    {0x30a, 0x30a, CSR_ZERO},  // menvcfg
    {0x320, 0x320, CSR_ZERO},  // mcountinhibit
    {0x323, 0x33f, CSR_ZERO},  // mhpmevent3..31
    {0x340, 0x340, CSR_SCRATCH}, {0x341, 0x341, CSR_EPC},     {0x342, 0x342, CSR_CAUSE},
    {0x343, 0x343, CSR_TVAL},    {0x344, 0x344, CSR_ZERO},  // mip: no interrupt source exists
    {0x34a, 0x34b, CSR_ZERO},                               // mtinst, mtval2
    {0x3a0, 0x3ef, CSR_ZERO},                               // pmpcfg, pmpaddr
    {0xb00, 0xb00, CSR_CYCLES},                             // mcycle
    {0xb02, 0xb02, CSR_INSTRET},                            // minstret
    {0xb03, 0xb1f, CSR_ZERO},                               // mhpmcounter3..31
    {0xf11, 0xf15, CSR_ZERO},                               // mvendorid, marchid, mimpid, mhartid, mconfigptr
    {0x100, 0x100, CSR_ZERO},                               // sstatus
    {0x104, 0x106, CSR_ZERO},                               // sie, stvec, scounteren
    {0x10a, 0x10a, CSR_ZERO},                               // senvcfg
    {0x140, 0x144, CSR_ZERO},                               // sscratch, sepc, scause, stval, sip
    {0x180, 0x180, CSR_ZERO},                               // satp
    {0x7a0, 0x7a5, CSR_ZERO},                               // triggers
};

#define MISA_MXL64 (UINT64_C(2) << 62)
#define MISA_LETTER(c) (UINT64_C(1) << ((c) - 'A'))
#define STATUS_WRITABLE (RV64_STATUS_MIE | RV64_STATUS_MPIE | RV64_STATUS_FS | RV64_STATUS_XS)
#define IE_WRITABLE UINT64_C(0x888)

void rv64_csr_reset(host *h) {
  h->mstatus = RV64_STATUS_MPP;
  h->fp_on = false;
  h->reservation = RV64_NO_RESERVATION;
}

static uint64_t status(const host *h) {
  bool dirty = (h->mstatus & RV64_STATUS_FS) == RV64_STATUS_FS || (h->mstatus & RV64_STATUS_XS) == RV64_STATUS_XS;
  return h->mstatus | (dirty ? RV64_STATUS_SD : 0);
}

static uint64_t isa(const host *h) {
  uint64_t letters =
      MISA_LETTER('A') | MISA_LETTER('C') | MISA_LETTER('D') | MISA_LETTER('F') | MISA_LETTER('I') | MISA_LETTER('M');
  return MISA_MXL64 | letters | (h->config.port.command != NULL ? MISA_LETTER('X') : 0);
}

static uint64_t fcsr(host *h) {
  rv64_fp_collect(h);
  return (uint64_t)h->frm << 5 | h->fflags;
}

// h->left counts the reading instruction as retired already; the counters do not.
static uint64_t read_row(host *h, csr_kind kind) {
  switch (kind) {
    case CSR_FFLAGS:
      return fcsr(h) & 0x1f;
    case CSR_FRM:
      return h->frm;
    case CSR_FCSR:
      return fcsr(h);
    case CSR_CYCLES:
      return rv64_cycles(h) - 1 + h->cycle_offset;
    case CSR_TIME:
      return rv64_cycles(h) - 1;
    case CSR_INSTRET:
      return rv64_retired(h) - 1 + h->instret_offset;
    case CSR_STATUS:
      return status(h);
    case CSR_ISA:
      return isa(h);
    case CSR_TVEC:
      return h->mtvec;
    case CSR_EPC:
      return h->mepc;
    case CSR_CAUSE:
      return h->mcause;
    case CSR_TVAL:
      return h->mtval;
    case CSR_SCRATCH:
      return h->mscratch;
    case CSR_IE:
      return h->mie;
    case CSR_COUNTEREN:
      return h->mcounteren;
    case CSR_ZERO:
      break;
  }
  return 0;
}

static void write_flags(host *h, uint64_t value) {
  rv64_fp_collect(h);
  h->fflags = (uint32_t)value & 0x1f;
}

static void write_status(host *h, uint64_t value) {
  h->mstatus = (value & STATUS_WRITABLE) | RV64_STATUS_MPP;
  h->fp_on = (h->mstatus & RV64_STATUS_FS) != 0;
}

// A counter that is written holds that value when the next instruction reads it.
static void write_row(host *h, csr_kind kind, uint64_t value) {
  switch (kind) {
    case CSR_FFLAGS:
      write_flags(h, value);
      break;
    case CSR_FRM:
      h->frm = (uint32_t)value & 7;
      break;
    case CSR_FCSR:
      write_flags(h, value);
      h->frm = (uint32_t)(value >> 5) & 7;
      break;
    case CSR_CYCLES:
      h->cycle_offset = value - rv64_cycles(h);
      break;
    case CSR_INSTRET:
      h->instret_offset = value - rv64_retired(h);
      break;
    case CSR_STATUS:
      write_status(h, value);
      break;
    case CSR_TVEC:
      h->mtvec = value & ~UINT64_C(2);
      h->mtvec_written = true;
      break;
    case CSR_EPC:
      h->mepc = value & ~UINT64_C(1);
      break;
    case CSR_CAUSE:
      h->mcause = value;
      break;
    case CSR_TVAL:
      h->mtval = value;
      break;
    case CSR_SCRATCH:
      h->mscratch = value;
      break;
    case CSR_IE:
      h->mie = value & IE_WRITABLE;
      break;
    case CSR_COUNTEREN:
      h->mcounteren = value & UINT32_MAX;
      break;
    case CSR_ZERO:
    case CSR_TIME:
    case CSR_ISA:
      break;
  }
}

static const csr_row *find(uint32_t csr) {
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (csr >= rows[i].first && csr <= rows[i].last) return &rows[i];
  }
  return NULL;
}

bool rv64_csr(host *h, uint32_t csr, rv64_csr_mode mode, uint64_t operand, uint64_t *old) {
  const csr_row *row = find(csr);
  bool read_only = (csr >> 10) == 3;
  if (row == NULL || (read_only && mode != RV64_CSR_READ)) return false;
  bool fp = row->kind == CSR_FFLAGS || row->kind == CSR_FRM || row->kind == CSR_FCSR;
  if (fp && !h->fp_on) return false;
  *old = read_row(h, row->kind);
  if (mode == RV64_CSR_READ) return true;
  if (mode == RV64_CSR_SET) operand |= *old;
  if (mode == RV64_CSR_CLEAR) operand = *old & ~operand;
  write_row(h, row->kind, operand);
  if (fp) h->mstatus |= RV64_STATUS_FS;
  return true;
}

bool rv64_trap(host *h, uint64_t pc, uint64_t cause, uint64_t value) {
  h->last_trap = (host_trap){.pc = pc, .cause = cause, .value = value, .instruction = rv64_fetch(h, pc)};
  h->pc = pc;
  uint64_t handler = h->mtvec & ~UINT64_C(3);
  // A handler whose first instruction traps would trap for ever without retiring anything.
  if (!h->mtvec_written || pc == handler) {
    h->end = HOST_TRAPPED;
    return false;
  }
  h->traps++;
  h->reservation = RV64_NO_RESERVATION;
  h->mepc = pc;
  h->mcause = cause;
  h->mtval = value;
  bool enabled = (h->mstatus & RV64_STATUS_MIE) != 0;
  h->mstatus &= ~(RV64_STATUS_MIE | RV64_STATUS_MPIE);
  if (enabled) h->mstatus |= RV64_STATUS_MPIE;
  h->pc = handler;
  return true;
}

uint64_t rv64_mret(host *h) {
  h->reservation = RV64_NO_RESERVATION;
  bool enabled = (h->mstatus & RV64_STATUS_MPIE) != 0;
  h->mstatus = (h->mstatus & ~RV64_STATUS_MIE) | RV64_STATUS_MPIE | (enabled ? RV64_STATUS_MIE : 0);
  return h->mepc;
}
