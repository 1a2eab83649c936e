// SPDX-License-Identifier: Apache-2.0
// Softmax of rows of int8, int8 again, in integers: docs/networks.md has the formula. Four passes over a row: its
// largest number, an exponential in a byte for each element from a table, their sum, and shares of the sum. All but the
// table take eight elements at once, as lanes of a word; the exponentials stand where the result will.
#include "group.h"
#include "private.h"

// A row is too short to call functions for its parts.
#define IN_ROW __attribute__((always_inline)) static inline

enum { WORD = sizeof(uint64_t), SHIFT_MAX = 13, FACTOR_MAX = 240, TABLE = 256 };
#define BYTES(b) (UINT64_C(0x0101010101010101) * (b))  // in each byte of a word
#define LEAST BYTES(0x80)                              // -128
#define LANES UINT64_C(0x00ff00ff00ff00ff)             // of 16 bits, a byte in each
#define ONES UINT64_C(0x0001000100010001)

IN_ROW uint64_t word_at(const void *at) {
  uint64_t word;
  __builtin_memcpy(&word, __builtin_assume_aligned(at, WORD), WORD);
  return word;
}

IN_ROW void put_word(void *at, uint64_t word) { __builtin_memcpy(__builtin_assume_aligned(at, WORD), &word, WORD); }

// A row as bytes before the first whole word, words, and bytes behind them.
struct cut {
  size_t head, words, edges;
};

IN_ROW struct cut cut_of(const void *at, size_t count) {
  const size_t before = -(uintptr_t)at % WORD, head = before < count ? before : count;
  return (struct cut){head, (count - head) / WORD, head + (count - head) % WORD};
}

IN_ROW size_t behind(const struct cut *c) { return c->edges - c->head; }
IN_ROW size_t behind_at(const struct cut *c) { return c->head + c->words * WORD; }

// The place of an edge's n-th byte.
IN_ROW size_t edge_at(const struct cut *c, size_t n) { return n < c->head ? n : n + c->words * WORD; }

// ---- bytes that are no whole word, as the word in which they lie: `fill` in its other bytes. On the hart's memory a
// whole word may be read and written around them.

#ifdef __riscv
IN_ROW uint64_t edge_mask(const int8_t *at, size_t count) {
  return UINT64_MAX >> (8 * (WORD - count)) << ((uintptr_t)at % WORD * 8);
}
IN_ROW uint64_t edge_word(const int8_t *at, size_t count, uint64_t fill) {
  const uint64_t mask = edge_mask(at, count);
  return (word_at(at - (uintptr_t)at % WORD) & mask) | (fill & ~mask);
}
IN_ROW void put_edge(int8_t *at, size_t count, uint64_t word) {
  const uint64_t mask = edge_mask(at, count);
  int8_t *const whole = at - (uintptr_t)at % WORD;
  put_word(whole, (word_at(whole) & ~mask) | (word & mask));
}
#else
IN_ROW uint64_t edge_word(const int8_t *at, size_t count, uint64_t fill) {
  __builtin_memcpy((char *)&fill + (uintptr_t)at % WORD, at, count);
  return fill;
}
IN_ROW void put_edge(int8_t *at, size_t count, uint64_t word) {
  __builtin_memcpy(at, (const char *)&word + (uintptr_t)at % WORD, count);
}
#endif

// ---- the largest number: half of it, as unsigned bytes, for then bit 7 of a byte is free to borrow from

IN_ROW uint32_t half_of(int8_t x) { return (uint32_t)(uint8_t)(x ^ -128) >> 1; }
IN_ROW uint64_t halves_of(uint64_t word) { return (word >> 1 & BYTES(0x7f)) ^ BYTES(0x40); }

// The larger of each byte: with bit 7 set in b, it stays in the difference where b is not the smaller, and b - a below.
IN_ROW uint64_t larger_halves(uint64_t a, uint64_t b) {
  const uint64_t difference = (b ^ BYTES(0x80)) - a, first = difference & BYTES(0x80);
  return a + (difference & (first - (first >> 7)));
}

