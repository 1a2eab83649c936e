// SPDX-License-Identifier: Apache-2.0
// Writes the whole set into a directory. array.json comes first: it marks the directory as ours, also when a later file
// fails, and lists the files, so that a later call knows which of them to remove.
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "hw/export/export.h"
#include "hw/rtl_files.h"

enum { JSON_MAX = 1 << 20 };

typedef bool (*text_writer)(const hw_array *array, FILE *out);

static bool write_file_list(const hw_array *array, FILE *out);
static bool write_readme(const hw_array *array, FILE *out);

typedef struct set_file {
  const char *path;
  text_writer write;
  const char *doc;
} set_file;

static const set_file set_files[] = {
    {"README.txt", write_readme, "this text"},
    {"array.yaml", hw_export_yaml, "every parameter, as Weft reads it (--array array.yaml)"},
    {"weft.f", write_file_list, "the RTL in compile order: verilator --lint-only --top-module weft_accel -f weft.f"},
    {"weft.core", hw_export_fusesoc, "the RTL as a core of FuseSoC, with targets lint, sim and synth"},
    {"weft.xml", hw_export_ipxact, "the RTL as a component of IP-XACT: ports, AXI4 bus, files, parameters"},
    {"rtl/weft_array_pkg.sv", hw_write_sv_package, "the parameters as SystemVerilog constants"},
    {"gemmini_params.h", hw_export_gemmini_header, "the header that C programs for Gemmini include"},
    {"gemmini_config.scala", hw_export_scala,
     "a GemminiArrayConfig of Gemmini v0.7.1; its top names what it cannot say"},
    {"timeloop.yaml", hw_export_timeloop, "a Timeloop architecture, version 0.3"},
    {"timeloop-v4.yaml", hw_export_timeloop_v4, "the same as nodes, version 0.4, with what it allows of a mapping"},
    {"accelergy-ert.yaml", hw_export_accelergy,
     "energies of its components in the form of Accelergy's ERT, version 0.4"},
    {"accelforge.yaml", hw_export_accelforge, "an architecture of AccelForge, with the energies of the technology"},
    {"stonne.cfg", hw_export_stonne, "a configuration of STONNE: a mesh of the same side, in which results stay"},
    {"onnxim.json", hw_export_onnxim, "a configuration of ONNXim: one core, simple memory"},
};
enum { SET_FILES = sizeof set_files / sizeof *set_files };

static const char marker[] = "array.json";

// ---- texts about the set

// Packages first: every module may use them. The order of modules does not matter to any tool. Headers are found by
// their folder.
static bool write_file_list(const hw_array *array, FILE *out) {
  fprintf(out, "// Array %s, hash %016" PRIx64 "; paths are relative to this file's folder. Top: weft_accel.\n",
          array->name, hw_array_hash(array));
  fputs("+incdir+rtl\nrtl/weft_array_pkg.sv\n", out);
  for (size_t i = 0; i < hw_rtl_file_count; i++)
    if (!hw_rtl_is_header(hw_rtl_files[i].name)) fprintf(out, "rtl/%s\n", hw_rtl_files[i].name);
  return fflush(out) == 0 && !ferror(out);
}

static bool write_readme(const hw_array *array, FILE *out) {
  fprintf(out, "Array %s, hash %016" PRIx64 ": written by `weft rtl`.\n\n", array->name, hw_array_hash(array));
  fprintf(out, "  %-22s %s\n", marker, "every parameter, what follows from them, and the list of these files");
  for (size_t i = 0; i < SET_FILES; i++) fprintf(out, "  %-22s %s\n", set_files[i].path, set_files[i].doc);
  fprintf(out, "  %-22s %s\n", "rtl/weft_isa_pkg.sv", "the instruction set as SystemVerilog constants");
  fprintf(out, "  %-22s %s\n", "rtl/*.sv", "the modules; the top is weft_accel");
  fputs("\nWriting another array here replaces these files and leaves others alone.\n", out);
  return fflush(out) == 0 && !ferror(out);
}

// ---- the files of a set, in the order they are written

static size_t file_count(void) { return SET_FILES + hw_rtl_file_count; }

static char *file_path(size_t index) {
  return index < SET_FILES ? wf_strdup(set_files[index].path)
                           : wf_format("rtl/%s", hw_rtl_files[index - SET_FILES].name);
}

static bool write_text(size_t index, const hw_array *array, FILE *out) {
  if (index < SET_FILES) return set_files[index].write(array, out);
  return fputs(hw_rtl_files[index - SET_FILES].text, out) >= 0 && fflush(out) == 0;
}

// The file's index; file_count() of one that the set does not have.
static size_t find_file(const char *path) {
  size_t i = 0;
  for (bool found = false; i < file_count(); i++) {
    char *name = file_path(i);
    found = strcmp(name, path) == 0;
    wf_free(name);
    if (found) break;
  }
  return i;
}

static bool in_set(const char *path) { return find_file(path) < file_count(); }

bool hw_export_file(const hw_array *array, const char *path, FILE *out) {
  const size_t index = find_file(path);
  return index < file_count() && write_text(index, array, out);
}

// ---- the directory

static char *join(const char *directory, const char *name) { return wf_format("%s/%s", directory, name); }

