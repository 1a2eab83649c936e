# SPDX-License-Identifier: Apache-2.0
"""The Python package: what goes in comes out as numpy says, errors become exceptions, long calls can be ended."""

import os
import signal
import struct
import json
import tempfile
import threading
import time
import unittest
from pathlib import Path

import numpy
import weft
from weft import _table
from weft.language import *


@weft.kernel(grid=lambda META: (cdiv(M, META["B"]), cdiv(N, META["B"])))
def product(a_ptr: int8, b_ptr: int8, c_ptr: int32, M, N, K, B: constexpr = 32):
    m = program_id(0) * B
    n = program_id(1) * B
    acc = zeros((B, B), int32)
    for k in range(0, K, B):
        a = make_block_ptr(a_ptr, (M, K), (K, 1), (m, k), (B, B), (1, 0))
        b = make_block_ptr(b_ptr, (K, N), (N, 1), (k, n), (B, B), (1, 0))
        acc += dot(load(a, boundary_check=(0, 1)), load(b, boundary_check=(0, 1)))
    store(make_block_ptr(c_ptr, (M, N), (N, 1), (m, n), (B, B), (1, 0)), acc, boundary_check=(0, 1))


@weft.kernel(grid="(cdiv(N, META['B']),)")
def copy(a_ptr: int8, c_ptr: int8, N, B: constexpr = 64):
    n = program_id(0) * B
    a = load(make_block_ptr(a_ptr, (N,), (1,), (n,), (B,), (0,)), boundary_check=(0,))
    store(make_block_ptr(c_ptr, (N,), (1,), (n,), (B,), (0,)), a, boundary_check=(0,))


@weft.kernel
def wrong(a_ptr: int8, c_ptr: int8, M):
    a = load(make_block_ptr(a_ptr, (M,), (1,), (0,), (16,), (0,)))
    store(make_block_ptr(c_ptr, (M,), (1,), (0,), (16,), (0,)), sine(a))  # line of the message


def operands(m, n, k):
    draw = numpy.random.default_rng(7)
    return (draw.integers(-128, 128, (m, k), numpy.int8), draw.integers(-128, 128, (k, n), numpy.int8),
            numpy.zeros((m, n), numpy.int32))


class Arrays(unittest.TestCase):
    def test_parameters(self):
        array = weft.Array("gemmini-default", scratchpad_kib=512, mesh_dataflow="ws", mesh_bias_garbage=True)
        self.assertEqual(array["scratchpad.capacity_kib"], 512)
        self.assertEqual(array["mesh_dataflow"], "ws")
        self.assertIs(array["mesh.bias_garbage"], True)
        self.assertNotEqual(array, weft.Array())
        self.assertEqual(weft.Array.parse(array.yaml()), array)
        self.assertEqual(array.copy(scratchpad_kib=256)["scratchpad_kib"], 256)
        self.assertIn("dim4", weft.arrays())
        for parameter in weft.parameters():
            array[parameter["name"]] = weft.Array()[parameter["name"]]
        self.assertEqual(array, weft.Array())

    def test_facts(self):
        array = weft.Array("gemmini-default", mesh_rows=32, mesh_columns=32)
        facts = array.facts
        self.assertEqual(facts["dim"], 32)
        self.assertEqual(facts["sp_rows"] * facts["sp_row_bytes"], 1024 * array["scratchpad_kib"])
        self.assertIn("Gemmini", array.description)
        whole, *parts = _table.records(array.area)
        self.assertEqual(whole["part"], "all")
        self.assertAlmostEqual(whole["um2"], sum(p["um2"] for p in parts), delta=1)
        self.assertGreater(whole["um2"], _table.records(weft.Array().area)[0]["um2"])
        paths = {path["unit"]: path for path in _table.records(array.paths)}
        self.assertLess(paths["pe"]["ns"], paths["store_controller"]["ns"])
        self.assertLess(paths["pe"]["low_ns"], paths["pe"]["ns"])

    def test_hardware(self):
        with tempfile.TemporaryDirectory() as folder:
            files = weft.Array("dim4").write_hardware(Path(folder) / "set")
            self.assertEqual(files, sum(p.is_file() for p in (Path(folder) / "set").rglob("*")))
            with self.assertRaisesRegex(weft.BadInput, "not empty"):
                weft.Array("dim4").write_hardware(folder)

    def test_errors(self):
        with self.assertRaisesRegex(weft.BadInput, 'did you mean "gemmini-default"'):
            weft.Array("gemini-default")
        with self.assertRaisesRegex(ValueError, "did you mean scratchpad.capacity_kib"):
            weft.Array(**{"scratchpad.capacity": 1})
        with self.assertRaises(weft.BadInput):
            weft.Array(mesh_rows=32)
        with self.assertRaisesRegex(weft.BadInput, "small.yaml:2:"):
            weft.Array.parse("name: small\nmsh: 3\n", "small.yaml")