IN_ROW uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

IN_ROW uint32_t largest_byte(uint64_t a) {
  a = larger_halves(a, a >> 32);
  a = larger_halves(a, a >> 16);
  return (uint32_t)larger_halves(a, a >> 8) & 0x7f;
}

// Whole words do not begin or end within an edge, so the compiler may take several at a time.
IN_ROW uint64_t largest_of_words(const int8_t *from, size_t words) {
  const int8_t *const odd = from + words % 4 * WORD, *const end = from + words * WORD;
  uint64_t a = 0, b = 0;
  for (; from != odd; from += WORD) a = larger_halves(a, halves_of(word_at(from)));
  for (; from != end; from += 4 * WORD) {
    a = larger_halves(a, halves_of(word_at(from)));
    b = larger_halves(b, halves_of(word_at(from + WORD)));
    a = larger_halves(a, halves_of(word_at(from + 2 * WORD)));
    b = larger_halves(b, halves_of(word_at(from + 3 * WORD)));
  }
  return larger_halves(a, b);
}

IN_ROW uint64_t largest_of_cut(const int8_t *from, size_t count) {
  const struct cut cut = cut_of(from, count);
  const int8_t *tail = from + behind_at(&cut);
  uint64_t a = largest_of_words(from + cut.head, cut.words);
  if (cut.head > 0) a = larger_halves(a, halves_of(edge_word(from, cut.head, LEAST)));
  if (behind(&cut) > 0) a = larger_halves(a, halves_of(edge_word(tail, behind(&cut), LEAST)));
  return a;
}

IN_ROW uint32_t largest_half(const int8_t *from, size_t count) { return largest_byte(largest_of_cut(from, count)); }

// The same as largest_of_cut, for short rows: the words in which a row begins and ends are whole ones with 0 for what
// is not of the row.
#ifdef __riscv
IN_ROW uint64_t largest_of_row(const int8_t *from, size_t count) {
  const size_t before = (uintptr_t)from % WORD, after = -((uintptr_t)from + count) % WORD;
  const int8_t *at = from - before, *const end = from + count + after - WORD;
  const uint64_t last = halves_of(word_at(end)) & UINT64_MAX >> 8 * after;
  uint64_t a = halves_of(word_at(at)) & UINT64_MAX << 8 * before;
  if (at == end) return a & last;
  for (at += WORD; at != end; at += WORD) a = larger_halves(a, halves_of(word_at(at)));
  return larger_halves(a, last);
}
#else
IN_ROW uint64_t largest_of_row(const int8_t *from, size_t count) { return largest_of_cut(from, count); }
#endif

// All bits of the bytes that are not 0.
IN_ROW uint64_t included(uint64_t mask) {
  const uint64_t bytes = ((mask & BYTES(0x7f)) + BYTES(0x7f)) | mask, first = bytes & BYTES(0x80);
  return first | (first - (first >> 7));
}

IN_ROW uint64_t keep_included(uint64_t word, uint64_t bits) { return (word & bits) | (LEAST & ~bits); }

// The row with the least number where the mask is 0; returns the largest. The mask lies as the row does, within words.
static uint32_t keep_and_find(int8_t *to, const int8_t *from, const int8_t *mask, size_t count) {
  const struct cut cut = cut_of(from, count);
  const size_t last = behind_at(&cut);
  uint64_t largest = 0;
  if (cut.head > 0) {
    const uint64_t bits = included(edge_word(mask, cut.head, 0)), word = edge_word(from, cut.head, LEAST);
    put_edge(to, cut.head, keep_included(word, bits));
    largest = halves_of(keep_included(word, bits));
  }
  for (size_t i = cut.head; i < last; i += WORD) {
    const uint64_t word = keep_included(word_at(from + i), included(word_at(mask + i)));
    put_word(to + i, word);
    largest = larger_halves(largest, halves_of(word));
  }
  if (behind(&cut) > 0) {
    const uint64_t bits = included(edge_word(mask + last, behind(&cut), 0));
    const uint64_t word = keep_included(edge_word(from + last, behind(&cut), LEAST), bits);
    put_edge(to + last, behind(&cut), word);
    largest = larger_halves(largest, halves_of(word));
  }
  return largest_byte(largest);
}

