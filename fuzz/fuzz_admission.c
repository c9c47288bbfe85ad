// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Payloads of the admission: any bytes are read; what is accepted is written again and compared, and what
// is to be shown or logged is fit for that.

#include "support/fuzz_source.h"

#include "net/admission_wire.h"

#include <pinhole/text.h>

#include <string.h>

static void check_texts(const ph_admission* it)
{
    if (it->kind == PH_ADMISSION_SPARE) {
        fuzz_demand(it->offset + it->size <= it->spare_size && it->size <= PH_ADMISSION_PART_MAX);
        return; // is no text
    }
    for (size_t i = 0; i < it->size; ++i) {
        fuzz_demand(it->bytes[i] != 0x1B && it->bytes[i] != 0x7F);
        fuzz_demand(it->bytes[i] >= ' ' ||
                    (it->kind == PH_ADMISSION_PIECE && it->bytes[i] == '\n'));
    }
    if (it->kind == PH_ADMISSION_REFUSAL && it->size > 0) {
        fuzz_demand(ph_text_is_valid((const char*)it->bytes, it->size));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    ph_admission read;
    if (!ph_admission_read(data, size, &read)) {
        fuzz_demand(read.kind == 0 && read.bytes == NULL);
        return 0;
    }
    fuzz_demand(ph_admission_is(data, size));
    check_texts(&read);
    const bool is_other_version =
        read.version != PH_ADMISSION_VERSION &&
        (read.kind == PH_ADMISSION_JOIN || read.kind == PH_ADMISSION_WELCOME);
    if (!is_other_version) {
        uint8_t again[PH_ADMISSION_SIZE_MAX];
        fuzz_demand(ph_admission_write(&read, again) == size);
        fuzz_demand(memcmp(again, data, size) == 0);
    }
    return 0;
}
