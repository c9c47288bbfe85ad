// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One colour per profile, wherever one is drawn: plots, the terminal, and web/ (its style sheet has
// the same numbers). Told apart on white and on black, and by those who tell colours badly.

#ifndef PINHOLE_KIT_PROFILE_COLOURS_H
#define PINHOLE_KIT_PROFILE_COLOURS_H

#include <stddef.h>
#include <string.h>

#define PH_COLOUR_CLASSIC "#d95f02"
#define PH_COLOUR_SNAPSHOT "#7570b3"
#define PH_COLOUR_PINHOLE "#1b9e77"

// @return "#rrggbb", or NULL for what is no profile.
static inline const char* ph_profile_colour(const char* profile)
{
    return strcmp(profile, "classic") == 0    ? PH_COLOUR_CLASSIC
           : strcmp(profile, "snapshot") == 0 ? PH_COLOUR_SNAPSHOT
           : strcmp(profile, "pinhole") == 0  ? PH_COLOUR_PINHOLE
                                              : NULL;
}

#endif
