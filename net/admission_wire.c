// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A few times per connection; nothing allocates.

#include "net/admission_wire.h"

#include "net/netcode_bytes.h"

#include <pinhole/packet.h>
#include <pinhole/text.h>

#include <inttypes.h>
#include <stdio.h>

enum {
    HEAD_SIZE = 2, // mark, kind
    JOIN_SIZE = HEAD_SIZE + 1 + 1 + 2 + 8 + 4,
    WELCOME_SIZE = HEAD_SIZE + 1 + 1 + 2 + 8 + 1 + 4 + 4,
    ASK_SIZE = HEAD_SIZE + 4,
    PIECE_HEAD_SIZE = HEAD_SIZE + 4,
    REFUSAL_HEAD_SIZE = HEAD_SIZE + 1,
    SPARE_HEAD_SIZE = HEAD_SIZE + 1 + 1 + 2 + 2,
    HAVE_SIZE = HEAD_SIZE + 1 + 1 + 1,
    FLAG_GROUND = 1,
    FLAG_CONTINUES = 2,
    SPARE_ASKS_MOVE = 1,
    SPARE_RENEWS = 2,
    SLOTS_MIN = 2,
    TICK_US_MIN = 1000,
    TICK_US_MAX = 10000000,
    WIRE_VERSION_MAX = 31,
};

// ---- writing

static uint8_t* put_common(uint8_t* at, const ph_admission* it)
{
    *at++ = it->version;
    *at++ = (uint8_t)((it->has_ground ? FLAG_GROUND : 0) | (it->continues ? FLAG_CONTINUES : 0));
    at = ph_put_number(at, it->slots, 2);
    return ph_put_u64(at, it->fingerprint);
}

size_t ph_admission_write(const ph_admission* admission, uint8_t bytes[PH_ADMISSION_SIZE_MAX])
{
    uint8_t* at = bytes;
    *at++ = PH_ADMISSION_MARK;
    *at++ = (uint8_t)admission->kind;
    switch (admission->kind) {
    case PH_ADMISSION_JOIN:
        at = ph_put_u32(put_common(at, admission), admission->wire_versions);
        break;
    case PH_ADMISSION_WELCOME:
        at = put_common(at, admission);
        *at++ = admission->wire_version;
        at = ph_put_u32(ph_put_u32(at, admission->tick_us), admission->schema_size);
        break;
    case PH_ADMISSION_ASK:
        at = ph_put_u32(at, admission->offset);
        break;
    case PH_ADMISSION_PIECE:
        PH_ASSERT(admission->size >= 1 && admission->size <= PH_ADMISSION_PIECE_MAX);
        at = ph_put_bytes(ph_put_u32(at, admission->offset), admission->bytes, admission->size);
        break;
    case PH_ADMISSION_REFUSAL:
        PH_ASSERT(admission->size <= PH_REFUSAL_TEXT_MAX);
        *at++ = admission->code;
        at = admission->size > 0 ? ph_put_bytes(at, admission->bytes, admission->size) : at;
        break;
    case PH_ADMISSION_SPARE:
        PH_ASSERT(admission->size >= 1 && admission->size <= PH_ADMISSION_PART_MAX);
        *at++ = admission->number;
        *at++ = (uint8_t)((admission->asks_move ? SPARE_ASKS_MOVE : 0) |
                          (admission->renews ? SPARE_RENEWS : 0));
        at = ph_put_number(at, admission->spare_size, 2);
        at = ph_put_number(at, admission->offset, 2);
        at = ph_put_bytes(at, admission->bytes, admission->size);
        break;
    case PH_ADMISSION_HAVE:
        *at++ = admission->number;
        *at++ = admission->parts;
        *at++ = admission->held;
        break;
    case PH_ADMISSION_PROBE:
    case PH_ADMISSION_ANSWER:
        break;
    }
    return (size_t)(at - bytes);
}

// ---- reading

// A later version may have more to say, and says it elsewhere.
static bool read_version(const uint8_t* bytes, size_t size, ph_admission* it)
{
    if (size <= HEAD_SIZE || bytes[HEAD_SIZE] == 0) {
        return false;
    }
    it->version = bytes[HEAD_SIZE];
    return true;
}

// Flags that this version does not have are 0.
static const uint8_t* take_common(const uint8_t* at, ph_admission* it)
{
    ++at; // the version
    const uint8_t flags = *at++;
    it->has_ground = (flags & FLAG_GROUND) != 0;
    it->continues = (flags & FLAG_CONTINUES) != 0;
    it->slots = (uint16_t)ph_number_at(at, 2);
    at = ph_take_u64(at + 2, &it->fingerprint);
    return flags <= (FLAG_GROUND | FLAG_CONTINUES) && it->slots >= SLOTS_MIN ? at : NULL;
}

static bool read_join(const uint8_t* bytes, size_t size, ph_admission* it)
{
    if (!read_version(bytes, size, it) || it->version != PH_ADMISSION_VERSION) {
        return it->version != 0;
    }
    const uint8_t* at = size == JOIN_SIZE ? take_common(bytes + HEAD_SIZE, it) : NULL;
    if (at == NULL) {
        return false;
    }
    ph_take_u32(at, &it->wire_versions);
    return it->wire_versions != 0 && (it->wire_versions & 1) == 0;
}

