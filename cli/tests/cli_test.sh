#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Exit codes and messages of the command line, bad input above all.
# usage: cli_test.sh WEFT SOURCE_DIR WORK_DIR
set -u
weft=$1 source=$2 work=$3
. "$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)/expect.sh"
sh "$(dirname -- "$0")/../../tests/work_dir.sh" "$work" && cd "$work" || exit 1

build() {
  riscv64-unknown-elf-gcc -march=rv64imafdc -mabi=lp64d -mcmodel=medany -nostdlib -static -Wl,-N \
    -Wl,--section-start=.text=0x80000000,--section-start=.tohost=0x80001000,--section-start=.bss=0x80002000 -I "$source/programs" "$source/programs/$1.S" -o "$1.elf" 2>build.log ||
    { cat build.log; exit 1; }
}

for program in good fails unknown_funct revision2 bad_field local_range memory_range endless stuck bad_load handled loads moves; do
  build $program
done

# ---- usage
expect 2 'usage: weft VERB' "$weft"
expect 0 'usage: weft VERB' "$weft" --help
expect 0 '^weft [0-9]' "$weft" --version
expect 0 'usage: weft VERB' "$weft" -h
expect 0 '^weft [0-9]' "$weft" version
expect 0 '^weft [0-9]' "$weft" -V
expect 0 'usage: weft sim' "$weft" help sim
expect 0 'usage: weft sim' "$weft" sim -h
expect 0 'usage: weft bench flow' "$weft" help bench flow
expect 2 'unknown verb nosuch' "$weft" nosuch
expect 2 'did you mean sim\?' "$weft" sims
expect 2 'unknown verb sims' "$weft" help sims
expect 2 'did you mean --engine\?' "$weft" sim --engne=cycle good.elf
expect 1 'did you mean resnet50\?' "$weft" sim resnet5O
expect 1 'weft net --list' "$weft" sim nosuch
expect 2 'unknown option --nosuch' "$weft" sim --nosuch good.elf
expect 2 'missing argument' "$weft" sim
expect 2 'too many arguments' "$weft" sim good.elf good.elf
expect 2 'needs a number' "$weft" sim --max-instructions many good.elf
expect 2 'is 1 or 2' "$weft" sim --isa 3 good.elf
expect 2 'unknown action' "$weft" array nosuch
expect 2 'wrong number of arguments' "$weft" array diff gemmini-default
expect 0 'Exit code: 0 good' "$weft" sim --help

