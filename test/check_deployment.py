#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""The files of docs/operating.md that are for other programs: a service for systemd, a packet filter for nftables. Run by make test.

    test/check_deployment.py [PROGRAM] [CHECK ...]      (default build/pinhole, all checks)

Each check says "skipped: why" where the program that it is for is not installed.
"""

import ctypes
import ctypes.util
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

import check_operating
import check_serve
from check_serve import ROOT, Server, bots, end, expect, expect_well, make_key

SERVICE = ROOT / "app/pinhole.service"
FILTER = ROOT / "app/pinhole.nft"
# 0 is a service that can do nothing, 10 one without any limit; 1.3 when this was written.
EXPOSURE_MAX = 2.0


def skip(why):
    print(f"skipped: {why}")


def run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=check_serve.TIMEOUT_S)
    return done.returncode, done.stdout + done.stderr


def settings(name):
    """All values of a setting of the service, lines that go on joined."""
    text = SERVICE.read_text().replace("\\\n", " ")
    return [value for value in re.findall(rf"^{name}=(.*)$", text, re.MULTILINE)]


def check_service(folder):
    """systemd understands all of it, and finds it well locked up; its options are ones that the program knows."""
    if not shutil.which("systemd-analyze"):
        return skip("there is no systemd-analyze")
    copy = pathlib.Path(folder) / "pinhole.service"
    copy.write_text(SERVICE.read_text().replace("/usr/local/bin/pinhole", check_serve.PROGRAM))
    status, output = run("systemd-analyze", "verify", "--man=no", str(copy))
    # Of other units of this machine it may say what it likes.
    said = [line for line in output.splitlines() if "pinhole" in line]
    expect(not said, f"service: systemd-analyze verify, exit {status}: {said}")
    status, output = run("systemd-analyze", "security", "--offline=true", "--no-pager", str(copy))
    found = re.search(r"exposure level.*?: ([\d.]+)", output)
    expect(found and float(found[1]) <= EXPOSURE_MAX, f"service: systemd-analyze security: {found and found[1]}\n{output[-400:]}")
    options = re.findall(r"--[a-z-]+", settings("ExecStart")[0])
    _, usage = run(check_serve.PROGRAM, "serve", "--help")
    unknown = [option for option in options if f"  {option} " not in usage]
    expect(options and not unknown, f"service: {unknown} are no options of serve")
    expect(settings("LimitCORE") == ["0"] and settings("User") and settings("ProtectSystem") == ["strict"], "service: it is not as documented")


# ---- seccomp -------------------------------------------------------------------------------------


def expand(words):
    """Names of system calls, for a list of names and of groups as in SystemCallFilter=."""
    names = set()
    for word in words:
        if not word.startswith("@"):
            names.add(word)
            continue
        status, output = run("systemd-analyze", "syscall-filter", "--no-pager", word)
        expect(status == 0, f"seccomp: there is no group {word}")
        names |= expand(line.strip() for line in output.splitlines()[1:] if line.strip() and not line.strip().startswith("#"))
    return names


def seccomp_filter(library, names):
    """For preexec_fn: whatever is not named ends the process, so that it is noticed here; the service would see an error."""
    library.seccomp_init.restype = ctypes.c_void_p
    kill = 0x80000000
    allow = 0x7FFF0000
    context = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(kill)))
    for name in names:
        number = library.seccomp_syscall_resolve_name(name.encode())
        if number >= 0:
            library.seccomp_rule_add(context, ctypes.c_uint32(allow), number, 0)
    return lambda: library.seccomp_load(context)


def check_seccomp(folder):
    """A server under the filter of the service, or rather one that kills: clients, metrics, SIGHUP and the end all work."""
    place = ctypes.util.find_library("seccomp")
    if not place or not shutil.which("systemd-analyze"):
        return skip("there is no libseccomp or no systemd-analyze")
    names = expand(["@default", *" ".join(settings("SystemCallFilter")).split()])
    expect(len(names) > 100 and "ptrace" not in names and "mount" not in names, f"seccomp: {len(names)} system calls")
    audit = pathlib.Path(folder) / "audit.log"
    for wrapped, is_well in ((names, True), (names - {"recvmmsg", "recvfrom", "recvmsg"}, False)):
        key = make_key(folder, f"seccomp{is_well}.key")
        popen = subprocess.Popen
        try:
            # Server starts the process; only that one is to be filtered.
            subprocess.Popen = lambda *words, **options: popen(*words, preexec_fn=seccomp_filter(ctypes.CDLL(place), wrapped), **options)
            one = Server(folder, "scene:town", "--second-key", f"{folder}/none.key", "--audit", str(audit), "--threads", "2", key=key)
        except RuntimeError:
            expect(not is_well, "seccomp: the server does not start")
            continue
        finally:
            subprocess.Popen = popen
        try:
            if not is_well:
                expect(one.process.wait(check_serve.TIMEOUT_S) == -signal.SIGSYS, "seccomp: the filter of this test lets everything pass")
                continue
            expect_well("seccomp", bots(one, "--bots", "4", "--seconds", "2", "--chat", "1"))
            check_operating.hang_up(one, "keys: read again; tokens of one key are taken", 1)
            expect_well("seccomp", bots(one, "--bots", "4", "--seconds", "1", "--first-id", "50"))
            one.stop("seccomp")
        finally:
            end(one.process)


# ---- the packet filter ---------------------------------------------------------------------------


def check_packet_filter(folder):
    """nftables takes it, twice in a row, in a network of its own; the document speaks of the same lengths."""
    if not shutil.which("nft") or not shutil.which("unshare"):
        return skip("there is no nft or no unshare")
    if run("unshare", "--net", "true")[0] != 0 or run("unshare", "--net", "nft", "list", "tables")[0] != 0:
        return skip("no network namespace can be made here, or it has no nftables")
    load = f"nft -c -f {FILTER} && nft -f {FILTER} && nft -f {FILTER} && nft list table inet pinhole"
    status, output = run("unshare", "--net", "sh", "-c", load)
    expect(status == 0 and "udp length 1086 goto requests" in output and "policy drop" in output, f"packet filter: {output}")
    common = (ROOT / "include/pinhole/net/netcode_common.h").read_text()
    longest = int(re.search(r"#define PH_NETCODE_DATAGRAM_MAX (\d+)", common)[1])
    expect(f"udp length > {longest + 8} " in output, f"packet filter: the longest datagram has {longest} bytes")


CHECKS = {
    "service": check_service,
    "seccomp": check_seccomp,
    "packet_filter": check_packet_filter,
}


def main():
    names = sys.argv[1:]
    if names and names[0] not in CHECKS:
        check_serve.PROGRAM = str(pathlib.Path(names.pop(0)).resolve())
    return check_serve.run_checks("deployment", CHECKS, names)


if __name__ == "__main__":
    sys.exit(main())
