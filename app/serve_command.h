// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole serve`.

#ifndef PH_APP_SERVE_COMMAND_H
#define PH_APP_SERVE_COMMAND_H

int serve_command(int argc, char** argv);

#endif