# ---- the set of files of an array
expect 0 'written: dim2, [0-9]+ files' "$weft" rtl dim2 -o written
for file in written/*; do expect 0 "${file#written/}" "$weft" rtl --help; done
expect 0 '"array_hash":' "$weft" rtl dim64 -o written --quiet --json -
expect 0 'warning: does not express l2.capacity_kib: 2048' "$weft" rtl dim64 -o written
expect 1 'no built-in array is named "nosuch"' "$weft" rtl nosuch -o other
expect 1 'directory is not empty' "$weft" rtl dim2 -o .
expect 2 'needs -o DIR' "$weft" rtl dim2
expect 2 'option -o needs a value' "$weft" rtl dim2 -o
expect 2 'cannot nosuch' "$weft" rtl nosuch dim2

# ---- models
models=/usr/share/libonnx-testdata/data
expect 0 '^node .* Conv\(' "$weft" graph $models/pytorch-converted/test_Conv2d/model.onnx
expect 0 '"macs":.*[1-9]' "$weft" graph $models/pytorch-converted/test_Conv2d/model.onnx --json -
expect 1 'NonMaxSuppression_0.*the size of its result depends on data' "$weft" graph $models/node/test_nonmaxsuppression_flipped_coordinates/model.onnx
expect 0 '^resnet18 +int8 +0.0' "$weft" bench graph resnet18 --divisor 16
expect 1 'nosuch' "$weft" bench graph nosuch
expect 0 'LSTM.* -> _, Y_h .* host' "$weft" graph $models/node/test_lstm_with_peepholes/model.onnx --stage placed
expect 1 'is no ONNX model' "$weft" graph good.elf
expect 1 'nosuch.onnx: error: No such file' "$weft" graph nosuch.onnx
expect 2 'not of the form NAME=N' "$weft" graph --dims sequence good.elf

# ---- generated networks, and the stages of a model
expect 0 '^resnet50 ' "$weft" net --list
expect 0 '"seq":' "$weft" net --list --json -
expect 0 '"parameters":' "$weft" net resnet18 --size 32 --divisor 16 -o net.onnx --json -
expect 0 'K: 1000, C: 32' "$weft" net resnet18 --size 32 --divisor 16 --layers - --quiet
expect 0 '^node .* QConv\(.* array' "$weft" graph net.onnx --stage placed
expect 0 '^node .* QMaxPool\(' "$weft" graph net.onnx --stage quantised
expect 2 'for stages behind the model' "$weft" graph net.onnx --array dim8
expect 1 'nosuch' "$weft" graph net.onnx --stage placed --array nosuch
expect 0 '' "$weft" net bert-base --seq 16 --divisor 4 --depth 1 -o rows.onnx
expect 0 ' QGeluUnit\(' "$weft" graph rows.onnx --stage placed --array transformer-16
expect 0 ' QCurve\(' "$weft" graph rows.onnx --stage placed
expect 0 '^node .* BatchNormalization\(' "$weft" graph net.onnx
expect 2 'one of model, quantised, placed' "$weft" graph net.onnx --stage best
expect 2 'missing argument: NAME' "$weft" net
expect 1 'unknown network' "$weft" net resnet51
expect 1 'has no option --size' "$weft" net bert-base --size 224
expect 1 'must be a multiple of 16' "$weft" net vit-b16 --size 100

# ---- options and names of files
expect 2 'option --divisor needs a number above 0' "$weft" net resnet18 --divisor 0
expect 2 'option --size needs a number above 0' "$weft" sim resnet18 --size 0
expect 2 'unknown option -x' "$weft" sim -x.elf
expect 2 'given as \./-NAME' "$weft" sim -x.elf
expect 2 'unknown option --json' "$weft" isa table --json x.json
expect 2 'unknown option --json' "$weft" disasm good.elf --json x.json
expect 1 'not an ELF file' "$weft" sim /dev/zero
expect 1 '/dev/zero: error: is larger than 64 MiB' "$weft" run /dev/zero
expect 1 '/dev/zero: error: is larger than 64 MiB' "$weft" run good.elf --mapping /dev/zero
expect 1 'M is given twice' "$weft" run "$source/../../workloads/kernels/gemm.py" --shape M=16,M=17
expect 1 'M=9223372036854775808: an integer has at most 64 bits' "$weft" run "$source/../../workloads/kernels/gemm.py" --shape M=9223372036854775808

# ---- programs
expect 0 'instructions' "$weft" sim good.elf
expect 5 'exit code 3' "$weft" sim fails.elf
expect 0 '' "$weft" sim handled.elf
expect 7 'unknown_funct.elf: error: pc 0x8[0-9a-f]* \(main\+0x[0-9a-f]+\): illegal custom instruction: funct 99' "$weft" sim unknown_funct.elf
expect 7 'run with --isa 2' "$weft" sim revision2.elf
expect 7 'bad_field.elf: error: pc .*state' "$weft" sim bad_field.elf
expect 8 'local_range.elf: error: pc .*scratchpad rows 16376\.\.16391 of 16384' "$weft" sim local_range.elf
expect 9 'memory_range.elf: error: pc .*0x40000000' "$weft" sim memory_range.elf
expect 10 'stopped after 100000 instructions' "$weft" sim --max-instructions 100000 endless.elf
expect 10 'waits for ever' "$weft" sim stuck.elf
expect 6 'bad_load.elf: error: pc .*load access fault, value 0x1000' "$weft" sim bad_load.elf

# ---- cycles without data
expect 2 "engine ref always moves data" "$weft" sim --engine ref --timing-only good.elf
expect 0 "cycles" "$weft" sim --timing-only good.elf
expect 0 "engine ref" "$weft" sim --trace good.trace good.elf
expect 0 "result +timing only" "$weft" sim --timing-only good.trace

# ---- the default engine, what each can do, and the report
expect 0 'engine cycle' "$weft" sim good.elf
expect 0 'result +same memory' "$weft" sim good.trace
sed 's/^\(end commands=[0-9]*\) .*/\1 unrecorded/' good.trace > unrecorded.trace
expect 0 'result +not compared' "$weft" sim unrecorded.trace
expect 2 'no engine nosuch' "$weft" sim --engine nosuch --trace other.trace good.elf
expect 2 '--trace needs a run without --timing-only' "$weft" sim --engine cycle --timing-only --trace other.trace good.elf
expect 2 'engine ref has no cycles and so no timeline' "$weft" sim --engine ref --timeline t.json good.elf
expect 2 'engine ref has no cycles and so no pipeline log' "$weft" sim --engine ref --konata t.json good.elf
expect 2 'hint: --trace takes engine ref' "$weft" sim --trace other.trace --timeline t.json good.elf
# Times: of a trace of an engine with cycles, for an engine with cycles.
expect 0 'engine cycle' "$weft" sim --engine cycle --trace timed.trace --events run.events moves.elf
expect 0 '^weft-trace 2$' cat timed.trace
expect 0 '^@[0-9]+ mvin dram=0x80010000 ' cat timed.trace
expect 0 'result +same memory' "$weft" sim --at-recorded-times --events replay.events timed.trace
expect 0 '^ +[0-9]+ read [0-9]+ 0x80010000 [0-9]+ (line|part) beats [0-9]' cat replay.events
expect 0 '^same$' sh -c 'cmp run.events replay.events && echo same'
expect 0 'result +same memory' "$weft" sim --engine ref timed.trace
expect 2 'engine ref has no cycles: it takes no --at-recorded-times' "$weft" sim --engine ref --at-recorded-times timed.trace
expect 1 'good.trace:3: error: the trace has no times' "$weft" sim --at-recorded-times good.trace
expect 1 'good.elf: error: a program has no recorded times' "$weft" sim --at-recorded-times good.elf
expect 2 'engine cycle takes no --accelerator' "$weft" sim --accelerator c good.elf
expect 3 'engine cycle has no waveforms' "$weft" sim --wave w.fst good.elf
expect 0 'at fences +[1-9]' "$weft" sim moves.elf
expect 0 '"fence":.[1-9]' "$weft" sim --quiet --json - moves.elf
expect 0 'store +mvout|mvout +1' "$weft" sim --report - --csv moves.csv --timeline moves.json --konata moves.log moves.elf
expect 0 '^1$' grep -c ': mvout ' moves.log
expect 0 'mvin dram=0x80010000 local=sp:0' cat moves.json
# Of a program, too, the cycles of each unit are those of the run, the loop at its end included.
expect 0 '^all units agree' awk -F, '$4 == "cycles" { cycles = $5 } $4 ~ /^units\./ { split($4, k, "."); sum[k[2]] += $5 }
  END { for (u in sum) { units++; good += sum[u] == cycles && cycles > 1000 }; print (units >= 7 && good == units ? "all units agree" : "some unit does not") }' moves.csv
