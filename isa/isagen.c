// SPDX-License-Identifier: Apache-2.0
// isagen TABLE DIR: reads the instruction table, proves it sound and writes everything that knows the ISA into DIR.
// Exit code 0 success, 1 a bad table or an unwritable file, 2 usage. A bad table writes nothing.
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "isa/gen/model.h"

typedef struct output {
  const char *name;
  gen_emitter *emit;
} output;

static const output outputs[] = {
    {"isa_fields.h", gen_emit_fields},        {"isa_table.inc", gen_emit_table},
    {"weft_isa.h", gen_emit_driver},          {"weft_isa_pkg.sv", gen_emit_package},
    {"isa_reference.md", gen_emit_reference}, {"isa_reference.inc", gen_emit_text},
};

static char *read_file(const char *path, size_t *length, wf_diag *diag) {
  FILE *in = fopen(path, "rb");
  char *text = NULL;
  *length = 0;
  if (in == NULL) {
    wf_error(diag, wf_in_file(path), "cannot read: %s", strerror(errno));
    return NULL;
  }
  size_t room = 0, got;
  do {
    room += 65536;
    text = wf_realloc(text, room, 1);
    got = fread(text + *length, 1, room - *length, in);
    *length += got;
  } while (*length == room);
  if (ferror(in)) wf_error(diag, wf_in_file(path), "cannot read: %s", strerror(errno));
  fclose(in);
  return text;
}

static void write_output(const char *dir, const output *what, const gen_table *table, wf_diag *diag) {
  char *path = wf_format("%s/%s", dir, what->name);
  FILE *out = fopen(path, "wb");
  if (out != NULL) what->emit(out, table);
  bool failed = out == NULL || ferror(out) != 0;
  if (out != NULL && fclose(out) != 0) failed = true;
  if (failed) wf_error(diag, wf_in_file(path), "cannot write: %s", strerror(errno));
  wf_free(path);
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: isagen TABLE DIR\n");
    return 2;
  }
  wf_diag diag = wf_diag_to(stderr);
  gen_table table = {0};
  size_t length;
  char *text = read_file(argv[1], &length, &diag);
  if (text != NULL) gen_read(&table, argv[1], text, length, &diag);
  if (diag.errors == 0) gen_check(&table, &diag);
  if (diag.errors == 0)
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) write_output(argv[2], &outputs[i], &table, &diag);
  gen_table_free(&table);
  wf_free(text);
  return diag.errors == 0 ? 0 : 1;
}
