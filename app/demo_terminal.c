// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Ten times a second. Signal handlers set a flag and no more, but for those of a crash and of Ctrl-Z, which
// give the screen back first, by calls that a handler may make.

#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif

#include "demo_terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

// Alternate screen, cleared, without cursor; and back.
#define TAKE "\033[?1049h\033[2J\033[?25l"
#define GIVE_BACK "\033[?2026l\033[0m\033[?25h\033[?1049l"
enum { WIDTH_USUAL = 80, HEIGHT_USUAL = 24, WIDTH_MAX = 500, HEIGHT_MAX = 200, ESCAPE = 27 };

static volatile sig_atomic_t is_stopped;
static volatile sig_atomic_t has_changed;
static volatile sig_atomic_t is_open;
static struct termios keys_before;
static bool has_keys; // standard input is the terminal, too

// ---- what kind it is

bool demo_terminal_is_there(void)
{
    const char* kind = getenv("TERM");
    return isatty(STDOUT_FILENO) != 0 && kind != NULL && kind[0] != '\0' &&
           strcmp(kind, "dumb") != 0;
}

demo_colours demo_terminal_colours(void)
{
    const char* none = getenv("NO_COLOR");
    const char* rgb = getenv("COLORTERM");
    const char* kind = getenv("TERM");
    if (none != NULL && none[0] != '\0') {
        return DEMO_COLOURS_NONE;
    }
    if (rgb != NULL && (strcmp(rgb, "truecolor") == 0 || strcmp(rgb, "24bit") == 0)) {
        return DEMO_COLOURS_RGB;
    }
    return kind != NULL && strstr(kind, "256color") != NULL ? DEMO_COLOURS_256 : DEMO_COLOURS_16;
}

// ---- taking and giving back

// In signal handlers, too.
static void say(const char* text, size_t size)
{
    const ssize_t written = write(STDOUT_FILENO, text, size);
    (void)written; // there is nothing to be done about it
}

static void give_back(void)
{
    if (is_open) {
        is_open = 0;
        say(GIVE_BACK, sizeof GIVE_BACK - 1);
        if (has_keys) {
            tcsetattr(STDIN_FILENO, TCSANOW, &keys_before);
        }
    }
}

static void take(void)
{
    if (has_keys) {
        struct termios keys = keys_before;
        keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO); // signals stay
        keys.c_iflag &= ~(tcflag_t)IXON;            // Ctrl-S would hold the players, too
        keys.c_cc[VMIN] = 0;
        keys.c_cc[VTIME] = 0;
        tcsetattr(STDIN_FILENO, TCSANOW, &keys);
    }
    say(TAKE, sizeof TAKE - 1);
    is_open = 1;
    has_changed = 1;
}

static void on_stop(int number)
{
    (void)number;
    is_stopped = 1;
}

static void on_resize(int number)
{
    (void)number;
    has_changed = 1;
}

// Ctrl-Z: the shell gets its screen, and `fg` gives it back to us.
static void on_suspend(int number)
{
    (void)number;
    const int error = errno;
    const bool was_open = is_open != 0;
    give_back();
    raise(SIGSTOP);
    if (was_open) {
        take();
    }
    errno = error;
}

// The default action follows: SA_RESETHAND.
static void on_crash(int number)
{
    give_back();
    raise(number);
}

static void hear(int number, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

void demo_terminal_hear_signals(void)
{
    hear(SIGINT, on_stop, 0);
    hear(SIGTERM, on_stop, 0);
    hear(SIGHUP, on_stop, 0);
    hear(SIGPIPE, SIG_IGN, 0);
}

bool demo_terminal_open(void)
{
    static bool is_noted;
    has_keys = isatty(STDIN_FILENO) != 0 && tcgetattr(STDIN_FILENO, &keys_before) == 0;
    if (!is_noted && atexit(demo_terminal_close) != 0) {
        return false;
    }
    is_noted = true;
    hear(SIGWINCH, on_resize, SA_RESTART);
    hear(SIGTSTP, on_suspend, SA_RESTART);
    static const int CRASHES[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (size_t i = 0; i < sizeof CRASHES / sizeof CRASHES[0]; ++i) {
        hear(CRASHES[i], on_crash, (int)SA_RESETHAND);
    }
    take();
    return true;
}

void demo_terminal_close(void)
{
    give_back();
}

// ---- size, keys, output

bool demo_terminal_is_stopped(void)
{
    return is_stopped != 0;
}

bool demo_terminal_take_change(void)
{
    const bool was_changed = has_changed != 0;
    has_changed = 0;
    return was_changed;
}

static int within(int value, int usual, int most)
{
    return value <= 0 ? usual : value < most ? value : most;
}

void demo_terminal_get_size(int* width, int* height)
{
    struct winsize size = {0};
    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    *width = within(size.ws_col, WIDTH_USUAL, WIDTH_MAX);
    *height = within(size.ws_row, HEIGHT_USUAL, HEIGHT_MAX);
}

static int next_byte(void)
{
    unsigned char byte;
    return has_keys && read(STDIN_FILENO, &byte, 1) == 1 ? byte : 0;
}

// Arrows and the like: ESC [ ..., up to a letter.
static void skip_sequence(void)
{
    int byte = next_byte();
    if (byte == '[' || byte == 'O') {
        do {
            byte = next_byte();
        } while (byte != 0 && (byte < '@' || byte > '~'));
    }
}

int demo_terminal_key(void)
{
    if (!is_open) {
        return 0;
    }
    const int key = next_byte();
    if (key == ESCAPE) {
        skip_sequence();
        return 0;
    }
    return key;
}

static bool wait_for_room(void)
{
    struct pollfd room = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&room, 1, 1000) >= 0 && !is_stopped;
}

bool demo_terminal_write(const char* bytes, size_t size)
{
    while (size > 0) {
        const ssize_t written = write(STDOUT_FILENO, bytes, size);
        if (written > 0) {
            bytes += written;
            size -= (size_t)written;
        } else if (errno == EAGAIN) {
            if (!wait_for_room()) {
                return false;
            }
        } else if (errno != EINTR || is_stopped) {
            return false;
        }
    }
    return true;
}
