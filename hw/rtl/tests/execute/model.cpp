// SPDX-License-Identifier: Apache-2.0
// See model.h.
#include "model.h"

#include <cmath>
#include <cstring>

namespace {
constexpr uint32_t ROW_MASK = (1u << ROW_BITS) - 1;

bool is_garbage(uint32_t address) {
  const uint32_t all = 0xe0000000u | ROW_MASK | 1u << ROW_BITS;
  return (address & all) == all;
}
int rows_of(uint64_t operand) { return (int)(operand >> 48 & 0xffff); }
int cols_of(uint64_t operand) { return (int)(operand >> 32 & 0xffff); }

// The value as an OUTPUT_BITS two's complement number.
int64_t wrap(int64_t value) {
  const int64_t modulus = (int64_t)1 << OUTPUT_BITS;
  value &= modulus - 1;
  return value >= modulus / 2 ? value - modulus : value;
}

int64_t round_shift(int64_t value, int shift) {
  if (shift == 0) return value;
  const double exact = std::ldexp((double)value, -shift);
  return (int64_t)std::nearbyint(exact);  // half to even
}
}  // namespace

int8_t clip_int8(int64_t value) { return (int8_t)(value < -128 ? -128 : value > 127 ? 127 : value); }

int8_t scale_to_input(int32_t value, int activation, uint32_t scale_bits) {
  float scale;
  memcpy(&scale, &scale_bits, sizeof scale);
  if (activation == 1 && value < 0) value = 0;
  return clip_int8((int64_t)std::nearbyint((float)value * scale));
}

int8_t Model::element(uint32_t address, int offset, int lane) const {
  const uint32_t row = (address + (uint32_t)offset) & ROW_MASK;
  if (address & ACC) return scale_to_input(acc[row % ACC_ROWS][lane], config_.activation, config_.scale);
  return sp[row % SP_ROWS][lane];
}

// The logical matrix: rows x cols of the field, zeros outside; transposed, row i lies in lane i.
Model::Matrix Model::load(uint64_t operand, bool transposed, int stride) const {
  Matrix m{};
  const uint32_t address = (uint32_t)operand;
  if (is_garbage(address)) return m;
  for (int i = 0; i < DIM && i < rows_of(operand); i++)
    for (int j = 0; j < DIM && j < cols_of(operand); j++)
      m[i][j] = transposed ? element(address, j * stride, i) : element(address, i * stride, j);
  return m;
}

void Model::configure(const Command &command) {
  Config next = config_;
  next.a_stride = (int)(command.rs1 >> 16 & 0xffff);
  next.c_stride = (int)(command.rs2 >> 48);
  if (!(command.rs1 >> 7 & 1)) {
    next.ws = command.rs1 >> 2 & 1;
    next.activation = (int)(command.rs1 >> 3 & 3);
    next.a_transpose = command.rs1 >> 8 & 1;
    next.b_transpose = command.rs1 >> 9 & 1;
    next.scale = (uint32_t)(command.rs1 >> 32);
    next.shift = (int)(command.rs2 & 31);
  }
  config_ = next;
}

std::vector<Written> Model::store(const Matrix &result) {
  std::vector<Written> written;
  const uint32_t address = (uint32_t)destination_;
  if (is_garbage(address)) return written;
  for (int i = 0; i < DIM && i < rows_of(destination_); i++) {
    const uint32_t row = (address + (uint32_t)(i * (config_.ws ? config_.c_stride : 1))) & ROW_MASK;
    Written w{(address & ACC) != 0, 0, {}, {}};
    w.row = (int)(w.acc ? row % ACC_ROWS : row % SP_ROWS);
    for (int j = 0; j < DIM; j++) {
      w.mask[j] = j < cols_of(destination_);
      if (!w.mask[j]) continue;
      if (w.acc) {
        uint32_t sum = (uint32_t)result[i][j];
        if (address & ACCUMULATE) sum += (uint32_t)acc[w.row][j];
        w.value[j] = acc[w.row][j] = (int32_t)sum;
      } else {
        int8_t clipped = clip_int8(result[i][j]);
        w.value[j] = sp[w.row][j] = config_.activation == 1 && clipped < 0 ? 0 : clipped;
      }
    }
    written.push_back(w);
  }
  return written;
}

std::vector<Written> Model::compute(const Command &command) {
  const Matrix a = load(command.rs1, config_.a_transpose, config_.a_stride);
  const Matrix bd = load(command.rs2, !config_.ws && config_.b_transpose, 1);
  if (command.funct == COMPUTE_PRELOADED) std::swap(stationary_, loaded_);
  Matrix result{};
  for (int i = 0; i < DIM; i++) {
    for (int j = 0; j < DIM; j++) {
      int64_t sum = config_.ws ? (BIAS_GARBAGE ? 0 : bd[i][j]) : stationary_[i][j];
      for (int k = 0; k < DIM; k++) sum += a[i][k] * (config_.ws ? stationary_[k][j] : bd[k][j]);
      sum = wrap(sum);
      if (!config_.ws) stationary_[i][j] = sum;
      result[i][j] = config_.ws ? sum : round_shift(sum, config_.shift);
    }
  }
  return store(result);
}

std::vector<Written> Model::run(const Command &command) {
  switch (command.funct) {
    case CONFIG:
      configure(command);
      return {};
    case PRELOAD:
      loaded_ = !config_.ws && BIAS_GARBAGE ? Matrix{} : load(command.rs1, config_.ws && config_.b_transpose, 1);
      destination_ = command.rs2;
      return {};
    default:
      return compute(command);
  }
}
