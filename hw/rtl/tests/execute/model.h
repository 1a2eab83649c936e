// SPDX-License-Identifier: Apache-2.0
// Plain model of the execute commands, carried out in program order on whole matrices (sections 3, 4 and 7 of the ISA
// reference). It knows nothing of cycles, banks or pipelines.
#ifndef HW_RTL_TESTS_EXECUTE_MODEL_H
#define HW_RTL_TESTS_EXECUTE_MODEL_H

#include <array>
#include <vector>

#include "array.h"

// What a product leaves in local memory.
struct Written {
  bool acc;
  int row;
  std::array<int32_t, DIM> value;
  std::array<bool, DIM> mask;
};

int8_t clip_int8(int64_t value);
// Operand element read from the accumulator: activation, then scale, then clip.
int8_t scale_to_input(int32_t value, int activation, uint32_t scale_bits);

class Model {
 public:
  std::vector<std::array<int8_t, DIM>> sp;
  std::vector<std::array<int32_t, DIM>> acc;

  Model() : sp(SP_ROWS), acc(ACC_ROWS) {}
  // Returns the rows that the command's product writes, for the preload that named its destination.
  std::vector<Written> run(const Command &command);
  const Config &config() const { return config_; }

 private:
  using Matrix = std::array<std::array<int64_t, DIM>, DIM>;
  Config config_{false, false, false, false, 0, 0, 0, 0, 0};
  Matrix stationary_{}, loaded_{};  // weights or sums in use; what the last preload brought
  uint64_t destination_ = GARBAGE;

  Matrix load(uint64_t operand, bool transposed, int stride) const;
  int8_t element(uint32_t address, int offset, int lane) const;
  void configure(const Command &command);
  std::vector<Written> compute(const Command &command);
  std::vector<Written> store(const Matrix &result);
};

#endif
