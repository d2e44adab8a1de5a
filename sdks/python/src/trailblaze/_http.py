"""HTTP/1.1 as far as the typed API needs it, without input or output: requests to bytes, and bytes to responses."""

from __future__ import annotations

from .errors import ApiError, ConnectionFailed

MAX_HEAD = 64 << 10
"""The most bytes that the headers of a response may have."""

MAX_BODY = 64 << 20
"""The most bytes that a response, or a message of a stream, may have."""


class Response:
    """A response that is read piece by piece."""

    __slots__ = ("_buffer", "_is_chunked", "_left", "body", "content_type", "has_begun", "is_complete", "is_stream",
                 "keeps_alive", "status")  # fmt: skip

    def __init__(self, *, is_stream: bool = False) -> None:
        self.status = 0
        """0 until the headers are complete."""
        self.content_type = ""
        self.body = bytearray()
        """What has been received of the body. The reader of a stream removes what it has used."""
        self.is_complete = False
        self.has_begun = False
        """Whether any byte has been received."""
        self.keeps_alive = True
        """Whether the connection can be used again after this response."""
        self.is_stream = is_stream
        """Whether the body may be of any length."""
        self._buffer = bytearray()
        self._is_chunked = False
        # How much of the body, or of the current chunk, is missing; None if the end of the connection ends the body.
        self._left: int | None = 0

    def feed(self, data: bytes) -> None:
        """Takes bytes from the connection."""
        self.has_begun = True
        if self.is_complete:
            # No request was sent for these.
            self.keeps_alive = False
            return
        if self.status == 0:
            self._buffer += data
            if not self._read_head():
                return
            data = bytes(self._buffer)
            self._buffer.clear()
        if self._is_chunked:
            self._buffer += data
            self._read_chunks()
        elif self._left is None:
            self._take(data)
        else:
            if len(data) > self._left:
                self.keeps_alive = False
                data = data[: self._left]
            self._left -= len(data)
            self._take(data)
            self.is_complete = self._left == 0

    def end(self) -> None:
        """The peer has closed the connection."""
        self.keeps_alive = False
        if self.status and self._left is None and not self._is_chunked:
            self.is_complete = True
        elif not self.is_complete:
            where = "during its response" if self.has_begun else "without a response"
            raise ConnectionFailed("unavailable", f"Trailblaze closed the connection {where}")

    def _take(self, data: bytes | bytearray) -> None:
        if not self.is_stream and len(self.body) + len(data) > MAX_BODY:
            raise too_large()
        self.body += data

    def _read_head(self) -> bool:
        """Reads the headers, if they are complete."""
        while True:
            end = self._buffer.find(b"\r\n\r\n")
            if (end if end >= 0 else len(self._buffer)) > MAX_HEAD:
                raise ApiError("resource_exhausted", f"the headers of the response are larger than {MAX_HEAD >> 10} kB")
            if not self._buffer.startswith(b"HTTP/1."[: len(self._buffer)]):
                raise ApiError("internal", "the response is not HTTP; is Trailblaze listening at this address?")
            if end < 0:
                return False
            lines = bytes(self._buffer[:end]).split(b"\r\n")
            del self._buffer[: end + 4]
            words = lines[0].split(None, 2)
            if len(words) < 2 or len(words[1]) != 3 or not words[1].isdigit():
                raise ApiError("internal", "the response is not HTTP; is Trailblaze listening at this address?")
            status = int(words[1])
            if status >= 200:
                break
        self.status = status
        self.keeps_alive = words[0] != b"HTTP/1.0"
        self._left = None
        for line in lines[1:]:
            name, _, value = line.partition(b":")
            name, value = name.lower(), value.strip()
            if name == b"content-length":
                if not value.isdigit() or len(value) > 15 or self._left not in (None, int(value)):
                    raise ApiError("internal", "the response has an invalid Content-Length")
                self._left = int(value)
            elif name == b"content-type":
                self.content_type = value.decode("latin-1").partition(";")[0].strip().lower()
            elif name == b"transfer-encoding":
                self._is_chunked = value.lower() == b"chunked"
                if not self._is_chunked:
                    raise ApiError("internal", "the response has an unknown Transfer-Encoding")
            elif name == b"connection" and b"close" in value.lower():
                self.keeps_alive = False
            elif name == b"content-encoding" and value.lower() != b"identity":
                raise ApiError("internal", "the response is compressed, which was not asked for")
        if self._is_chunked:
            self._left = 0
        elif self._left is None:
            self.keeps_alive = False
        elif self._left > MAX_BODY and not self.is_stream:
            raise too_large()
        elif self._left == 0:
            self.is_complete = True
        return True

    def _read_chunks(self) -> None:
        buffer = self._buffer
        while not self.is_complete:
            if self._left:
                part = buffer[: self._left]
                self._take(part)
                self._left -= len(part)
                del buffer[: len(part)]
                if self._left:
                    return
                # The line break after a chunk.
                self._left = None
            if self._left is None:
                if len(buffer) < 2:
                    return
                if not buffer.startswith(b"\r\n"):
                    raise ApiError("internal", "the response has an invalid chunk")
                del buffer[:2]
                self._left = 0
            end = buffer.find(b"\r\n")
            if end < 0 or end > 64:
                if len(buffer) > 64:
                    raise ApiError("internal", "the response has an invalid chunk")
                return
            size = bytes(buffer[:end]).partition(b";")[0].strip()
            try:
                self._left = int(size, 16)
            except ValueError:
                raise ApiError("internal", "the response has an invalid chunk") from None
            if self._left < 0 or (self._left > MAX_BODY and not self.is_stream):
                raise too_large()
            if self._left == 0:
                if len(buffer) < end + 4:
                    return
                # Trailers are not used: with any, the connection is not used again.
                self.keeps_alive = self.keeps_alive and bytes(buffer[end:]) == b"\r\n\r\n"
                self.is_complete = True
                return
            del buffer[: end + 2]


def too_large() -> ApiError:
    return ApiError("resource_exhausted", f"the response is larger than {MAX_BODY >> 20} MB")


def envelope(message: bytes) -> bytes:
    """A message of a stream."""
    return b"\0" + len(message).to_bytes(4, "big") + message


def take_envelope(body: bytearray) -> tuple[int, bytes] | None:
    """Removes the first message of a stream, with its flags, if it is complete."""
    if len(body) < 5:
        return None
    size = int.from_bytes(body[1:5], "big")
    if size > MAX_BODY:
        raise too_large()
    if len(body) < 5 + size:
        return None
    flags, message = body[0], bytes(body[5 : 5 + size])
    del body[: 5 + size]
    if flags & 1:
        raise ApiError("internal", "the response is compressed, which was not asked for")
    return flags, message
