// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#ifndef PINHOLE_APP_JUDGE_COMMAND_H
#define PINHOLE_APP_JUDGE_COMMAND_H

// `pinhole judge`: the figures of `pinhole sim`, for what any program showed.
int judge_command(int argc, char** argv);

#endif
