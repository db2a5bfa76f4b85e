"""How large the head of a request may be: httptools, which reads requests for uvicorn in C, would keep one that never ends.

Every web server is started with it: `uvicorn --http schedviz.web.head_limit:HeadLimit …`.
"""

from __future__ import annotations

import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from schedviz.web.api.problems import MEDIA_TYPE, problem

#: Of the line with the address and the headers together; headers after a body have the same limit.
LARGEST_HEAD_BYTES = 64 * 1024


class HeadLimit(HttpToolsProtocol):
    """uvicorn's protocol, which answers 400 and hangs up where more than that came and is neither a head that ended nor of a body.

    What came at once, and that is 256 kB at most, is read before it is counted.
    """

    _unfinished_bytes = 0

    def send_400_response(self, msg: str) -> None:
        """What cannot be read as HTTP is refused as all else is, with a problem; its address is not known yet."""
        body = msgspec.json.encode(problem(400, "invalid", msg))
        head = f"HTTP/1.1 400 Bad Request\r\ncontent-type: {MEDIA_TYPE}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
        self.transport.write(head.encode() + body)
        self.transport.close()

    def data_received(self, data: bytes) -> None:
        """Some bytes came."""
        self._unfinished_bytes += len(data)
        super().data_received(data)
        if self._unfinished_bytes > LARGEST_HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response(f"The head of a request has at most {LARGEST_HEAD_BYTES} bytes.")

    def on_headers_complete(self) -> None:
        """The head ended."""
        self._unfinished_bytes = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A part of the body came."""
        self._unfinished_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The request ended; another may follow."""
        self._unfinished_bytes = 0
        super().on_message_complete()
