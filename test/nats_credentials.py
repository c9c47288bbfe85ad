# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""Accounts of NATS with credentials files, as its own tools nk and nsc make them, which Debian does not have: keys by openssl (Ed25519),
claims signed by them. An operator signs accounts, an account signs its users.

    made = Account(folder)               made.settings are for nats-server
    made.write_user("game.creds")
"""

import base64
import json
import pathlib
import subprocess
import time

OPERATOR, ACCOUNT, USER, SEED = 14 << 3, 0, 20 << 3, 18 << 3
ALL = {"subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": True, "conn": -1, "leaf": -1}
STORAGE = {"mem_storage": -1, "disk_storage": -1, "streams": -1, "consumer": -1}


def crc16(data):
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ (0x1021 if crc & 0x8000 else 0)) & 0xFFFF
    return crc


def key_text(data):
    return base64.b32encode(data + crc16(data).to_bytes(2, "little")).decode().rstrip("=")


def url_text(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


class Key:
    def __init__(self, folder, name, kind):
        self.kind, self.name = kind, name
        self.path = pathlib.Path(folder, name + ".pem")
        self.openssl("genpkey", "-algorithm", "ed25519", "-out", self.path)
        self.public = key_text(bytes([kind]) + self.openssl("pkey", "-in", self.path, "-pubout", "-outform", "DER")[-32:])

    @staticmethod
    def openssl(*arguments):
        return subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True).stdout

    def seed(self):
        head = bytes([SEED | self.kind >> 5, (self.kind & 31) << 3])
        return key_text(head + self.openssl("pkey", "-in", self.path, "-outform", "DER")[-32:])

    def sign(self, of, claims):
        """What this key says of another one."""
        body = {"jti": of.public, "iat": int(time.time()), "iss": self.public, "name": of.name, "sub": of.public,
                "nats": {**claims, "version": 2}}
        text = ".".join(url_text(json.dumps(one).encode()) for one in ({"typ": "JWT", "alg": "ed25519-nkey"}, body))
        unsigned = self.path.with_suffix(".unsigned")
        unsigned.write_text(text)
        return text + "." + url_text(self.openssl("pkeyutl", "-sign", "-inkey", self.path, "-rawin", "-in", unsigned))


class Account:
    """Of a game, with JetStream; and beside it that of the system, without which nats-server has none."""

    def __init__(self, folder):
        operator, system = Key(folder, "operator", OPERATOR), Key(folder, "system", ACCOUNT)
        self.folder, self.key = folder, Key(folder, "game", ACCOUNT)
        said = {one.public: operator.sign(one, {"type": "account", "limits": limits})
                for one, limits in ((self.key, {**ALL, **STORAGE}), (system, ALL))}
        preload = "\n".join(f"{public}: {text}" for public, text in said.items())
        self.settings = (f"operator: {operator.sign(operator, {'type': 'operator'})}\nsystem_account: {system.public}\n"
                         f"resolver: MEMORY\nresolver_preload: {{\n{preload}\n}}\n")

    def write_user(self, file, seed_of=None):
        """A credentials file. With seed_of, its seed is that of another key than the one that it names."""
        user = Key(self.folder, file + "-user", USER)
        text = self.key.sign(user, {"type": "user", "subs": -1, "data": -1, "payload": -1})
        path = pathlib.Path(self.folder, file)
        path.write_text(f"-----BEGIN NATS USER JWT-----\n{text}\n------END NATS USER JWT------\n\n"
                        f"-----BEGIN USER NKEY SEED-----\n{(seed_of or user).seed()}\n------END USER NKEY SEED------\n")
        return path
