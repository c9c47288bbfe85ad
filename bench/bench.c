// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole bench`: lists the benches, runs one.

#include "bench.h"

#include "command.h"
#include "options.h"
#include "timer.h"

#include <pinhole/base.h>

#include <stdio.h>
#include <string.h>

// Of every bench, and with those of its own.
enum { OWN_OPTIONS = 2, OPTIONS_MAX = 8 };

static const app_command benches[] = {
    {"bits", "bit writer and reader, integer codings, range coder: ns per field", bench_bits},
#if defined(PH_APP_BUS)
    {"bus", "a world on several machines: ns per record, at a sim and at a front-end", bench_bus},
#endif
    {"cubes", "the codec against the best: bytes per packet of a public challenge", bench_cubes},
    {"load", "a whole world of viewers: us per viewer and tick, by stage", bench_load},
#if defined(PH_APP_NET)
    {"net", "a server on a real network: us per datagram, by stage", bench_net},
#endif
    {"quality", "error over budget: classic, snapshot and pinhole on scenes and recordings",
     bench_quality},
    {"record", "what a recorder costs the tick of a game: ns per entity", bench_record},
    {"transfer", "from world to world, by cells: ns per record", bench_transfer},
    {"vision", "finding visible entities: ns per entity of upkeep, us per question", bench_vision},
    {0},
};

static int print_help(void)
{
    printf("pinhole bench: measure speed on this machine\n"
           "\n"
           "usage: pinhole bench NAME [options]\n"
           "\n"
           "benches:\n");
    app_command_print_list(benches, stdout);
    printf("\n"
           "Speed counts as a ratio inside one run: what is compared takes turns, and the best\n"
           "of several rounds is reported with its spread. Every bench takes --json.\n"
           "\n"
           "example: pinhole bench bits --json\n");
    return APP_EXIT_OK;
}

bool bench_options_parse(const bench_about* about, int argc, char** argv, bench_options* options,
                         int* status)
{
    *options = (bench_options){.rounds = about->rounds_default};
    app_option table[OPTIONS_MAX + 1] = {
        {.name = "--json",
         .summary = "one JSON object on standard output",
         .is_set = &options->is_json},
        {.name = "--rounds",
         .summary = "interleaved rounds; the best counts",
         .number = &options->rounds,
         .lo = 1,
         .hi = BENCH_ROUNDS_MAX},
    };
    for (int i = 0; about->more != NULL && about->more[i].name != NULL; ++i) {
        PH_ASSERT(OWN_OPTIONS + i < OPTIONS_MAX);
        table[OWN_OPTIONS + i] = about->more[i];
    }
    const app_parse parsed = app_options_parse(table, about->command, argc, argv);
    if (parsed == APP_PARSE_HELP) {
        printf("%s: %s\n\nusage: %s [options]\n\n", about->command, about->summary, about->command);
        about->print_text();
        printf("\noptions:\n");
        app_options_print(table);
        printf("\nexample: %s %s\n", about->command, about->example);
    }
    *status = parsed == APP_PARSE_WRONG ? APP_EXIT_USAGE : APP_EXIT_OK;
    return parsed == APP_PARSE_OK;
}

int bench_command(int argc, char** argv)
{
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        return print_help();
    }
    const app_command* bench = app_command_find(benches, argv[1]);
    if (bench == NULL) {
        return app_command_complain(benches, "bench", argv[1], "pinhole bench");
    }
    return bench->run(argc - 1, argv + 1);
}
