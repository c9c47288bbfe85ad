// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole token`.

#ifndef PH_APP_TOKEN_COMMAND_H
#define PH_APP_TOKEN_COMMAND_H

int token_command(int argc, char** argv);

#endif
