// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "net/host_state.h"

#include "base/check.h"

enum { INSECURE_EVERY_US = 60000000 };

static ph_check begin(const ph_host* host)
{
    return ph_check_begin(host->def.on_error, host->def.on_error_context, "ph_host_tick");
}

static void warn_insecure(ph_host* host, uint64_t now_us)
{
    uint64_t* told_us = &host->warnings.insecure_us;
    if (*told_us != 0 && now_us - *told_us < INSECURE_EVERY_US) {
        return;
    }
    *told_us = now_us > 0 ? now_us : 1;
    const ph_check call = begin(host);
    char address[PH_ADDRESS_TEXT_MAX];
    const ph_address local = ph_host_local_address(host);
    (void)ph_fail(&call, PH_OK, "ph_host_def.is_insecure_dev",
                  "is set: whoever reaches %s from this machine or a private network is let in, "
                  "without a token and under any client id; for development only",
                  ph_address_print(&local, address));
}

void ph_host_warn(ph_host* host, uint64_t now_us)
{
    if (host->def.is_insecure_dev) {
        warn_insecure(host, now_us);
    }
}
