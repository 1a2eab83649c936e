// SPDX-License-Identifier: Apache-2.0
// Commands of the accelerator for the microbenchmarks (custom-3, ISA revision 1); no other headers.
// clang-format off
#pragma once
#include <stdint.h>
#include <stddef.h>
typedef uint64_t u64; typedef uint32_t u32; typedef int8_t i8; typedef int32_t i32;
extern volatile u64 tohost, fromhost;
#ifndef DIM
#define DIM 16
#endif
#ifndef SP_ROWS
#define SP_ROWS 16384
#endif
#ifndef ACC_ROWS
#define ACC_ROWS 1024
#endif
// The measured side8 has no output-stationary dataflow: it takes configurations of it for weight-stationary ones, which
// transpose B alone.
#ifndef WS_ONLY
#define WS_ONLY 0
#endif
#define ACC      0x80000000u
#define ACCUM    0x40000000u
#define FULL     0x20000000u
#define GARBAGE  0xffffffffu
#define ONE_F32  0x3f800000ull
#define STR_(x) #x
#define STR(x) STR_(x)
#define ROCC(f, a, b) asm volatile(".insn r 0x7b, 3, " STR(f) ", x0, %0, %1" :: "r"((u64)(a)), "r"((u64)(b)) : "memory")
#define LADDR(addr, rows, cols) (((u64)(rows) << 48) | ((u64)(cols) << 32) | (u32)(addr))
static inline u64 rdcycle(void) { u64 c; asm volatile("rdcycle %0" : "=r"(c) :: "memory"); return c; }
static inline void fence(void) { asm volatile("fence" ::: "memory"); }
static inline void g_flush(void) { ROCC(7, 0, 0); }
static inline void g_config_ex(int ws, int act, int shift, int astride, int at, int bt, int cstride)
{ ROCC(0, (ONE_F32 << 32) | ((u64)astride << 16) | (bt << 9) | (at << 8) | (act << 3) | (ws << 2) | 0, ((u64)cstride << 48) | (u32)shift); }
static inline void g_config_ld(u64 stride, int id, int shrink, int blkstride, u32 scale)
{ ROCC(0, ((u64)scale << 32) | ((u64)blkstride << 16) | (1 << 8) | (id << 3) | (shrink << 2) | 1, stride); }
static inline void g_config_st(u32 stride, int act, u32 scale)
{ ROCC(0, ((u64)act << 2) | 2, ((u64)scale << 32) | stride); }
static inline void g_config_st_pool(u32 stride, int act, u32 scale, int ps, int psz, int pod, int por, int poc, int orr, int oc, int up, int lp)
{ ROCC(0, ((u64)oc << 56) | ((u64)orr << 48) | ((u64)poc << 40) | ((u64)por << 32) | ((u64)pod << 24) | ((u64)lp << 10) | ((u64)up << 8) | ((u64)psz << 6) | ((u64)ps << 4) | ((u64)act << 2) | 2, ((u64)scale << 32) | stride); }
#define g_mvin(d, a, r, c)  ROCC(2, (u64)(d), LADDR(a, r, c))
#define g_mvin2(d, a, r, c) ROCC(1, (u64)(d), LADDR(a, r, c))
#define g_mvin3(d, a, r, c) ROCC(14, (u64)(d), LADDR(a, r, c))
#define g_mvout(d, a, r, c) ROCC(3, (u64)(d), LADDR(a, r, c))
#define g_preload(b, br, bc, cc, cr, ccol) ROCC(6, LADDR(b, br, bc), LADDR(cc, cr, ccol))
#define g_comp_pre(a, ar, ac, d, dr, dc) ROCC(4, LADDR(a, ar, ac), LADDR(d, dr, dc))
#define g_comp_acc(a, ar, ac, d, dr, dc) ROCC(5, LADDR(a, ar, ac), LADDR(d, dr, dc))
static inline void g_loop_ws(int I, int J, int K, int pI, int pJ, int pK, const void *A, const void *B, const void *D, void *C,
    u64 as, u64 bs, u64 ds, u64 cs, int at, int bt, int fullC, int lowD, int exacc, int act)
{
  ROCC(9, ((u64)pK << 32) | ((u64)pJ << 16) | pI, ((u64)K << 32) | ((u64)J << 16) | I);
  ROCC(10, (u64)A, (u64)B); ROCC(11, (u64)D, (u64)C); ROCC(12, as, bs); ROCC(13, ds, cs);
  ROCC(8, ((u64)act << 8) | (lowD << 2) | (fullC << 1) | exacc, (bt << 1) | at);
}
