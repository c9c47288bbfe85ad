// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The client for WebAssembly: what pinhole.js calls. Numbers alone go in and out; what is longer lies in the
// module's memory, where JavaScript reads it. Times are milliseconds as performance.now() has them. Each
// viewer calls advance and list once per frame: some 100 ns for each entity.

#include "web/web_client.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(WEB_TEXT_SIZE > PH_PAYLOAD_MAX, "a datagram that is too long is recognised");

EXPORT(allocate) void* web_allocate(size_t size);
EXPORT(release) void web_release(void* memory);
EXPORT(open)
web_client* web_open(const char* schema, size_t size, int profile, int slots, int delay_ms);
EXPORT(close) void web_close(web_client* web);
EXPORT(numbers) double* web_numbers(web_client* web);
EXPORT(text) uint8_t* web_text(web_client* web);
EXPORT(text_size) int web_text_size(void);
EXPORT(error_text) const char* web_error_text(void);
EXPORT(receive) int web_receive(web_client* web, double now_ms, size_t size);
EXPORT(write_ack) int web_write_ack(web_client* web, double now_ms);
EXPORT(ack_due_ms) double web_ack_due_ms(const web_client* web);
EXPORT(poll) int web_poll(web_client* web);
EXPORT(advance) void web_advance(web_client* web, double now_ms);
EXPORT(list) int web_list(web_client* web);
EXPORT(rows) double* web_rows(web_client* web);
EXPORT(find) int web_find(web_client* web, uint32_t key_low, uint32_t key_high);
EXPORT(pose) int web_pose(web_client* web, uint32_t index1, uint32_t generation);
EXPORT(property)
int web_property(web_client* web, uint32_t index1, uint32_t generation, int property);
EXPORT(shown) int web_shown(web_client* web, uint32_t index1, uint32_t generation, int property);
EXPORT(describe) int web_describe(web_client* web, int class_index, int property);
EXPORT(stats) int web_stats(web_client* web);

// The C library would write files by these. Nothing does, and with them the module imports nothing.
int __imported_wasi_snapshot_preview1_fd_close(int file);
int __imported_wasi_snapshot_preview1_fd_seek(int file, long long offset, int whence, void* at);
int __imported_wasi_snapshot_preview1_fd_write(int file, const void* parts, int count, void* size);

enum { WASI_NO_SUCH_FILE = 8 };

int __imported_wasi_snapshot_preview1_fd_close(int file)
{
    (void)file;
    return WASI_NO_SUCH_FILE;
}

int __imported_wasi_snapshot_preview1_fd_seek(int file, long long offset, int whence, void* at)
{
    (void)file;
    (void)offset;
    (void)whence;
    (void)at;
    return WASI_NO_SUCH_FILE;
}

int __imported_wasi_snapshot_preview1_fd_write(int file, const void* parts, int count, void* size)
{
    (void)file;
    (void)parts;
    (void)count;
    (void)size;
    return WASI_NO_SUCH_FILE;
}

ph_error web_last_error;

// Infinity, too, which is when no ack is due.
uint64_t web_us_of(double ms)
{
    const double most_ms = 1e15; // 31,000 years
    return ms > 0.0 ? (uint64_t)((ms < most_ms ? ms : most_ms) * 1000.0 + 0.5) : 0;
}

// ---- memory

void* web_allocate(size_t size)
{
    return malloc(size);
}

void web_release(void* memory)
{
    free(memory);
}

void web_close(web_client* web)
{
    if (web != NULL) {
        if (web->state != NULL) {
            web->calls->destroy(web->state);
        }
        ph_schema_destroy(web->schema);
        free(web->rows);
        free(web);
    }
}

web_client* web_client_open(const char* schema, size_t size, int slots)
{
    web_last_error = (ph_error){.text = "there is no memory"};
    web_client* web = calloc(1, sizeof *web);
    if (web == NULL) {
        return NULL;
    }
    if (ph_schema_parse(schema, size, NULL, &web->schema, &web_last_error) != PH_OK) {
        web_close(web);
        return NULL;
    }
    web->row_capacity = slots > 0 ? slots : 0;
    web->rows = calloc((size_t)web->row_capacity * WEB_ROW_SIZE, sizeof *web->rows);
    if (web->rows == NULL) {
        web_close(web);
        return NULL;
    }
    return web;
}

web_client* web_client_finish(web_client* web, const web_calls* calls, void* state)
{
    web->calls = calls;
    web->state = state;
    if (state == NULL) {
        web_close(web);
        return NULL;
    }
    return web;
}

// ---- the library's client

