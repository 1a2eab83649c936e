#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# weft compile and weft run: exit codes, messages, and that what one verb writes the others read.
# usage: compile_test.sh WEFT SOURCE_DIR WORK_DIR
set -u
weft=$1 kernels=$2/workloads/kernels work=$3
. "$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)/expect.sh"
sh "$(dirname -- "$0")/../../tests/work_dir.sh" "$work" && cd "$work" || exit 1

gemm=$kernels/gemm.py
shape=M=49,N=31,K=70,scale=0.01

# ---- usage and bad input
expect 2 'missing argument' "$weft" compile
expect 2 'unknown option --nosuch' "$weft" compile --nosuch "$gemm"
expect 2 'one of primitive, loop' "$weft" compile "$gemm" --shape $shape --style both
expect 2 'one of kernel, block, command' "$weft" compile "$gemm" --shape $shape --from onnx
expect 2 'one of lower, fuse, tile' "$weft" compile "$gemm" --shape $shape --dump-after nosuch
expect 2 'ends in .elf, .c, .trace' "$weft" compile "$gemm" --shape $shape -o out.txt
expect 1 'nosuch.py: error: cannot read' "$weft" compile nosuch.py
expect 1 'gemm.py:' "$weft" compile "$gemm" --shape N=4,K=4
expect 1 'gemm.py' "$weft" compile "$gemm" --shape $shape --kernel nosuch
expect 2 'no engine nosuch' "$weft" run "$gemm" --shape $shape --engine nosuch
expect 2 'timing-only is for engine cycle' "$weft" run "$gemm" --shape $shape --engine ref --timing-only
expect 0 'Exit code: 0 good' "$weft" run --help

# ---- where results part: a flag, a scale and a command that a program lacks, at their commands
expect 2 'commands is for --against' "$weft" run "$gemm" --shape $shape --commands a.command
expect 2 'engine flow is none that has them' "$weft" run "$gemm" --shape $shape --against flow
expect 2 'takes no --elf' "$weft" run "$gemm" --shape $shape --against ref --elf
expect 0 'cycle and ref agree' "$weft" run "$gemm" --shape $shape --array dim8 --against ref
expect 0 '' "$weft" compile "$gemm" --shape $shape --array dim8 -o a.command
parts() { # PATTERN: of what is told about bad.command
  expect 4 "$1" "$weft" run "$gemm" --shape $shape --array dim8 --engine ref --against ref --commands bad.command
}
sed '0,/preload .*+acc/s/+acc//' a.command >bad.command
parts '^statement .*gemm.py:[0-9]+: product'
parts '^command +[0-9]+: preload local=[^ ]+ cols=8 rows=8 dest=acc:0x0 '
parts '^result +accumulator row 0, column 0: -?[0-9]+, not -?[0-9]+'
sed '0,/config_ld .*stride=0$/s/ scale=1 / scale=0.5 /' a.command >bad.command
parts '^goes by +0: config_ld .* scale=0.5 '
sed '/^mvout/d' a.command >bad.command
parts '^command .*: mvout'
sed 's/^tensor b_ptr/tensor x/; s/=b_ptr/=x/; s/b_ptr/x/' a.command >bad.command
expect 3 'do not have the tensors' "$weft" run "$gemm" --shape $shape --array dim8 --engine ref --against ref --commands bad.command

# ---- what cannot be mapped says why
expect 3 'tile of K: 20 is no multiple of 16' "$weft" compile "$gemm" --shape $shape,BLOCK_N=20
expect 3 'accumulator: needs' "$weft" compile "$gemm" --shape M=5000,N=64,K=16,scale=0.01,BLOCK_M=5000,BLOCK_N=64
expect 3 'about 1,056,320,000 commands, of which at most' timeout 20 "$weft" compile "$gemm" --shape M=12800,N=12800,K=12800
[ -n "${WEFT_SANITIZED-}" ] || expect 0 '16,550,005 commands' timeout 60 "$weft" compile "$gemm" --shape M=3200,N=3200,K=3200
for style in primitive loop; do
  expect 3 'tensors of 49152512001 bytes do not fit in main memory of 1024 MiB' \
    timeout 20 "$weft" compile "$gemm" --shape M=128000,N=128000,K=128000 --style $style
done
expect 3 'style loop: the unroller stores int8 results' "$weft" compile "$kernels/conv2d.py" --shape N=1,H=8,W=8,C=8,K=8,relu=False,out=int32 --style loop
expect 3 'style loop: groups lie side by side' "$weft" compile "$kernels/grouped_conv2d.py" --shape N=1,H=8,W=8,G=2,C=8,K=8,scale=0.1 --style loop
expect 3 'style loop: only products' "$weft" compile "$kernels/max_pool2d.py" --shape N=1,H=8,W=8,C=8 --style loop