static bool make_directory(const char *path, wf_diag *diag) {
  if (mkdir(path, 0777) == 0) return true;
  struct stat info;
  if (errno == EEXIST && stat(path, &info) == 0 && S_ISDIR(info.st_mode)) return true;
  wf_error(diag, wf_in_file(path), "cannot make the directory: %s", strerror(errno));
  return false;
}

static bool is_empty(const char *path) {
  DIR *directory = opendir(path);
  if (directory == NULL) return errno == ENOENT;
  bool empty = true;
  for (const struct dirent *entry = readdir(directory); entry != NULL && empty; entry = readdir(directory))
    empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
  closedir(directory);
  return empty;
}

// The array.json of an earlier call, or NULL.
static cJSON *read_marker(const char *directory) {
  char *path = join(directory, marker);
  FILE *in = fopen(path, "rb");
  wf_free(path);
  if (in == NULL) return NULL;
  char *text = wf_alloc(JSON_MAX, 1);
  const size_t length = fread(text, 1, JSON_MAX - 1, in);
  fclose(in);
  text[length] = '\0';
  cJSON *document = cJSON_Parse(text);
  wf_free(text);
  const char *generator = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(document, "generator"));
  if (generator != NULL && strcmp(generator, hw_export_generator) == 0) return document;
  cJSON_Delete(document);
  return NULL;
}

// A name that only this command writes: the list may have been edited, and must not reach outside.
static bool is_removable(const char *path) {
  const char *name = strncmp(path, "rtl/", 4) == 0 ? path + 4 : path;
  return *name != '\0' && *name != '.' && strchr(name, '/') == NULL && !in_set(path);
}

static void remove_stale(const char *directory, const cJSON *old) {
  const cJSON *item;
  cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(old, "files")) {
    const char *name = cJSON_GetStringValue(item);
    if (name == NULL || !is_removable(name)) continue;
    char *path = join(directory, name);
    unlink(path);
    wf_free(path);
  }
}

static bool prepare(const char *directory, wf_diag *diag) {
  cJSON *old = read_marker(directory);
  if (old == NULL && !is_empty(directory)) {
    wf_error(diag, wf_in_file(directory), "the directory is not empty, and not one that `weft rtl` wrote");
    wf_hint(diag, "give a new directory");
    return false;
  }
  char *rtl = join(directory, "rtl");
  const bool good = make_directory(directory, diag) && make_directory(rtl, diag);
  if (good) remove_stale(directory, old);
  cJSON_Delete(old);
  wf_free(rtl);
  return good;
}

// ---- writing

static bool close_file(FILE *out, bool good, const char *path, wf_diag *diag) {
  const int error = errno;
  if (fclose(out) == 0 && good) return true;
  wf_error(diag, wf_in_file(path), "cannot write the file: %s", strerror(good ? errno : error));
  return false;
}

static FILE *open_file(const char *path, wf_diag *diag) {
  FILE *out = fopen(path, "w");
  if (out == NULL) wf_error(diag, wf_in_file(path), "cannot write the file: %s", strerror(errno));
  return out;
}

static bool write_one(const hw_array *array, const char *directory, size_t index, wf_diag *diag) {
  char *name = file_path(index), *path = join(directory, name);
  FILE *out = open_file(path, diag);
  const bool good = out != NULL && close_file(out, write_text(index, array, out), path, diag);
  wf_free(path);
  wf_free(name);
  return good;
}

static bool write_marker(const hw_array *array, const char *directory, wf_diag *diag) {
  cJSON *document = hw_export_json(array), *files = cJSON_AddArrayToObject(document, "files");
  for (size_t i = 0; i < file_count(); i++) {
    char *name = file_path(i);
    cJSON_AddItemToArray(files, cJSON_CreateString(name));
    wf_free(name);
  }
  char *text = cJSON_Print(document), *path = join(directory, marker);
  FILE *out = open_file(path, diag);
  const bool good = out != NULL && close_file(out, fprintf(out, "%s\n", text) > 0, path, diag);
  wf_free(path);
  cJSON_free(text);
  cJSON_Delete(document);
  return good;
}

static void warn_limits(const hw_array *array, wf_diag *diag) {
  hw_export_limit limits[HW_EXPORT_LIMITS_MAX];
  const size_t count = hw_export_limits(array, limits);
  for (size_t i = 0; i < count; i++)
    wf_warning(diag, wf_in_file("gemmini_config.scala"), "does not express %s: %s (%s)", limits[i].parameter,
               limits[i].value, limits[i].reason);
}

static bool is_rtl(const char *path) { return strncmp(path, "rtl/", 4) == 0 || strcmp(path, "weft.f") == 0; }

bool hw_export_write_rtl(const hw_array *array, const char *directory, wf_diag *diag) {
  char *rtl = join(directory, "rtl");
  bool good = make_directory(rtl, diag);
  wf_free(rtl);
  for (size_t i = 0; i < file_count() && good; i++) {
    char *name = file_path(i);
    if (is_rtl(name)) good = write_one(array, directory, i, diag);
    wf_free(name);
  }
  return good;
}

bool hw_export_write(const hw_array *array, const char *directory, size_t *files, wf_diag *diag) {
  if (!prepare(directory, diag) || !write_marker(array, directory, diag)) return false;
  for (size_t i = 0; i < file_count(); i++)
    if (!write_one(array, directory, i, diag)) return false;
  if (files != NULL) *files = file_count() + 1;
  warn_limits(array, diag);
  return true;
}
