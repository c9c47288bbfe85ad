#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""Plants one fault at a time into a small fake tree and looks for check_layers.py's complaint."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parent / "check_layers.py"
SPDX = "// SPDX-FileCopyrightText: 2026 The Pinhole authors\n// SPDX-License-Identifier: MIT\n"

# A tree without fault. Its includes are on line 3 and following.
SOUND = {
    "include/pinhole/base.h": "#include <stdint.h>\n",
    "include/pinhole/bits.h": "#include <pinhole/base.h>\n",
    "include/pinhole/fixed.h": '#include "pinhole/bits.h"\n',
    "include/pinhole/pinhole.h": "#include <pinhole/fixed.h>\n#include <pinhole/bits.h>\n",
    "include/pinhole/pinhole.hpp": "#include <pinhole/pinhole.h>\n#include <type_traits>\n",
    "include/pinhole/net/net.hpp": "#include <pinhole/net/address.h>\n#include <pinhole/pinhole.hpp>\n",
    "src/base/arena.h": "#include <pinhole/base.h>\n",
    "src/base/arena.c": '#include "base/arena.h"\n',
    "src/bits/word.h": "#include <pinhole/bits.h>\n",
    "src/bits/word.c": '#include "word.h"\n#include "base/arena.h"\n#include <immintrin.h>\n',
    "src/vision/grid.h": '#include "base/arena.h"\n',
    "src/schedule/score.h": '#include "base/arena.h"\n',
    "src/packet/record.h": '#include "bits/word.h"\n',
    "src/world/tick.h": '#include "vision/grid.h"\n#include "schedule/score.h"\n#include "packet/record.h"\n',
    "src/client/slots.h": '#include "packet/record.h"\n',
    "include/pinhole/net/address.h": "#include <pinhole/base.h>\n",
    "net/socket.h": "#include <pinhole/net/address.h>\n#include <sys/socket.h>\n",
    "net/socket.c": '#include "net/socket.h"\n#include "base/arena.h"\n',
    "kit/scene.h": "#include <pinhole/pinhole.h>\n",
    "app/command.h": "",
    "app/main.c": '#include "command.h"\n#include "kit/scene.h"\n#include "net/socket.h"\n',
    "examples/kart.c": "#include <pinhole/pinhole.h>\n",
    "bench/bench_bits.c": '#include "bits/word.h"\n#include "app/command.h"\n',
    "test/test_word.c": '#include "bits/word.h"\n#include "kit/scene.h"\n#include <cmocka.h>\n',
    "test/consumer/consumer.c": "#include <pinhole/bits.h>\n",
    "fuzz/fuzz_word.c": '#include "bits/word.h"\n',
    "build/generated.c": '#include "nowhere.h"\n',
}


