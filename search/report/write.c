// SPDX-License-Identifier: Apache-2.0
// Writes a report: the page, and the figures as CSV and pictures. See report.h.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/csv.h"
#include "base/file.h"
#include "base/name.h"
#include "search/report/data.h"
#include "search/report/json.h"
#include "search/report/page.h"
#include "search/report/plot.h"
#include "search/report/report.h"

// ---- files

static FILE *create(const char *dir, const char *name, wf_diag *diag) {
  char *path = wf_format("%s/%s", dir, name);
  FILE *out = fopen(path, "w");
  if (out == NULL) wf_error(diag, wf_in_file(path), "cannot be written: %s", strerror(errno));
  wf_free(path);
  return out;
}

static bool finish(FILE *out, const char *name, wf_diag *diag) {
  const bool good = !ferror(out) && fflush(out) == 0;
  fclose(out);
  if (!good) wf_error(diag, wf_in_file(name), "cannot be written");
  return good;
}

static bool make_directory(const char *path, wf_diag *diag) {
  if (mkdir(path, 0777) == 0 || errno == EEXIST) return true;
  wf_error(diag, wf_in_file(path), "cannot be made: %s", strerror(errno));
  return false;
}

static bool write_html(const report_data *d, const char *search_dir, const char *dir, const report_options *options,
                       wf_diag *diag) {
  FILE *out = create(dir, "index.html", diag);
  if (out == NULL) return false;
  char *points = report_json_points(d, search_dir, options), *layers = report_json_layers(d);
  report_page_write(REPORT_PAGE_SWEEP, points, layers, out);
  free(points);
  free(layers);
  return finish(out, "index.html", diag);
}

static void write_part_names(FILE *out) {
  for (unsigned part = 0; part < SIM_PARTS; part++) fprintf(out, ",%s_uj", sim_part_names[part]);
  fputc('\n', out);
}

static void write_parts(bool has_energy, const double parts[SIM_PARTS], FILE *out) {
  for (unsigned part = 0; part < SIM_PARTS; part++) {
    fputc(',', out);
    if (has_energy) fprintf(out, "%.6g", parts[part] / 1e6);
  }
  fputc('\n', out);
}

// A row per good point of each network.
static void write_points(const report_data *d, FILE *out) {
  fputs(
      "network,point,array,dim,scratchpad_kib,accumulator_kib,logic_mm2,memory_bits,cycles,energy_uj,edp_uj_cycles,"
      "front,technology,area_mm2,area_whole,array_energy_uj",
      out);
  write_part_names(out);
  for (size_t n = 0; n < d->network_count; n++)
    for (size_t i = 0; i < d->point_count; i++) {
      const report_point *p = &d->points[i];
      const report_sum *s = &p->sums[n];
      if (!s->good) continue;
      wf_csv_field(d->networks[n].name, out);
      fprintf(out, ",%zu,", i);
      wf_csv_field(p->array, out);
      fprintf(out, ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%.6g,%" PRId64 ",%.0f,", p->dim, p->scratchpad_kib,
              p->accumulator_kib, p->logic_um2 / 1e6, p->memory_bits, s->cycles);
      if (s->has_energy) fprintf(out, "%.6g,%.6g", s->energy_pj / 1e6, s->energy_pj / 1e6 * s->cycles);
      fprintf(out, "%s,%d,", s->has_energy ? "" : ",", p->front);
      wf_csv_field(p->technology, out);
      fputc(',', out);
      if (p->area_um2 > 0) fprintf(out, "%.6g", p->area_um2 / 1e6);
      fprintf(out, ",%d,", p->area_whole);
      if (s->has_energy) fprintf(out, "%.6g", s->array_pj / 1e6);
      write_parts(s->has_energy, s->part_pj, out);
    }
}