static bool read_welcome(const uint8_t* bytes, size_t size, ph_admission* it)
{
    if (!read_version(bytes, size, it) || it->version != PH_ADMISSION_VERSION) {
        return it->version != 0;
    }
    const uint8_t* at = size == WELCOME_SIZE ? take_common(bytes + HEAD_SIZE, it) : NULL;
    if (at == NULL) {
        return false;
    }
    it->wire_version = *at++;
    ph_take_u32(ph_take_u32(at, &it->tick_us), &it->schema_size);
    return it->wire_version >= 1 && it->wire_version <= WIRE_VERSION_MAX &&
           it->tick_us >= TICK_US_MIN && it->tick_us <= TICK_US_MAX && it->schema_size >= 1 &&
           it->schema_size <= PH_ADMISSION_SCHEMA_MAX;
}

// The text form of a schema is printable ASCII and line ends.
static bool is_schema_text(const uint8_t* bytes, size_t size)
{
    for (size_t i = 0; i < size; ++i) {
        if (bytes[i] != '\n' && (bytes[i] < ' ' || bytes[i] > '~')) {
            return false;
        }
    }
    return true;
}

static bool read_piece(const uint8_t* bytes, size_t size, ph_admission* it)
{
    if (size <= PIECE_HEAD_SIZE || size > PH_ADMISSION_SIZE_MAX) {
        return false;
    }
    it->bytes = ph_take_u32(bytes + HEAD_SIZE, &it->offset);
    it->size = size - PIECE_HEAD_SIZE;
    return it->offset < PH_ADMISSION_SCHEMA_MAX && is_schema_text(it->bytes, it->size);
}

static bool read_refusal(const uint8_t* bytes, size_t size, ph_admission* it)
{
    if (size < REFUSAL_HEAD_SIZE || size > REFUSAL_HEAD_SIZE + PH_REFUSAL_TEXT_MAX) {
        return false;
    }
    it->code = bytes[HEAD_SIZE];
    it->bytes = bytes + REFUSAL_HEAD_SIZE;
    it->size = size - REFUSAL_HEAD_SIZE;
    return it->code != PH_REFUSAL_NONE && ph_admission_is_sentence(it->bytes, it->size);
}

// Parts are whole: each but the last has the same size.
static bool read_spare(const uint8_t* bytes, size_t size, ph_admission* it)
{
    if (size <= SPARE_HEAD_SIZE) {
        return false;
    }
    const uint8_t* at = bytes + HEAD_SIZE;
    it->number = at[0];
    it->asks_move = (at[1] & SPARE_ASKS_MOVE) != 0;
    it->renews = (at[1] & SPARE_RENEWS) != 0;
    it->spare_size = (uint16_t)ph_number_at(at + 2, 2);
    it->offset = (uint32_t)ph_number_at(at + 4, 2);
    it->bytes = bytes + SPARE_HEAD_SIZE;
    it->size = size - SPARE_HEAD_SIZE;
    return it->number != 0 && at[1] <= (SPARE_ASKS_MOVE | SPARE_RENEWS) &&
           it->spare_size <= PH_ADMISSION_SPARE_MAX && it->offset < it->spare_size &&
           it->offset % PH_ADMISSION_PART_MAX == 0 &&
           it->size == ph_admission_part_size(it->spare_size, it->offset);
}

static bool read_have(const uint8_t* bytes, size_t size, ph_admission* it)
{
    if (size != HAVE_SIZE) {
        return false;
    }
    it->number = bytes[HEAD_SIZE];
    it->parts = bytes[HEAD_SIZE + 1];
    it->held = bytes[HEAD_SIZE + 2];
    return it->number != 0 || it->parts == 0;
}

static bool read_kind(const uint8_t* bytes, size_t size, ph_admission* it)
{
    switch (it->kind) {
    case PH_ADMISSION_JOIN:
        return read_join(bytes, size, it);
    case PH_ADMISSION_WELCOME:
        return read_welcome(bytes, size, it);
    case PH_ADMISSION_ASK:
        if (size != ASK_SIZE) {
            return false;
        }
        ph_take_u32(bytes + HEAD_SIZE, &it->offset);
        return it->offset < PH_ADMISSION_SCHEMA_MAX;
    case PH_ADMISSION_PIECE:
        return read_piece(bytes, size, it);
    case PH_ADMISSION_REFUSAL:
        return read_refusal(bytes, size, it);
    case PH_ADMISSION_SPARE:
        return read_spare(bytes, size, it);
    case PH_ADMISSION_HAVE:
        return read_have(bytes, size, it);
    case PH_ADMISSION_PROBE:
    case PH_ADMISSION_ANSWER:
        return size == HEAD_SIZE;
    }
    return false;
}

