# SPDX-License-Identifier: Apache-2.0
"""Programs of the hart and traces of commands."""

from weft._array import array_of
from weft._native import encode, ffi, lib, path, struct
from weft._network import watched
from weft._run import Run


def simulate(file, array=None, console=None, progress=None, **options):
    """Runs an ELF, or replays a trace; `run.ending` says how it ended. What it prints goes to console(text, error).
    Options: engine, timing_only, accelerator, quantum, sensitivity, timeline, timeline_level, konata, max_instructions,
    any_array, at_recorded_times, wave, trace, events (the last three are files)."""
    made = struct("weft_run_options", **{name: path(value) if name in FILES else value for name, value in options.items()})
    printed = ffi.NULL
    if console is not None:
        printed = ffi.callback("void(void *, bool, char *, size_t)", lambda _context, error, text, length: console(
            ffi.buffer(text, length)[:].decode("utf-8", "replace"), error))
        made.console = printed
    return Run(watched(lib.weft_program_run, encode(path(file)), array_of(array).pointer, made, progress=progress))


FILES = {"timeline", "konata", "wave", "trace", "events"}
