#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Timelines of a network: steps on the tracks of array and hart, levels that hold each other, ranges, packed files;
# traces in Perfetto's own form, and pipeline logs, which tell the same cycles of the same commands.
# usage: timeline_test.sh WEFT
set -eu
weft=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "$*" && exit 1; }
run() { "$weft" sim bert-base --depth 1 --seq 8 --divisor 8 --array dim4 --quiet "$@"; }

run --json run.json --timeline command.json.gz
run --timeline step.json --timeline-level step
run --timeline burst.json --timeline-level burst --konata burst.log.gz
run --timeline range.json --timeline-steps 3-5 --timeline-level burst --konata range.log
run --timeline-steps 3-5 --konata alone.log
run --timeline one.json --timeline-steps 8
run --timeline step.pftrace --timeline-level step
run --timeline command.pftrace.gz
run --timeline burst.pftrace --timeline-level burst
run --timeline range.pftrace --timeline-level burst --timeline-steps 3-5
cat >check.py <<'END'
import gzip, json, os, struct

def events(name):
    with (gzip.open if name.endswith(".gz") else open)(name) as file:
        return json.load(file)["traceEvents"]

def slices(name, group):
    found = events(name)
    groups = {e["pid"]: e["args"]["name"] for e in found if e["ph"] == "M" and e["name"] == "process_name"}
    return [e for e in found if e["ph"] == "X" and (groups[e["pid"]] == "steps") == (group == "steps")
            and (group != "working" or "waiting" not in groups[e["pid"]])]

run = json.load(open("run.json"))
key = lambda e: (e["ts"], e["dur"], e["name"], e["args"]["index"])
for name in "step.json", "command.json.gz", "burst.json":
    steps = slices(name, "steps")
    assert [(e["name"], e["dur"]) for e in steps] == [(s["node"], s["cycles"]) for s in run["steps"]], name
    assert [e["tid"] for e in steps] == [1 if s["place"] == "array" else 2 for s in run["steps"]], name
    assert all(a["ts"] + a["dur"] <= b["ts"] for a, b in zip(steps, steps[1:])), name
assert not slices("step.json", "commands")
# The commands at work are those of the run, the same at both levels; only bursts tell of waiting and of the bus.
work, every = slices("command.json.gz", "working"), slices("burst.json", "working")
assert sorted(map(key, work)) == sorted(map(key, every)) and len(work) == len(slices("command.json.gz", "commands"))
assert 0.5 * run["commands"] < len(work) <= run["commands"], (len(work), run["commands"])
assert len(slices("burst.json", "commands")) > 1.5 * len(work)
bursts = [e for e in events("burst.json") if e["ph"] == "b"]
assert sum(e["args"]["bytes"] for e in bursts) >= run["read_bytes"] and not [e for e in events("command.json.gz") if e["ph"] == "b"]
# A range has the commands of its steps alone.
for name, first, last in ("range.json", 3, 5), ("one.json", 8, 8):
    steps = slices(name, "steps")
    assert [e["args"]["step"] for e in steps] == list(range(first, last + 1)), name
    begin, end = steps[0]["ts"], steps[-1]["ts"] + steps[-1]["dur"]
    inside = [e for e in work if begin <= e["ts"] < end]
    assert sorted(map(key, slices(name, "working"))) == sorted(map(key, inside)), name

# A pipeline log read back: of each command its class, text, allocation, issue (None: it has none), end, and how it ended.
def commands(name):
    lines = (gzip.open if name.endswith(".gz") else open)(name, "rt").read().splitlines()
    assert lines[:2] == ["Kanata\t0004", "C=\t0"], name
    cycle, found, retired = 0, [], 0
    for what, first, *rest in (line.split("\t") for line in lines[2:]):
        if what == "C":
            assert int(first) > 0
            cycle += int(first)
        elif what == "I":
            assert int(first) == len(found)
            found.append(dict(index=int(rest[0]), unit=("load", "execute", "store")[int(rest[1])], begin=cycle, issue=None))
        else:
            command = found[int(first)]
            assert "end" not in command, "a command goes on after its end"
            if what == "L":
                command["text"] = rest[1]
            elif what == "S" and rest[1] == "W":
                assert command["begin"] == cycle
            elif what == "S":
                assert rest[1] == {"load": "L", "execute": "X", "store": "S"}[command["unit"]]
                command["issue"] = cycle
            else:
                assert what == "R" and int(rest[0]) == retired
                command.update(end=cycle, flushed=rest[1] == "1")
                retired += rest[1] == "0"
    return found