expect 1 'cannot write' "$weft" sim --timeline nosuch/t.json good.elf
expect 1 'cannot write' "$weft" sim --csv nosuch/r.csv good.elf
expect 0 "\"timing_only\":.true" "$weft" sim --engine cycle --timing-only --quiet --json - good.trace

# ---- benches
expect 2 "usage: weft bench" "$weft" bench
cp "$weft" alone
expect 3 'hint: the package weft-bench has it' ./alone bench --list
rm alone
expect 2 "unknown bench nosuch" "$weft" bench nosuch
expect 2 "numbers from 1 on" "$weft" bench engines --repeat 0
expect 0 '^  gemmini ' "$weft" bench --list
for bench in $("$weft" bench --list | awk '{ print $1 }'); do
  expect 0 '^  --csv FILE' "$weft" bench "$bench" --help
done
expect 0 '^network,type,macs,processor_seconds,product_seconds$' "$weft" bench graph lstm --divisor 64 --csv -
expect 0 '^lstm,int8,[0-9]+,' "$weft" bench graph lstm --divisor 64 --csv -
expect 0 '^nothing$' sh -c "[ -z \"\$('$weft' bench graph lstm --divisor 64 --quiet)\" ] && echo nothing"
expect 0 'lstm +int8 ' "$weft" bench graph lstm --divisor 64 --csv graph.csv --json graph.json
expect 0 '^lstm,float,' cat graph.csv
expect 0 '"product_seconds":' cat graph.json
expect 1 'cannot write' "$weft" bench graph lstm --divisor 64 --csv nosuch/graph.csv
# An installed command finds shapes, kernels and measured programs in itself.
expect 1 '^0$' grep -acE '/workloads/(published|kernels|gemmini-rtl)' "$weft"