static void profile_destroy(void* state)
{
    ph_client_destroy(state);
}

static ph_result profile_receive(void* state, uint64_t now_us, const void* bytes, size_t size)
{
    return ph_client_receive(state, now_us, bytes, size);
}

static size_t profile_write_ack(void* state, uint64_t now_us, uint8_t* bytes)
{
    return ph_client_write_ack(state, now_us, bytes);
}

static uint64_t profile_ack_due_us(const void* state)
{
    return ph_client_ack_due_us(state);
}

static bool profile_poll(void* state, ph_event* event)
{
    return ph_client_poll(state, event);
}

static void profile_advance(void* state, uint64_t now_us)
{
    ph_client_advance(state, now_us);
}

static int profile_slot_count(const void* state)
{
    return ph_client_slot_count(state);
}

static ph_entity_id profile_entity_at(const void* state, int slot)
{
    return ph_client_entity_at(state, slot);
}

static ph_entity_id profile_find(const void* state, uint64_t key)
{
    return ph_client_find(state, key);
}

static ph_result profile_identify(const void* state, ph_entity_id entity, uint64_t* key,
                                  int* class_index)
{
    return ph_client_identify(state, entity, key, class_index);
}

static ph_result profile_get_pose(const void* state, ph_entity_id entity, ph_pose* pose)
{
    return ph_client_get_pose(state, entity, pose);
}

static ph_result profile_get_property(const void* state, ph_entity_id entity, int property,
                                      ph_field field, void* value, size_t size)
{
    return ph_client_get_property(state, entity, property, field, value, size);
}

static ph_result profile_get_shown(const void* state, ph_entity_id entity, int property,
                                   double* numbers)
{
    return ph_client_get_shown(state, entity, property, numbers);
}

static ph_client_stats profile_get_stats(const void* state)
{
    return ph_client_get_stats(state);
}

static const web_calls PROFILE_CALLS = {
    .destroy = profile_destroy,
    .receive = profile_receive,
    .write_ack = profile_write_ack,
    .ack_due_us = profile_ack_due_us,
    .poll = profile_poll,
    .advance = profile_advance,
    .slot_count = profile_slot_count,
    .entity_at = profile_entity_at,
    .find = profile_find,
    .identify = profile_identify,
    .get_pose = profile_get_pose,
    .get_property = profile_get_property,
    .get_shown = profile_get_shown,
    .get_stats = profile_get_stats,
};

web_client* web_client_open_profile(const char* schema, size_t size, const ph_client_def* asked)
{
    web_client* web = web_client_open(schema, size, asked->slot_capacity);
    if (web == NULL) {
        return NULL;
    }
    ph_client_def def = *asked;
    def.schema = web->schema;
    def.on_error = ph_error_keep;
    def.on_error_context = &web_last_error;
    ph_client* client = NULL;
    (void)ph_client_create(&def, &client); // NULL when it was refused
    return web_client_finish(web, &PROFILE_CALLS, client);
}

// @return NULL when it cannot be: error_text() says why.
web_client* web_open(const char* schema, size_t size, int profile, int slots, int delay_ms)
{
    ph_client_def def = ph_client_def_default();
    def.profile = (ph_profile)profile;
    def.slot_capacity = slots;
    def.interpolation_delay_ms = delay_ms;
    return web_client_open_profile(schema, size, &def);
}

double* web_numbers(web_client* web)
{
    return web->numbers;
}

uint8_t* web_text(web_client* web)
{
    return web->text;
}

int web_text_size(void)
{
    return WEB_TEXT_SIZE;
}

const char* web_error_text(void)
{
    return web_last_error.text;
}

// ---- bytes

// The datagram lies in text; one that has no room there is longer than any that is not refused. @return A ph_result.
int web_receive(web_client* web, double now_ms, size_t size)
{
    const size_t kept = size <= WEB_TEXT_SIZE ? size : WEB_TEXT_SIZE;
    return (int)web->calls->receive(web->state, web_us_of(now_ms), web->text, kept);
}

// @return Bytes of the ack in text; 0: none yet.
int web_write_ack(web_client* web, double now_ms)
{
    return (int)web->calls->write_ack(web->state, web_us_of(now_ms), web->text);
}

double web_ack_due_ms(const web_client* web)
{
    const uint64_t due_us = web->calls->ack_due_us(web->state);
    return due_us != UINT64_MAX ? (double)due_us / 1000.0 : (double)INFINITY;
}

// ---- what is there

static void put_id(double* row, ph_entity_id entity)
{
    row[WEB_ROW_INDEX] = entity.index1;
    row[WEB_ROW_GENERATION] = entity.generation;
}

