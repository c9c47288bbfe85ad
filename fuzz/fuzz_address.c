// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Addresses as text: what is read is printed so that it is read as the same again.

#include <pinhole/net/address.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    char* text = malloc(size + 1); // of its own size, so that a step too far is seen
    memcpy(text, data, size);
    text[size] = '\0';
    ph_address address;
    if (ph_address_parse(text, &address, NULL) == PH_OK) {
        char printed[PH_ADDRESS_TEXT_MAX];
        ph_address again;
        if (ph_address_parse(ph_address_print(&address, printed), &again, NULL) != PH_OK ||
            !ph_address_is_equal(&address, &again) || strlen(printed) >= PH_ADDRESS_TEXT_MAX) {
            abort();
        }
    }
    free(text);
    return 0;
}
