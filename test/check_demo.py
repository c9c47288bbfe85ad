#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""Runs `pinhole demo` as a person would: in a pipe, and in a terminal of several sizes. Run by make test.

    test/check_demo.py [PROGRAM]      (default build/pinhole)

The terminal is a pty with a small emulator behind it, which knows the sequences that the demo uses and complains
about any other. Nothing is asked about how fast anything is: each wait ends when it sees what it waits for.
"""

import errno
import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

import feed_client

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = str(ROOT / "build/pinhole")
PATIENCE_S = 120
SMALL = ("--no-page", "--players", "2", "--rtt", "40", "--jitter", "10")

complaints = []


def expect(condition, sentence):
    if not condition:
        complaints.append(sentence)


# ---- in a pipe


def run(*arguments, **more):
    done = subprocess.run([PROGRAM, "demo", *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=PATIENCE_S, **more)
    return done.returncode, done.stdout, done.stderr


def table_of(output):
    """Rows of the table: {name: (classic, pinhole)}."""
    rows = re.findall(r"^(\S.*?)  +(\S+) +([\d.]+) +([\d.]+)$", output, re.MULTILINE)
    return {name: (float(classic), float(pinhole)) for name, _, classic, pinhole in rows}


def expect_summary(output, kbps, what):
    rows = table_of(output)
    sent, error = rows.get("sent to a player"), rows.get("position error, as seen")
    seconds = rows.get("measured", (0, 0))[0]
    expect(sent and all(0 < one * seconds <= kbps * (seconds + 1) + 1 for one in sent), f"{what}: sent {sent} kbit/s in {seconds} s")
    expect(error and all(one > 0 for one in error), f"{what}: errors of {error} mrad")
    expect("No datagram was over the budget, none was refused." in output, f"{what} does not say that promises were kept")
    expect(re.search(r"Pinhole shows the same \d+ \w+ .*precisely", output), f"{what}: no sentence of what it means in {output!r}")
    expect("\033" not in output, f"{what}: sequences for a terminal in a pipe")


def check_pipe():
    status, output, errors = run("--seconds", "4", *SMALL)
    expect(status == 0 and not errors, f"demo in a pipe: exit {status}, says {errors!r}")
    expect(output.startswith("scene:town: 80 entities at 10 ticks a second; 2 players each over UDP"), f"begins with {output[:90]!r}")
    expect_summary(output, 13, "demo in a pipe")
    classic, pinhole = table_of(output)["position error, as seen"]
    expect(pinhole < classic, f"pinhole is not more precise: {pinhole} mrad, classic {classic}")


def check_recording():
    status, output, errors = run("test/recordings/lap.csv", "--seconds", "4", "--kbps", "4", "--loss", "20", *SMALL, cwd=ROOT)
    expect(status == 0 and not errors, f"demo of a recording: exit {status}, says {errors!r}")
    expect_summary(output, 4, "demo of a recording")


def check_mistakes():
    for arguments, code, hint in (
        (("no/such/file.csv",), 1, "no/such/file.csv: cannot open it"),
        (("scene:still",), 2, "in scene:still nothing ever moves"),
        (("scene:nowhere",), 2, "there is no scene 'nowhere'"),
        (("--rate", "0.5"), 2, "--rate takes 1 to 1000"),
        (("--seconds", "x"), 2, "--seconds takes a number"),
    ):
        status, output, errors = run(*arguments, *SMALL)
        expect(status == code and hint in errors and not output, f"demo {arguments}: exit {status}, says {errors!r}")
    status, output, errors = run("--listen", "0.0.0.0", "--seconds", "1")
    expect(status == 2 and "--password" in errors and not output,
           f"a page for the whole network without a password: exit {status}, says {errors!r}")


def check_interrupt():
    """Ctrl-C in a pipe: the summary of what was seen, exit 0."""
    with subprocess.Popen([PROGRAM, "demo", "--seconds", "600", *SMALL[1:]], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True) as process:
        first = process.stdout.readline()
        expect(re.match(r"(The page is at http://|Port 7777 is taken: the page is at http://|There is no page: )", first),
               f"it does not say where the page is, but {first!r}")
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=PATIENCE_S)
    expect(process.returncode == 0 and not errors, f"interrupted: exit {process.returncode}, says {errors!r}")
    expect("No datagram was over the budget" in output, f"interrupted, it prints {output!r}")


# ---- in a terminal


class Screen:
    """What a terminal of this size shows, by the sequences that the demo uses."""

    SEQUENCE = re.compile(r"\033\[(\??)([\d;]*)([A-Za-z])")

    def __init__(self, columns, rows):
        self.resize(columns, rows)
        self.rest, self.is_alternate, self.has_cursor, self.styles, self.after = "", False, True, set(), ""
        self.x = self.y = 0

    def resize(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.cells = [[" "] * columns for _ in range(rows)]

    def text(self):
        return "\n".join("".join(row) for row in self.cells)

    def take(self, text):
        text = self.rest + text
        self.rest = ""
        at = 0
        while at < len(text):
            if text[at] != "\033":
                self.put(text[at])
                at += 1
                continue
            found = self.SEQUENCE.match(text, at)
            if not found:
                self.rest = text[at:]
                expect(len(self.rest) < 40, f"an unknown sequence {self.rest[:20]!r}")
                return
            self.obey(*found.groups())
            at = found.end()

    def put(self, character):
        if not self.is_alternate:
            self.after += character
            return
        if not (0 <= self.x < self.columns and 0 <= self.y < self.rows):
            expect(False, f"{character!r} at {self.x}, {self.y} of {self.columns} x {self.rows}")
            return
        self.cells[self.y][self.x] = character
        self.x += 1

    def obey(self, private, numbers, letter):
        if private and numbers == "1049":
            self.is_alternate = letter == "h"
        elif private and numbers == "25":
            self.has_cursor = letter == "h"
        elif private and numbers == "2026":
            pass
        elif letter == "J":
            self.resize(self.columns, self.rows)
        elif letter == "H":
            self.y, self.x = (int(number) - 1 for number in numbers.split(";"))
        elif letter == "m":
            self.styles.add(numbers)
        else:
            expect(False, f"an unknown sequence {private}{numbers}{letter}")


class Terminal:
    """`pinhole demo` in a pty."""

    def __init__(self, columns, rows, *arguments, common=SMALL, **environment):
        self.screen = Screen(columns, rows)
        self.master, self.slave = pty.openpty()
        self.set_size(columns, rows)
        self.before = termios.tcgetattr(self.slave)
        kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLORTERM")}
        self.process = subprocess.Popen([PROGRAM, "demo", *arguments, *common], stdin=self.slave, stdout=self.slave,
                                        stderr=self.slave, cwd=ROOT, start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
                                        env={**kept, "TERM": "xterm-256color", **environment})
        self.bytes = b""

    def set_size(self, columns, rows):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns, rows):
        self.screen.resize(columns, rows)
        self.set_size(columns, rows)

    def read(self, wait_s):
        if not select.select([self.master], [], [], wait_s)[0]:
            return False
        try:
            self.bytes += os.read(self.master, 65536)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            return False
        text = self.bytes.decode("utf-8", errors="ignore")
        if len(text.encode()) == len(self.bytes):  # no character is cut in two
            self.screen.take(text)
            self.bytes = b""
        return True

    def wait_for(self, condition, what):
        end = time.monotonic() + PATIENCE_S
        while not condition(self.screen) and time.monotonic() < end:
            self.read(0.1)
        expect(condition(self.screen), f"waited in vain for {what}; the screen shows\n{self.screen.text()}")

    def press(self, keys):
        os.write(self.master, keys.encode())

    def end(self, what, status=0):
        """After something has asked it to end: the screen is given back, and what was measured is printed."""
        last = time.monotonic() + PATIENCE_S
        while self.process.poll() is None:
            self.read(0.05)
            if time.monotonic() > last:
                self.process.kill()
        while self.read(0.05):
            pass
        screen = self.screen
        expect(self.process.returncode == status, f"{what}: exit {self.process.returncode}")
        expect(not screen.is_alternate and screen.has_cursor, f"{what}: the screen is not given back")
        expect(termios.tcgetattr(self.slave) == self.before, f"{what}: the terminal's settings are not as before")
        expect(status or "No datagram was over the budget" in screen.after, f"{what}: no summary, but {screen.after!r}")
        os.close(self.master)
        os.close(self.slave)


def has_figures(screen):
    return re.search(r"error +\d+\.\d+ mrad.*\n +\d+ mm +", screen.text()) and "precisely" in screen.text()


def dots_of(screen):
    return sum("\u2800" < character <= "\u28ff" for row in screen.cells for character in row)


def check_sizes():
    for columns, rows in ((80, 24), (160, 50), (60, 18)):
        terminal = Terminal(columns, rows)
        terminal.wait_for(has_figures, f"figures at {columns} x {rows}")
        screen = terminal.screen
        text = screen.text()
        for word in ("Pinhole", "scene:town", "classic", "pinhole", "kbit/s", "missing", "◆", "├", " m ", "quit"):
            expect(word in text, f"{columns} x {rows}: no {word!r} in\n{text}")
        expect(dots_of(screen) > 20, f"{columns} x {rows}: only {dots_of(screen)} cells with dots in\n{text}")
        expect(any(style.startswith(("0;38;5;", "0;1;38;5;")) for style in screen.styles), f"no 256 colours in {screen.styles}")
        terminal.press("q")
        terminal.end(f"q at {columns} x {rows}")


def check_keys():
    terminal = Terminal(100, 30)
    terminal.wait_for(has_figures, "figures")
    terminal.press(" ")
    terminal.wait_for(lambda screen: "paused" in screen.text(), "paused")
    terminal.press("B")
    terminal.wait_for(lambda screen: "16 kbit/s" in screen.text(), "a larger budget")
    terminal.press("bb")
    terminal.wait_for(lambda screen: "10 kbit/s" in screen.text(), "a smaller budget")
    terminal.press("LLLL")
    terminal.wait_for(lambda screen: "20 %" in screen.text(), "more loss")
    terminal.press("\033[A")  # an arrow is no key of the demo, and none of its letters is
    before = terminal.screen.text()
    terminal.press("s")
    terminal.wait_for(lambda screen: screen.text() != before, "a step")
    terminal.press(" ")
    terminal.wait_for(lambda screen: "paused" not in screen.text(), "that it goes on")
    terminal.press("\x03")
    terminal.end("Ctrl-C")
    summary = terminal.screen.after
    expect("10 kbit/s each, 20 % lost at the end, round trip" in summary and "were changed on the way" in summary
           and "With the same budgets Pinhole shows" in summary, f"keys: of a changed run it says {summary!r}")


def check_resize():
    terminal = Terminal(100, 30)
    terminal.wait_for(has_figures, "figures")
    terminal.resize(50, 12)
    terminal.wait_for(lambda screen: "enlarge" in screen.text(), "a hint in a small window")
    terminal.resize(132, 40)
    terminal.wait_for(has_figures, "figures in a large window")
    os.kill(terminal.process.pid, signal.SIGTERM)
    terminal.end("SIGTERM")


def check_suspend():
    """Ctrl-Z gives the screen back, and whatever wakes the demo takes it again."""
    terminal = Terminal(80, 24)
    terminal.wait_for(has_figures, "figures")
    terminal.press("\x1a")
    terminal.wait_for(lambda screen: not screen.is_alternate and screen.has_cursor, "the shell's screen")
    os.waitpid(terminal.process.pid, os.WUNTRACED)
    expect(termios.tcgetattr(terminal.slave) == terminal.before, "Ctrl-Z: the terminal's settings are not as before")
    terminal.process.send_signal(signal.SIGCONT)
    terminal.wait_for(lambda screen: screen.is_alternate and has_figures(screen), "the demo's screen")
    terminal.press("q")
    terminal.end("q after Ctrl-Z")


def check_crash():
    terminal = Terminal(80, 24)
    terminal.wait_for(has_figures, "figures")
    terminal.process.send_signal(signal.SIGSEGV)
    terminal.end("a crash", status=-signal.SIGSEGV)


def check_page():
    """What a page changes for all is seen in the terminal, too."""
    terminal = Terminal(100, 30, common=SMALL[1:])
    terminal.wait_for(lambda screen: has_figures(screen) and ("page: http://" in screen.text() or "no page" in screen.text()),
                      "the page's address")
    address = re.search(r"page: (http://\S+)", terminal.screen.text())
    if address:
        with feed_client.Feed(address[1]) as feed:
            for source in ("scene:race", "scene:crowd", "scene:town"):
                feed.say(f"source {source}")
                terminal.wait_for(lambda screen, source=source: source in screen.text() and has_figures(screen), source)
            feed.say("pause 1")
            terminal.wait_for(lambda screen: "paused" in screen.text(), "a pause by a page")
    terminal.press("q")
    terminal.end("q with a page")


def check_colours():
    for environment, is_right, what in (
        ({"NO_COLOR": "1"}, lambda styles: not any("3" in style for style in styles), "NO_COLOR"),
        ({"TERM": "xterm"}, lambda styles: any(re.fullmatch(r"0;(1;)?3[0-7]", style) for style in styles)
         and not any("38" in style for style in styles), "16 colours"),
        ({"COLORTERM": "truecolor"}, lambda styles: any("38;2;" in style for style in styles), "true colour"),
    ):
        terminal = Terminal(80, 24, "--seconds", "3", **environment)
        terminal.end(what)
        expect(is_right(terminal.screen.styles), f"{what}: styles {terminal.screen.styles}")
    terminal = Terminal(80, 24, "--seconds", "2", TERM="dumb")
    terminal.end("a dumb terminal")
    expect(not terminal.screen.styles, "sequences for a dumb terminal")


CHECKS = {"pipe": check_pipe, "recording": check_recording, "mistakes": check_mistakes, "interrupt": check_interrupt,
          "sizes": check_sizes, "keys": check_keys, "resize": check_resize, "suspend": check_suspend,
          "crash": check_crash, "page": check_page, "colours": check_colours}


def main():
    global PROGRAM
    PROGRAM = str(pathlib.Path(sys.argv[1]).resolve()) if len(sys.argv) > 1 else PROGRAM
    if not pathlib.Path(PROGRAM).exists():
        print(f"{PROGRAM} does not exist: run make first")
        return 1
    for name in sys.argv[2:] or CHECKS:
        CHECKS[name]()
    for sentence in complaints:
        print(sentence)
    print("demo: ok" if not complaints else f"demo: {len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