static void put_key(double* row, uint64_t key)
{
    row[WEB_ROW_KEY_LOW] = (double)(uint32_t)key;
    row[WEB_ROW_KEY_HIGH] = (double)(uint32_t)(key >> 32);
}

// @return 1 + the ph_event_kind; 0: no event. numbers: id, class, key, and which properties came, twice 32 bits.
int web_poll(web_client* web)
{
    ph_event event;
    if (!web->calls->poll(web->state, &event)) {
        return 0;
    }
    put_id(web->numbers, event.entity);
    web->numbers[WEB_ROW_CLASS] = event.class_index;
    put_key(web->numbers, event.key);
    web->numbers[WEB_ROW_KEY_HIGH + 1] = (double)(uint32_t)event.properties;
    web->numbers[WEB_ROW_KEY_HIGH + 2] = (double)(uint32_t)(event.properties >> 32);
    return 1 + (int)event.kind;
}

void web_advance(web_client* web, double now_ms)
{
    web->calls->advance(web->state, web_us_of(now_ms));
}

static void put_rotation(double* row, const ph_pose* pose)
{
    const ph_quaternion* q = &pose->rotation;
    const double parts[4] = {q->x, q->y, q->z, q->w};
    for (int k = 0; k < 4; ++k) {
        row[k] = pose->has_rotation ? parts[k] : (double)NAN;
    }
}

bool web_client_fill_row(const web_client* web, ph_entity_id entity, double* row)
{
    ph_pose pose;
    uint64_t key = 0;
    int class_index = 0;
    if (web->calls->identify(web->state, entity, &key, &class_index) != PH_OK ||
        web->calls->get_pose(web->state, entity, &pose) != PH_OK) {
        return false;
    }
    put_id(row, entity);
    row[WEB_ROW_CLASS] = class_index;
    put_key(row, key);
    memcpy(&row[WEB_ROW_X], pose.position_mm, sizeof pose.position_mm);
    row[WEB_ROW_HEADING] = pose.has_heading ? pose.heading_deg : (double)NAN;
    put_rotation(&row[WEB_ROW_QX], &pose);
    return true;
}

// All that is in view, a row each. @return How many.
int web_list(web_client* web)
{
    int count = 0;
    const int slots = web->calls->slot_count(web->state);
    for (int slot = 0; slot < slots && slot < web->row_capacity; ++slot) {
        const ph_entity_id entity = web->calls->entity_at(web->state, slot);
        count += entity.index1 != 0 &&
                 web_client_fill_row(web, entity, &web->rows[(size_t)count * WEB_ROW_SIZE]);
    }
    return count;
}

double* web_rows(web_client* web)
{
    return web->rows;
}

// numbers: as a row. @return Whether it is in view.
int web_pose(web_client* web, uint32_t index1, uint32_t generation)
{
    const ph_entity_id entity = {.index1 = index1, .generation = generation};
    return web_client_fill_row(web, entity, web->numbers);
}

int web_find(web_client* web, uint32_t key_low, uint32_t key_high)
{
    const uint64_t key = (uint64_t)key_high << 32 | key_low;
    const ph_entity_id entity = web->calls->find(web->state, key);
    return entity.index1 != 0 && web_client_fill_row(web, entity, web->numbers);
}

// ---- properties

static const ph_property_def* property_of(const web_client* web, int class_index, int property)
{
    if (class_index < 0 || class_index >= ph_schema_class_count(web->schema)) {
        return NULL;
    }
    const ph_class_def* kind = ph_schema_class(web->schema, class_index);
    return property >= 0 && property < kind->property_count ? &kind->properties[property] : NULL;
}

// text: the name of the class when property is -1, else of the property. @return Its length; -1: there is none.
int web_describe(web_client* web, int class_index, int property)
{
    if (class_index < 0 || class_index >= ph_schema_class_count(web->schema)) {
        return -1;
    }
    const ph_property_def* found = property_of(web, class_index, property);
    if (property >= 0 && found == NULL) {
        return -1;
    }
    const char* name =
        property >= 0 ? found->name : ph_schema_class(web->schema, class_index)->name;
    const size_t length = strlen(name);
    memcpy(web->text, name, length);
    return (int)length;
}

// What a value is for JavaScript.
enum { VALUE_NONE = 0, VALUE_NUMBERS = 1, VALUE_TEXT = 2, VALUE_BYTES = 3, VALUE_ENTITY = 4 };

