// SPDX-License-Identifier: Apache-2.0
// Writes weft.xml, a component of IP-XACT (IEEE 1685-2014): the ports of the top as its SystemVerilog declares them, an
// AXI4 master and the clock and reset that go with it, the files in the order of weft.f, and every parameter of the
// array. Widths are the expressions of the declaration, over the module's own parameters. Parameters of the array are
// fixed: they stand in rtl/weft_array_pkg.sv.
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "hw/export/export.h"
#include "hw/rtl_files.h"

enum { TEXT_MOST = 64 };

typedef struct port {
  char name[TEXT_MOST], left[TEXT_MOST];  // left: of the bits, "" for one bit
  bool output;
} port;

typedef void (*port_writer)(const port *p, FILE *out);

// ---- the ports of the top

static const char *top_text(void) {
  for (size_t i = 0; i < hw_rtl_file_count; i++)
    if (strcmp(hw_rtl_files[i].name, "weft_accel.sv") == 0) return hw_rtl_files[i].text;
  return "";
}

static void copy(char *to, const char *from, size_t length) { snprintf(to, TEXT_MOST, "%.*s", (int)length, from); }

// Past "logic" and the range, whose left bound becomes the port's.
static const char *read_range(const char *at, port *p) {
  at += strspn(at, " ");
  p->left[0] = '\0';
  if (*at != '[') return at;
  copy(p->left, at + 1, strcspn(at, ":") - 1);
  return strchr(at, ']') + 1;
}

static void each_name(const char *at, port *p, port_writer write, FILE *out) {
  for (at += strspn(at, " ,"); isalpha((unsigned char)*at); at += strspn(at, " ,")) {
    const size_t length = strcspn(at, " ,\n");
    copy(p->name, at, length);
    write(p, out);
    at += length;
  }
}

// A line of the port list declares one or several ports: `input  logic [BITS-1:0] a_i, b_i,`.
static void each_port(port_writer write, FILE *out) {
  static const char logic[] = "logic";
  const char *at = strstr(top_text(), "\n) (\n");
  while (at != NULL && strncmp(at, "\n);", 3) != 0) {
    at = strchr(at + 1, '\n');
    const char *type = strstr(at, logic);
    port p = {.output = strncmp(at, "\n  output", 9) == 0};
    if (p.output || strncmp(at, "\n  input", 8) == 0)
      each_name(read_range(type + sizeof logic - 1, &p), &p, write, out);
  }
}

static void write_port(const port *p, FILE *out) {
  fprintf(out, "      <ipxact:port>\n        <ipxact:name>%s</ipxact:name>\n        <ipxact:wire>\n", p->name);
  fprintf(out, "          <ipxact:direction>%s</ipxact:direction>\n", p->output ? "out" : "in");
  if (p->left[0] != '\0')
    fprintf(out,
            "          <ipxact:vectors><ipxact:vector><ipxact:left>%s</ipxact:left><ipxact:right>0</ipxact:right>"
            "</ipxact:vector></ipxact:vectors>\n",
            p->left);
  fputs("        </ipxact:wire>\n      </ipxact:port>\n", out);
}

// ---- the bus

static void write_map(const char *logical, const char *physical, FILE *out) {
  fprintf(out,
          "            <ipxact:portMap>\n"
          "              <ipxact:logicalPort><ipxact:name>%s</ipxact:name></ipxact:logicalPort>\n"
          "              <ipxact:physicalPort><ipxact:name>%s</ipxact:name></ipxact:physicalPort>\n"
          "            </ipxact:portMap>\n",
          logical, physical);
}

// m_axi_araddr_o is ARADDR.
static void write_bus_port(const port *p, FILE *out) {
  static const char prefix[] = "m_axi_";
  char logical[TEXT_MOST];
  if (strncmp(p->name, prefix, sizeof prefix - 1) != 0) return;
  copy(logical, p->name + sizeof prefix - 1, strlen(p->name) - (sizeof prefix - 1) - 2);
  for (char *c = logical; *c != '\0'; c++) *c = (char)toupper((unsigned char)*c);
  write_map(logical, p->name, out);
}

static void write_bus(FILE *out) {
  fputs(
      "  <ipxact:busInterfaces>\n"
      "    <ipxact:busInterface>\n"
      "      <ipxact:name>m_axi</ipxact:name>\n"
      "      <ipxact:busType vendor=\"amba.com\" library=\"AMBA4\" name=\"AXI4\" version=\"r0p0_0\"/>\n"
      "      <ipxact:abstractionTypes>\n"
      "        <ipxact:abstractionType>\n"
      "          <ipxact:abstractionRef vendor=\"amba.com\" library=\"AMBA4\" name=\"AXI4_rtl\" version=\"r0p0_0\"/>\n"
      "          <ipxact:portMaps>\n",
      out);
  write_map("ACLK", "clk_i", out);
  write_map("ARESETn", "rst_ni", out);
  each_port(write_bus_port, out);
  fputs(
      "          </ipxact:portMaps>\n"
      "        </ipxact:abstractionType>\n"
      "      </ipxact:abstractionTypes>\n"
      "      <ipxact:master/>\n"
      "    </ipxact:busInterface>\n"
      "  </ipxact:busInterfaces>\n",
      out);
}

// ---- model and files