// Without a table of energies their cells are empty.
static void write_figures(const report_point *p, const report_layer *layer, const report_measurement *m, FILE *out) {
  const double moved = (double)m->read_bytes + (double)m->written_bytes;
  fprintf(out, ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%.0f,%.4f,", layer->count, layer->macs, m->cycles,
          report_bound_cycles(p, layer, m), m->utilisation);
  if (m->has_energy) fprintf(out, "%.6g", m->energy_pj / 1e6);
  fprintf(out, ",%" PRId64 ",%" PRId64 ",", m->read_bytes, m->written_bytes);
  if (moved > 0) fprintf(out, "%.4g", (double)layer->macs / moved);
  fputc(',', out);
  if (m->has_energy) fprintf(out, "%.6g", m->array_pj / 1e6);
  write_parts(m->has_energy, m->part_pj, out);
}

// The layers of every point on a front: what was expected of the array and what it took.
static void write_layers(const report_data *d, FILE *out) {
  fputs(
      "network,point,layer,count,macs,cycles,least_cycles,utilisation,energy_uj,read_bytes,written_bytes,macs_per_"
      "byte,array_energy_uj",
      out);
  write_part_names(out);
  for (size_t n = 0; n < d->network_count; n++)
    for (size_t i = 0; i < d->point_count; i++) {
      const report_point *p = &d->points[i];
      for (size_t l = 0; l < d->networks[n].layer_count && p->front && p->sums[n].good; l++) {
        const report_layer *layer = &d->networks[n].layers[l];
        const report_measurement *m = &p->measurements[layer->unique];
        if (!report_shows(layer, m)) continue;
        wf_csv_field(d->networks[n].name, out);
        fprintf(out, ",%zu,", i);
        wf_csv_field(layer->name, out);
        write_figures(p, layer, m, out);
      }
    }
}

static bool write_csv(const report_data *d, const char *dir, const char *name,
                      void (*write)(const report_data *d, FILE *out), wf_diag *diag) {
  FILE *out = create(dir, name, diag);
  if (out == NULL) return false;
  write(d, out);
  return finish(out, name, diag);
}

// ---- pictures

static bool draw(const report_data *d, const char *dir, wf_diag *diag) {
  FILE *out = create(dir, "figures.gp", diag);
  if (out == NULL) return false;
  report_write_plot(d, out);
  if (!finish(out, "figures.gp", diag)) return false;
  fflush(NULL);
  const pid_t pid = fork();
  if (pid == 0) {
    if (chdir(dir) == 0) execlp("gnuplot", "gnuplot", "figures.gp", (char *)NULL);
    _exit(127);
  }
  int status = 1;
  while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  const bool missing = pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 127;
  wf_warning(diag, wf_in_file(dir), missing ? "no pictures: gnuplot is not installed" : "gnuplot failed");
  wf_hint(diag, "%s",
          missing ? "apt-get install gnuplot-nox; the page and the CSV files are complete"
                  : "gnuplot figures.gp in that directory shows why");
  return true;
}

// The report of one store.
static bool write_one(const char *path, const char *search_dir, const char *dir, const report_options *options,
                      wf_diag *diag) {
  report_data data;
  char *figures = wf_format("%s/figures", dir);
  bool good =
      report_load(&data, path, options->engine, diag) && make_directory(dir, diag) && make_directory(figures, diag);
  good = good && write_html(&data, search_dir, dir, options, diag) &&
         write_csv(&data, figures, "points.csv", write_points, diag) &&
         write_csv(&data, figures, "layers.csv", write_layers, diag);
  if (good && options->pictures) good = draw(&data, figures, diag);
  wf_free(figures);
  report_release(&data);
  return good;
}

// A search's folder has the candidates of one network.
bool report_write(const char *input, const char *dir, const report_options *options, wf_diag *diag) {
  struct stat about;
  if (stat(input, &about) != 0 || !S_ISDIR(about.st_mode)) return write_one(input, NULL, dir, options, diag);
  char *path = wf_format("%s/points.sqlite", input);
  const bool found = access(path, R_OK) == 0;
  if (!found) {
    wf_error(diag, wf_in_file(input), "has no points.sqlite");
    wf_hint(diag,
            "name the folder of one network, DIR/NET of weft search NET --simulate -o DIR, or the store of a sweep");
  }
  const bool good = found && write_one(path, input, dir, options, diag);
  wf_free(path);
  return good;
}
