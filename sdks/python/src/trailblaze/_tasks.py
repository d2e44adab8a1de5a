"""Tasks and threads that a tool starts and does not wait for. One that fails must fail the tool, which would pass without having done its work."""

from __future__ import annotations

import asyncio
import threading
from contextvars import ContextVar

from ._late_failures import ToolCall, current, watch_callbacks, watch_threads
from ._place import place_of_own_code
from ._unawaited import remember_origins, watch_coroutines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

n_calls = 0
"""How many calls of tools are in progress."""

_created: ContextVar[list[asyncio.Future[Any]] | None] = ContextVar("trailblaze_created_tasks", default=None)


class WatchedTasks:
    """The tasks and threads that are started in a `with` statement, and in the tasks created there."""

    def __init__(self, call: ToolCall) -> None:
        self._call = call

    def __enter__(self) -> WatchedTasks:
        global n_calls
        n_calls += 1
        watch_threads()
        watch_coroutines()
        remember_origins()
        self._call_token = current.set(self._call)
        self._tasks: list[asyncio.Future[Any]] = []
        self._token = _created.set(self._tasks)
        self._threads = set(threading.enumerate())
        # With several calls, it is not known whose a thread is.
        self._is_alone = n_calls == 1
        watch_loop()
        return self

    def __exit__(self, *exception: object) -> None:
        global n_calls
        n_calls -= 1
        self._call.has_ended = True
        current.reset(self._call_token)
        _created.reset(self._token)

    def failure(self) -> BaseException | None:
        """The exception of a task that has failed and that nothing has awaited, or of a thread or callback."""
        return next(iter([*unseen_failures(self._tasks), *self._call.failures]), None)

    def mistake(self) -> tuple[str, str | None] | None:
        """What the tool has overlooked, such as a coroutine that it did not await, and where."""
        return next(iter(self._call.mistakes), None)

    def left(self) -> list[str]:
        """What of the author's code is still running: kind and place of each task and thread. Daemon threads may be left."""
        running = [getattr(task, "get_coro", lambda: None)() for task in self._tasks if not task.done()]
        places = [("a task", place) for place in map(_place_of, running) if place is not None]
        if self._is_alone and n_calls == 1:
            threads = [thread for thread in threading.enumerate() if thread not in self._threads and not thread.daemon]
            functions = [getattr(thread, "function", getattr(thread, "_target", None)) for thread in threads]
            places += [("a thread", place) for place in map(_place_of, functions) if place is not None]
        return [f"{kind} that it had started ({place})" for kind, place in places]


def unseen_failures(tasks: Iterable[asyncio.Future[Any]]) -> list[BaseException]:
    """The exceptions of the tasks that have failed and that nothing has awaited."""
    # True until something asks for the exception.
    unseen = [task for task in tasks if getattr(task, "_log_traceback", False) and task.done() and not task.cancelled()]
    return [error for error in (task.exception() for task in unseen) if error is not None]


def _place_of(function: Any) -> str | None:
    """Where a function or coroutine of the author begins."""
    code: Any = getattr(function, "cr_code", None) or getattr(function, "__code__", None)
    return None if code is None else place_of_own_code(code)


listeners: list[Callable[[asyncio.Future[Any]], None]] = []
"""Are given each task of a watched event loop."""


def watch_loop() -> None:
    """Watches the tasks of the event loop that is running, if one is."""
    try:
        _watch(asyncio.get_running_loop())
    except RuntimeError:
        # There is none, or another, such as that of trio.
        pass


def _watch(loop: Any) -> None:
    former = loop.get_task_factory()
    if getattr(former, "is_of_trailblaze", False):
        return
    watch_callbacks(loop)

    def create(loop: Any, coroutine: Any, **options: Any) -> Any:
        task = asyncio.Task(coroutine, loop=loop, **options) if former is None else former(loop, coroutine, **options)
        tasks = _created.get()
        if tasks is not None:
            tasks.append(task)
        call = current.get()
        if call is not None:
            call.watch(task)
        for listen in listeners:
            listen(task)
        return task

    create.is_of_trailblaze = True  # pyright: ignore[reportFunctionMemberAccess]
    loop.set_task_factory(create)
