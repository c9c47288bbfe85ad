// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole sim-server`: simulates regions of a world on several machines (docs/distributed.md).

#ifndef PH_APP_SIM_SERVER_COMMAND_H
#define PH_APP_SIM_SERVER_COMMAND_H

int sim_server_command(int argc, char** argv);

#endif
