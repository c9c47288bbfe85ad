// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole demo`: one world through classic and through pinhole, live, in the terminal and on a page.

#ifndef PH_APP_DEMO_COMMAND_H
#define PH_APP_DEMO_COMMAND_H

int demo_command(int argc, char** argv);

#endif
