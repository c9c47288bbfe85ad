// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The parts of a deployment on one machine, as commands that cluster_stage starts.

#ifndef PH_APP_CLUSTER_DEPLOYMENT_H
#define PH_APP_CLUSTER_DEPLOYMENT_H

#include "cluster_stage.h"

// Three nats-servers that know of each other, with their files in the stage's folder.
// @return False with *fault filled: there is no free port, or a file cannot be written.
bool cluster_add_nats(cluster_stage* stage, ph_fault* fault);

// Sims, front-ends, the director, the bots. The nats-servers have been added, the truth is open.
void cluster_add_programs(cluster_stage* stage);

#endif