# ---- files
expect 1 'nosuch.elf: error: ' "$weft" sim nosuch.elf
: >empty.elf
expect 1 'empty.elf: error: ' "$weft" sim empty.elf
for size in 3 16 40 63 64 100 200; do
  head -c $size good.elf >short.elf
  expect 1 'short.elf: error: ' "$weft" sim short.elf
  expect 1 'short.elf: error: ' "$weft" disasm short.elf
done
cp "$weft" native.elf
expect 1 'native.elf: error: .*(machine|RISC-V)' "$weft" sim native.elf
expect 1 '(cannot|error)' "$weft" sim .
expect 1 'nosuch.yaml' "$weft" sim --array nosuch.yaml good.elf
expect 1 'no built-in array is named' "$weft" sim --array nosuch good.elf
expect 2 'no engine nosuch' "$weft" sim --engine nosuch good.elf
expect 2 'did you mean cycle' "$weft" sim --engine cyle good.elf
expect 2 'takes no --accelerator' "$weft" sim --accelerator ref good.elf
expect 0 '' "$weft" array list
[ "$(sed 's/\(.*\)  [0-9a-f]\{16\}  .*/\1/; s/\(.*\)  hash .*/\1/' out.txt | awk '{ print length }' | sort -u | wc -l)" = 1 ] || fail 'array list is not in columns'
expect 1 'cannot write' "$weft" sim --report nosuch/report good.elf
expect 1 'cannot write' "$weft" sim --trace nosuch/trace good.elf

# ---- closed forms of other simulators
printf 'Layer, M, N, K,\nproduct, 64, 48, 32,\n' >layers.csv
expect 0 '^product  .* 659 ' "$weft" crosscheck layers.csv
expect 0 '"difference":.?{' "$weft" crosscheck --form stonne --json - layers.csv
expect 0 '^product,1,good,.*,659,' "$weft" crosscheck --csv - --quiet layers.csv
expect 0 '' "$weft" crosscheck --problems problems layers.csv
expect 0 '^001-product.yaml$' ls problems
expect 0 '^    M: 48$' cat problems/001-product.yaml
expect 2 'problems runs nothing, so it takes no --csv' "$weft" crosscheck --problems problems --csv o.csv layers.csv
expect 0 '^product, 64, 1, 1, 1, 32, 48, 1,' "$weft" crosscheck --topology - layers.csv
for option in '--csv x.csv' '--json x.json' '--form stonne'; do
  # shellcheck disable=SC2086  # two words
  expect 2 "takes no ${option%% *}" "$weft" crosscheck --topology - $option layers.csv
done
for option in '--limit 1' '--write-array a.yaml' 'dim<8'; do
  # shellcheck disable=SC2086  # two words
  expect 2 'fronts takes no (--limit|--write-array|CONDITION)' "$weft" query --fronts nosuch.sqlite $option
done
expect 2 'curve takes no --simulate' "$weft" bench search --curve --simulate
expect 2 'no form ideal' "$weft" crosscheck --form ideal layers.csv
expect 1 "nosuch" "$weft" crosscheck nosuch

# ---- two engines: the delays of one are those of the other, or not
expect 0 '^no races' "$weft" check loads.elf
expect 0 '"races":.?0' "$weft" check --json - loads.elf
cat >store.trace <<END
weft-trace 1
array dim4 $("$weft" array show dim4 | sed -n 's/^# hash \([0-9a-f]*\);.*/\1/p')
isa 1
config_ld stride=4 scale=1
config_st stride=4 acc_scale=1
mvout dram=0x80100000 local=acc:0x0 cols=4 rows=4
mvin dram=0x80100008 local=sp:0x0 cols=4 rows=2
end commands=4 unrecorded
END
expect 4 'race: memory 0x80100008..0x8010000f' "$weft" check store.trace --array dim4
sed -i 's/^mvin/fence\nmvin/' store.trace
expect 0 '^no races' "$weft" check store.trace --array dim4
cat >race.tokens <<'END'
weft-tokens 1
load writes sp 0..7
load push execute
execute reads sp 4..9
execute pop load
execute pop load
END
expect 4 'race.tokens:4: race: 0x02 execute reads sp 4..7, which 0x00 .line 2. load writes' "$weft" check race.tokens
expect 4 'race.tokens:6: deadlock: 0x04 execute waits for a token load -> execute' "$weft" check race.tokens
expect 4 '"waits_for":.?"token"' "$weft" check --json - race.tokens
expect 2 'array does not go with a program with tokens' "$weft" check --array dim4 race.tokens
expect 2 'needs station, fences, room' "$weft" check --ignore stations loads.elf
expect 1 'nosuch.elf: error' "$weft" check nosuch.elf
expect 0 '^product  *2 published / joint .* 1.48' "$weft" bench operators --every 100 --seeds 1 --budget 500
expect 0 '^random layers  *2 ' "$weft" bench races --samples 2 --net none --csv races.csv
expect 0 '^random layers,2,' cat races.csv
expect 0 'cycle and cycle agree: 14 records' "$weft" diff-engines --engines cycle,cycle loads.elf
expect 0 'cycle and cycle agree' "$weft" diff-engines --engines cycle,cycle --disturb 3 loads.elf
expect 4 'first difference: done of [1-4] .load. mvin dram=0x80000[0-3]00' \
  "$weft" diff-engines --engines cycle,cycle --disturb 0,3 loads.elf
