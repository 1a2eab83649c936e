// SPDX-License-Identifier: Apache-2.0
// The main program of an ELF: tensors, runs, cycles and digests. See elf.h.
#include <inttypes.h>

#include "base/name.h"
#include "compiler/command/elf.h"
#include "compiler/command/private.h"

enum { LINE_BYTES = 64 };

typedef struct writer {
  const command_program *program;
  const command_elf_config *config;
  FILE *out;
  const char *name;
  char **tensors;
} writer;

static bool is_given(const writer *w, int tensor) {
  return w->config->bytes != NULL && w->config->bytes[tensor] != NULL;
}

static bool is_constant(const writer *w, int tensor) { return w->program->tensors[tensor].contents != NULL; }

static void put_declarations(const writer *w) {
  const command_program *p = w->program;
  int count = 0;
  fprintf(w->out, "void %s(", w->name);
  for (int t = 0; t < p->tensor_count; t++)
    if (!is_constant(w, t))
      fprintf(w->out, "%s%svoid *%s", count++ == 0 ? "" : ", ", p->tensors[t].written ? "" : "const ", w->tensors[t]);
  fputs(count == 0 ? "void);\n\n" : ");\n\n", w->out);
  for (int t = 0; t < p->tensor_count; t++) {
    if (is_constant(w, t)) continue;
    uint64_t bytes = command_tensor_bytes(&p->tensors[t]);
    if (is_given(w, t))
      fprintf(w->out, "extern uint8_t weft_tensor%d[%" PRIu64 "];  // ", t, bytes);
    else
      fprintf(w->out, "static uint8_t weft_tensor%d[%" PRIu64 "] __attribute__((aligned(%d)));  // ", t,
              bytes == 0 ? 1 : bytes, LINE_BYTES);
    wf_name_write(WF_NAME_C_COMMENT, p->tensors[t].name, w->out);
    fputc('\n', w->out);
  }
}

static void put_contents(const writer *w) {
  for (int t = 0; t < w->program->tensor_count; t++) {
    const command_tensor *tensor = &w->program->tensors[t];
    if (is_given(w, t) || is_constant(w, t) || !tensor->read) continue;
    fprintf(w->out, "  weft_fill(weft_tensor%d, %" PRIu64 ", %u, UINT64_C(%" PRIu64 "));\n", t,
            command_tensor_bytes(tensor), tensor->element_bytes, w->config->seed + (unsigned)t);
  }
}

static void put_runs(const writer *w) {
  fprintf(w->out,
          "  for (unsigned run = 0; run < %u; run++) {\n"
          "    weft_fence();\n"
          "    const uint64_t start = weft_cycles();\n"
          "    %s(",
          w->config->times == 0 ? 1 : w->config->times, w->name);
  int count = 0;
  for (int t = 0; t < w->program->tensor_count; t++)
    if (!is_constant(w, t)) fprintf(w->out, "%sweft_tensor%d", count++ == 0 ? "" : ", ", t);
  fputs(
      ");\n"
      "    weft_fence();\n"
      "    weft_printf(\"run %u cycles %lu\\n\", run, weft_cycles() - start);\n"
      "  }\n",
      w->out);
}

static void put_digests(const writer *w) {
  for (int t = 0; t < w->program->tensor_count; t++) {
    const command_tensor *tensor = &w->program->tensors[t];
    if (!tensor->written) continue;
    fputs("  weft_printf(\"tensor %s digest %016lx\\n\", \"", w->out);
    wf_name_write(WF_NAME_C_STRING, tensor->name, w->out);
    fprintf(w->out, "\", weft_digest(weft_tensor%d, %" PRIu64 "));\n", t, command_tensor_bytes(tensor));
  }
}

bool command_write_main(const command_program *program, const command_elf_config *config, FILE *out, wf_diag *diag) {
  wf_arena *arena = wf_arena_create();
  const writer w = {program, config, out, command_c_name(arena, program), command_c_tensor_names(arena, program)};
  fputs("// Runs ", out);
  wf_name_write(WF_NAME_C_COMMENT, program->name, out);
  fputs(
      " on its tensors and tells the cycles and what it wrote.\n"
      "#include \"weft/console.h\"\n"
      "#include \"weft/data.h\"\n"
      "#include \"weft/weft.h\"\n\n",
      out);
  put_declarations(&w);
  fputs("\nint main(void) {\n", out);
  put_contents(&w);
  put_runs(&w);
  put_digests(&w);
  fputs("  return 0;\n}\n", out);
  wf_arena_destroy(arena);
  if (fflush(out) == 0 && !ferror(out)) return true;
  wf_error(diag, wf_in_file(program->name), "cannot write the main program");
  return false;
}
