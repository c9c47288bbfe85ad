// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// In place of the commands for worlds on several machines, where there is no libnats to build them with.

#include "bots_players.h"
#include "bus_options.h"
#include "cluster_command.h"
#include "command.h"
#include "director_command.h"
#include "serve_bus.h"
#include "sim_server_command.h"

static int complain(const char* command)
{
    bus_options_complain_missing(command);
    return APP_EXIT_FAILURE;
}

int sim_server_command(int argc, char** argv)
{
    (void)argc;
    (void)argv;
    return complain("pinhole sim-server");
}

int director_command(int argc, char** argv)
{
    (void)argc;
    (void)argv;
    return complain("pinhole director");
}

int cluster_command(int argc, char** argv)
{
    (void)argc;
    (void)argv;
    return complain("pinhole cluster");
}

bool bots_players_run(const bots_options* options)
{
    (void)options;
    return bus_options_complain_missing("pinhole bots --director");
}

serve_bus* serve_bus_open(const serve_bus_def* def, ph_fault* fault)
{
    (void)def;
    ph_fault_set(fault, 0, 0,
                 "this program was built without libnats (Debian: apt-get install libnats-dev)");
    return NULL;
}

void serve_bus_close(serve_bus* bus)
{
    (void)bus;
}

uint64_t serve_bus_first_tick_us(const serve_bus* bus)
{
    (void)bus;
    return 0;
}

void serve_bus_tell(serve_bus* bus, serve_metrics* metrics, bool is_quiet)
{
    (void)bus;
    (void)metrics;
    (void)is_quiet;
}

void serve_bus_empty(serve_bus* bus)
{
    (void)bus;
}

bool serve_bus_is_done(serve_bus* bus)
{
    (void)bus;
    return false;
}
