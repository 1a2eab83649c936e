// SPDX-License-Identifier: Apache-2.0
// Who asks the memory only when something can happen sees what those see that ask in every cycle, and a burst is the
// sum of its beats.
#include "base/test.h"
#include "sim/memsys/memsys.h"
#include "sim/memsys/tests/arrays.h"
#include "sim/memsys/tests/host_line.h"

#define BASE UINT64_C(0x80000000)

// A request that is turned away is taken in the cycle that memsys_next_grant leads to, and in none before.
static void a_refused_request_knows_when_to_ask(void **state) {
  (void)state;
  for (uint32_t model = HW_MEMORY_FIXED; model <= HW_MEMORY_DDR4; model++) {
    hw_array array = dram_array(model);
    array.l2.misses_in_flight = 3;
    memsys *m = memsys_create(&array);
    uint64_t ask = 0;
    unsigned taken = 0, leaps = 0, answers = 0;
    for (uint64_t cycle = 0; taken < 200; cycle++) {
      assert_true(cycle < 100000);
      if (memsys_response(m, cycle) != NULL) {
        answers++;
        memsys_take(m, cycle);
      }
      const memsys_request request = {.id = taken, .address = BASE + taken * UINT64_C(64), .bytes = 64};
      memsys_grant grant = memsys_arbitrate(m, cycle, &request, NULL);
      assert_true(grant == MEMSYS_NOBODY || cycle >= ask);
      if (grant == MEMSYS_READ) {
        memsys_read(m, cycle, &request);
        taken++;
        ask = cycle + 1;
      } else if (cycle >= ask) {
        ask = memsys_next_grant(m, cycle);
        assert_true(ask > cycle && ask != UINT64_MAX);
        leaps += ask > cycle + 1;
      }
    }
    assert_true(leaps > 50 && answers > 0);
    memsys_destroy(m);
  }
}

// Polling every cycle and only when something can happen see the same answers.
static void waiting_and_polling_agree(void **state) {
  (void)state;
  for (uint32_t model = HW_MEMORY_FIXED; model <= HW_MEMORY_DDR4; model++) {
    hw_array array = dram_array(model);
    array.host.poll_cycles = 26;
    memsys *poll = memsys_create(&array), *wait = memsys_create(&array);
    uint64_t wake = 0, seed = 1, answered = 0;
    bool busy[2][8] = {{false}};  // of reads, of writes
    uint64_t host_asks = 0;       // the cycle in which the host asks for its line again; 0: it waits for none
    for (uint64_t cycle = 0; cycle < 50000; cycle++) {
      const memsys_beat *beat = memsys_response(poll, cycle);
      if (wake <= cycle) {
        const memsys_beat *other = memsys_response(wait, cycle);
        assert_int_equal(beat == NULL, other == NULL);
        if (other != NULL) {
          assert_int_equal(beat->id, other->id);
          assert_int_equal(beat->write, other->write);
          memsys_take(wait, cycle);
          wake = cycle + 1;
        }
      } else {
        assert_null(beat);
      }
      if (beat != NULL) {
        answered++;
        if (beat->last) busy[beat->write][beat->id] = false;
        memsys_take(poll, cycle);
      }
      seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
      const bool writes = (seed >> 57) % 2 != 0;
      unsigned id = 0;
      while (id < 8 && busy[writes][id]) id++;
      if ((seed >> 30) % 64 == 0) {
        uint64_t address = BASE + (seed >> 20) % 0x4000 * 64;
        bool write = (seed >> 50) % 2;
        if (write || host_asks == 0) {
          memsys_host_ask(poll, cycle, address, write);
          memsys_host_ask(wait, cycle, address, write);
          if (!write) host_asks = cycle + 1;
        }
      }
      if (host_asks == cycle) {
        const uint64_t there = memsys_host_there(wait, cycle, &host_asks);
        uint64_t unused;
        assert_int_equal(there, memsys_host_there(poll, cycle, &unused));
        if (there != MEMSYS_UNKNOWN) host_asks = there > cycle ? there : 0;
      }
      if (seed >> 60 < 4 && id < 8) {
        const memsys_request request = {
            .id = id, .address = BASE + (seed >> 20) % 0x4000 * 64 + (seed >> 40) % 4 * 16, .bytes = 16};
        const memsys_request *read = writes ? NULL : &request, *write = writes ? &request : NULL;
        memsys_grant grant = memsys_arbitrate(poll, cycle, read, write);
        assert_int_equal(grant, memsys_arbitrate(wait, cycle, read, write));
        if (grant == MEMSYS_READ) {
          memsys_read(poll, cycle, &request);
          memsys_read(wait, cycle, &request);
        } else if (grant == MEMSYS_WRITE) {
          memsys_write(poll, cycle, &request);
          memsys_write(wait, cycle, &request);
        }
        busy[writes][id] = grant != MEMSYS_NOBODY;
      }
      uint64_t next = memsys_next_response(wait, cycle + 1);
      wake = next;
    }
    assert_true(answered > 1500);
    memsys_destroy(poll);
    memsys_destroy(wait);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_refused_request_knows_when_to_ask),
                                     cmocka_unit_test(waiting_and_polling_agree)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
