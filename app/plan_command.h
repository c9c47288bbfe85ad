// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole plan`: how many machines, cores, bytes and bits so many players need (docs/distributed.md).

#ifndef PH_APP_PLAN_COMMAND_H
#define PH_APP_PLAN_COMMAND_H

int plan_command(int argc, char** argv);

#endif
