"""What FastMCP prints besides the message of a tool that failed. Trailblaze shows that message, with the line, so that it is not repeated."""

from __future__ import annotations

import logging
import os
import sys
import warnings

from ._late_failures import current

# What logs a tool that failed, in FastMCP 2 and in later versions.
_OF_TOOLS = ("fastmcp.tools.tool_manager", "fastmcp.server.server")
_TO_CLIENT = "fastmcp.server.context.to_client"
_FAILED = "Error calling tool "


def quieten() -> None:
    """Leaves out tracebacks of failed tools, log messages that Trailblaze gets anyway, and what is wrong with FastMCP itself. What
    authors print and log is not touched, and neither is what they have set.
    """
    if "FASTMCP_ENABLE_RICH_TRACEBACKS" not in os.environ and not _is_set_to_debug():
        for name in _OF_TOOLS:
            _add(logging.getLogger(name), _is_not_of_failed_tool)
    if not _is_set_to_debug():
        _add(logging.getLogger(_TO_CLIENT), _is_no_repetition)
    if not sys.warnoptions:
        # Last, so that filters of the author come first.
        warnings.filterwarnings("ignore", message="The logging capability is deprecated", module=r"fastmcp\.", append=True)


def _is_set_to_debug() -> bool:
    return os.environ.get("FASTMCP_LOG_LEVEL", "").upper() == "DEBUG"


def _add(logger: logging.Logger, wanted: logging._FilterType) -> None:  # pyright: ignore[reportPrivateUsage]
    if wanted not in logger.filters:
        logger.addFilter(wanted)


def _is_not_of_failed_tool(record: logging.LogRecord) -> bool:
    return current.get() is None or not record.getMessage().startswith(_FAILED)


def _is_no_repetition(record: logging.LogRecord) -> bool:
    # All that is logged there is sent to the client as well.
    return False
