// SPDX-License-Identifier: Apache-2.0
// The arithmetic cells against C, bit for bit: special values in every combination, then random bit patterns, with
// exponents drawn so that results are often near the subnormals, near the integers and near overflow.
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hw/rtl/tests/memory/dut.h"
#include "sim/ref/numeric.h"

enum { RANDOM_CASES = 400000, DIVISIONS = 200 };

static const uint32_t special[] = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x00800001, 0x3effffff, 0x3f000000,
    0x3f000001, 0x3f7fffff, 0x3f800000, 0xbf800000, 0x3fc00000, 0x40200000, 0x4affffff, 0x4b000000, 0x4b7fffff,
    0x4b800001, 0x4effffff, 0x4f000000, 0xcf000000, 0xcf000001, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000,
    0x7f800001, 0xffffffff, 0x7fffffff, 0x000000ff, 0x00000080, 0x01000001, 0x01000003, 0x20000000, 0x34000000};

typedef struct port {
  void *data;
  size_t bytes;
} port;

typedef struct cells {
  dut *d;
  port clk, rst, a, b, qb, qc, qln2, qln2_inv, start;
  port from_int, from_int8, product, to_int, scaled, gelu, exponential, done, quotient, remainder;
  uint64_t rng;
} cells;

static void set(port p, uint32_t value) { memcpy(p.data, &value, p.bytes); }
static uint32_t get(port p) {
  uint32_t value = 0;
  memcpy(&value, p.data, p.bytes);
  return value;
}

static port find(cells *c, const char *name) {
  port p;
  p.data = dut_port(c->d, name, &p.bytes);
  if (p.data == NULL) exit(2);
  return p;
}

static void expect(const char *what, uint32_t a, uint32_t b, uint32_t got, uint32_t wanted) {
  if (got == wanted) return;
  printf("%s of %08" PRIx32 " and %08" PRIx32 ": %08" PRIx32 ", expected %08" PRIx32 "\n", what, a, b, got, wanted);
  exit(1);
}

static uint32_t product_of(uint32_t a, uint32_t b) {
  float product = ref_float_of_bits(a) * ref_float_of_bits(b);
  return isnan(product) ? 0x7fc00000 : ref_bits_of_float(product);
}

static void check(cells *c, uint32_t a, uint32_t b) {
  set(c->a, a);
  set(c->b, b);
  dut_eval(c->d);
  int8_t scaled;
  int32_t as_int = (int32_t)a;
  ref_scale_row(1, &as_int, ref_float_of_bits(b), false, &scaled);
  expect("conversion from int", a, 0, get(c->from_int), ref_bits_of_float((float)as_int));
  expect("conversion from int8", a, 0, get(c->from_int8), ref_bits_of_float((float)(int8_t)a));
  expect("product", a, b, get(c->product), product_of(a, b));
  expect("conversion to int", a, 0, get(c->to_int), (uint32_t)ref_scale_int32(1, ref_float_of_bits(a)));
  expect("scaled integer", a, b, get(c->scaled), (uint8_t)scaled);
  int32_t q = -(int32_t)(a >> 1), qb = (int32_t)b >> 12, qc = (int32_t)(a ^ b), qln2 = (int32_t)(b >> 20);
  int32_t inverse = qln2 == 0 ? 65536 : 65536 / qln2;
  set(c->qb, (uint32_t)qb);
  set(c->qc, (uint32_t)qc);
  dut_eval(c->d);
  expect("integer GELU", a, b, get(c->gelu), (uint32_t)ref_igelu(as_int, qb, qc));
  set(c->a, (uint32_t)q);
  set(c->qln2, (uint32_t)qln2);
  set(c->qln2_inv, (uint32_t)inverse);
  dut_eval(c->d);
  expect("integer exponential", (uint32_t)q, b, get(c->exponential), (uint32_t)ref_iexp(q, qln2, inverse, qb, qc));
}

static uint64_t draw(cells *c) {
  c->rng ^= c->rng << 13;
  c->rng ^= c->rng >> 7;
  c->rng ^= c->rng << 17;
  return c->rng * UINT64_C(0x2545f4914f6cdd1d) >> 16;
}

// Sometimes a small integer, sometimes a number whose exponent makes products interesting.
static uint32_t draw_word(cells *c) {
  uint64_t r = draw(c);
  uint32_t bits = (uint32_t)r;
  switch (r >> 32 & 3) {
    case 0:
      return (uint32_t)((int32_t)bits >> (r >> 40 & 31));
    case 1:
      return (bits & 0x807fffff) | (uint32_t)(120 + (r >> 40 & 31)) << 23;
    case 2:
      return (bits & 0x807fffff) | (uint32_t)(48 + (r >> 40 & 31)) << 23;
    default:
      return bits;
  }
}

static void clock_once(cells *c) {
  set(c->clk, 1);
  dut_eval(c->d);
  set(c->clk, 0);
  dut_eval(c->d);
}

static void divide(cells *c, uint32_t a, uint32_t b) {
  set(c->a, a);
  set(c->b, b);
  set(c->start, 1);
  clock_once(c);
  set(c->start, 0);
  set(c->a, ~a);  // operands are held
  unsigned cycles = 1;
  for (; !get(c->done) && cycles < 100; cycles++) clock_once(c);
  expect("cycles of a division", a, b, cycles, 17);
  expect("quotient", a, b, get(c->quotient), b == 0 ? UINT32_MAX : a / b);
  expect("remainder", a, b, get(c->remainder), b == 0 ? a : a % b);
}

int main(void) {
  cells c = {.d = dut_create(), .rng = 88172645463325252u};
  struct {
    const char *name;
    port *p;
  } ports[] = {{"clk_i", &c.clk},
               {"rst_ni", &c.rst},
               {"a_i", &c.a},
               {"b_i", &c.b},
               {"qb_i", &c.qb},
               {"qc_i", &c.qc},
               {"qln2_i", &c.qln2},
               {"qln2_inv_i", &c.qln2_inv},
               {"start_i", &c.start},
               {"from_int_o", &c.from_int},
               {"from_int8_o", &c.from_int8},
               {"product_o", &c.product},
               {"to_int_o", &c.to_int},
               {"scaled_o", &c.scaled},
               {"gelu_o", &c.gelu},
               {"exp_o", &c.exponential},
               {"divide_done_o", &c.done},
               {"quotient_o", &c.quotient},
               {"remainder_o", &c.remainder}};
  for (size_t i = 0; i < sizeof ports / sizeof *ports; i++) *ports[i].p = find(&c, ports[i].name);
  set(c.rst, 0);
  clock_once(&c);
  set(c.rst, 1);
  const size_t count = sizeof special / sizeof *special;
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j < count; j++) check(&c, special[i], special[j]);
  for (unsigned i = 0; i < RANDOM_CASES; i++) {
    uint32_t a = draw_word(&c), b = draw_word(&c);
    check(&c, a, b);
  }
  for (unsigned i = 0; i < DIVISIONS; i++) {
    uint32_t a = draw_word(&c), b = i == 0 ? 0 : draw_word(&c) >> (i % 32);
    divide(&c, a, b);
  }
  printf("%zu pairs of special values, %u random pairs, %u divisions\n", count * count, RANDOM_CASES, DIVISIONS);
  dut_destroy(c.d);
  return 0;
}
