// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A program outside the tree that misuses the library: it receives five bytes into three. The library with assertions
// ends it; the one without cuts the rest off.

#include <pinhole/link.h>

#include <stdio.h>

int main(void)
{
    const ph_link_def def = {0};
    ph_link* link;
    char bytes[3];
    if (ph_link_create(&def, &link) != PH_OK || ph_link_send(link, 0, "three", 5) != PH_OK) {
        return 1;
    }
    const size_t size = ph_link_receive(link, 0, bytes, sizeof bytes);
    ph_link_destroy(link);
    printf("%zu bytes, no assertion\n", size);
    return size == sizeof bytes ? 0 : 1;
}
