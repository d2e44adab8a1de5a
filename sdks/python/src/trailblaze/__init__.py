"""The typed API of Trailblaze: act on the device of a test, and ask what it shows.

    from trailblaze import TrailblazeClient

    tb = TrailblazeClient.from_context(ctx)
    await tb.tap(text="Sign in")

Names are imported when they are first used, so that importing the package takes little time.
"""

from __future__ import annotations

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import result as result
    from ._client import TrailblazeClient as TrailblazeClient
    from ._context import report_progress as report_progress
    from ._generated.blocking import SyncDesktopCommands as SyncDesktopCommands
    from ._generated.blocking import SyncMaestroCommands as SyncMaestroCommands
    from ._generated.blocking import SyncPlaywrightCommands as SyncPlaywrightCommands
    from ._generated.commands import DesktopCommands as DesktopCommands
    from ._generated.commands import MaestroCommands as MaestroCommands
    from ._generated.commands import PlaywrightCommands as PlaywrightCommands
    from ._generated.types import *
    from ._middleware import failure_middleware as failure_middleware
    from ._registry import registry as registry
    from ._sampling import SamplingReply as SamplingReply
    from ._sync_client import SyncTrailblazeClient as SyncTrailblazeClient
    from .errors import ActionFailed as ActionFailed
    from .errors import ApiError as ApiError
    from .errors import AssertionFailed as AssertionFailed
    from .errors import ConnectionFailed as ConnectionFailed
    from .errors import ContextError as ContextError
    from .errors import DeadlineExceeded as DeadlineExceeded
    from .errors import TrailblazeError as TrailblazeError

_MODULES = {
    "TrailblazeClient": "_client",
    "SyncTrailblazeClient": "_sync_client",
    "DesktopCommands": "_generated.commands",
    "MaestroCommands": "_generated.commands",
    "PlaywrightCommands": "_generated.commands",
    "SyncDesktopCommands": "_generated.blocking",
    "SyncMaestroCommands": "_generated.blocking",
    "SyncPlaywrightCommands": "_generated.blocking",
    "SamplingReply": "_sampling",
    "failure_middleware": "_middleware",
    "registry": "_registry",
    "report_progress": "_context",
    "result": "result",
    "ActionFailed": "errors",
    "ApiError": "errors",
    "AssertionFailed": "errors",
    "ConnectionFailed": "errors",
    "ContextError": "errors",
    "DeadlineExceeded": "errors",
    "TrailblazeError": "errors",
}


def __getattr__(name: str) -> object:
    if name == "__all__":
        from ._generated import types

        return [*_MODULES, *types.__all__]
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module = import_module(f".{_MODULES.get(name, '_generated.types')}", __name__)
    if name == "result":
        return module
    if name not in _MODULES and name not in module.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    names: list[str] = __getattr__("__all__")  # pyright: ignore[reportAssignmentType]
    return sorted({*globals(), *names})
