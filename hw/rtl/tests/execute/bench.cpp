// SPDX-License-Identifier: Apache-2.0
// See bench.h.
#include "bench.h"

#include <cstdio>
#include <cstring>

#include "verilated.h"

namespace {
enum { ACC_LATENCY = 9, ROW_BYTES = DIM };

// Ports are little-endian bit vectors of whatever type Verilator chose.
template <typename Port>
uint64_t get(const Port &port, int lsb, int width) {
  const uint8_t *bytes = reinterpret_cast<const uint8_t *>(&port);
  uint64_t value = 0;
  for (int i = 0; i < width; i++) value |= (uint64_t)(bytes[(lsb + i) / 8] >> ((lsb + i) % 8) & 1) << i;
  return value;
}
template <typename Port>
void put_bytes(Port &port, int offset, const void *data, int size) {
  memcpy(reinterpret_cast<uint8_t *>(&port) + offset, data, (size_t)size);
}
template <typename Port>
void put_bit(Port &port, int bit, bool value) {
  uint8_t *bytes = reinterpret_cast<uint8_t *>(&port);
  bytes[bit / 8] = (uint8_t)((bytes[bit / 8] & ~(1 << bit % 8)) | (int)value << bit % 8);
}
}  // namespace

Bench::Bench(uint32_t seed) : dut_(new Vdut), random_(seed), sp_(SP_ROWS), acc_(ACC_ROWS), owner_(1 << ID_BITS, -1) {
  for (auto &row : model.sp)
    for (auto &e : row) e = (int8_t)random_();
  for (auto &row : model.acc)
    for (auto &e : row) e = (int32_t)(random_() % 2001) - 1000;
  load_banks();
  dut_->clk_i = 0;
  dut_->ex_valid_i = 0;
  dut_->ex_done_ready_i = 1;
  dut_->rst_ni = 1;
  dut_->eval();
  dut_->rst_ni = 0;
  dut_->eval();
  dut_->clk_i = 1;
  dut_->eval();
  dut_->clk_i = 0;
  dut_->rst_ni = 1;
  dut_->eval();
}

Bench::~Bench() {
  dut_->final();
  delete dut_;
}

void Bench::load_banks() {
  sp_ = model.sp;
  acc_ = model.acc;
}

void Bench::fail(const std::string &message) {
  if (error_.empty()) error_ = "cycle " + std::to_string(cycle_) + ": " + message;
}

void Bench::answer_reads() {
  for (int b = 0; b < SP_BANKS; b++) {
    put_bit(dut_->sp_rsp_valid_i, b, banks_[b].valid[READ_DELAY - 1]);
    put_bytes(dut_->sp_rsp_data_i, b * ROW_BYTES, &banks_[b].stage[READ_DELAY - 1], ROW_BYTES);
  }
  const bool due = !acc_reads_.empty() && acc_reads_.front().ready_at <= cycle_;
  for (int b = 0; b < ACC_BANKS; b++) put_bit(dut_->acc_rsp_valid_i, b, due && acc_reads_.front().bank == b);
  if (due) put_bytes(dut_->acc_rsp_data_i, 0, &acc_reads_.front().row, ROW_BYTES);
}

// True if the row in the buffer or coming out of the memory can move into the pipeline.
static bool pipeline_accepts(const std::array<bool, READ_DELAY> &valid, bool taken) {
  for (int s = READ_DELAY - 1; s >= 0; s--)
    if (!valid[s]) return true;
  return taken;
}

void Bench::accept_reads() {
  std::bernoulli_distribution refused(stall);
  for (int b = 0; b < SP_BANKS; b++) {
    const SpBank &bank = banks_[b];
    const bool moves = pipeline_accepts(bank.valid, get(dut_->sp_rsp_ready_o, b, 1));
    const int rows = (bank.buffered ? 1 : 0) + (bank.reading ? 1 : 0);
    const bool ready = rows - (moves ? 1 : 0) <= 0 && !get(dut_->sp_wr_en_o, b, 1) && !refused(random_);
    put_bit(dut_->sp_rd_ready_i, b, ready);
  }
  for (int b = 0; b < ACC_BANKS; b++)
    put_bit(dut_->acc_rd_ready_i, b,
            acc_reads_.size() < ACC_LATENCY && !get(dut_->acc_wr_valid_o, b, 1) && !refused(random_));
}

