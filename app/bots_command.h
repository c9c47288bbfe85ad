// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole bots`.

#ifndef PH_APP_BOTS_COMMAND_H
#define PH_APP_BOTS_COMMAND_H

int bots_command(int argc, char** argv);

#endif
