// SPDX-License-Identifier: Apache-2.0
# Start-up: from reset to main() and from main() to the exit code, and the trap entry.
#
# Invariants: hart 0 alone runs, in machine mode; memory may hold garbage (.bss is cleared); sp stays 16-byte aligned;
# a trap leaves every register as it was, so that a handler may resume the program.
# The frame that the trap entry builds is `struct weft_trap` of weft/trap.h.

  .equ MSTATUS_FS, 0x6000            # floating point: dirty
  .equ MSTATUS_XS, 0x18000           # accelerator: dirty
  .equ FRAME_BYTES, 32 * 8 + 20 * 8  # x1..x31, pc in the place of x0; the caller-saved floating-point registers

  .section .text.start, "ax", @progbits
  .globl _start
  .type _start, @function
_start:
  csrr t0, mhartid
  bnez t0, park
  li   t0, MSTATUS_FS | MSTATUS_XS
  csrs mstatus, t0
  fscsr zero
  la   t0, trap_entry
  csrw mtvec, t0
  .option push
  .option norelax
  la   gp, __global_pointer$
  .option pop
  la   tp, __tls_base
  la   sp, __stack_top
  la   t0, __bss_start
  la   t1, __bss_end
clear:
  bgeu t0, t1, cleared
  sd   zero, 0(t0)
  addi t0, t0, 8
  j    clear
cleared:
  li   a0, 0
  li   a1, 0
  call main
  tail weft_exit
park:
  wfi
  j    park
  .size _start, . - _start

  .section .text.trap, "ax", @progbits
  .balign 4
  .type trap_entry, @function
trap_entry:
  addi sp, sp, -FRAME_BYTES
  sd   x1, 8(sp)
  .irp n, 3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
  sd   x\n, \n * 8(sp)
  .endr
  addi t0, sp, FRAME_BYTES
  sd   t0, 2 * 8(sp)
  csrr t0, mepc
  sd   t0, 0(sp)
  .set slot, 32
  .irp r, ft0,ft1,ft2,ft3,ft4,ft5,ft6,ft7,ft8,ft9,ft10,ft11,fa0,fa1,fa2,fa3,fa4,fa5,fa6,fa7
  fsd  \r, slot * 8(sp)
  .set slot, slot + 1
  .endr
  mv   a0, sp
  csrr a1, mcause
  csrr a2, mtval
  call weft_trap_enter
  ld   t0, 0(sp)
  csrw mepc, t0
  .set slot, 32
  .irp r, ft0,ft1,ft2,ft3,ft4,ft5,ft6,ft7,ft8,ft9,ft10,ft11,fa0,fa1,fa2,fa3,fa4,fa5,fa6,fa7
  fld  \r, slot * 8(sp)
  .set slot, slot + 1
  .endr
  ld   x1, 8(sp)
  .irp n, 3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
  ld   x\n, \n * 8(sp)
  .endr
  ld   sp, 2 * 8(sp)
  mret
  .size trap_entry, . - trap_entry

# The two doublewords through which the program talks to the machine that runs it, found by their names.
  .section .tohost, "aw", @progbits
  .balign 64
  .globl tohost
  .type tohost, @object
tohost:
  .dword 0
  .size tohost, 8
  .balign 64
  .globl fromhost
  .type fromhost, @object
fromhost:
  .dword 0
  .size fromhost, 8
