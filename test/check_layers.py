#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""Reads every #include of the tree and says when one crosses the layers. Run by make test.

    test/check_layers.py [ROOT]

Also: no ../ in an include, src/ and the public headers rest on the C standard library alone (a .hpp also on a few headers
of C++), source
file names are unique (but for examples, which are programs of others), every source file opens with the two SPDX lines. test_check_layers.py plants
each of these faults and looks for the complaint.
"""

import collections
import pathlib
import re
import sys

# ---- the layers: folder of src/ -> what it may include; permits are transitive -------------------

RESTS_ON = {
    "base": [],
    "tools": ["base"],
    "bits": ["base"],
    "motion": ["base"],
    "vision": ["base"],
    "schedule": ["base", "motion"],
    "codec": ["bits"],
    "schema": ["codec"],
    "packet": ["schema", "motion"],
    "entities": ["schema", "packet", "motion", "vision"],
    "replication": ["entities", "packet", "schedule", "vision", "tools"],
    "world": ["replication"],
    "transfer": ["world"],
    "journal": ["transfer"],
    "client": ["packet", "tools"],
    "message": ["bits", "schedule", "tools"],
    "link": ["base"],
    "net": ["base"],
    "rate": ["base"],
    "host": ["world", "rate", "message", "net"],
    "peer": ["client", "message", "net"],
    "transport": ["base"],
    "bus": ["transport", "transfer", "host", "peer"],
}

# Layers whose sources are not in src/: only their public headers have a place in the table above.
OUTSIDE_SRC = {"net", "rate", "host", "peer", "transport", "bus"}

# Public header -> the layer it belongs to. A new header in include/pinhole/ is registered here.
PUBLIC_HEADERS = {
    "base.h": "base",
    "error.h": "base",
    "stats.h": "base",
    "bits.h": "bits",
    "integers.h": "bits",
    "entropy.h": "bits",
    "fixed.h": "codec",
    "angle.h": "codec",
    "quaternion.h": "codec",
    "text.h": "codec",
    "coordinate.h": "codec",
    "ground.h": "codec",
    "schema.h": "schema",
    "packet.h": "packet",
    "schedule.h": "schedule",
    "vision.h": "vision",
    "world.h": "replication",
    "viewer.h": "replication",
    "transfer.h": "replication",
    "recorder.h": "replication",
    "client.h": "client",
    "message.h": "message",
    "link.h": "link",
    "pinhole.h": "everything",
    "pinhole.hpp": "everything",
    "net/address.h": "net",
    "net/netcode.h": "net",
    "net/netcode_client.h": "net",
    "net/netcode_common.h": "net",
    "net/netcode_server.h": "net",
    "net/netcode_token.h": "net",
    "net/pool.h": "net",
    "net/socket.h": "net",
    "net/rate.h": "rate",
    "net/admission.h": "net",
    "net/host.h": "host",
    "net/peer.h": "peer",
    "net/net.hpp": "everything and net",
    "bus/transport.h": "transport",
    "bus/nats.h": "transport",
    "bus/refusal.h": "bus",
    "bus/region.h": "bus",
    "bus/bus_sim.h": "bus",
    "bus/bus_front.h": "bus",
    "bus/bus_login.h": "bus",
}

# Folders outside src/ -> what they may include besides themselves. "public" is include/pinhole,
# "src/*" every folder of src/.
OUTSIDE = {
    # src/tools: what is not part of the contract, for the project's own tools.
    "net": ["public", "src/base", "src/tools"],
    "bus": ["public", "src/base"],
    # The yardstick of snapshots (kit/snapshot*.c) shows motion, quantises values and keeps its budget by the library's
    # own means, so that a comparison is about what is sent.
    "kit": ["public", "src/base", "src/tools", "src/motion", "src/schema", "src/schedule"],
    # A deployment on simulated time, and a model beside it.
    "soak": ["public", "net", "kit", "src/base", "src/tools"],
    "app": ["public", "net", "bus", "kit", "soak"],
    "examples": ["public", "net", "bus", "kit"],
    "web": ["public", "net", "bus", "kit"],
    "test/consumer": ["public"],
    # app: the parts of the demo have tests of their own.
    "test": ["public", "net", "bus", "kit", "soak", "src/*", "app"],
    "fuzz": ["public", "net", "bus", "kit", "soak", "src/*", "test", "app"],
    "tools": [], # a clock for tools/chaos, which is loaded before the C library
    # bench links into the program, so it sees the program's table of commands.
    "bench": ["public", "net", "bus", "kit", "src/*", "app"],
}

# A game's own programs are like these: not even through a header of kit do they see src/.
WITHOUT_INTERNALS = {"app", "examples", "web"}

# Where a quoted include is looked for, after the folder of the file itself; as in CMakeLists.txt.
SEARCH = ["include", "src", ".", "test", "test/support", "fuzz", "bench", "app"]

STANDARD_HEADERS = {
    f"{name}.h"
    for name in (
        "assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal "
        "stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath "
        "time uchar wchar wctype"
    ).split()
}
# For .hpp alone. Small ones: no streams, no containers that allocate.
CPP_HEADERS = set("array cstddef cstdint string_view type_traits utility".split())
# Of the compiler, not of a system: allowed in a .c file, behind an #if.
COMPILER_HEADERS = {
    "immintrin.h",
    "emmintrin.h",
    "arm_neon.h",
    "wasm_simd128.h",
    "sanitizer/asan_interface.h",
}

SPDX = [
    "// SPDX-FileCopyrightText: 2026 The Pinhole authors",
    "// SPDX-License-Identifier: MIT",
]

SOURCE_ENDINGS = {".c", ".h", ".cpp", ".hpp"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
UNWATCHED = {"build", ".git"}


def closure(layer):
    seen = {layer}
    for below in RESTS_ON[layer]:
        seen |= closure(below)
    return seen


def folder_of(path):
    """The name under which the rules know a file: 'include', 'src/bits', 'net', 'test/consumer' ..."""
    parts = pathlib.PurePosixPath(path).parts
    if parts[0] == "src":
        return "/".join(parts[:2]) if len(parts) > 2 else "src"
    if parts[:2] == ("test", "consumer"):
        return "test/consumer"
    return parts[0] if len(parts) > 1 else ""


class Tree:
    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        self.complaints = []
        self.files = sorted(
            path.relative_to(self.root).as_posix()
            for path in self.root.rglob("*")
            if path.suffix in SOURCE_ENDINGS
            and path.is_file()
            and path.relative_to(self.root).parts[0] not in UNWATCHED
        )

    def complain(self, path, line, sentence):
        self.complaints.append(f"{path}:{line}: {sentence}")

    def check(self):
        self.check_names()
        for path in self.files:
            self.check_place(path)
            lines = (self.root / path).read_text(encoding="utf-8", errors="replace").splitlines()
            if lines[:2] != SPDX:
                self.complain(path, 1, f"must open with the two lines '{SPDX[0]}' and '{SPDX[1]}'")
            for number, line in enumerate(lines, 1):
                found = INCLUDE.match(line)
                if found:
                    self.check_include(path, number, is_quoted=found[1] == '"', name=found[2])
        return self.complaints

    def check_names(self):
        by_name = collections.defaultdict(list)
        for path in self.files:
            if folder_of(path) == "examples":
                continue
            by_name[path.rpartition("/")[2].lower()].append(path)
        for paths in by_name.values():
            for path in paths[1:]:
                self.complain(path, 1, f"has the same file name as {paths[0]}; names are unique in the tree")

    def check_place(self, path):
        folder = folder_of(path)
        if folder == "include":
            name = path.removeprefix("include/pinhole/")
            if name not in PUBLIC_HEADERS:
                self.complain(path, 1, "is a public header without a layer; "
                              "register it in PUBLIC_HEADERS of test/check_layers.py")
        elif folder.startswith("src"):
            if folder.removeprefix("src/") not in RESTS_ON.keys() - OUTSIDE_SRC:
                self.complain(path, 1, "is in a folder of src/ without a layer; "
                              "register it in RESTS_ON of test/check_layers.py")
        elif folder not in OUTSIDE:
            self.complain(path, 1, "is in a folder without rules; "
                          "register it in OUTSIDE of test/check_layers.py")

    def check_include(self, path, line, is_quoted, name):
        if ".." in name.split("/"):
            self.complain(path, line, f'"{name}" climbs with ../; write the path from src/ or include/')
            return
        if not is_quoted and not name.startswith("pinhole/"):
            self.check_system_include(path, line, name)
            return
        target = self.resolve(path, name)
        if target is None:
            self.complain(path, line, f"{name} is no file of this tree; headers of the system go in <>")
            return
        reason = self.forbidden(path, target)
        if reason:
            self.complain(path, line, f"must not include {target}: {reason}")
        elif folder_of(path) in WITHOUT_INTERNALS:
            inner = self.internals_behind(target, set())
            if inner:
                self.complain(path, line, f"must not include {target}, which leads to {inner}: "
                              f"{folder_of(path)} is compiled without src/")

    def internals_behind(self, path, seen):
        """A header of src/ that a header of the tree includes, itself or through others; or None."""
        if path.startswith("src/"):
            return path
        seen.add(path)
        lines = (self.root / path).read_text(encoding="utf-8", errors="replace").splitlines()
        for found in filter(None, map(INCLUDE.match, lines)):
            target = self.resolve(path, found[2])
            if target is None or target in seen or self.forbidden(path, target):
                continue  # what is forbidden has its own complaint
            inner = self.internals_behind(target, seen)
            if inner:
                return inner
        return None

    def check_system_include(self, path, line, name):
        if folder_of(path) != "include" and not path.startswith("src/"):
            return
        if name in STANDARD_HEADERS or (path.endswith(".hpp") and name in CPP_HEADERS):
            return
        if name in COMPILER_HEADERS:
            if path.endswith(".h"):
                self.complain(path, line, f"<{name}>: intrinsics and the like belong in one .c file, not in a header")
            return
        self.complain(path, line, f"<{name}> is not of the C standard library, and the library needs nothing else")

    def resolve(self, path, name):
        for folder in [path.rpartition("/")[0], *SEARCH]:
            candidate = self.root / folder / name
            if candidate.is_file():
                return candidate.resolve().relative_to(self.root).as_posix()
        return None

    def forbidden(self, path, target):
        """Why path may not include target; None when it may."""
        source, wanted = folder_of(path), folder_of(target)
        if source in OUTSIDE:
            permits = OUTSIDE[source]
            if (
                wanted == source
                or wanted in permits
                or (wanted == "include" and "public" in permits)
                or (wanted.startswith("src/") and "src/*" in permits)
            ):
                return None
            return f"{source} may include {self.spell(permits)}"
        if wanted not in ("include",) and not wanted.startswith("src/"):
            return "the library includes nothing from outside include/ and src/"
        if source == "include" and wanted != "include":
            return "a public header may include public headers only"

        above, below = self.layer(path), self.layer(target)
        if above == "everything" and below in {*OUTSIDE_SRC, "everything and net"}:
            return "the library comes without net where there is no libsodium, and without bus where there is no libnats"
        if above is None or below is None or above.startswith("everything"):
            return None  # an unregistered file has its own complaint; pinhole.h includes all
        if below.startswith("everything"):
            return "pinhole.h is for programs; the library includes the one header it needs"
        if below not in closure(above):
            return f"layer {above} rests on {self.spell(sorted(closure(above) - {above}))}, not on {below}"
        return None

    @staticmethod
    def layer(path):
        if path.startswith("include/"):
            return PUBLIC_HEADERS.get(path.removeprefix("include/pinhole/"))
        layer = folder_of(path).removeprefix("src/")
        return layer if layer in RESTS_ON else None

    @staticmethod
    def spell(permits):
        return ", ".join(permits) if permits else "nothing of ours"


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent
    tree = Tree(root)
    complaints = tree.check()
    for complaint in complaints:
        print(complaint)
    if not tree.files:
        print(f"{root} holds no source file")
        return 1
    print(f"layers: {len(tree.files)} files, {len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
