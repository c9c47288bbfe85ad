// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#ifndef PH_APP_SOAK_COMMAND_H
#define PH_APP_SOAK_COMMAND_H

// A whole deployment on simulated time, judged after every step.
int soak_command(int argc, char** argv);

#endif
