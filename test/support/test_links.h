// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A simulated link for a test that is not about making one.

#ifndef PINHOLE_TEST_LINKS_H
#define PINHOLE_TEST_LINKS_H

#include "support/test_support.h"

#include <pinhole/link.h>

/// Fails the test when there is none.
static inline ph_link* test_link_create(const ph_link_def* def)
{
    ph_link* link = NULL;
    assert_int_equal(ph_link_create(def, &link), PH_OK);
    return link;
}

#endif