// Zeros where the mask is 0.
static void clear_excluded(int8_t *to, const int8_t *mask, size_t count) {
  const struct cut cut = cut_of(to, count);
  const size_t last = behind_at(&cut), tail = behind(&cut);
  if (cut.head > 0) put_edge(to, cut.head, edge_word(to, cut.head, 0) & included(edge_word(mask, cut.head, 0)));
  for (size_t i = cut.head; i < last; i += WORD) put_word(to + i, word_at(to + i) & included(word_at(mask + i)));
  if (tail > 0) put_edge(to + last, tail, edge_word(to + last, tail, 0) & included(edge_word(mask + last, tail, 0)));
}

static uint32_t largest_half_included(const int8_t *from, const char *mask, size_t count) {
  uint32_t largest = 0;
  for (size_t i = 0; i < count; i++) largest = larger(largest, mask[i] != 0 ? half_of(from[i]) : 0);
  return largest;
}

// Halves of two words, those of b behind those of a: the larger of the even and the odd parts of `shift` bits.
IN_ROW uint64_t larger_parts(uint64_t a, uint64_t b, unsigned shift, uint64_t even) {
  return larger_halves((a & even) | (b & even) << shift, (a >> shift & even) | (b & ~even));
}

// The largest of each of eight words, the first in the lowest byte.
IN_ROW uint64_t largest_bytes(const uint64_t word[WORD]) {
  uint64_t half[WORD / 2], quarter[2];
  for (int i = 0; i < 4; i++) half[i] = larger_parts(word[i], word[i + 4], 32, UINT64_C(0xffffffff));
  for (int i = 0; i < 2; i++) quarter[i] = larger_parts(half[i], half[i + 2], 16, UINT64_C(0xffff0000ffff));
  return larger_parts(quarter[0], quarter[1], 8, UINT64_C(0xff00ff00ff00ff)) & BYTES(0x7f);
}

// Eight rows: of whole words, so that a step is done for all of them, or of any width.
static uint64_t headroom_of_words(const int8_t *from, size_t words) {
  uint64_t word[WORD];
  EACH word[j] = halves_of(word_at(from + (size_t)j * words * WORD));
  for (size_t w = 1; w < words; w++)
    EACH word[j] = larger_halves(word[j], halves_of(word_at(from + ((size_t)j * words + w) * WORD)));
  return BYTES(INT8_MAX) - largest_bytes(word);
}

static uint64_t headroom_of_rows(const int8_t *from, int64_t step, size_t count) {
  uint64_t word[WORD];
  for (size_t r = 0; r < WORD; r++, from += step) word[r] = largest_of_row(from, count);
  return BYTES(INT8_MAX) - largest_bytes(word);
}

void host_qheadroom_rows(const struct host_qrows *rows) {
  const size_t count = (size_t)rows->count;
  const bool whole = (((uintptr_t)rows->from | (uintptr_t)rows->from_step | count) % WORD) == 0,
             dense = rows->from_step == rows->count, together = rows->to_step == 1 && (uintptr_t)rows->to % WORD == 0;
  const int8_t *from = rows->from;
  int8_t *to = rows->to;
  int64_t r = rows->rows;
  for (; together && r >= WORD; r -= WORD, from += WORD * rows->from_step, to += WORD)
    put_word(to,
             whole && dense ? headroom_of_words(from, count / WORD) : headroom_of_rows(from, rows->from_step, count));
  for (; r > 0; r--, from += rows->from_step, to += rows->to_step) *to = (int8_t)(INT8_MAX - largest_half(from, count));
}

// ---- exponentials: column j has table j mod 8, each of 256 bytes

IN_ROW void look_up_group(int8_t *to, const int8_t *from, const uint8_t *entry) {
  int64_t x[GROUP];
  EACH x[j] = from[j];
  wholes_there(x);
  EACH x[j] = (entry + x[j])[TABLE * j];
  wholes_there(x);
  EACH to[j] = (int8_t)x[j];
}

