// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole demo`: a world shown to a few viewers through simulated links, told as a table.

#ifndef PH_APP_DEMO_H
#define PH_APP_DEMO_H

int demo_command(int argc, char** argv);

#endif
