"""Live sessions over WebSockets.

`socket` accepts a connection (`handshake`, `connection`), the `hub` joins it to the `feed` of its session, and a `viewer` queues what the
feed sends.
"""