void Bench::clock_banks() {
  int requests_acc = 0;
  for (int b = 0; b < SP_BANKS; b++) {
    SpBank &bank = banks_[b];
    const bool taken = get(dut_->sp_rsp_ready_o, b, 1);
    if (taken && !bank.valid[READ_DELAY - 1]) fail("answer taken that was not there");
    // Stages move from the end; the first gets the buffered row or the one that just left the memory.
    bool space = taken || !bank.valid[READ_DELAY - 1];
    for (int s = READ_DELAY - 1; s > 0; s--) {
      if (space) {
        bank.valid[s] = bank.valid[s - 1];
        bank.stage[s] = bank.stage[s - 1];
      }
      space = space || !bank.valid[s - 1];
    }
    if (space) {
      bank.valid[0] = bank.buffered || bank.reading;
      bank.stage[0] = bank.buffered ? bank.buffer : bank.read;
      if (bank.buffered) {
        bank.buffered = bank.reading;
        bank.buffer = bank.read;
      }
    } else if (bank.reading) {
      bank.buffered = true;
      bank.buffer = bank.read;
    }
    bank.reading = get(dut_->sp_rd_valid_o, b, 1) && get(dut_->sp_rd_ready_i, b, 1);
    if (bank.reading) {
      reads++;
      const int row = (int)get(dut_->sp_rd_addr_o, b * SP_BANK_BITS, SP_BANK_BITS);
      bank.read.data = sp_[(b << SP_BANK_BITS) + row];
    }
    if (get(dut_->sp_wr_en_o, b, 1)) {
      auto &row = sp_[(b << SP_BANK_BITS) + (int)get(dut_->sp_wr_addr_o, b * SP_BANK_BITS, SP_BANK_BITS)];
      for (int e = 0; e < DIM; e++)
        if (get(dut_->sp_wr_mask_o, e, 1)) row[e] = (int8_t)get(dut_->sp_wr_data_o, 8 * e, 8);
    }
  }
  for (int b = 0; b < ACC_BANKS; b++) {
    if (get(dut_->acc_rsp_ready_o, b, 1)) {
      if (acc_reads_.empty() || acc_reads_.front().ready_at > cycle_ || acc_reads_.front().bank != b)
        fail("accumulator answer taken that was not there");
      else
        acc_reads_.pop_front();
    }
  }
  for (int b = 0; b < ACC_BANKS; b++) {
    const int row = (b << ACC_BANK_BITS) + (int)get(dut_->acc_rd_addr_o, b * ACC_BANK_BITS, ACC_BANK_BITS);
    if (get(dut_->acc_rd_valid_o, b, 1) && get(dut_->acc_rd_ready_i, b, 1)) {
      requests_acc++;
      reads++;
      AccRead read{cycle_ + ACC_LATENCY, b, {}};
      for (int e = 0; e < DIM; e++)
        read.row.data[e] = scale_to_input(acc_[row][e], dut_->acc_rd_act_o, dut_->acc_rd_scale_o);
      acc_reads_.push_back(read);
    }
    if (get(dut_->acc_wr_valid_o, b, 1)) {
      auto &target = acc_[(b << ACC_BANK_BITS) + (int)get(dut_->acc_wr_addr_o, b * ACC_BANK_BITS, ACC_BANK_BITS)];
      for (int e = 0; e < DIM; e++) {
        if (!get(dut_->acc_wr_mask_o, e, 1)) continue;
        const uint32_t value = (uint32_t)get(dut_->acc_wr_data_o, 32 * e, 32);
        target[e] = (int32_t)(dut_->acc_wr_accumulate_o ? value + (uint32_t)target[e] : value);
      }
    }
  }
  if (requests_acc > 1) fail("two accumulator reads in one cycle");
}

void Bench::offer_command() {
  dut_->ex_valid_i = 0;
  if (program_ == nullptr || next_ == program_->size()) return;
  const Command &command = (*program_)[next_];
  size_t outstanding = next_ - completed_;
  if (command.available > cycle_ || outstanding >= ENTRIES) return;
  if (random_issue && random_() % 4 == 0) return;
  int id = 0;
  while (owner_[id] >= 0) id++;
  dut_->ex_valid_i = 1;
  dut_->ex_funct_i = command.funct;
  dut_->ex_rs1_i = command.rs1;
  dut_->ex_rs2_i = command.rs2;
  dut_->ex_id_i = (uint8_t)id;
}

