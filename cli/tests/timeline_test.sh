#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Timelines of a network: steps on the tracks of array and hart, levels that hold each other, ranges, packed files; and
# pipeline logs, which tell the same cycles of the same commands.
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
cat >check.py <<'END'
import gzip, json

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
work, all = slices("command.json.gz", "working"), slices("burst.json", "working")
assert sorted(map(key, work)) == sorted(map(key, all)) and len(work) == len(slices("command.json.gz", "commands"))
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