bool ph_admission_read(const uint8_t* bytes, size_t size, ph_admission* admission)
{
    *admission = (ph_admission){0};
    if (size < HEAD_SIZE || bytes[0] != PH_ADMISSION_MARK) {
        return false;
    }
    admission->kind = (ph_admission_kind)bytes[1];
    if (!read_kind(bytes, size, admission)) {
        *admission = (ph_admission){0};
        return false;
    }
    return true;
}

// ---- sentences

// U+0000..U+001F, U+007F, and as C2 80..C2 9F U+0080..U+009F.
static bool is_control(const uint8_t* bytes, size_t left)
{
    return bytes[0] < ' ' || bytes[0] == 0x7F ||
           (left >= 2 && bytes[0] == 0xC2 && bytes[1] >= 0x80 && bytes[1] < 0xA0);
}

bool ph_admission_is_sentence(const uint8_t* bytes, size_t size)
{
    for (size_t i = 0; i < size; ++i) {
        if (is_control(bytes + i, size - i)) {
            return false;
        }
    }
    return size == 0 || ph_text_is_valid((const char*)bytes, size);
}

size_t ph_admission_sentence(const char* text, uint8_t bytes[PH_REFUSAL_TEXT_MAX])
{
    size_t size = 0;
    for (; text[size] != '\0' && size < PH_REFUSAL_TEXT_MAX; ++size) {
        bytes[size] = (uint8_t)text[size];
        if (bytes[size] < ' ' || bytes[size] == 0x7F) {
            bytes[size] = '?';
        }
    }
    // Behind a whole character: at most three bytes are too many.
    for (int i = 0; i < 3 && size > 0 && !ph_admission_is_sentence(bytes, size); ++i) {
        --size;
    }
    return ph_admission_is_sentence(bytes, size) ? size : 0;
}

// ---- the ground

bool ph_admission_uses_ground(const ph_schema* schema, const ph_ground* ground)
{
    for (int c = 0; c < ph_schema_class_count(schema); ++c) {
        const ph_class_def* type = ph_schema_class(schema, c);
        for (int p = 0; p < type->property_count; ++p) {
            if (type->properties[p].ground_tolerance_mm > 0) {
                return ground->layers != NULL;
            }
        }
    }
    return false;
}

// ---- reasons

ph_refusal ph_admission_refusal(uint8_t code)
{
    return code < PH_REFUSAL_COUNT ? (ph_refusal)code : PH_REFUSAL_GAME;
}

const char* ph_refusal_name(ph_refusal refusal)
{
    static const char* const names[PH_REFUSAL_COUNT] = {
#define PH_REFUSAL_TEXT(name, text) [PH_REFUSAL_##name] = text,
        PH_REFUSALS(PH_REFUSAL_TEXT)
#undef PH_REFUSAL_TEXT
    };
    return (unsigned)refusal < PH_REFUSAL_COUNT ? names[refusal] : "unknown";
}

// ---- whether both ends go together

static void print_packets(int wire_version, char text[PH_REFUSAL_TEXT_MAX + 1])
{
    const char* profile = wire_version == PH_WIRE_VERSION_CLASSIC   ? "classic"
                          : wire_version == PH_WIRE_VERSION_PINHOLE ? "pinhole"
                                                                    : NULL;
    if (profile != NULL) {
        snprintf(text, PH_REFUSAL_TEXT_MAX + 1,
                 "packets: server writes the %s profile (wire version %d), client cannot read it",
                 profile, wire_version);
    } else {
        snprintf(text, PH_REFUSAL_TEXT_MAX + 1,
                 "packets: server writes wire version %d, client cannot read it", wire_version);
    }
}

ph_refusal ph_admission_find_misfit(const ph_admission* join, const ph_admission* welcome,
                                    char text[PH_REFUSAL_TEXT_MAX + 1])
{
    const size_t room = PH_REFUSAL_TEXT_MAX + 1;
    if (join->version != welcome->version) {
        snprintf(text, room, "admission: server version %d, client version %d", welcome->version,
                 join->version);
        return PH_REFUSAL_VERSION;
    }
    if ((join->wire_versions >> welcome->wire_version & 1) == 0) {
        print_packets(welcome->wire_version, text);
        return PH_REFUSAL_WIRE;
    }
    if (welcome->slots > join->slots) {
        snprintf(text, room,
                 "slots: server's view has %d, client can hold %d; raise slot_max of ph_peer_def, "
                 "or lower visible_max of the server's ph_viewer_def",
                 welcome->slots, join->slots);
        return PH_REFUSAL_SLOTS;
    }
    if (join->has_ground != welcome->has_ground) {
        snprintf(text, room,
                 "ground: server %s, client %s; ph_world_def.ground and ph_peer_def.ground must be "
                 "the same",
                 welcome->has_ground ? "has one" : "has none",
                 join->has_ground ? "has one" : "has none");
        return PH_REFUSAL_GROUND;
    }
    return PH_REFUSAL_NONE;
}

void ph_admission_print_fingerprints(uint64_t server, uint64_t client,
                                     char text[PH_REFUSAL_TEXT_MAX + 1])
{
    snprintf(text, PH_REFUSAL_TEXT_MAX + 1,
             "the schemas differ: server's fingerprint is %016" PRIx64 ", client's %016" PRIx64,
             server, client);
}