void Bench::complete(int id) {
  const int index = owner_[id];
  if (index < 0) {
    fail("completion of id " + std::to_string(id) + ", which is not in use");
    return;
  }
  owner_[id] = -1;
  completed_++;
  done.push_back({cycle_, index});
}

void Bench::observe() {
  if (dut_->ex_valid_i && dut_->ex_ready_o) {
    owner_[dut_->ex_id_i] = (int)next_;
    issued.push_back({cycle_, (int)next_});
    next_++;
  }
  if (dut_->busy_o) busy_until = cycle_;
  solitary_cycles += dut_->ex_solitary_preload_o;
  const uint8_t bits[] = {dut_->ev_active_o,         dut_->ev_flush_o,          dut_->ev_control_block_o,
                          dut_->ev_preload_hazard_o, dut_->ev_overlap_hazard_o, dut_->ev_sp_wait_o,
                          dut_->ev_acc_wait_o,       dut_->ev_garbage_o,        dut_->ev_unroller_o};
  size_t n = 0;
  for (int port = 0; port < 9; port++)
    for (int bit = 0; bit < (port >= 5 && port <= 7 ? 3 : 1); bit++) events[n++] += bits[port] >> bit & 1;
}

// One cycle. The banks' answers depend on registers, their readiness on what the unit takes and writes.
bool Bench::step() {
  answer_reads();
  offer_command();
  dut_->eval();
  accept_reads();
  dut_->eval();
  observe();
  const bool completion = dut_->ex_done_valid_o;
  const int id = dut_->ex_done_id_o;
  const size_t before = done.size();
  if (completion) complete(id);
  clock_banks();
  // A product's rows stand in the banks at the end of the cycle in which its preload completes.
  if (done.size() != before) {
    for (const Written &w : expected_[(size_t)done.back().command]) {
      for (int e = 0; e < DIM; e++) {
        const int32_t found = w.acc ? acc_[w.row][e] : sp_[w.row][e];
        if (w.mask[e] && found != w.value[e])
          fail("command " + std::to_string(done.back().command) + (w.acc ? " accumulator" : " scratchpad") + " row " +
               std::to_string(w.row) + " lane " + std::to_string(e) + ": " + std::to_string(found) + ", not " +
               std::to_string(w.value[e]));
      }
    }
  }
  dut_->clk_i = 1;
  dut_->eval();
  dut_->clk_i = 0;
  dut_->eval();
  cycle_++;
  return error_.empty();
}

bool Bench::run(const std::vector<Command> &program, const std::string &name) {
  program_ = &program;
  next_ = completed_ = 0;
  issued.clear();
  done.clear();
  error_.clear();
  expected_.assign(program.size(), {});
  size_t preload = 0;
  for (size_t i = 0; i < program.size(); i++) {
    if (program[i].funct == PRELOAD) preload = i;
    auto written = model.run(program[i]);
    if (!written.empty()) expected_[preload] = written;
  }
  const uint64_t limit = cycle_ + 2000 + 400 * program.size() * (uint64_t)(DIM + 4);
  while (completed_ < program.size() && step())
    if (cycle_ > limit) fail("no end: " + std::to_string(completed_) + " of " + std::to_string(program.size()));
  if (error_.empty()) {
    if (sp_ != model.sp) fail("scratchpad differs from the model");
    if (acc_ != model.acc) fail("accumulator differs from the model");
  }
  program_ = nullptr;
  if (!error_.empty()) fprintf(stderr, "%s: %s\n", name.c_str(), error_.c_str());
  return error_.empty();
}

bool Bench::quiet_run(uint64_t cycles) {
  const uint64_t before = reads;
  expected_.clear();
  for (uint64_t i = 0; i < cycles; i++)
    if (!step()) return false;
  return reads == before && sp_ == model.sp && acc_ == model.acc;
}

void Bench::restart() {
  cycle_ = 0;
  busy_until = solitary_cycles = 0;
  events.assign(events.size(), 0);
}