expect 4 '"equal":.false' "$weft" diff-engines --engines cycle,cycle --disturb 0,3 --json - loads.elf
expect 2 'engine ref has no cycles' "$weft" diff-engines --engines ref,cycle loads.elf
expect 2 'no engine nosuch' "$weft" diff-engines --engines cycle,nosuch loads.elf
expect 2 'needs two names' "$weft" diff-engines --engines cycle loads.elf
expect 2 'needs a seed or two' "$weft" diff-engines --engines cycle,cycle --disturb x loads.elf
expect 1 'nosuch.elf: error' "$weft" diff-engines --engines cycle,cycle nosuch.elf

# ---- arrays
printf 'mesh:\n  rows: 8\n  columns: 8\n  colour: red\n' >key.yaml
expect 1 'key.yaml:4:3: error: .*colour' "$weft" array check key.yaml
printf 'mesh:\n  rows: 7\n' >value.yaml
expect 1 'value.yaml:2:9: error: ' "$weft" array check value.yaml
printf 'mesh:\n  rows: 8\n' >square.yaml
expect 1 'square.yaml:.*error: .*columns' "$weft" array check square.yaml
printf 'mesh: [\n' >syntax.yaml
expect 1 'syntax.yaml:[0-9]+:[0-9]+: error: ' "$weft" array check syntax.yaml
expect 0 'gemmini-default' "$weft" array list
expect 0 'max_block_len +4' "$weft" array show gemmini-default
expect 0 'mesh.rows +16 -> 8' "$weft" array diff gemmini-default dim8
expect 0 'no difference' "$weft" array diff gemmini-default gemmini-default
"$weft" array show dim8 | grep -v '^#' >copy.yaml
expect 0 'no difference' "$weft" array diff dim8 copy.yaml

# ---- other output
expect 0 '"weft_exit":' "$weft" sim --json - --quiet good.elf
# alone COMMAND...: with --json - there is one document on stdout and nothing else, also without --quiet.
alone() {
  expect 0 '' "$@" --json -
  grep -qxE '[[{]' out.txt && [ "$(head -n 1 out.txt)$(tail -n 1 out.txt)" = '{}' ] ||
    [ "$(head -c 1 out.txt)$(tail -n 1 out.txt | tail -c 2)" = '[]' ] || {
    failed=$((failed + 1))
    printf 'FAILED: %s --json -: stdout is not JSON alone: %s\n' "$*" "$(head -n 3 out.txt)"
  }
}
alone "$weft" sim good.elf
alone "$weft" sim "${weft%/*}/driver/examples/dim4/matmul_ws.elf" --array dim4  # which prints
alone "$weft" sim resnet18 --size 32 --divisor 16 --no-check
alone "$weft" run "$source/../../workloads/kernels/gemm.py" --shape M=32,N=32,K=32
alone "$weft" compile "$source/../../workloads/kernels/gemm.py" --shape M=32,N=32,K=32 -o gemm.trace
alone "$weft" array list
alone "$weft" rtl dim2 -o alone
expect 0 'mvin3' "$weft" isa table
expect 0 'main' "$weft" disasm unknown_funct.elf

# ---- out of memory is a message, not a crash (the sanitizers need more address space than any limit)
[ -n "${WEFT_SANITIZED-}" ] || expect 1 'cannot reserve' sh -c 'ulimit -v 600000; exec "$0" sim --array gemmini-default good.elf' "$weft"

printf '%s passed, %s failed\n' $passed $failed
[ $failed -eq 0 ]
