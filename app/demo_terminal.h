// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The terminal that the demo draws on: its size, its colours, its keys, and that it is as before when the
// demo ends, however that happens. There is one in a process, as there is one terminal.

#ifndef PH_APP_DEMO_TERMINAL_H
#define PH_APP_DEMO_TERMINAL_H

#include "demo_canvas.h"

// Whether standard output is a terminal that can be drawn on.
bool demo_terminal_is_there(void);

// What the environment says: NO_COLOR, COLORTERM, TERM.
demo_colours demo_terminal_colours(void);

// Takes the screen: an alternate one, without cursor; keys come at once and are not shown. SIGTERM, SIGINT and SIGHUP
// ask the demo to stop, whether there is a screen or not; Ctrl-Z gives it back until `fg`.
void demo_terminal_hear_signals(void);
bool demo_terminal_open(void);
void demo_terminal_close(void); // any number of times

// A signal has asked for the end.
bool demo_terminal_is_stopped(void);

// Since this was last asked: the size may have changed, or the screen was away.
bool demo_terminal_take_change(void);
void demo_terminal_get_size(int* width, int* height);

// The next key, or 0: letters, ' ', '+' and so on. What other keys send is left out.
int demo_terminal_key(void);

// All at once; waits until the terminal has taken it. @return False when it has gone.
bool demo_terminal_write(const char* bytes, size_t size);

#endif
