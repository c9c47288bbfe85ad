// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole director`: says which front-end a player goes to, and makes its tokens (docs/distributed.md).

#ifndef PH_APP_DIRECTOR_COMMAND_H
#define PH_APP_DIRECTOR_COMMAND_H

int director_command(int argc, char** argv);

#endif
