// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The names of what bits are for, as tools print them. Runs when somebody looks.

#include "pinhole/packet.h"

const char* ph_reason_name(ph_reason reason)
{
    static const char* const names[] = {
        [PH_REASON_HEADER] = "header",   [PH_REASON_HELLO] = "hello",
        [PH_REASON_EYE] = "eye",         [PH_REASON_LEAVE] = "leave",
        [PH_REASON_ENTER] = "enter",     [PH_REASON_SLOT] = "slot",
        [PH_REASON_MASK] = "mask",       [PH_REASON_PROPERTY] = "property",
        [PH_REASON_PADDING] = "padding",
        [PH_REASON_RESERVED] = "reserved",
    };
    _Static_assert(sizeof names / sizeof names[0] == PH_REASON_COUNT, "a name for every reason");

    return reason >= 0 && reason < PH_REASON_COUNT ? names[reason] : "unknown";
}