static void write_model(FILE *out) {
  fputs(
      "  <ipxact:model>\n"
      "    <ipxact:views>\n"
      "      <ipxact:view>\n"
      "        <ipxact:name>rtl</ipxact:name>\n"
      "        <ipxact:envIdentifier>SystemVerilog::</ipxact:envIdentifier>\n"
      "        <ipxact:componentInstantiationRef>rtl</ipxact:componentInstantiationRef>\n"
      "      </ipxact:view>\n"
      "    </ipxact:views>\n"
      "    <ipxact:instantiations>\n"
      "      <ipxact:componentInstantiation>\n"
      "        <ipxact:name>rtl</ipxact:name>\n"
      "        <ipxact:language>SystemVerilog</ipxact:language>\n"
      "        <ipxact:moduleName>weft_accel</ipxact:moduleName>\n"
      "        <ipxact:moduleParameters>\n"
      "          <ipxact:moduleParameter usageType=\"nontyped\">\n"
      "            <ipxact:name>TRACE</ipxact:name>\n"
      "            <ipxact:value>TRACE</ipxact:value>\n"
      "          </ipxact:moduleParameter>\n"
      "        </ipxact:moduleParameters>\n"
      "        <ipxact:fileSetRef><ipxact:localName>rtl</ipxact:localName></ipxact:fileSetRef>\n"
      "      </ipxact:componentInstantiation>\n"
      "    </ipxact:instantiations>\n"
      "    <ipxact:ports>\n",
      out);
  each_port(write_port, out);
  fputs("    </ipxact:ports>\n  </ipxact:model>\n", out);
}

static void write_file(const char *name, FILE *out) {
  fprintf(out,
          "      <ipxact:file>\n"
          "        <ipxact:name>rtl/%s</ipxact:name>\n"
          "        <ipxact:fileType>systemVerilogSource</ipxact:fileType>\n",
          name);
  if (hw_rtl_is_header(name)) fputs("        <ipxact:isIncludeFile>true</ipxact:isIncludeFile>\n", out);
  fputs("      </ipxact:file>\n", out);
}

static void write_files(bool headers, FILE *out) {
  for (size_t i = 0; i < hw_rtl_file_count; i++)
    if (hw_rtl_is_header(hw_rtl_files[i].name) == headers) write_file(hw_rtl_files[i].name, out);
}

static void write_file_set(FILE *out) {
  fputs("  <ipxact:fileSets>\n    <ipxact:fileSet>\n      <ipxact:name>rtl</ipxact:name>\n", out);
  write_files(true, out);
  write_file("weft_array_pkg.sv", out);
  write_files(false, out);
  fputs("    </ipxact:fileSet>\n  </ipxact:fileSets>\n", out);
}

// ---- parameters

static void write_parameter(const char *id, uint32_t value, const char *attributes, const char *doc, FILE *out) {
  fprintf(out,
          "    <ipxact:parameter parameterId=\"%s\"%s>\n"
          "      <ipxact:name>%s</ipxact:name>\n"
          "      <ipxact:description>",
          id, attributes, id);
  for (const char *c = doc; *c != '\0'; c++) fputs(*c == '<' ? "&lt;" : *c == '&' ? "&amp;" : (char[2]){*c}, out);
  fprintf(out, "</ipxact:description>\n      <ipxact:value>%" PRIu32 "</ipxact:value>\n    </ipxact:parameter>\n",
          value);
}

// Bits that number so many requests, as the module derives them.
static uint32_t id_bits(uint32_t in_flight) {
  uint32_t bits = 1;
  while (bits < 32 && (UINT64_C(1) << bits) < in_flight) bits++;
  return bits;
}

static void write_module_parameters(const hw_array *array, FILE *out) {
  static const char number[] = " type=\"int\"";
  write_parameter("TRACE", 1, " type=\"bit\" resolve=\"user\"", "whether the ports trace_* say what happens", out);
  write_parameter("RID_BITS", id_bits(array->dma.reads_in_flight), number, "bits of a read's number", out);
  write_parameter("WID_BITS", id_bits(array->dma.writes_in_flight), number, "bits of a write's number", out);
  write_parameter("BUS_BITS", array->dma.bus_bits, number, "bits of the data bus", out);
}

static void write_parameters(const hw_array *array, FILE *out) {
  size_t count;
  const hw_param *params = hw_params(&count);
  fputs("  <ipxact:parameters>\n", out);
  write_module_parameters(array, out);
  for (size_t i = 0; i < count; i++) {
    char id[HW_PARAM_CONSTANT_MAX];
    hw_param_constant(&params[i], id);
    write_parameter(id, hw_param_get(array, &params[i]), " type=\"int\"", params[i].doc, out);
  }
  fputs("  </ipxact:parameters>\n", out);
}

bool hw_export_ipxact(const hw_array *array, FILE *out) {
  fprintf(out,
          "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
          "<!-- Array %s, hash %016" PRIx64
          ". -->\n"
          "<ipxact:component xmlns:ipxact=\"http://www.accellera.org/XMLSchema/IPXACT/1685-2014\">\n"
          "  <ipxact:vendor>weft</ipxact:vendor>\n"
          "  <ipxact:library>arrays</ipxact:library>\n"
          "  <ipxact:name>%s</ipxact:name>\n"
          "  <ipxact:version>0</ipxact:version>\n",
          array->name, hw_array_hash(array), array->name);
  write_bus(out);
  write_model(out);
  write_file_set(out);
  fprintf(out,
          "  <ipxact:description>Systolic array of %" PRIu32 " x %" PRIu32
          " elements with the Gemmini ISA</ipxact:description>\n",
          hw_derive(array).dim, hw_derive(array).dim);
  write_parameters(array, out);
  fputs("</ipxact:component>\n", out);
  return fflush(out) == 0 && !ferror(out);
}
