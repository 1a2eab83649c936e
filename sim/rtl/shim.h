// SPDX-License-Identifier: Apache-2.0
/* What the rtl engine and the compiled hardware share: the ports of weft_accel as plain data and the four operations of
 * a model. Included by C (rtl.c) and by the C++ shell around the Verilated model (shim.cpp), which the engine compiles
 * at run time; so this file depends on nothing but the language.
 */
#ifndef SIM_RTL_SHIM_H
#define SIM_RTL_SHIM_H

#include <stdint.h>

#define WEFT_RTL_BUS_BYTES 128 /* of the widest bus */

typedef struct weft_rtl_inputs {
  uint8_t clk, rst_n;
  uint8_t cmd_valid, cmd_funct, cmd_xd, cmd_rd;
  uint64_t cmd_rs1, cmd_rs2;
  uint8_t resp_ready;
  uint8_t ar_ready;
  uint8_t r_valid, r_last;
  uint32_t r_id;
  uint8_t r_data[WEFT_RTL_BUS_BYTES];
  uint8_t aw_ready, w_ready;
  uint8_t b_valid;
  uint32_t b_id;
  uint64_t time_ps; /* when these values are on the ports; for a model in a kernel that keeps time */
} weft_rtl_inputs;

typedef struct weft_rtl_outputs {
  uint8_t cmd_ready;
  uint8_t resp_valid;
  uint64_t resp_data;
  uint8_t busy;
  uint8_t ar_valid, ar_len, ar_size;
  uint32_t ar_id;
  uint64_t ar_addr;
  uint8_t r_ready;
  uint8_t aw_valid, aw_len, aw_size, aw_user;
  uint32_t aw_id;
  uint64_t aw_addr;
  uint8_t w_valid, w_last;
  uint8_t w_data[WEFT_RTL_BUS_BYTES];
  uint8_t w_strb[WEFT_RTL_BUS_BYTES / 8];
  uint8_t b_ready;
  uint8_t trace_alloc, trace_alloc_funct;
  uint64_t trace_alloc_rs1, trace_alloc_rs2;
  uint8_t trace_issue_valid; /* bits: load, execute, store */
  uint32_t trace_issue_index[3];
  uint8_t trace_done_valid;
  uint32_t trace_done_index;
} weft_rtl_outputs;

typedef struct weft_rtl_api {
  uint32_t inputs_size, outputs_size; /* of the two structs, as the model was compiled */
  /* garbage: 0 starts registers as zeros, else seeds random values. wave: file for waveforms, NULL: none. */
  void *(*create)(uint64_t garbage, const char *wave);
  void (*eval)(void *model, const weft_rtl_inputs *in, weft_rtl_outputs *out);
  void (*dump)(void *model, uint64_t time);
  int (*failed)(void *model); /* an assertion of the hardware failed (its text went to stderr) */
  void (*destroy)(void *model);
} weft_rtl_api;

#define WEFT_RTL_API "weft_rtl"

#endif