# The timeline of level burst has a slice of waiting for each, and one of work or an instant.
def of_timeline(name):
    found = events(name)
    groups = {e["pid"]: e["args"]["name"] for e in found if e["ph"] == "M" and e["name"] == "process_name"}
    waits, works = [], []
    for e in found:
        if e["ph"] not in "Xi" or groups[e["pid"]] == "steps":
            continue
        group, a = groups[e["pid"]], e["args"]
        entry = (a["index"], group.split(":")[0], str(a["index"]) + ": " + a["command"], e["ts"], e["ts"] + e.get("dur", 0),
                 "unfinished" in a)
        (waits if "waiting" in group else works).append(entry)
    return sorted(waits), sorted(works)

for log, timeline in ("burst.log.gz", "burst.json"), ("range.log", "range.json"):
    found, (waits, works) = commands(log), of_timeline(timeline)
    waited = [(c["index"], c["unit"], c["text"], c["begin"], c["end"] if c["issue"] is None else c["issue"],
               c["flushed"] and c["issue"] is None) for c in found]
    worked = [(c["index"], c["unit"], c["text"], c["end"] if c["issue"] is None else c["issue"], c["end"], c["flushed"])
              for c in found if c["issue"] is not None or not c["flushed"]]
    assert len(found) > 40 and sorted(waited) == waits and sorted(worked) == works, log
assert commands("alone.log") == commands("range.log")

# A trace in Perfetto's form, read by the numbers of its fields: (field, value) of a message, numbers or bytes.
def fields(data):
    at = 0
    def varint():
        nonlocal at
        value = shift = 0
        while True:
            value |= (data[at] & 127) << shift
            shift, at = shift + 7, at + 1
            if data[at - 1] < 128:
                return value
    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        else:
            size = 8 if key & 7 == 1 else varint()
            yield key >> 3, data[at:at + size]
            at += size

def message(data):
    return dict(fields(data))

UUID, NAME, PARENT, COUNTER = 1, 2, 5, 8
def read_perfetto(name):
    data = (gzip.open if name.endswith(".gz") else open)(name, "rb").read()
    tracks, told, clock, found = {}, {2: {}, 3: {}, 29: {}}, None, []
    def arguments(event):
        result = {}
        for field, value in fields(event):
            if field == 4:
                a = message(value)
                key = told[3][a[1]] if 1 in a else a[10].decode()
                result[key] = (a[3] if 3 in a else bool(a[2]) if 2 in a else struct.unpack("<d", a[5])[0] if 5 in a
                               else told[29][a[17]] if 17 in a else a[6].decode())
        return result
    for field, data in fields(data):
        assert field == 1
        packet = message(data)
        assert packet[10] == 1
        if 6 in packet:  # the clocks: nanoseconds, and microseconds from packet to packet, which is the default
            clocks = [message(value) for _, value in fields(packet[6])]
            assert clocks == [{1: 6, 2: 0}, {1: 64, 2: 0, 3: 1, 4: 1000}] and message(packet[59]) == {58: 64} and packet[13] == 1
            clock = 0
        if 12 in packet:
            for table, value in fields(packet[12]):
                entry = message(value)
                assert entry[1] not in told[table]
                told[table][entry[1]] = entry[2].decode()
        if 60 in packet:
            track = message(packet[60])
            assert track[UUID] not in tracks and (track.get(PARENT) is None or track[PARENT] in tracks)
            tracks[track[UUID]] = track
        if 11 in packet:
            event = message(packet[11])
            if 58 in packet:
                assert packet[58] == 6 and packet[8] % 1000 == 0
                time = packet[8] // 1000
            else:
                time = clock = clock + packet[8]
            name = told[2][event[10]] if 10 in event else event.get(23, b"").decode()
            found.append((time, event[9], tracks[event[11]], name, arguments(packet[11]), event.get(44)))
    group = lambda track: tracks[track[PARENT]][NAME].decode()
    return found, group

def slices_of_perfetto(name):
    found, group = read_perfetto(name)
    open_slices, result, graphs = {}, [], {}
    for time, kind, track, title, a, value in sorted(found, key=lambda e: e[0]):
        key = track[UUID]
        if kind == 1:
            assert key not in open_slices, "slices of a track overlap"
            open_slices[key] = (time, title, a)
        elif kind == 2:
            since, title, begun = open_slices.pop(key)
            result.append((group(track), since, time - since, title, sorted({**begun, **a}.items())))
        elif kind == 3:
            result.append((group(track), time, None, title, sorted(a.items())))
        else:
            assert kind == 4 and COUNTER in track and group(track) == "graphs"
            graphs.setdefault(track[NAME].decode(), []).append((time, struct.unpack("<d", value)[0]))
    assert not open_slices
    return result, graphs

