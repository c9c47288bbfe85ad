// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole cluster`: a world on several machines, all of them on this one (docs/distributed.md).

#ifndef PH_APP_CLUSTER_COMMAND_H
#define PH_APP_CLUSTER_COMMAND_H

int cluster_command(int argc, char** argv);

#endif
