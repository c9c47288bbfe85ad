# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""A small WebSocket client for the demo's feed, and raw HTTP beside it: what the checks of the demo talk to its server with.

Standard library alone. It reads frames as docs/wire_feed.md describes them and checks nothing of them by itself.
"""

import base64
import collections
import hashlib
import json
import os
import re
import socket
import struct

PROTOCOL = "pinhole-feed-1"
KINDS = {1: "scene", 2: "truth", 3: "datagram", 4: "trace", 5: "state", 6: "explain", 7: "need", 8: "note"}
TEXT = {"scene", "state", "explain", "need", "note"}
TIMEOUT_S = 60.0 # only for a server that says nothing any more

Answer = collections.namedtuple("Answer", "status headers body")
Frame = collections.namedtuple("Frame", "kind body") # of a frame of text: what its JSON says


class Closed(Exception):
    """The other end closed the connection: with a code, or None without a word."""

    def __init__(self, code, reason=""):
        super().__init__(f"closed: {code} {reason}")
        self.code, self.reason = code, reason


def connect(address):
    host, port = re.fullmatch(r"http://\[?([^\]]*?)\]?:(\d+)/?", address).groups()
    return socket.create_connection((host, int(port)), timeout=TIMEOUT_S)


def authority(address):
    return address.removeprefix("http://").rstrip("/")


def read_head(stream):
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        some = stream.recv(1)
        if not some:
            return None
        head += some
    lines = head.decode("latin-1").split("\r\n")
    words = lines[0].split(" ", 2)
    headers = {}
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        if colon:
            headers.setdefault(name.lower(), value.strip())
    return int(words[1]), headers


def request(address, path="/", method="GET", headers=None, raw=None):
    """One request on a connection of its own. @return Answer, or None when the server just hung up."""
    fields = {"Host": authority(address), "Connection": "close", **(headers or {})}
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items() if value is not None)]
    text = raw if raw is not None else ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
    with connect(address) as stream:
        try:
            stream.sendall(text)
            found = read_head(stream)
            if found is None:
                return None
            status, fields = found
            body = b""
            size = int(fields.get("content-length", 0)) if method != "HEAD" else 0
            while len(body) < size:
                some = stream.recv(65536)
                if not some:
                    break
                body += some
        except ConnectionError:
            return None
    return Answer(status, fields, body)


class Feed:
    """A page's connection."""

    def __init__(self, address, origin="", host=None, protocol=PROTOCOL, receive_bytes=None):
        """origin None: none is sent. @raise Refused with the answer when it is not let in."""
        self.address = address
        self.stream = connect(address)
        if receive_bytes is not None:
            self.stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        self.pending = b""
        key = base64.b64encode(os.urandom(16)).decode()
        host = authority(address) if host is None else host
        lines = ["GET /feed HTTP/1.1", f"Host: {host}", "Upgrade: websocket", "Connection: Upgrade",
                 f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13"]
        if origin is not None:
            lines.append(f"Origin: {origin or 'http://' + host}")
        if protocol is not None:
            lines.append(f"Sec-WebSocket-Protocol: {protocol}")
        self.stream.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        try:
            found = read_head(self.stream)
        except ConnectionError:
            found = None
        if found is None or found[0] != 101:
            self.stream.close()
            raise Refused(found)
        digest = hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
        if found[1].get("sec-websocket-accept") != base64.b64encode(digest).decode():
            raise ValueError("the server's answer does not belong to this key")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stream.close()

    # ---- what goes out

    def send_frame(self, opcode, payload, is_final=True, size=None):
        """size: what the head says instead of the truth."""
        told = len(payload) if size is None else size
        mask = os.urandom(4)
        head = bytes([(0x80 if is_final else 0) | opcode])
        if told < 126:
            head += bytes([0x80 | told])
        elif told < 65536:
            head += bytes([0x80 | 126]) + struct.pack(">H", told)
        else:
            head += bytes([0x80 | 127]) + struct.pack(">Q", told)
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))
        self.stream.sendall(head + mask + masked)

    def say(self, text):
        self.send_frame(1, text.encode())

    def say_bytes(self, data):
        self.send_frame(2, data)

    # ---- what comes in

    def read(self, count):
        while len(self.pending) < count:
            try:
                some = self.stream.recv(65536)
            except ConnectionError:
                some = b""
            if not some:
                raise Closed(None)
            self.pending += some
        taken, self.pending = self.pending[:count], self.pending[count:]
        return taken

    def next_message(self):
        """@return The opcode and the bytes of the next message that is no ping. @raise Closed."""
        while True:
            first, second = self.read(2)
            size = second & 0x7F
            if size == 126:
                size, = struct.unpack(">H", self.read(2))
            elif size == 127:
                size, = struct.unpack(">Q", self.read(8))
            payload = self.read(size)
            opcode = first & 0x0F
            if opcode == 8:
                code = struct.unpack(">H", payload[:2])[0] if len(payload) >= 2 else None
                raise Closed(code, payload[2:].decode("utf-8", "replace"))
            if opcode == 9:
                self.send_frame(10, payload)
            elif opcode != 10:
                return opcode, payload

    def next_frame(self):
        opcode, payload = self.next_message()
        if opcode != 2 or not payload or payload[0] not in KINDS:
            raise ValueError(f"not a frame: opcode {opcode}, {payload[:40]!r}")
        kind = KINDS[payload[0]]
        return Frame(kind, json.loads(payload[1:]) if kind in TEXT else payload[1:])

    def await_frame(self, kind, accepts=lambda body: True):
        """Reads on until a frame of this kind comes that is accepted."""
        while True:
            frame = self.next_frame()
            if frame.kind == kind and accepts(frame.body):
                return frame.body

    def await_close(self):
        """Reads on until the connection ends. @return The code; None without one."""
        while True:
            try:
                self.next_message()
            except Closed as closed:
                return closed.code


class Refused(Exception):
    """The server does not open a feed: its status, None when it just hung up."""

    def __init__(self, found):
        self.status = found[0] if found is not None else None
        super().__init__(f"refused: {self.status}")