# ---- mappings: what is printed can be given back, and a wrong one is refused with its place or its reason
expect 0 '^mapping primitive ws' "$weft" compile "$gemm" --shape $shape --print-mapping
grep -v '^weft' out.txt >good.map
expect 0 'the oracle' "$weft" run "$gemm" --shape $shape --mapping good.map
cat >columns.map <<'END'
mapping primitive ws
tile  N 1 P 48 Q 1 K 32 C 16 R 1 S 1
sp    N 1 P 1 Q 1 K 1 C 1 R 1 S 1
dram  N 1 P 2 Q 1 K 3 C 4 R 1 S 1
outer K N P Q C R S
inner N P Q K C R S
weights depth 2 inside outer C
inputs depth 2 inside outer C
results depth 2
END
expect 0 '^.struct weft_mapping.+[.]m = 48, [.]n = 32, [.]k = 16, [.]n_outer = true.$' \
  "$weft" compile "$gemm" --shape M=96,N=96,K=64,scale=0.1 --mapping columns.map --print-mapping --as-c
sed 's/^outer .*/outer N P K Q C R S/' columns.map >rows.map
expect 0 'n_outer = false' "$weft" compile "$gemm" --shape M=96,N=96,K=64,scale=0.1 --mapping rows.map --print-mapping --as-c
expect 2 'as-c is for --print-mapping' "$weft" compile "$gemm" --shape $shape --as-c
expect 3 'for matrix products' "$weft" compile "$kernels/conv2d.py" --shape N=1,H=8,W=8,C=8,K=8,scale=0.1 --print-mapping --as-c
sed 's/^outer .*/outer N P Q K C R X/' good.map >bad.map
expect 1 'bad.map:5:19: error: expected a dimension' "$weft" run "$gemm" --shape $shape --mapping bad.map
sed 's/^weights depth [0-9]*/weights depth 9/' good.map >deep.map
expect 1 'deep.map:7:15: error: expected a number' "$weft" run "$gemm" --shape $shape --mapping deep.map
sed 's/^tile .*/tile N 1 P 8 Q 1 K 31 C 70 R 1 S 1/' good.map >short.map
expect 3 'factors of P' "$weft" run "$gemm" --shape $shape --mapping short.map
cat >image.map <<'END'
mapping loop ws
tile  N 1 P 4 Q 8 K 32 C 16 R 1 S 1
sp    N 1 P 1 Q 1 K 1 C 1 R 1 S 1
dram  N 1 P 2 Q 1 K 2 C 2 R 3 S 3
outer N P Q K C R S
inner N P Q K C R S
weights depth 2 inside outer C
inputs depth 2 inside outer C
results depth 2
END
image=N=1,H=8,W=8,C=20,K=40,padding=1,scale=0.0005
expect 0 'the oracle' "$weft" run "$kernels/conv2d.py" --shape $image --mapping image.map
sed 's/inside outer C/inside outer K/' image.map >kept.map
expect 3 'style loop: the unroller loads weights for every block, inside all loops but those over the kernel' \
  "$weft" run "$kernels/conv2d.py" --shape $image --mapping kept.map
cat >copy.py <<'END'
from weft import *


@jit
def copy(x_ptr: int8, y_ptr: int8, N, BLOCK: constexpr = 16):
    i = program_id(0) * BLOCK
    x = make_block_ptr(x_ptr, (N,), (1,), (i,), (BLOCK,), (0,))
    y = make_block_ptr(y_ptr, (N,), (1,), (i,), (BLOCK,), (0,))
    store(y, load(x, boundary_check=(0,)), boundary_check=(0,))


grid = lambda META: (cdiv(N, META["BLOCK"]),)
END
expect 0 'as the oracle' "$weft" run copy.py --shape N=40
expect 3 'a mapping is for a single product' "$weft" run copy.py --shape N=40,BLOCK=16 --mapping good.map

# ---- every engine and both styles give what the kernel says; the digest is the result's, whatever made it
for engine in ref cycle; do
  expect 0 'result +as the oracle' "$weft" run "$gemm" --shape $shape --engine $engine
  grep '^digest' out.txt >>digests.txt
  expect 0 'result +as the oracle' "$weft" run "$gemm" --shape $shape --engine $engine --style loop
  grep '^digest' out.txt >>digests.txt
  expect 0 'result +as the oracle' "$weft" run "$gemm" --shape $shape --engine $engine --array dim4
  grep '^digest' out.txt >>digests.txt
done
expect 0 '^1$' sh -c 'sort -u digests.txt | wc -l'
expect 0 'utilisation' "$weft" run "$gemm" --shape $shape --times 2 --timing-only --units
expect 0 '"wrong_bytes":.0' "$weft" run "$gemm" --shape $shape --quiet --json -
expect 0 'result +as the oracle' "$weft" run "$gemm" --shape $shape --tune 4

