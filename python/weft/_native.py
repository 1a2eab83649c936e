# SPDX-License-Identifier: Apache-2.0
"""libweft through cffi, without a compiler: the declarations are those of its header (weft.cdef, made by
api/tools/cdef.sh). Errors become exceptions; long calls leave Python free and end on Ctrl-C."""

import os
import threading
import weakref
from pathlib import Path

import cffi

_HERE = Path(__file__).resolve().parent
OK, BAD_INPUT, USAGE, CANNOT_BUILD, CANCELLED = 0, 1, 2, 3, 130


def _library():
    """WEFT_LIBRARY; else the one that was installed with the package; else what the system finds."""
    if "WEFT_LIBRARY" in os.environ:
        return os.environ["WEFT_LIBRARY"]
    where = _HERE / "library_path"
    beside = (_HERE / where.read_text().strip()).resolve() if where.exists() else None
    return str(beside) if beside is not None and beside.exists() else "libweft.so.1"


ffi = cffi.FFI()
ffi.cdef((_HERE / "weft.cdef").read_text())
lib = ffi.dlopen(_library())


def version():
    """Of the library: "0.1.0 (1a2b3c4d5e6f)"."""
    return text(lib.weft_version())


# ---- errors


class Error(Exception):
    """The messages of libweft, one line per problem, with places and hints."""


class BadInput(Error, ValueError):
    """A file, a text or a value."""


class Usage(Error, TypeError):
    """The call itself."""


class CannotBuild(Error, RuntimeError):
    """Good input that cannot be mapped, built or run."""


_ERRORS = {BAD_INPUT: BadInput, USAGE: Usage, CANNOT_BUILD: CannotBuild, CANCELLED: Error}


# ---- sessions: one per thread

_of_thread = threading.local()


def session():
    if not hasattr(_of_thread, "session"):
        _of_thread.session = ffi.gc(lib.weft_session_create(), lib.weft_session_destroy)
    return _of_thread.session


def check(s):
    """Raises what the last call of the session reports."""
    status = lib.weft_session_status(s)
    if status != OK:
        raise _ERRORS.get(status, Error)(text(lib.weft_session_messages(s)).rstrip("\n"))


def call(function, *arguments):
    """A call that is over at once."""
    s = session()
    result = function(s, *arguments)
    check(s)
    return result


class _Watcher:
    """Hands progress to a function of Python; what that raises is raised when the call has ended."""

    def __init__(self, function):
        self.function, self.raised = function, None
        self.callback = ffi.callback("weft_progress_function", self._tell, error=False)

    def _tell(self, _context, progress):
        try:
            self.function(text(progress.what), progress.done, progress.total, text(progress.text))
            return True
        except BaseException as error:  # also KeyboardInterrupt
            self.raised = error
            return False


class _Worker(threading.Thread):
    """One call in a thread of its own."""

    def __init__(self, function, *arguments):
        super().__init__()
        self.function, self.arguments, self.result, self.raised = function, arguments, None, None
        self.over = threading.Event()  # join() takes a thread for dead when Ctrl-C interrupts it

    def run(self):
        try:
            self.result = self.function(*self.arguments)
        except BaseException as error:
            self.raised = error
        finally:
            self.over.set()

    def wait(self, cancel):
        """Until the call is over; whether Ctrl-C was pressed, which cancels it."""
        self.start()
        interrupted = False
        while not self.over.is_set():
            try:
                self.over.wait(0.1 if interrupted else None)
            except KeyboardInterrupt:
                interrupted = True
            if interrupted:
                cancel()  # again, in case that the call had not begun
        return interrupted


def long_call(function, *arguments, progress=None):
    """A call that takes time. The calling thread waits for it in Python, so that Ctrl-C ends it."""
    s, watcher = session(), None if progress is None else _Watcher(progress)
    lib.weft_session_watch(s, ffi.NULL if watcher is None else watcher.callback, ffi.NULL)
    worker = _Worker(function, s, *arguments)
    interrupted = worker.wait(lambda: lib.weft_session_cancel(s))
    lib.weft_session_watch(s, ffi.NULL, ffi.NULL)
    raised = worker.raised or (watcher.raised if watcher is not None else None)
    if raised is not None:
        raise raised
    if interrupted and lib.weft_session_status(s) == CANCELLED:
        raise KeyboardInterrupt
    check(s)
    return worker.result


# ---- values


def text(pointer):
    return None if pointer == ffi.NULL else ffi.string(pointer).decode("utf-8", "replace")


def encode(value):
    """Text for the library, which must be kept until the call is over; None is NULL."""
    return ffi.NULL if value is None else ffi.new("char[]", os.fspath(value).encode())


def encoded(values):
    """The same of several: an array of texts, and what must be kept with it."""
    kept = [encode(value) for value in values]
    return ffi.new("char *[]", kept), kept


def path(value):
    return None if value is None else os.fspath(value)


# Texts that structs point to, for as long as these live.
_kept = weakref.WeakKeyDictionary()


def struct(kind, **fields):
    """A struct with its size set; texts, also lists of them, are kept alive with it. An unknown field is a TypeError."""
    made = ffi.new(kind + " *")
    made.size = ffi.sizeof(kind)
    known = dict(ffi.typeof(kind).fields)
    for name, value in fields.items():
        if name not in known or name == "size":
            raise TypeError(f"{kind} has no {name!r}; it has {', '.join(n for n in known if n != 'size')}")
        if isinstance(value, (str, os.PathLike)):
            value = encode(value)
            _kept.setdefault(made, []).append(value)
        elif isinstance(value, (list, tuple)) and known[name].type.kind == "pointer":
            value, texts = encoded(value)
            _kept.setdefault(made, []).extend([value, *texts])
        if value is not None:
            setattr(made, name, value)
    return made


def fields(made, without=("size",)):
    """A struct of results as a dict."""
    values = {}
    for name, field in ffi.typeof(made[0]).fields:
        if name in without:
            continue
        value = getattr(made, name)
        if field.type.kind == "pointer":
            value = text(value)
        elif field.type.kind == "array":
            value = ffi.string(value).decode()
        values[name] = value
    return values


def filled(kind, function, *arguments):
    """The struct that a function fills."""
    made = struct(kind)
    if function(*arguments, made) != OK:
        raise IndexError(f"no such {kind}")
    return made


def listed(kind, function, *arguments):
    """The structs that a function has by index, as dicts."""
    found = []
    try:
        while True:
            found.append(fields(filled(kind, function, *arguments, len(found))))
    except IndexError:
        return found