def slices_of_json(name):
    found = events(name)
    groups = {e["pid"]: e["args"]["name"] for e in found if e["ph"] == "M" and e["name"] == "process_name"}
    ends = {(e["cat"], e["id"]): e["ts"] for e in found if e["ph"] == "e"}
    result, graphs = [], {}
    for e in found:
        if e["ph"] in "Xib":
            length = ends[e["cat"], e["id"]] - e["ts"] if e["ph"] == "b" else e.get("dur")
            result.append((groups[e["pid"]], e["ts"], length, e["name"], sorted(e["args"].items())))
        elif e["ph"] == "C":
            for series, value in e["args"].items():
                graphs.setdefault(e["name"] + ": " + series, []).append((e["ts"], value))
    return result, graphs

close = lambda a, b: a == b or (isinstance(a, float) and abs(a - b) < 0.006)
def same_slice(a, b):
    return a[:4] == b[:4] and [k for k, v in a[4]] == [k for k, v in b[4]] and all(close(v, w) for (_, v), (_, w) in zip(a[4], b[4]))

# Whether a graph shows the samples of the other one: what stays is left out in Perfetto's form, JSON rounds.
def same_graph(mine, theirs):
    mine, theirs = dict(mine), dict(theirs)
    shown = None
    for time in sorted(theirs):
        shown = mine.get(time, shown)
        if shown is None or abs(shown - theirs[time]) > 0.006:
            return False
    return set(mine) <= set(theirs)

for mine, theirs in ("step", "step.json"), ("command", "command.json.gz"), ("burst", "burst.json"), ("range", "range.json"):
    file = mine + ".pftrace" + (".gz" if mine == "command" else "")
    (a, graphs_a), (b, graphs_b) = slices_of_perfetto(file), slices_of_json(theirs)
    order = lambda s: (s[0], s[1], -1 if s[2] is None else s[2], s[3], str([v for k, v in s[4] if k in ("index", "address", "step")]))
    a, b = sorted(a, key=order), sorted(b, key=order)
    assert len(a) == len(b) and all(map(same_slice, a, b)), file
    assert set(graphs_a) == set(graphs_b), file
    for graph in graphs_a:
        assert same_graph(graphs_a[graph], graphs_b[graph]), (file, graph)
size = lambda name: os.path.getsize(name)
assert 3 * size("burst.pftrace") < size("burst.json") and size("command.pftrace.gz") < 0.7 * size("command.json.gz")
print(len(work), "commands,", len(run["steps"]), "steps")
END
python3 check.py || fail "the timelines do not agree"

refuse() {
  want=$1
  shift
  code=0
  "$weft" sim "$@" >out.txt 2>&1 || code=$?
  [ "$code" = 2 ] && grep -q -- "$want" out.txt || fail "sim $*: $code, $(cat out.txt)"
}
refuse 'one of step, command, burst' resnet18 --timeline t.json --timeline-level all
refuse 'as 3-5' resnet18 --timeline t.json --timeline-steps 5-3
refuse 'as 3-5' resnet18 --timeline t.json --timeline-steps 3-
refuse 'there is no --timeline' resnet18 --timeline-steps 3
refuse 'there is no --timeline' resnet18 --timeline-level step
refuse 'steps 0 to ' resnet18 --size 32 --divisor 8 --timeline t.json --timeline-steps 99
refuse 'there is no --timeline' resnet18 --konata t.json --timeline-level step
refuse 'takes no --timeline-steps' some.elf --konata t.json --timeline-steps 3
refuse 'takes no --timeline-steps' some.elf --timeline t.json --timeline-steps 3
refuse 'takes no --timeline-level step' some.elf --timeline t.json --timeline-level step
[ ! -e t.json ] || fail 'a run that was refused left a timeline'
code=0
run --timeline /dev/full 2>err.txt || code=$?
[ "$code" = 1 ] && grep -q 'cannot write' err.txt || fail "a full disk: $code"
code=0
run --konata /dev/full 2>err.txt || code=$?
[ "$code" = 1 ] && grep -q 'cannot write' err.txt || fail "a full disk, of a pipeline log: $code"
ln -s /dev/full full.gz
code=0
run --timeline full.gz 2>err.txt || code=$?
[ "$code" = 1 ] && grep -q 'cannot write' err.txt || fail "a full disk, packed: $code, $(cat err.txt)"