IN_ROW void look_up(int8_t *to, const int8_t *from, size_t count, const uint8_t *entry) {
  size_t i = 0;
  for (; i + 2 * GROUP <= count; i += 2 * GROUP) {
    int64_t x[GROUP], y[GROUP];
    EACH x[j] = from[i + (size_t)j];
    wholes_there(x);
    EACH y[j] = from[i + GROUP + (size_t)j];
    EACH x[j] = (entry + x[j])[TABLE * j];
    wholes_there(y);
    EACH y[j] = (entry + y[j])[TABLE * j];
    wholes_there(x);
    EACH to[i + (size_t)j] = (int8_t)x[j];
    wholes_there(y);
    EACH to[i + GROUP + (size_t)j] = (int8_t)y[j];
  }
  if (i + GROUP <= count) {
    look_up_group(to + i, from + i, entry);
    i += GROUP;
  }
  for (; i < count; i++, entry += TABLE) to[i] = (int8_t)entry[from[i]];
}

static void look_up_included(int8_t *to, const int8_t *from, const char *mask, size_t count, const uint8_t *entry) {
  for (size_t i = 0; i < count; i++) to[i] = mask[i] != 0 ? (int8_t)(entry + from[i])[i % GROUP * TABLE] : 0;
}

// ---- their sum

static int64_t sum_of_lanes(uint64_t lanes) {
  const uint64_t pairs = (lanes & UINT64_C(0x0000ffff0000ffff)) + (lanes >> 16 & UINT64_C(0x0000ffff0000ffff));
  return (int64_t)((pairs & UINT64_C(0xffffffff)) + (pairs >> 32));
}

// At most as many words as keep a lane within 16 bits. `all` has every byte but the lowest of a word, the even ones a
// byte above their lane.
IN_ROW int64_t sum_of_words(const int8_t *from, size_t words) {
  const int8_t *const odd = from + words % 4 * WORD, *const end = from + words * WORD;
  uint64_t even = 0, all = 0;
  for (; from != odd; from += WORD) even += word_at(from) & LANES, all += word_at(from) >> 8;
  for (; from != end; from += 4 * WORD) {
    const uint64_t a = word_at(from), b = word_at(from + WORD);
    const uint64_t c = word_at(from + 2 * WORD), d = word_at(from + 3 * WORD);
    even += a & LANES, all += a >> 8, even += b & LANES, all += b >> 8;
    even += c & LANES, all += c >> 8, even += d & LANES, all += d >> 8;
  }
  return sum_of_lanes(even) + sum_of_lanes(all - (even >> 16 << 8));
}

IN_ROW int64_t sum_of(const int8_t *from, const struct cut *cut) {
  enum { WORDS_MAX = 256 };
  const int8_t *words = from + cut->head;
  int64_t sum = 0;
  for (size_t left = cut->words; left > 0;) {
    const size_t some = left < WORDS_MAX ? left : WORDS_MAX;
    sum += sum_of_words(words, some);
    words += some * WORD;
    left -= some;
  }
  for (size_t n = 0; n < cut->edges; n++) sum += (uint8_t)from[edge_at(cut, n)];
  return sum;
}

// ---- shares: min(127, (e factor + 2^(shift - 1)) >> shift); no product leaves its 16 bits

struct share {
  uint64_t factor, half;
  unsigned shift;
};

// The largest shift with which `one` is a factor of up to 240: it has then 7 bits at least, if the shift is not the
// largest of all.
static struct share share_of(float one) {
  uint32_t bits;
  __builtin_memcpy(&bits, &one, sizeof bits);
  const int32_t needed = 7 + 127 - (int32_t)(bits >> 23);  // one 2^needed is in [128, 256)
  int32_t shift = needed < 0 ? 0 : needed > SHIFT_MAX ? SHIFT_MAX : needed;
  float factor = one * (float)(1 << shift);
  if (factor > FACTOR_MAX && shift > 0) {
    factor *= 0.5f;
    shift--;
  }
  if (factor > FACTOR_MAX) factor = FACTOR_MAX;
  return (struct share){(uint64_t)nearest(factor), shift == 0 ? 0 : UINT64_C(1) << (shift - 1), (unsigned)shift};
}

