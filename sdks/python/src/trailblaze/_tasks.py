"""Tasks that a tool creates and does not await. One that fails must fail the tool, which would pass without having done its work."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_created: ContextVar[list[asyncio.Future[Any]] | None] = ContextVar("trailblaze_created_tasks", default=None)


class WatchedTasks:
    """The tasks that are created in a `with` statement, and in the tasks created there."""

    def __enter__(self) -> WatchedTasks:
        self._tasks: list[asyncio.Future[Any]] = []
        self._token = _created.set(self._tasks)
        try:
            _watch(asyncio.get_running_loop())
        except RuntimeError:
            # Another event loop, such as that of trio.
            pass
        return self

    def __exit__(self, *exception: object) -> None:
        _created.reset(self._token)

    def failure(self) -> BaseException | None:
        """The exception of a task that has failed and that nothing has awaited."""
        for task in self._tasks:
            # True until something asks for the exception.
            is_unseen = getattr(task, "_log_traceback", False)
            if task.done() and not task.cancelled() and is_unseen:
                return task.exception()
        return None


def _watch(loop: Any) -> None:
    former = loop.get_task_factory()
    if getattr(former, "is_of_trailblaze", False):
        return

    def create(loop: Any, coroutine: Any, **options: Any) -> Any:
        task = asyncio.Task(coroutine, loop=loop, **options) if former is None else former(loop, coroutine, **options)
        tasks = _created.get()
        if tasks is not None:
            tasks.append(task)
        return task

    create.is_of_trailblaze = True  # pyright: ignore[reportFunctionMemberAccess]
    loop.set_task_factory(create)
