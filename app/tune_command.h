// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole tune`: learns a schema from recordings. docs/tuning.md.

#ifndef PH_APP_TUNE_COMMAND_H
#define PH_APP_TUNE_COMMAND_H

int tune_command(int argc, char** argv);

#endif
