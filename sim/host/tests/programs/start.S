// SPDX-License-Identifier: Apache-2.0
// Start-up of the bare-metal test programs: traps, stack, main, exit through tohost.
  .section .text.start, "ax", @progbits
  .globl _start
  .type _start, @function
_start:
  li t0, 0x1e000                # mstatus.FS and XS: dirty
  csrs mstatus, t0
  la t0, trap
  csrw mtvec, t0
  .option push
  .option norelax
  la gp, __global_pointer$
  .option pop
  la sp, stack_top
  call main
exit:                           # a0: exit code
  slli a0, a0, 1
  ori a0, a0, 1
  la t0, tohost
  sd a0, 0(t0)
1:
  j 1b
  .size _start, . - _start

  .balign 4
trap:                           # exit code 0x100 + cause
  csrr a0, mcause
  addi a0, a0, 0x100
  j exit

  .section .tohost, "aw", @progbits
  .balign 64
  .globl tohost
tohost:
  .dword 0
  .balign 64
  .globl fromhost
fromhost:
  .dword 0
