// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Which models there are, for whoever walks all tables. The tables themselves are made by a program
// and stand in a file of their own.

#include "wire/coded_tables.h"

const ph_coded_family_info ph_coded_families[PH_FAMILY_COUNT] = {
#define X(family, models, symbols) {#family, PH_AT_##family, (models), (symbols)},
    PH_CODED_FAMILIES(X)
#undef X
};