class Models(unittest.TestCase):
    def test_files(self):
        model = weft.Model("resnet18", image=64, divisor=8)
        self.assertGreater(weft.Model("resnet18", image=128, divisor=8).facts["macs"], 3 * model.facts["macs"])
        self.assertIn("layers:", model.layers())
        with tempfile.TemporaryDirectory() as folder:
            model.save(Path(folder) / "a.onnx")
            weft.Model("resnet18", image=64, divisor=8, seed=1).save(Path(folder) / "b.onnx")
            self.assertEqual((Path(folder) / "a.onnx").read_bytes(), (Path(folder) / "b.onnx").read_bytes())
        with self.assertRaises(weft.BadInput):
            weft.Model("resnet")


class Graphs(unittest.TestCase):
    def test_graph(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "net.onnx"
            model = weft.Model("resnet18", image=32, divisor=8)
            model.save(file)
            graph = weft.Graph(file)
            placed = weft.Graph(file, stage="placed", outputs=["conv1"], array="dim8")
            with self.assertRaisesRegex(weft.BadInput, "no tensor of ONNX"):
                weft.Graph(file, constants={"input": file})
        self.assertEqual([shape for _, shape, _ in graph.inputs], [(1, 3, 32, 32)])
        self.assertEqual(graph.facts["macs"], model.facts["macs"])
        self.assertEqual(sum(graph.operators.values()), graph.facts["nodes"])
        self.assertIn("Conv(", graph.text())
        self.assertGreater(len(graph.text(constants=True)), len(graph.text()))
        self.assertEqual(placed.operators, {"QConv": 1})


def executable(code, symbol):
    """A RISC-V ELF with one section of code at 0x1000, and a symbol at its start."""
    names, strings = b"\0.text\0.symtab\0.strtab\0", b"\0" + symbol.encode() + b"\0"
    symbols = bytes(24) + struct.pack("<IBBHQQ", 1, 2, 0, 1, 0x1000, len(code))
    at_code = 64 + 56
    at_symbols, at_strings = at_code + len(code), at_code + len(code) + len(symbols)
    at_names = at_strings + len(strings)
    head = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", 2, 243, 1, 0x1000, 64, at_names + len(names), 0, 64, 56, 1, 64, 5, 4)
    segment = struct.pack("<IIQQQQQQ", 1, 5, at_code, 0x1000, 0x1000, len(code), len(code), 1)
    sections = bytes(64) + b"".join(struct.pack("<IIQQQQIIQQ", *row) for row in (
        (1, 1, 6, 0x1000, at_code, len(code), 0, 0, 2, 0),
        (7, 2, 0, 0, at_symbols, len(symbols), 3, 1, 8, 24),
        (15, 3, 0, 0, at_strings, len(strings), 0, 0, 1, 0),
        (15, 3, 0, 0, at_names, len(names), 0, 0, 1, 0)))
    return head + segment + code + symbols + strings + names + sections


class Code(unittest.TestCase):
    def test_disassembly(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "program.elf"
            file.write_bytes(executable(bytes.fromhex("13055000 8545 0200"), "main"))
            first, second, third = _table.records(weft.disassemble(file))
        self.assertEqual((first["section"], first["address"], first["symbol"]), (".text", 0x1000, "main"))
        self.assertEqual((first["bits"], first["bytes"]), (0x00500513, 4))
        self.assertIn("addi", first["text"])
        self.assertEqual((second["address"], second["bytes"], second["symbol"]), (0x1004, 2, None))
        self.assertEqual((third["address"], third["bits"]), (0x1006, 0x0002))
        with self.assertRaisesRegex(weft.BadInput, "nowhere.elf"):
            weft.disassemble("nowhere.elf")

    def test_files(self):
        files = weft.files()
        self.assertEqual(weft.Array.parse(files["mine.yaml"]).name, "mine")
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "gemm.py"
            file.write_text(files["gemm.py"])
            self.assertGreater(len(weft.Kernel(file, "dim4", M=8, N=8, K=8).mapping), 0)


class Kernels(unittest.TestCase):
    def test_result(self):
        for engine in ("cycle", "ref"):
            a, b, c = operands(40, 24, 56)
            run = product("gemmini-default", a, b, c, M=40, N=24, K=56, engine=engine)
            numpy.testing.assert_array_equal(c, a.astype(numpy.int32) @ b)
            self.assertEqual(run.cycles > 0, engine == "cycle")

    def test_grid_as_text(self):
        a, c = operands(20, 1, 10)[0].reshape(-1), numpy.zeros(200, numpy.int8)
        copy("dim4", a, c, N=200)
        numpy.testing.assert_array_equal(a, c)

    def test_compiled_once(self):
        kernel = product.compile("dim8", M=16, N=16, K=16)
        a, b, c = operands(16, 16, 16)
        kernel.interpret(a, b, c)
        want = c.copy()
        c[:] = 0
        kernel.run(a, b, c)
        numpy.testing.assert_array_equal(c, want)
        self.assertEqual([t[0] for t in kernel.tensors], ["a_ptr", "b_ptr", "c_ptr"])
        again = product.compile("dim8", M=16, N=16, K=16, mapping=kernel.mapping)
        self.assertEqual(again.mapping, kernel.mapping)

    def test_message_points_into_this_file(self):
        lines = Path(__file__).read_text(encoding="utf-8").splitlines()
        line = next(i for i, text in enumerate(lines, 1) if text.endswith("# line of the message"))
        with self.assertRaisesRegex(weft.BadInput, rf"weft_test\.py:{line}:\d+: error: "):
            wrong("dim4", M=16)

    def test_files(self):
        kernel = product.compile("dim8", M=16, N=16, K=16)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "kernel.command"
            kernel.write(file)
            self.assertEqual(file.read_text(), kernel.text())
            again = weft.Kernel(file, "dim8", language="command")
        self.assertEqual(again.facts["commands"], kernel.facts["commands"])
        with self.assertRaisesRegex(weft.Usage, "ends in .elf, .c"):
            kernel.write("kernel.txt")

    def test_check(self):
        kernel = product.compile("dim8", M=16, N=16, K=16)
        run = kernel.check(engine="ref")
        self.assertEqual((run.ending, run.wrong), (0, 0))
        self.assertIn("as the oracle's", run.report())
        self.assertEqual(json.loads(run.report("json"))["engine"], "ref")
        self.assertIsNone(kernel.diverge(against="ref"))
        with tempfile.TemporaryDirectory() as folder:
            bad = Path(folder) / "bad.command"
            bad.write_text("\n".join(line for line in kernel.text().splitlines() if not line.startswith("mvout")) + "\n")
            self.assertIn("mvout", kernel.diverge(engine="ref", against="ref", commands=bad)["command"])

    def test_replay(self):
        kernel = product.compile("dim8", M=16, N=16, K=16)
        with tempfile.TemporaryDirectory() as folder:
            trace, records = Path(folder) / "kernel.trace", Path(folder) / "events.txt"
            kernel.write(trace)
            run = weft.simulate(trace, "dim8", events=records)
            self.assertGreater(len(records.read_text()), 0)
        self.assertEqual((run.ending, run.cycles > 0), (0, True))
        self.assertEqual(json.loads(run.report("json"))["kind"], "trace")
        self.assertTrue(run.report("csv").startswith("file,array,engine,key,value"))
        with self.assertRaisesRegex(weft.BadInput, "nowhere.elf"):
            weft.simulate("nowhere.elf")

    def test_bad_data(self):
        kernel = product.compile("dim8", M=16, N=16, K=16)
        a, b, c = operands(16, 16, 16)
        with self.assertRaisesRegex(ValueError, "a_ptr is an array of 256 int8"):
            kernel.run(a.astype(numpy.int32), b, c)
        with self.assertRaisesRegex(ValueError, "contiguous"):
            kernel.run(a.T, b, c)
        c.flags.writeable = False
        with self.assertRaisesRegex(ValueError, "writable"):
            kernel.run(a, b, c)
        with self.assertRaisesRegex(weft.Usage, "one of .*cycle"):
            kernel.run(engine="nosuch")
        with self.assertRaises(TypeError):
            kernel.run(motor="rtl")
        with self.assertRaises(TypeError):
            program_id(0)


class Networks(unittest.TestCase):
    def test_run(self):
        net = weft.Network("resnet18", "gemmini-default", image=32, divisor=8)
        (_, shape, dtype), = net.inputs
        image = numpy.random.default_rng(1).integers(-128, 128, shape, dtype)
        run = net.run([image], check=True)
        self.assertEqual(run.wrong, 0)
        self.assertEqual(sum(run.layers["cycles"]), run.cycles)
        self.assertEqual(run.cycles, run.array_cycles + run.host_cycles + run.edge_cycles + run.both_cycles)
        ref = net.run([image], engine="ref")
        del net  # runs keep what they show
        numpy.testing.assert_array_equal(ref.outputs[0], run.outputs[0])
        self.assertEqual(run.outputs[0].shape, (1, 1000))
        with self.assertRaises(AttributeError):
            run.beauty

    def test_options(self):
        small = {"image": 32, "divisor": 16}
        net = weft.Network("resnet18", "dim8", seed=3, **small)
        run, other = net.run(engine="ref"), weft.Network("resnet18", "dim8", **small).run(engine="ref")
        self.assertNotEqual(run.digest, other.digest)
        self.assertIn("network resnet18", net.text())
        with self.assertRaisesRegex(weft.BadInput, "nowhere"):
            weft.Network("resnet18", "dim8", keep_float=["nowhere"], **small)
        self.assertNotEqual(weft.Network("resnet18", "dim8", keep_float=["conv1"], **small).text(), net.text())

    def test_cache(self):
        array = weft.Array("dim8", load_packed_int4=True)
        small = {"past": 9, "divisor": 12}
        four, eight = (weft.Network("gpt2-block", array, cache=kind, **small) for kind in ("int4", "int8"))
        self.assertEqual([2 * shape[-1] for _, shape, _ in four.inputs[1:]], [s[-1] for _, s, _ in eight.inputs[1:]])
        self.assertEqual([2 * shape[-1] for _, shape, _ in four.outputs[1:]], [s[-1] for _, s, _ in eight.outputs[1:]])
        self.assertEqual(four.run(check=True).wrong, 0)
        with self.assertRaisesRegex(weft.Usage, "load.packed_int4"):
            weft.Network("gpt2-block", "dim8", cache="int4", **small)

    def test_images(self):
        net = weft.Network("gpt2-block", sequence=32, divisor=4, images=2, overlap=True)
        run = net.run(check=True)
        self.assertEqual((len(net.inputs), len(run.outputs), run.wrong), (2, 2, 0))
        self.assertEqual(run.cycles, run.array_cycles + run.host_cycles + run.edge_cycles + run.both_cycles)
        self.assertGreater(run.both_cycles, 0)

    def test_errors(self):
        net = weft.Network("resnet18", "dim8", image=32, divisor=16)
        with self.assertRaisesRegex(ValueError, "is int8"):
            net.run([numpy.zeros((1, 3, 32, 32), numpy.float32)])
        with self.assertRaisesRegex(ValueError, "1 inputs, not 0"):
            net.run([])
        with self.assertRaisesRegex(TypeError, "no 'imge'"):
            weft.run("resnet18", imge=3)
        with self.assertRaisesRegex(weft.BadInput, "resnet49"):
            weft.run("resnet49")
        with self.assertRaisesRegex(weft.BadInput, "nowhere.onnx"):
            weft.run(Path("nowhere.onnx"))


class Ends(unittest.TestCase):
    def test_progress(self):
        seen = []
        run = weft.run("resnet18", image=32, divisor=16, progress=lambda *progress: seen.append(progress))
        self.assertEqual([text for _, done, _, text in seen if done == 0],
                         ["quantising the network", "compiling the network"])
        self.assertEqual([done for _, done, _, _ in seen if done > 0], list(range(1, len(run.layers) + 1)))

    def test_exceptions_of_progress_come_out(self):
        def refuse(*_progress):
            raise ZeroDivisionError

        with self.assertRaises(ZeroDivisionError):
            weft.run("resnet18", image=32, divisor=16, progress=refuse)
        self.assertGreater(weft.run("resnet18", image=32, divisor=16).cycles, 0)

    def test_interrupt(self):
        timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        start = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            weft.search("resnet50", starts=60000)  # takes hours
        self.assertLess(time.monotonic() - start, 60)

    def test_two_threads(self):
        cycles = []
        work = [threading.Thread(target=lambda: cycles.append(weft.run("resnet18", image=32, divisor=16).cycles))
                for _ in range(2)]
        for thread in work:
            thread.start()
        for thread in work:
            thread.join()
        self.assertEqual(len(cycles), 2)
        self.assertEqual(cycles[0], cycles[1])


class Searches(unittest.TestCase):
    def test_model(self):
        answer = weft.search("resnet50", starts=8, steps=40, side_max=16)
        self.assertLessEqual(answer.side, 16)
        self.assertGreaterEqual(answer.array["scratchpad_kib"], answer.scratchpad_kib)
        with self.assertRaises(weft.CannotBuild):
            weft.search("resnet50", starts=8, steps=40, max_area_mm2=1e-9)
        with self.assertRaisesRegex(weft.Usage, "one of edp"):
            weft.search("resnet50", objective="beauty")


    def test_joint(self):
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / "one.yaml"
            table.write_text("name: one\nlayers:\n  - {name: a, K: 32, C: 16, P: 8, Q: 8}\n")
            found = weft.joint(table, simulations=2, threads=1)
            self.assertGreater(found.facts["value"], 0)
            self.assertEqual(json.loads(found.report("json"))["networks"][0]["name"], "one")
            found.write(folder)
            self.assertTrue((Path(folder) / "array.yaml").exists())
            with self.assertRaisesRegex(ValueError, "1 networks have 2 weights"):
                weft.joint(table, weights=[1, 2])
            proof = weft.search(table, exact=True, side_max=8, kib_max=32)
            self.assertIn("the optimum of the plain model", proof.report())


class Sweeps(unittest.TestCase):
    LAYERS = "name: two\nlayers:\n  - {name: a, P: 16, K: 16, C: 32}\n  - {name: b, P: 9, K: 24, C: 16}\n"
    SPACE = {"name": "small", "base": "dim4", "networks": ["layers.yaml"],
             "parameters": {"scratchpad.capacity_kib": [16, 32, 64]}}

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder.name)
        Path("layers.yaml").write_text(self.LAYERS, encoding="utf-8")

    def test_store(self):
        store = weft.sweep(self.SPACE, "s.sqlite", jobs=1)
        self.assertEqual((store.result["measurements"], store.result["fresh"]), (6, 6))
        self.assertEqual(weft.sweep(self.SPACE, "s.sqlite").result["fresh"], 0)
        points = weft.open("s.sqlite").points("order by cycles")
        self.assertEqual(list(points["cycles"]), sorted(points["cycles"]))
        self.assertEqual(len(store.points(limit=2)), 2)
        best = store.array(points["array"][0])
        self.assertIn(best["scratchpad_kib"], (16, 32, 64))
        self.assertEqual(best.hash, points["array"][0])
        self.assertEqual(store.query("select count(*) as n from array")["n"][0], 3)
        self.assertEqual(sorted(os.listdir()), sorted(set(os.listdir()) - {"tmp"}))
        with self.assertRaises(weft.BadInput):
            store.points("no such words")
        with self.assertRaises(weft.BadInput):
            weft.open("layers.yaml")
        with self.assertRaises(weft.BadInput):
            weft.sweep("layers.yaml", "t.sqlite")
        with self.assertRaises(KeyError):
            store.array("0123")

    def test_fronts(self):
        self.assertEqual(len(weft.sweep(self.SPACE, "s.sqlite", jobs=1).fronts()), 0)  # of one engine
        store = weft.sweep({**self.SPACE, "fidelity": "flow"}, "s.sqlite", jobs=1, extend=True)
        points = _table.records(store.fronts())
        self.assertTrue(points and all(p["on_cycle"] or p["on_flow"] for p in points))
        self.assertEqual(len(store.fronts(network="no such network")), 0)

    def test_front(self):
        store = weft.sweep(self.SPACE, "s.sqlite", jobs=1)
        points = [(p["cycles"], p["energy_pj"]) for p in _table.records(store.points())]
        front = {(p["cycles"], p["energy_pj"]) for p in _table.records(store.pareto())}
        beaten = {p for p in points if any(q != p and q[0] <= p[0] and q[1] <= p[1] for q in points)}
        self.assertEqual(front, set(points) - beaten)
        self.assertEqual(store.plot().svg().count("<circle"), 3)


class Studies(unittest.TestCase):
    def test_rows(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "layers.yaml").write_text("name: one\nlayers:\n  - {name: a, P: 16, K: 16, C: 32}\n")
            (Path(folder) / "small.yaml").write_text("arrays: [dim4]\nnetworks: [layers.yaml]\n"
                                                     "compress: [{channel: [0.5]}]\nmapping: [default]\n")
            found = weft.study(Path(folder) / "small.yaml", Path(folder) / "stores", jobs=1, progress=False)
            again = weft.study(Path(folder) / "small.yaml", Path(folder) / "stores", jobs=1, progress=False)
        self.assertEqual(len(found["rows"]), found["configurations"])
        self.assertEqual((again["rows"], again["measured_now"]), (found["rows"], 0))
        self.assertIn("channel 0.5", {row["compression"] for row in found["rows"]})


class Crosschecks(unittest.TestCase):
    def test_parts_add_up(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "layers.csv"
            file.write_text("Layer, M, N, K,\nproduct, 64, 48, 40,\n")
            seen = []
            rows = _table.records(weft.crosscheck(file, "dim8", progress=lambda *call: seen.append(call)))
            with self.assertRaisesRegex(weft.Usage, "stonne"):
                weft.crosscheck(file, "dim8", form="ideal")
        self.assertEqual([(row["name"], row["status"]) for row in rows], [("product", "good")])
        self.assertEqual(seen, [("crosscheck", 0, 1, "product")])
        row = rows[0]
        parts = sum(row[cause] for cause in ("fills", "rows", "gaps", "loads", "stores", "commands", "end"))
        self.assertEqual(row["cycles"] - row["closed_form"], parts)
        self.assertGreater(row["cycles"], row["ideal"])


class RacesOfPrograms(unittest.TestCase):
    def test_tokens(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "race.tokens"
            file.write_text("weft-tokens 1\nload writes sp 0..7\nload push execute\nexecute reads sp 4..9\n"
                            "execute pop load\nexecute pop load\n")
            found = weft.races(file)
        self.assertEqual((found.facts["races"], found.facts["tokens"]), (1, True))
        race, = _table.records(found.pairs)
        self.assertEqual((race["place"], race["first"], race["last"]), ("sp", 4, 7))
        self.assertEqual((race["earlier"]["unit"], race["later"]["unit"]), ("load", "execute"))
        self.assertEqual([d["line"] for d in _table.records(found.deadlocks)], [6])

    def test_trace(self):
        array = weft.Array("dim4")
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "store.trace"
            file.write_text(f"weft-trace 1\narray {array.name} {array.hash}\nisa 1\nconfig_ld stride=4 scale=1\n"
                            "config_st stride=4 acc_scale=1\nmvout dram=0x80100000 local=acc:0x0 cols=4 rows=4\nfence\n"
                            "mvin dram=0x80100000 local=sp:0x0 cols=4 rows=4\nend commands=4 unrecorded\n")
            self.assertEqual(weft.races(file, array).facts["races"], 0)
            race, = _table.records(weft.races(file, array, ignore_fences=True).pairs)
            with self.assertRaises(weft.BadInput):
                weft.races(file, "dim8")
            same = weft.contrast(file, array, second="cycle")
            other = weft.contrast(file, array, second="cycle", second_disturb=7)
        self.assertEqual((race["earlier"]["number"], race["later"]["of"]), (2, "mvin"))
        self.assertTrue(same.equal)
        self.assertFalse(other.equal)
        a, b = _table.records(other.records()), _table.records(other.records(second=True))
        self.assertEqual(a[:other.at], b[:other.at])
        self.assertNotEqual(a[other.at], b[other.at])


class Tables(unittest.TestCase):
    def test_own_table(self):
        own = _table.Table([{"a": 1, "b": 2.0, "c": "x"}, {"a": 3, "b": 0.123456, "c": "y"}])
        self.assertEqual(own["a"], [1, 3])
        self.assertEqual(own[["c", "a"]], [{"c": "x", "a": 1}, {"c": "y", "a": 3}])
        self.assertEqual(own[1:].columns, ["a", "b", "c"])
        self.assertEqual(str(own).splitlines(), ["a       b  c", "1       2  x", "3  0.1235  y"])

    @unittest.skipIf(_table.pandas is None, "pandas is not installed")
    def test_frame(self):
        self.assertEqual(list(_table.table([{"a": 1}, {"a": 2}])["a"]), [1, 2])


if __name__ == "__main__":
    unittest.main()
