// The text of workloads/sweeps/resnet50.yaml; made in the build.
#ifndef CLI_BENCH_SWEEP_TEXT_H
#define CLI_BENCH_SWEEP_TEXT_H

extern const char bench_sweep_text[];

#endif