typedef union web_value {
    double numbers[4];
    int64_t wholes[3];
    ph_entity_id entity;
    char text[PH_TEXT_LENGTH_MAX + 1];
    struct {
        uint16_t length;
        uint8_t bytes[PH_TEXT_LENGTH_MAX];
    } counted;
} web_value;

static int put_bytes(web_client* web, const void* bytes, size_t length, int kind)
{
    memcpy(web->text, bytes, length);
    web->numbers[0] = (double)length;
    return kind;
}

// Whole numbers lie within PH_WHOLE_MAX, as far as a double counts without gaps.
static int put_numbers(web_client* web, ph_field field, const web_value* value)
{
    const int count = (int)(ph_field_size(field, 0) / sizeof(double));
    const bool is_whole = field == PH_FIELD_I64 || field == PH_FIELD_I64X3;
    web->numbers[0] = count;
    for (int i = 0; i < count; ++i) {
        web->numbers[1 + i] = is_whole ? (double)value->wholes[i] : value->numbers[i];
    }
    return VALUE_NUMBERS;
}

static int put_value(web_client* web, ph_field field, const web_value* value)
{
    switch (field) {
    case PH_FIELD_TEXT:
        return put_bytes(web, value->text, strlen(value->text), VALUE_TEXT);
    case PH_FIELD_BYTES:
        return put_bytes(web, value->counted.bytes, value->counted.length, VALUE_BYTES);
    case PH_FIELD_ENTITY:
        put_id(web->numbers, value->entity);
        return VALUE_ENTITY;
    default:
        return put_numbers(web, field, value);
    }
}

// @return Which of the VALUE_ it is. NUMBERS: numbers has how many, then they; TEXT, BYTES: text has it, numbers the
// length; ENTITY: numbers has the id, {0} for none.
int web_property(web_client* web, uint32_t index1, uint32_t generation, int property)
{
    const ph_entity_id entity = {.index1 = index1, .generation = generation};
    int class_index = -1;
    if (web->calls->identify(web->state, entity, NULL, &class_index) != PH_OK) {
        return VALUE_NONE;
    }
    const ph_property_def* def = property_of(web, class_index, property);
    web_value value = {0};
    const ph_field field = def != NULL ? ph_coding_field(def->coding) : PH_FIELD_NONE;
    if (def == NULL ||
        web->calls->get_property(web->state, entity, property, field, &value,
                                 ph_field_size(field, PH_TEXT_LENGTH_MAX)) != PH_OK) {
        return VALUE_NONE;
    }
    return put_value(web, field, &value);
}

// What is shown of a smooth property at the moment of the last advance. @return As web_property(): NUMBERS, or NONE
// when it is not smooth.
int web_shown(web_client* web, uint32_t index1, uint32_t generation, int property)
{
    const ph_entity_id entity = {.index1 = index1, .generation = generation};
    int class_index = -1;
    if (web->calls->identify(web->state, entity, NULL, &class_index) != PH_OK) {
        return VALUE_NONE;
    }
    const ph_property_def* def = property_of(web, class_index, property);
    if (def == NULL || !def->is_smooth ||
        web->calls->get_shown(web->state, entity, property, web->numbers + 1) != PH_OK) {
        return VALUE_NONE;
    }
    web->numbers[0] = (double)(ph_field_size(ph_coding_field(def->coding), 0) / sizeof(double));
    return VALUE_NUMBERS;
}

static int count_entities(const web_client* web)
{
    int count = 0;
    const int slots = web->calls->slot_count(web->state);
    for (int slot = 0; slot < slots; ++slot) {
        count += web->calls->entity_at(web->state, slot).index1 != 0;
    }
    return count;
}

// numbers: in the order that pinhole.js knows. @return How many.
int web_stats(web_client* web)
{
    const ph_client_stats stats = web->calls->get_stats(web->state);
    double refused = 0.0;
    for (int reason = 0; reason < PH_CLIENT_REFUSAL_COUNT; ++reason) {
        refused += (double)stats.refused_datagrams[reason];
    }
    const double all[] = {
        (double)stats.received_datagrams,
        (double)stats.received_bytes,
        (double)stats.applied_packets,
        (double)stats.received_probes,
        refused,
        (double)stats.applied_enters,
        (double)stats.applied_leaves,
        (double)stats.applied_updates,
        stats.received_kbps,
        stats.loss,
        stats.rtt_ms,
        (double)stats.newest_sequence,
        (double)stats.newest_tick,
        (double)stats.tick_us,
        (double)count_entities(web),
        (double)web->calls->slot_count(web->state),
    };
    memcpy(web->numbers, all, sizeof all);
    return (int)(sizeof all / sizeof all[0]);
}
