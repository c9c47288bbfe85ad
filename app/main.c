// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The pinhole program: finds the command and lets it run.

#include "command.h"

#include <pinhole/base.h>

#include <stdio.h>
#include <string.h>

static int print_help(FILE* file)
{
    fprintf(file, "pinhole: game state inside a strict bit budget\n"
                  "\n"
                  "usage: pinhole COMMAND [options]\n"
                  "       pinhole help COMMAND\n"
                  "       pinhole --help | --version\n"
                  "\n"
                  "commands:\n");
    app_command_print_list(app_commands, file);
    fprintf(file, "\n"
                  "example: pinhole sim scene:town\n");
    return APP_EXIT_OK;
}

static int print_version(void)
{
    printf("pinhole %s\n", ph_version());
    return APP_EXIT_OK;
}

// `pinhole help A B` is `pinhole A B --help`.
static int help_on(int argc, char** argv)
{
    const app_command* command = app_command_find(app_commands, argv[0]);
    if (command == NULL) {
        return app_command_complain(app_commands, "command", argv[0], "pinhole --help");
    }
    char help_option[] = "--help";
    char* inner[4] = {argv[0]};
    int count = 1;
    if (argc > 1) {
        inner[count++] = argv[1];
    }
    inner[count++] = help_option;
    return command->run(count, inner);
}

static int run(int argc, char** argv)
{
    if (argc < 2) {
        print_help(stderr); // the author of a script that gives no command wants to know
        return APP_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        return print_help(stdout);
    }
    if (strcmp(argv[1], "--version") == 0) {
        return print_version();
    }
    if (strcmp(argv[1], "help") == 0) {
        return argc == 2 ? print_help(stdout) : help_on(argc - 2, argv + 2);
    }
    const app_command* command = app_command_find(app_commands, argv[1]);
    if (command == NULL) {
        return app_command_complain(app_commands, "command", argv[1], "pinhole --help");
    }
    return command->run(argc - 1, argv + 1);
}

int main(int argc, char** argv)
{
    const int status = run(argc, argv);
    // A full disk or a closed pipe must not look like a success.
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "pinhole: cannot write to standard output.\n");
        return APP_EXIT_FAILURE;
    }
    return status;
}