IN_ROW uint64_t shared(const struct share *s, uint64_t e) { return (s->factor * e + s->half) >> s->shift; }

IN_ROW int8_t share(const struct share *s, int8_t e) {
  const uint64_t y = shared(s, (uint8_t)e);
  return (int8_t)(y < INT8_MAX ? y : INT8_MAX);
}

// The multiplier of the hart ends when the rest of its first operand is 0, and takes one product at a time: `before` is
// work that has to be done when it begins.
IN_ROW uint64_t times(uint64_t factor, uint64_t lanes, uint64_t *before) {
#ifdef __riscv
  uint64_t product;
  __asm__ volatile("mul %0, %2, %3\n\tfsgnj.d ft0, ft0, ft0" : "=r"(product), "+r"(*before) : "r"(factor), "r"(lanes));
  return product;
#else
  (void)before;
  return factor * lanes;
#endif
}

// Of numbers up to 255 in lanes.
IN_ROW uint64_t saturated(uint64_t lanes) {
  const uint64_t above = lanes >> 7 & ONES;
  return (lanes | ((above << 7) - above)) & ONES * 0x7f;
}

struct lanes {
  uint64_t factor, half, kept;
  unsigned shift;
  bool saturates;
};

IN_ROW uint64_t scaled(const struct lanes *l, uint64_t product) {
  const uint64_t lanes = (product + l->half) >> l->shift & l->kept;
  return l->saturates ? saturated(lanes) : lanes;
}

IN_ROW uint64_t shared_word(uint64_t word, const struct lanes *l) {
  uint64_t even = word, odd = even >> 8 & LANES;
  even = times(l->factor, even & LANES, &odd);
  odd = times(l->factor, odd, &odd);
  return scaled(l, even) | scaled(l, odd) << 8;
}

// Of words in which no share is more than 127, or than 255.
IN_ROW void share_words(int8_t *to, const struct cut *cut, const struct share *s, bool saturates) {
  const struct lanes l = {s->factor, s->half * ONES, (UINT64_C(0xffff) >> s->shift) * ONES, s->shift, saturates};
  int8_t *const tail = to + behind_at(cut);
  if (cut->head > 0) put_edge(to, cut->head, shared_word(edge_word(to, cut->head, 0), &l));
  if (behind(cut) > 0) put_edge(tail, behind(cut), shared_word(edge_word(tail, behind(cut), 0), &l));
  to += cut->head;
  int8_t *const end = to + cut->words / 2 * 2 * WORD;
  if (cut->words % 2 != 0) put_word(end, shared_word(word_at(end), &l));
  for (; to != end; to += 2 * WORD) {
    uint64_t a = word_at(to), b = word_at(to + WORD), a_odd = a >> 8, b_odd = b >> 8;
    const uint64_t a_even = times(l.factor, a & LANES, &b);
    a_odd &= LANES, b &= LANES, b_odd &= LANES;
    const uint64_t a_high = times(l.factor, a_odd, &b_odd);
    uint64_t low = scaled(&l, a_even);
    const uint64_t b_even = times(l.factor, b, &low);
    uint64_t word = low | scaled(&l, a_high) << 8;
    const uint64_t b_high = times(l.factor, b_odd, &word);
    put_word(to, word);
    put_word(to + WORD, scaled(&l, b_even) | scaled(&l, b_high) << 8);
  }
}

IN_ROW void share_row(int8_t *to, size_t count, const struct cut *cut, const struct share *s) {
  const uint64_t largest = shared(s, UINT8_MAX);
  if (largest > UINT8_MAX) {
    for (size_t i = 0; i < count; i++) to[i] = share(s, to[i]);
    return;
  }
  if (largest <= INT8_MAX)
    share_words(to, cut, s, false);
  else
    share_words(to, cut, s, true);
}

// ---- rows with and without mask