# ---- tuning on engine flow: the answer is judged by cycle, so it is not worse than the mapper's
cycles_of() {
  expect 0 'cycles' "$weft" run "$gemm" --shape $shape --timing-only --times 2 --units "$@"
  sed -n 's/^cycles *//p' out.txt | tr -d ,
}
energy_of() { sed -n 's/^  energy *\([0-9.]*\) uJ.*/\1/p' out.txt; }
plain=$(cycles_of)
expect 0 'result +as the oracle' "$weft" run "$gemm" --shape $shape --tune 80 --with flow
flow=$(cycles_of --tune 80 --with flow)
[ "$flow" -le "$plain" ] || fail "tuned on flow $flow cycles, the mapper's $plain"
cycles_of --tune 80 >all.txt
fast=$(energy_of)
cycles_of --tune 80 --with flow --tune-objective energy >energy.txt
thrifty=$(energy_of)
awk -v a="$thrifty" -v b="$fast" 'BEGIN { exit !(a <= b) }' || fail "least energy $thrifty uJ, fewest cycles $fast uJ"
expect 2 'with has no effect without trials' "$weft" run "$gemm" --shape $shape --with flow
expect 2 'tune-objective has no effect without trials' "$weft" run "$gemm" --shape $shape --tune-objective energy
expect 2 'at most 512 mappings' "$weft" run "$gemm" --shape $shape --tune 513
expect 2 'one of cycles, energy, edp' "$weft" run "$gemm" --shape $shape --tune 4 --tune-objective power
expect 2 'one of cycle and flow' "$weft" run "$gemm" --shape $shape --tune 4 --with rtl

# ---- the IRs' texts are read again
expect 0 '^program gemm' "$weft" compile "$gemm" --shape $shape --dump-after lower --quiet
cp out.txt gemm.block
expect 0 'result +as the oracle' "$weft" run --from block gemm.block
expect 0 '' "$weft" compile "$gemm" --shape $shape -o gemm.command
expect 0 'cycles' "$weft" run --from command gemm.command
expect 1 'gemm.block:2:14: error' "$weft" compile --from command gemm.block

# ---- outputs
expect 0 '' "$weft" compile "$gemm" --shape $shape -o gemm.trace
expect 0 'timing only|not compared' "$weft" sim gemm.trace
expect 0 '' "$weft" compile "$gemm" --shape $shape -o gemm.c
expect 0 'void gemm' cat gemm.c
expect 0 '' "$weft" compile "$gemm" --shape $shape -o gemm.lst
expect 0 'mvin' cat gemm.lst
expect 0 '' "$weft" compile "$gemm" --shape $shape -o gemm.elf
expect 0 'tensor c_ptr digest' "$weft" sim gemm.elf

expect 0 'cycles +[0-9,]+, with the host' "$weft" run "$gemm" --shape $shape --elf
expect 0 'result +as the oracle' "$weft" run "$kernels/conv2d.py" --shape N=1,H=9,W=7,C=5,K=17,padding=1,scale=0.05 --elf --times 2 --array dim8
expect 0 'result +as the oracle' "$weft" run "$gemm" --shape $shape --elf --engine ref
expect 0 'result +as the oracle' "$weft" run "$gemm" --shape M=17,N=40,K=20,residual=300,scale=0.002 --elf --engine ref
expect 0 'result +as the oracle' "$weft" run "$gemm" --shape M=70,N=65,K=32,residual=300,scale=0.001 --elf --style loop
expect 0 'result +as the oracle' "$weft" run "$kernels/conv2d.py" --shape $image,residual=3 --elf --style loop

# ---- stores take turns for the banks of main memory, but not in C, where they would follow no pattern
commands() { "$weft" compile "$gemm" --shape M=3136,N=256,K=64,scale=0.01 -o "$1" --quiet --json - | sed -n 's/.*"commands":[^0-9]*\([0-9]*\).*/\1/p'; }
expect 0 '^c is shorter$' sh -c "[ 0$(commands rows.c) -gt 1000 ] && [ $(commands rows.c) -lt 0$(commands rows.trace) ] && echo c is shorter"

# ---- columns whose residual is multiplied are complete one after the other: products go on behind the first store
"$weft" compile "$gemm" --shape M=128,N=128,K=256,scale=0.001,residual=1016,bias=False,BLOCK_M=128,BLOCK_N=128,BLOCK_K=128 -o parts.lst --quiet
behind() { awk '/mvout/ { n++ } /preload/ && n { p++ } END { print p + 0 }' parts.lst; }
expect 0 '^some are behind$' sh -c "[ $(behind) -gt 200 ] && echo some are behind"

# ---- the bench reads its table
printf 'set,name,kernel,shape,published_cycles,library_cycles,target_percent,source\nown,small,gemm,M=16 N=16 K=16 scale=0.01,500,,99.9,here\n' >table.csv
expect 0 '1 rows, 0 failed, 0 wrong, 1 below their target' "$weft" bench kernels --table table.csv
expect 4 '1 below' "$weft" bench kernels --table table.csv --targets
expect 0 'own,small,gemm,M=16 N=16 K=16 scale=0.01,' "$weft" bench kernels --table table.csv --quiet --csv -
printf 'set,name\n' >table.csv
expect 1 'table.csv:1: error: the first line is not' "$weft" bench kernels --table table.csv
printf 'set,name,kernel,shape,published_cycles,library_cycles,target_percent,source\nown,small,gemm,M=1,x,,,\n' >table.csv
expect 1 'table.csv:2: error: not 8 fields' "$weft" bench kernels --table table.csv

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
