// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#ifndef PINHOLE_APP_CONVERT_COMMAND_H
#define PINHOLE_APP_CONVERT_COMMAND_H

// `pinhole convert`: recordings from text into bytes and back.
int convert_command(int argc, char** argv);

#endif