// What one of the sum is. A number of which nothing is left, or which is none, leaves nothing.
IN_ROW float one_of(const int8_t *to, const struct cut *cut, float number) {
  const int64_t sum = sum_of(to, cut);
  return sum == 0 ? 0 : number / (float)sum;
}

IN_ROW void share_out(int8_t *to, size_t count, const struct cut *cut, float one) {
  const struct share s = share_of(one > 0 ? one : 0);
  share_row(to, count, cut, &s);
}

static const uint8_t *entry_of(const char *table, uint32_t largest) {
  return (const uint8_t *)table + (TABLE - 1) - ((int32_t)(2 * largest + 1) - 128);
}

// The quotient of a row is on its way while the next row's exponentials are found.
void host_qsoftmax_rows(const struct host_qrows *rows, const char *table, float number) {
  const size_t count = (size_t)rows->count;
  const int8_t *from = rows->from;
  int8_t *to = rows->to, *last = NULL;
  struct cut cut, last_cut = {0};
  float one = 0;
  for (int64_t r = rows->rows; r > 0; r--, from += rows->from_step, to += rows->to_step) {
    cut = cut_of(to, count);
    look_up(to, from, count, entry_of(table, largest_half(from, count)));
    if (last != NULL) share_out(last, count, &last_cut, one);
    one = one_of(to, &cut, number);
    last = to;
    last_cut = cut;
  }
  if (last != NULL) share_out(last, count, &last_cut, one);
}

// How many bytes up to the first that is 0, word by word where the address allows it. Of a word without such a byte the
// subtraction sets no sign that it had not.
static int64_t count_included(const char *mask, int64_t count) {
  int64_t i = 0;
  for (; i + WORD <= count && (uintptr_t)mask % WORD == 0; i += WORD) {
    const uint64_t word = word_at(mask + i);
    if (((word - BYTES(1)) & ~word & BYTES(0x80)) != 0) break;
  }
  while (i < count && mask[i] != 0) i++;
  return i;
}

static bool is_nothing(const char *mask, int64_t count) {
  char any = 0;
  for (; count > 0 && (uintptr_t)mask % WORD != 0; count--) any |= *mask++;
  uint64_t words = 0;
  for (; count >= WORD; count -= WORD, mask += WORD) words |= word_at(mask);
  for (; count > 0; count--) any |= *mask++;
  return any == 0 && words == 0;
}

// The first columns alone are included, as in causal masks. Those up to a whole group share with them, as nothing.
static void share_first(const struct host_qrow *row, size_t first, const char *table, float number) {
  const size_t all = (size_t)row->count, groups = (first + GROUP - 1) / GROUP * GROUP;
  const size_t count = groups < all ? groups : all;
  const struct cut cut = cut_of(row->to, count);
  look_up(row->to, row->from, first, entry_of(table, largest_half(row->from, first)));
  for (size_t i = first; i < count; i++) row->to[i] = 0;
  share_out(row->to, count, &cut, one_of(row->to, &cut, number));
  __builtin_memset(row->to + count, 0, all - count);
}

void host_qsoftmax_masked_row(const struct host_qrow *row, const char *mask, const char *table, float number) {
  const int64_t first = count_included(mask, row->count);
  if (is_nothing(mask + first, row->count - first)) {
    share_first(row, (size_t)first, table, number);
    return;
  }
  const size_t count = (size_t)row->count;
  const struct cut cut = cut_of(row->to, count);
  if (((uintptr_t)row->to ^ (uintptr_t)row->from) % WORD == 0 && ((uintptr_t)row->to ^ (uintptr_t)mask) % WORD == 0) {
    const int8_t *bytes = (const int8_t *)mask;
    look_up(row->to, row->to, count, entry_of(table, keep_and_find(row->to, row->from, bytes, count)));
    clear_excluded(row->to, bytes, count);
  } else {
    look_up_included(row->to, row->from, mask, count, entry_of(table, largest_half_included(row->from, mask, count)));
  }
  share_out(row->to, count, &cut, one_of(row->to, &cut, number));
}
