#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""A second writer and reader of netcode 1.02, written from the standard alone, cryptography included.

    test/netcode_vectors.py --self-test       the primitives against the vectors of RFC 8439 and of the XChaCha draft
    test/netcode_vectors.py --write FILE      tokens, challenges and packets of every type, for test_netcode_vectors.c
    test/netcode_vectors.py --check FILE      whether FILE is what --write would write
    test/netcode_vectors.py --follow FILE     opens everything in a session that `test_netcode_vectors --write FILE` left

Standard library only. Slow and not for secrets: nothing here is constant in time.
"""

import hashlib
import ipaddress
import pathlib
import struct
import sys

VERSION = b"NETCODE 1.02\0"
REQUEST, DENIED, CHALLENGE, RESPONSE, KEEP_ALIVE, PAYLOAD, DISCONNECT = range(7)
DATA_SIZES = {DENIED: (0, 0), CHALLENGE: (308, 308), RESPONSE: (308, 308), KEEP_ALIVE: (8, 8), PAYLOAD: (1, 1200),
              DISCONNECT: (0, 0)}


class Refused(Exception):
    pass


def demand(condition, reason):
    if not condition:
        raise Refused(reason)


# ---- ChaCha20 and Poly1305 (RFC 8439), HChaCha20 (draft-irtf-cfrg-xchacha) -----------------------

MASK = 0xFFFFFFFF
CONSTANTS = struct.unpack("<4I", b"expand 32-byte k")
QUARTERS = [(0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
            (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)]


def twenty_rounds(words):
    x = list(words)
    for _ in range(10):
        for a, b, c, d in QUARTERS:
            for first, second, third, shift in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
                x[first] = (x[first] + x[second]) & MASK
                mixed = x[third] ^ x[first]
                x[third] = ((mixed << shift) | (mixed >> (32 - shift))) & MASK
    return x


def chacha20_block(key, counter, nonce):
    words = (*CONSTANTS, *struct.unpack("<8I", key), counter, *struct.unpack("<3I", nonce))
    return struct.pack("<16I", *((a + b) & MASK for a, b in zip(words, twenty_rounds(words))))


def chacha20(key, counter, nonce, text):
    stream = b"".join(chacha20_block(key, counter + i, nonce) for i in range((len(text) + 63) // 64))
    return bytes(a ^ b for a, b in zip(text, stream))


def hchacha20(key, nonce16):
    x = twenty_rounds((*CONSTANTS, *struct.unpack("<8I", key), *struct.unpack("<4I", nonce16)))
    return struct.pack("<8I", *x[:4], *x[12:])


def poly1305(key, message):
    r = int.from_bytes(key[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
    total = 0
    for i in range(0, len(message), 16):
        total = (total + int.from_bytes(message[i:i + 16] + b"\1", "little")) * r % ((1 << 130) - 5)
    return ((total + int.from_bytes(key[16:], "little")) & ((1 << 128) - 1)).to_bytes(16, "little")


def tag_of(key, nonce, associated, sealed):
    def padded(data):
        return data + bytes(-len(data) % 16)

    lengths = struct.pack("<QQ", len(associated), len(sealed))
    return poly1305(chacha20_block(key, 0, nonce)[:32], padded(associated) + padded(sealed) + lengths)


def seal(key, nonce, associated, plain):
    sealed = chacha20(key, 1, nonce, plain)
    return sealed + tag_of(key, nonce, associated, sealed)


def unseal(key, nonce, associated, sealed):
    demand(len(sealed) >= 16, "shorter than its tag")
    demand(tag_of(key, nonce, associated, sealed[:-16]) == sealed[-16:], "the tag is wrong")
    return chacha20(key, 1, nonce, sealed[:-16])


def extended(key, nonce24):
    """XChaCha20: a key and a nonce of their own for each nonce of 24 bytes."""
    return hchacha20(key, nonce24[:16]), bytes(4) + nonce24[16:]


# ---- netcode 1.02 --------------------------------------------------------------------------------


def u32(value):
    return struct.pack("<I", value & MASK)


def u64(value):
    return struct.pack("<Q", value)


class Reader:
    def __init__(self, data):
        self.data = data
        self.place = 0

    def take(self, size):
        demand(self.place + size <= len(self.data), "too short")
        self.place += size
        return self.data[self.place - size:self.place]

    def number(self, size):
        return int.from_bytes(self.take(size), "little")

    def signed32(self):
        return struct.unpack("<i", self.take(4))[0]


def address_bytes(text):
    host, _, port = text.rpartition(":")
    address = ipaddress.ip_address(host.strip("[]"))
    if address.version == 4:
        return b"\1" + address.packed + struct.pack("<H", int(port))
    groups = struct.unpack(">8H", address.packed)
    return b"\2" + struct.pack("<8H", *groups) + struct.pack("<H", int(port))


def take_address(reader):
    kind = reader.number(1)
    if kind == 1:
        host = str(ipaddress.IPv4Address(reader.take(4)))
    else:
        demand(kind == 2, "an address of kind %d" % kind)
        groups = struct.unpack("<8H", reader.take(16))
        host = "[%s]" % ipaddress.IPv6Address(struct.pack(">8H", *groups))
    return "%s:%d" % (host, reader.number(2))


def addresses_bytes(addresses):
    return u32(len(addresses)) + b"".join(map(address_bytes, addresses))


def take_addresses(reader):
    count = reader.number(4)
    demand(1 <= count <= 32, "%d addresses" % count)
    return [take_address(reader) for _ in range(count)]


def private_token(t):
    plain = u64(t["client_id"]) + u32(t["timeout_s"]) + addresses_bytes(t["addresses"])
    plain += t["client_to_server_key"] + t["server_to_client_key"] + t["user_data"]
    plain += bytes(1008 - len(plain))
    key, nonce = extended(t["private_key"], t["nonce"])
    return seal(key, nonce, VERSION + u64(t["protocol_id"]) + u64(t["expire_s"]), plain)


def connect_token(t):
    token = VERSION + u64(t["protocol_id"]) + u64(t["create_s"]) + u64(t["expire_s"]) + t["nonce"] + private_token(t)
    token += u32(t["timeout_s"]) + addresses_bytes(t["addresses"])
    token += t["client_to_server_key"] + t["server_to_client_key"]
    return token + bytes(2048 - len(token))


def read_connect_token(token, private_key):
    """Both parts, and that they agree."""
    demand(len(token) == 2048, "a token of %d bytes" % len(token))
    reader = Reader(token)
    demand(reader.take(13) == VERSION, "another version")
    t = {"protocol_id": reader.number(8), "create_s": reader.number(8), "expire_s": reader.number(8),
         "nonce": reader.take(24), "private": reader.take(1024), "timeout_s": reader.signed32(),
         "addresses": take_addresses(reader), "client_to_server_key": reader.take(32),
         "server_to_client_key": reader.take(32)}
    demand(t["create_s"] <= t["expire_s"], "made later than it expires")
    demand(not any(reader.take(2048 - reader.place)), "the rest is not zero")

    key, nonce = extended(private_key, t["nonce"])
    inner = Reader(unseal(key, nonce, VERSION + u64(t["protocol_id"]) + u64(t["expire_s"]), t["private"]))
    t["client_id"] = inner.number(8)
    demand(inner.signed32() == t["timeout_s"], "two timeouts")
    demand(take_addresses(inner) == t["addresses"], "two lists of addresses")
    demand(inner.take(32) == t["client_to_server_key"], "two keys to the server")
    demand(inner.take(32) == t["server_to_client_key"], "two keys to the client")
    t["user_data"] = inner.take(256)
    demand(not any(inner.take(992 - inner.place)), "the rest of the private part is not zero")
    mark, made_us = inner.take(8), inner.number(8)  # ours; other makers leave zeros
    demand(mark == b"pinhole\1" and made_us // 1000000 in (t["create_s"], t["create_s"] + 1) or mark + u64(made_us) == bytes(16),
           "what is at the end of the private part is neither a date nor zero")
    return t


def request(t):
    return b"\0" + VERSION + u64(t["protocol_id"]) + u64(t["expire_s"]) + t["nonce"] + private_token(t)


def nonce_of(sequence):
    return bytes(4) + u64(sequence)


def challenge_token(key, sequence, client_id, user_data):
    plain = u64(client_id) + user_data
    return seal(key, nonce_of(sequence), b"", plain + bytes(284 - len(plain)))


def packet(kind, sequence, key, protocol_id, data):
    digits = u64(sequence).rstrip(b"\0") or b"\0"
    prefix = bytes([kind | len(digits) << 4])
    return prefix + digits + seal(key, nonce_of(sequence), VERSION + u64(protocol_id) + prefix, data)


def open_packet(datagram, key, protocol_id):
    """Returns (kind, sequence, data)."""
    demand(len(datagram) >= 18, "a packet of %d bytes" % len(datagram))
    kind, count = datagram[0] & 15, datagram[0] >> 4
    demand(1 <= kind <= 6, "a packet of type %d" % kind)
    demand(1 <= count <= 8, "%d sequence bytes" % count)
    digits = datagram[1:1 + count]
    demand(count == 1 or digits[-1] != 0, "more sequence bytes than needed")
    sequence = int.from_bytes(digits, "little")
    data = unseal(key, nonce_of(sequence), VERSION + u64(protocol_id) + datagram[:1], datagram[1 + count:])
    least, most = DATA_SIZES[kind]
    demand(least <= len(data) <= most, "type %d with %d bytes" % (kind, len(data)))
    return kind, sequence, data


# ---- self-test -----------------------------------------------------------------------------------


def self_test():
    text = (b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, "
            b"sunscreen would be it.")
    count = bytes(range(32))
    checks = [
        ("chacha20 block, RFC 8439 2.3.2",
         chacha20_block(count, 1, bytes.fromhex("000000090000004a00000000")),
         "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
         "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e"),
        ("chacha20, RFC 8439 2.4.2",
         chacha20(count, 1, bytes.fromhex("000000000000004a00000000"), text),
         "6e2e359a2568f98041ba0728dd0d6981e97e7aec1d4360c20a27afccfd9fae0bf91b65c5524733ab8f593dabcd62b357"
         "1639d624e65152ab8f530c359f0861d807ca0dbf500d6a6156a38e088a22b65e52bc514d16ccf806818ce91ab7793736"
         "5af90bbf74a35be6b40b8eedf2785e42874d"),
        ("poly1305, RFC 8439 2.5.2",
         poly1305(bytes.fromhex("85d6be7857556d337f4452fe42d506a80103808afb0db2fd4abff6af4149f51b"),
                  b"Cryptographic Forum Research Group"),
         "a8061dc1305136c6c22b8baf0c0127a9"),
        ("chacha20-poly1305, RFC 8439 2.8.2",
         seal(bytes(range(0x80, 0xA0)), bytes.fromhex("070000004041424344454647"),
              bytes.fromhex("50515253c0c1c2c3c4c5c6c7"), text),
         "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d63dbea45e8ca9671282fafb69da92728b"
         "1a71de0a9e060b2905d6a5b67ecd3b3692ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc"
         "3ff4def08e4b7a9de576d26586cec64b61161ae10b594f09e26a7e902ecbd0600691"),
        ("hchacha20, XChaCha draft 2.2.1",
         hchacha20(count, bytes.fromhex("000000090000004a0000000031415927")),
         "82413b4227b27bfed30e42508a877d73a0f9e4d58a74a853c12ec41326d3ecdc"),
        ("xchacha20-poly1305, XChaCha draft A.3.1",
         seal(*extended(bytes(range(0x80, 0xA0)), bytes(range(0x40, 0x58))),
              bytes.fromhex("50515253c0c1c2c3c4c5c6c7"), text),
         "bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb731c7f1b0b4aa6440bf3a82f4eda7e39"
         "ae64c6708c54c216cb96b72e1213b4522f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff9"
         "21f9664c97637da9768812f615c68b13b52ec0875924c1c7987947deafd8780acf49"),
        ("sequence 1000, the standard", packet(PAYLOAD, 1000, bytes(32), 0, b"x")[:3], "25e803"),
    ]
    for name, got, expected in checks:
        demand(got.hex() == expected, f"{name}: {got.hex()}")
    sealed = seal(bytes(32), bytes(12), b"a", text)
    demand(unseal(bytes(32), bytes(12), b"a", sealed) == text, "what was sealed opens")
    for i in range(len(sealed)):
        try:
            unseal(bytes(32), bytes(12), b"a", sealed[:i] + bytes([sealed[i] ^ 1]) + sealed[i + 1:])
        except Refused:
            continue
        raise Refused(f"byte {i} does not matter")
    return f"self-test: {len(checks)} known answers"


# ---- vectors -------------------------------------------------------------------------------------


def material(name, size):
    """The same bytes for the same name, on every machine."""
    return hashlib.shake_256(name.encode()).digest(size)


def number(name):
    return int.from_bytes(material(name, 8), "little")


def token_of(name, addresses, timeout_s, lifetime_s=30):
    create_s = 1700000000
    return {"protocol_id": number(name + " protocol"), "client_id": number(name + " client"), "create_s": create_s,
            "expire_s": create_s + lifetime_s, "timeout_s": timeout_s, "addresses": addresses,
            "user_data": material(name + " user data", 256), "nonce": material(name + " nonce", 24),
            "client_to_server_key": material(name + " up", 32), "server_to_client_key": material(name + " down", 32),
            "private_key": material(name + " private", 32)}


TOKENS = {
    "one_ipv4": (["192.0.2.17:40000"], 10),
    "one_ipv6": (["[2001:db8:1:203:405:607:809:a0b]:65535"], 15),
    "mixed": (["127.0.0.1:1", "[::1]:40001", "10.20.30.40:50000"], -1),
    "longest": (["[fe80:%x::ffff:%x]:%d" % (i + 1, 60000 + i, 1000 + i) for i in range(32)], 2147483647),
}

SEQUENCES = [0, 1, 255, 256, 1000, 65535, 65536, 2**24, 2**32 - 1, 2**32, 2**40, 2**48, 2**56 - 1, 2**56, 2**63,
             2**64 - 1]


def packets():
    """(name, kind, sequence, data)"""
    for kind, data in ((DENIED, b""), (DISCONNECT, b""), (KEEP_ALIVE, u32(3) + u32(2000))):
        yield from ((f"type_{kind}_sequence_{s}", kind, s, data) for s in (0, 1000, 2**63))
    for kind in (CHALLENGE, RESPONSE):
        token = challenge_token(material("challenge key", 32), 7, 1234567, material("challenge user data", 256))
        yield from ((f"type_{kind}_sequence_{s}", kind, s, u64(7) + token) for s in (0, 2**63 + 1))
    for size in (1, 15, 16, 17, 63, 64, 65, 160, 1199, 1200):
        yield f"payload_of_{size}", PAYLOAD, 5, material(f"payload {size}", size)
    for sequence in SEQUENCES:
        yield f"payload_sequence_{sequence}", PAYLOAD, sequence, b"pinhole"


def vector(kind, name, **fields):
    lines = [f"{kind} {name}"]
    lines += [f"{field} {value if isinstance(value, (int, str)) else value.hex() or '-'}"
              for field, value in fields.items()]
    return "\n".join(lines) + "\n\n"


def all_vectors():
    text = "# Made by test/netcode_vectors.py --write. Numbers decimal, bytes hexadecimal, - for none.\n\n"
    for name, (addresses, timeout_s) in TOKENS.items():
        t = token_of(name, addresses, timeout_s)
        fields = {k: v for k, v in t.items() if k != "addresses"}
        text += vector("token", name, **fields, addresses=" ".join(addresses), token=connect_token(t),
                       request=request(t))
    for sequence in (0, 7, 2**40):
        name = f"sequence_{sequence}"
        key, user_data = material(name + " key", 32), material(name + " user data", 256)
        text += vector("challenge", name, key=key, sequence=sequence, client_id=number(name), user_data=user_data,
                       sealed=challenge_token(key, sequence, number(name), user_data))
    for name, kind, sequence, data in packets():
        key, protocol_id = material(name + " key", 32), number(name + " protocol")
        text += vector("packet", name, type=kind, sequence=sequence, key=key, protocol_id=protocol_id, data=data,
                       datagram=packet(kind, sequence, key, protocol_id, data))
    return text


# ---- a session made by the library ---------------------------------------------------------------


class Session:
    """Knows the token and the backend's key, as a very curious backend would; sees every datagram."""

    def __init__(self, token, private_key):
        self.t = read_connect_token(token, private_key)
        self.challenge = None
        self.seen = {"up": [], "down": []}
        self.sequences = {"up": set(), "down": set()}
        self.opened_count = 0

    def request(self, datagram):
        expected = b"\0" + VERSION + u64(self.t["protocol_id"]) + u64(self.t["expire_s"]) + self.t["nonce"]
        demand(datagram == expected + self.t["private"], "the request is not what the token says")
        self.seen["up"].append((REQUEST, 0, b""))

    def follow(self, way, datagram):
        self.opened_count += 1
        if datagram[0] == 0:
            demand(way == "up", "a request to a client")
            self.request(datagram)
            return
        key = self.t["client_to_server_key" if way == "up" else "server_to_client_key"]
        kind, sequence, data = open_packet(datagram, key, self.t["protocol_id"])
        demand(sequence not in self.sequences[way], f"sequence {sequence} twice {way}")
        self.sequences[way].add(sequence)
        demand((sequence >= 2**63) == (way == "down" and kind in (DENIED, CHALLENGE)),
               f"type {kind} with sequence {sequence}")
        demand(kind not in ((DENIED, CHALLENGE) if way == "up" else (REQUEST, RESPONSE)), f"type {kind} goes {way}")
        if kind == CHALLENGE:
            self.challenge = data
        if kind == RESPONSE:
            demand(data == self.challenge, "a response that is not the challenge")
        self.seen[way].append((kind, sequence, data))

    def finish(self, expected):
        for way, kinds in expected.items():
            got = [kind for kind, _, _ in self.seen[way]]
            demand(got == kinds, f"{way}: types {got}, not {kinds}")


