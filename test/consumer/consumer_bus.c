// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A C program outside the tree that uses libpinhole-bus. There is no nats-server: the sentence that says so counts.

#include <pinhole/bus/nats.h>

#include <stdio.h>
#include <string.h>

int main(void)
{
    ph_error error = {0};
    ph_nats_def def = ph_nats_def_default();
    def.servers = "nats://127.0.0.1:1";
    def.wait_ms = 10;
    def.on_error = ph_error_keep;
    def.on_error_context = &error;
    ph_nats* nats;
    const ph_result result = ph_nats_open(&def, &nats);
    printf("%s\n", error.text);
    return result == PH_ERROR_SYSTEM && nats == NULL && strstr(error.text, "127.0.0.1:1") ? 0 : 1;
}
