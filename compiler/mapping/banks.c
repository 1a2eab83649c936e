// Banks that rows visit, and what that costs; see banks.h. The constants are measured on engine cycle.
#include "compiler/mapping/banks.h"

#include "base/number.h"

static const double bus_share = 0.6;        // of a line's time on the memory bus, however many banks take turns
static const double bank_nanoseconds = 25;  // of one bank, for a line of another row
static const double fixed_share = 0.5;      // of the bus, with a memory that has no banks
static const double busy_share = 0.5;       // of the products' time: stores that take more are spread over the banks

static int64_t divisor(int64_t a, int64_t b) {
  while (b != 0) {
    const int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

int64_t banks_line_bytes(const hw_array *array) {
  return array->l2.present ? array->l2.line_bytes : array->dma.bus_bits / 8;
}

static bool has_banks(const hw_array *array) { return array->memory.model != HW_MEMORY_FIXED; }

// Rows until one lies in the bank of the first. Rows that do not start with a line, too, drift through all banks.
static int64_t turn_of(const hw_array *array, int64_t stride) {
  const int64_t banks = array->memory.banks, line = banks_line_bytes(array);
  return stride % line != 0 ? banks : banks / divisor(stride / line, banks);
}

static int64_t lines_of(const hw_array *array, int64_t bytes) {
  return (bytes + banks_line_bytes(array) - 1) / banks_line_bytes(array);
}

int64_t banks_of_command(const hw_array *array, const banks_rows *rows) {
  return wf_min(array->memory.banks, turn_of(array, rows->stride) * lines_of(array, rows->bytes));
}

int64_t banks_of_pieces(const hw_array *array, const banks_rows *rows) {
  return wf_min(array->memory.banks, banks_of_command(array, rows) * rows->pieces);
}

double banks_write_cycles(const hw_array *array, int64_t banks) {
  const double bus = (double)banks_line_bytes(array) / array->memory.bytes_per_cycle;
  if (!has_banks(array)) return bus / fixed_share;
  const double cycles = bus_share * bus + bank_nanoseconds * array->memory.clock_mhz / 1000 / (double)banks;
  return cycles > bus ? cycles : bus;
}

int64_t banks_store_rows(const hw_array *array, const banks_rows *rows, double cycles_per_line) {
  const int64_t dim = hw_derive(array).dim, turn = turn_of(array, rows->stride);
  const int64_t banks = banks_of_command(array, rows);
  if (!has_banks(array) || rows->pieces == 1 || turn >= dim || banks == array->memory.banks) return dim;
  return banks_write_cycles(array, banks) > busy_share * cycles_per_line ? turn : dim;
}
