// SPDX-License-Identifier: Apache-2.0
// Code of executables: sections, instructions, symbols. See weft.h.
#include "api/private.h"
#include "base/alloc.h"
#include "base/name.h"
#include "isa/isa.h"
#include "sim/elf/elf.h"

struct weft_code {
  sim_elf *elf;
};

_Static_assert((int)WEFT_NAME_MAX == (int)WF_NAME_LINE, "names that are shown fit");

weft_code *weft_code_open(weft_session *s, const char *path) {
  if (!api_begin(s, "code") || !api_given(s, path, "the path")) return NULL;
  sim_elf *elf = sim_elf_open(path, &s->diag);
  if (api_end(s, elf != NULL, WEFT_BAD_INPUT) != WEFT_OK) return NULL;
  weft_code *code = WF_NEW(weft_code);
  code->elf = elf;
  return code;
}

void weft_code_destroy(weft_code *code) {
  if (code == NULL) return;
  sim_elf_close(code->elf);
  wf_free(code);
}

size_t weft_code_sections(const weft_code *code) { return code == NULL ? 0 : sim_elf_code_count(code->elf); }

weft_status weft_code_section(const weft_code *code, size_t index, weft_section *section) {
  if (index >= weft_code_sections(code)) return WEFT_USAGE;
  const sim_elf_code found = sim_elf_code_at(code->elf, index);
  weft_section full = {.address = found.address, .bytes = found.length};
  wf_name_shown(found.name, full.name);
  return api_give(&full, sizeof full, section);
}

static uint32_t half_at(const sim_elf_code *code, uint64_t offset) {
  return (uint32_t)code->bytes[offset] | (uint32_t)code->bytes[offset + 1] << 8;
}

// The instruction's bits: 16 or 32 of them; a word cut off by the section's end reads as a half.
static uint32_t bits_at(const sim_elf_code *code, uint64_t offset) {
  const uint32_t low = half_at(code, offset);
  if ((low & 3) != 3 || code->length - offset < 4) return low;
  return low | half_at(code, offset + 2) << 16;
}

weft_status weft_code_instruction(const weft_code *code, size_t section, uint64_t offset, weft_instruction *to) {
  if (section >= weft_code_sections(code)) return WEFT_USAGE;
  const sim_elf_code in = sim_elf_code_at(code->elf, section);
  if (in.length < 2 || offset > in.length - 2) return WEFT_USAGE;
  weft_instruction full = {.address = in.address + offset, .bits = bits_at(&in, offset)};
  full.bytes = (uint32_t)isa_rv64_disasm(full.bits, full.address, full.text, sizeof full.text);
  const sim_elf_symbol *symbol = sim_elf_symbol_at(code->elf, full.address);
  full.labelled = symbol != NULL && symbol->address == full.address;
  if (full.labelled) wf_name_shown(symbol->name, full.symbol);
  return api_give(&full, sizeof full, to);
}