def run_check(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text if text.startswith("!") else SPDX + text)
        done = subprocess.run([sys.executable, str(CHECK), folder], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout


class CheckLayers(unittest.TestCase):
    def complains(self, changes, *wanted):
        code, output = run_check({**SOUND, **changes})
        self.assertEqual(code, 1, output)
        for text in wanted:
            self.assertIn(text, output)
        self.assertIn(" 1 complaints", output)

    def test_sound_tree_passes(self):
        code, output = run_check(SOUND)
        self.assertEqual(code, 0, output)

    def test_empty_tree_fails(self):
        self.assertEqual(run_check({})[0], 1)

    def test_lower_layer_includes_higher(self):
        self.complains({"src/base/arena.c": '#include "base/arena.h"\n#include "bits/word.h"\n'},
                       "src/base/arena.c:4: must not include src/bits/word.h: layer base rests on nothing")

    def test_indented_include_is_seen(self):
        self.complains({"src/base/arena.c": '  #  include "bits/word.h"\n'}, "src/base/arena.c:3:")

    def test_core_header_for_cpp_needs_net(self):
        self.complains({"include/pinhole/pinhole.hpp": "#include <pinhole/net/address.h>\n"},
                       "include/pinhole/pinhole.hpp:3: must not include include/pinhole/net/address.h: the library comes without")

    def test_header_of_cpp_in_c(self):
        self.complains({"include/pinhole/base.h": "#include <type_traits>\n"}, "include/pinhole/base.h:3: <type_traits>")

    def test_large_header_in_cpp(self):
        self.complains({"include/pinhole/pinhole.hpp": "#include <iostream>\n"}, "include/pinhole/pinhole.hpp:3: <iostream>")

    def test_sibling_layer(self):
        self.complains({"src/vision/grid.h": '#include "bits/word.h"\n'}, "src/vision/grid.h:3:")

    def test_schedule_does_not_see_wire(self):
        self.complains({"src/schedule/score.h": '#include "packet/record.h"\n'}, "src/schedule/score.h:3:")

    def test_world_includes_client(self):
        self.complains({"src/world/tick.h": '#include "client/slots.h"\n'}, "src/world/tick.h:3:")

    def test_client_includes_world(self):
        self.complains({"src/client/slots.h": '#include "world/tick.h"\n'}, "src/client/slots.h:3:")

    def test_client_includes_vision(self):
        self.complains({"src/client/slots.h": '#include "vision/grid.h"\n'}, "src/client/slots.h:3:")

    def test_client_includes_schedule(self):
        self.complains({"src/client/slots.h": '#include "schedule/score.h"\n'}, "src/client/slots.h:3:")

    def test_public_headers_have_an_order(self):
        self.complains({"include/pinhole/base.h": "#include <pinhole/bits.h>\n"}, "include/pinhole/base.h:3:")

    def test_public_header_includes_internal_one(self):
        self.complains({"include/pinhole/bits.h": '#include "bits/word.h"\n'},
                       "include/pinhole/bits.h:3: must not include src/bits/word.h: a public header")

    def test_source_includes_higher_public_header(self):
        self.complains({"src/bits/word.h": "#include <pinhole/fixed.h>\n"}, "src/bits/word.h:3:")

    def test_source_includes_umbrella(self):
        self.complains({"src/bits/word.h": "#include <pinhole/pinhole.h>\n"}, "src/bits/word.h:3:")

    def test_unknown_public_header(self):
        self.complains({"include/pinhole/new.h": ""}, "include/pinhole/new.h:1:", "register it in PUBLIC_HEADERS")

    def test_unknown_source_folder(self):
        self.complains({"src/extra/thing.c": ""}, "src/extra/thing.c:1:", "register it in RESTS_ON")

    def test_unknown_folder(self):
        self.complains({"misc/thing.c": ""}, "misc/thing.c:1:", "register it in OUTSIDE")

    def test_climbing_include(self):
        self.complains({"src/bits/word.c": '#include "../base/arena.h"\n'}, "src/bits/word.c:3:", "climbs")

    def test_same_name_twice(self):
        self.complains({"kit/Arena.c": ""}, "src/base/arena.c:1: has the same file name as kit/Arena.c")

    def test_missing_spdx(self):
        self.complains({"kit/other.c": "!\n"}, "kit/other.c:1: must open with")

    def test_include_of_nothing(self):
        self.complains({"kit/other.c": '#include "nowhere.h"\n'}, "kit/other.c:3: nowhere.h is no file")

    def test_public_include_of_nothing(self):
        self.complains({"kit/other.c": "#include <pinhole/nowhere.h>\n"}, "kit/other.c:3:")

    def test_library_needs_only_the_standard_library(self):
        self.complains({"src/bits/word.h": "#include <unistd.h>\n"}, "src/bits/word.h:3:", "C standard library")

    def test_intrinsics_in_a_header(self):
        self.complains({"src/bits/word.h": "#include <immintrin.h>\n"}, "src/bits/word.h:3:", "intrinsics")

    def test_library_includes_kit(self):
        self.complains({"src/world/tick.h": '#include "kit/scene.h"\n'}, "src/world/tick.h:3:")

    def test_net_sees_only_base(self):
        self.complains({"net/socket.c": '#include "bits/word.h"\n'}, "net/socket.c:3:")

    def test_public_header_of_net_sees_only_base(self):
        self.complains({"include/pinhole/net/address.h": "#include <pinhole/bits.h>\n"},
                       "include/pinhole/net/address.h:3:")

    def test_library_does_not_see_net(self):
        self.complains({"src/world/tick.h": "#include <pinhole/net/address.h>\n"}, "src/world/tick.h:3:")

    def test_net_has_no_place_in_src(self):
        self.complains({"src/net/word_net.h": ""}, "src/net/word_net.h:1:", "without a layer")

    def test_kit_sees_only_base(self):
        self.complains({"kit/scene.h": '#include "bits/word.h"\n'}, "kit/scene.h:3:")

    def test_kit_does_not_see_net(self):
        self.complains({"kit/scene.h": '#include "net/socket.h"\n'}, "kit/scene.h:3:")

    def test_app_sees_no_internals(self):
        self.complains({"app/main.c": '#include "bits/word.h"\n'}, "app/main.c:3:")

    def test_app_sees_no_internals_through_kit(self):
        self.complains({"kit/scene.h": '#include "kit/column.h"\n', "kit/column.h": '#include "base/arena.h"\n'},
                       "app/main.c:4: must not include kit/scene.h, which leads to src/base/arena.h")

    def test_example_sees_no_internals(self):
        self.complains({"examples/kart.c": '#include "src/bits/word.h"\n'}, "examples/kart.c:3:")

    def test_consumer_sees_public_headers_only(self):
        self.complains({"test/consumer/consumer.c": '#include "kit/scene.h"\n'}, "test/consumer/consumer.c:3:")


if __name__ == "__main__":
    unittest.main()
