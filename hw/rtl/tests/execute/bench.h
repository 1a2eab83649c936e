// SPDX-License-Identifier: Apache-2.0
// The execute unit between a reservation station that issues one command per cycle and banks behind the contract's
// interface. The banks keep the data that the unit reads and writes; every result is compared with the model when its
// preload completes.
//   scratchpad bank  one request per cycle, one cycle of memory, a one-row buffer, then READ_DELAY pipeline stages that
//                    stop together behind a row that is not taken; single-ported: a write in a cycle refuses the read
//   accumulator      one read pipeline for all banks with a row in ACC_LATENCY cycles
#ifndef HW_RTL_TESTS_EXECUTE_BENCH_H
#define HW_RTL_TESTS_EXECUTE_BENCH_H

#include <deque>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "Vdut.h"
#include "model.h"

struct Event {
  uint64_t cycle;
  int command;  // index in program order
  bool operator==(const Event &other) const { return cycle == other.cycle && command == other.command; }
};

class Bench {
 public:
  explicit Bench(uint32_t seed);
  ~Bench();

  Model model;  // program order; also the initial contents of the banks
  std::vector<Event> issued, done;
  double stall = 0;  // probability that a bank refuses a read in a cycle
  bool random_issue = false;
  uint64_t busy_until = 0;  // last cycle in which the unit reported busy
  uint64_t solitary_cycles = 0;
  uint64_t reads = 0;                                        // scratchpad and accumulator rows read
  std::vector<uint64_t> events = std::vector<uint64_t>(15);  // counted in the order of the ports

  void load_banks();  // copies the model's memory into the banks
  // Runs the program until everything is completed and the unit is idle; false after a message if anything is wrong.
  bool run(const std::vector<Command> &program, const std::string &name);
  uint64_t now() const { return cycle_; }
  // The unit stays as it is; cycles start again from 0 for the next program.
  void restart();
  bool quiet_run(uint64_t cycles);  // clocks without commands; false if anything happens on the memory ports

 private:
  struct Row {
    std::array<int8_t, DIM> data;
  };
  struct SpBank {
    bool reading = false;  // the row comes out of the memory in this cycle
    Row read;
    bool buffered = false;
    Row buffer;
    std::array<bool, READ_DELAY> valid{};
    std::array<Row, READ_DELAY> stage;
  };
  struct AccRead {
    uint64_t ready_at;
    int bank;
    Row row;
  };

  Vdut *dut_;
  std::mt19937 random_;
  uint64_t cycle_ = 0;
  std::vector<std::array<int8_t, DIM>> sp_;
  std::vector<std::array<int32_t, DIM>> acc_;
  std::array<SpBank, SP_BANKS> banks_;
  std::deque<AccRead> acc_reads_;

  const std::vector<Command> *program_ = nullptr;
  std::vector<std::vector<Written>> expected_;  // by the preload's index
  std::vector<int> owner_;                      // id -> command index, -1 if free
  size_t next_ = 0;
  size_t completed_ = 0;
  std::string error_;

  void answer_reads();  // before the unit is evaluated: what the banks offer
  void accept_reads();  // when the unit knows what it takes: which reads the banks accept
  void clock_banks();   // with the final values of the cycle
  void offer_command();
  void observe();
  void complete(int id);
  bool step();
  void fail(const std::string &message);
};

#endif