def follow(path):
    """Lines: `private_key HEX`, `token HEX` (a new session), `up HEX`, `down HEX`, `payload HEX` (what the next payload
    says), `user_data HEX`, `expect WAY TYPE...` (closes the session)."""
    private_key, session, payloads, session_count, opened_count = None, None, [], 0, 0
    expected = {}
    for number_of_line, line in enumerate(pathlib.Path(path).read_text().splitlines(), 1):
        word, *rest = line.split()
        try:
            if word == "private_key":
                private_key = bytes.fromhex(rest[0])
            elif word == "token":
                session, payloads, expected = Session(bytes.fromhex(rest[0]), private_key), [], {}
                session_count += 1
            elif word == "client_id":
                demand(session.t["client_id"] == int(rest[0]), "another client id")
            elif word == "user_data":
                demand(session.t["user_data"] == bytes.fromhex(rest[0]), "another user data")
            elif word in ("up", "down"):
                session.follow(word, bytes.fromhex(rest[0]))
                opened_count += 1
                if session.seen[word][-1][0] == PAYLOAD:
                    demand(session.seen[word][-1][2] == payloads.pop(0), "another payload")
            elif word == "payload":
                payloads.append(bytes.fromhex(rest[0]))
            elif word == "keep_alive":
                alive = [data for kind, _, data in session.seen["down"] if kind == KEEP_ALIVE]
                demand(alive and set(alive) == {u32(int(rest[0])) + u32(int(rest[1]))}, "another index or maximum")
            elif word == "expect":
                expected[rest[0]] = [int(kind) for kind in rest[1:]]
                if len(expected) == 2:
                    session.finish(expected)
            else:
                raise Refused(f"a line that begins with {word}")
        except Refused as why:
            raise Refused(f"{path}:{number_of_line}: {why}") from None
    demand(session_count >= 2 and opened_count >= 20, f"{session_count} sessions, {opened_count} datagrams: too few")
    return f"follow: {session_count} sessions, {opened_count} datagrams opened"


def main():
    try:
        if sys.argv[1:] == ["--self-test"]:
            print(self_test())
        elif len(sys.argv) == 3 and sys.argv[1] == "--write":
            self_test()
            pathlib.Path(sys.argv[2]).write_text(all_vectors())
        elif len(sys.argv) == 3 and sys.argv[1] == "--check":
            print(self_test())
            demand(pathlib.Path(sys.argv[2]).read_text() == all_vectors(), f"{sys.argv[2]} is not what --write writes")
            print(f"{sys.argv[2]} is as it should be")
        elif len(sys.argv) == 3 and sys.argv[1] == "--follow":
            print(follow(sys.argv[2]))
        else:
            print(__doc__)
            return 2
    except Refused as why:
        print(f"netcode_vectors: {why}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
