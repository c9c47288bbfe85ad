// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The client for WebAssembly: what pinhole.js calls. Numbers alone go in and out; what is longer lies in the
// module's memory, where JavaScript reads it. Times are milliseconds as performance.now() has them. Each
// viewer calls advance and list once per frame: some 100 ns for each entity.

#include <pinhole/client.h>
#include <pinhole/schema.h>
#include <pinhole/stats.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT(name) __attribute__((export_name(#name), visibility("default")))

// One row of the list: numbers of one entity. pinhole.js knows the order.
enum {
    ROW_INDEX = 0,  // of its id
    ROW_GENERATION, // of its id
    ROW_CLASS,
    ROW_KEY_LOW, // its key, 32 bits each
    ROW_KEY_HIGH,
    ROW_X, // mm
    ROW_Y,
    ROW_Z,
    ROW_HEADING, // degrees; NaN: its class has none
    ROW_SIZE
};

enum { TEXT_SIZE = 2048, NUMBER_COUNT = 32 };
_Static_assert(TEXT_SIZE > PH_PAYLOAD_MAX, "a datagram that is too long is recognised");

typedef struct web_client {
    ph_schema* schema;
    ph_client* client;
    double* rows; // of the last list
    int row_capacity;
    double numbers[NUMBER_COUNT]; // of the last event, property or statistics
    uint8_t text[TEXT_SIZE];      // the last text, ack or datagram
} web_client;

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

static ph_error last_error;

// Infinity, too, which is when no ack is due.
static uint64_t us_of(double ms)
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
        ph_client_destroy(web->client);
        ph_schema_destroy(web->schema);
        free(web->rows);
        free(web);
    }
}

static bool fill(web_client* web, const char* schema, size_t size, const ph_client_def* asked)
{
    ph_client_def def = *asked;
    if (ph_schema_parse(schema, size, NULL, &web->schema, &last_error) != PH_OK) {
        return false;
    }
    def.schema = web->schema;
    if (ph_client_create(&def, &web->client) != PH_OK) {
        return false;
    }
    web->row_capacity = def.slot_capacity;
    web->rows = calloc((size_t)def.slot_capacity * ROW_SIZE, sizeof *web->rows);
    return web->rows != NULL;
}

// @return NULL when it cannot be: error_text() says why.
web_client* web_open(const char* schema, size_t size, int profile, int slots, int delay_ms)
{
    last_error = (ph_error){.text = "there is no memory"};
    web_client* web = calloc(1, sizeof *web);
    ph_client_def def = ph_client_def_default();
    def.profile = (ph_profile)profile;
    def.slot_capacity = slots;
    def.interpolation_delay_ms = delay_ms;
    def.on_error = ph_error_keep;
    def.on_error_context = &last_error;
    if (web != NULL && !fill(web, schema, size, &def)) {
        web_close(web);
        return NULL;
    }
    return web;
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
    return TEXT_SIZE;
}

const char* web_error_text(void)
{
    return last_error.text;
}

// ---- bytes

// The datagram lies in text; one that has no room there is longer than any that is not refused. @return A ph_result.
int web_receive(web_client* web, double now_ms, size_t size)
{
    const size_t kept = size <= TEXT_SIZE ? size : TEXT_SIZE;
    return (int)ph_client_receive(web->client, us_of(now_ms), web->text, kept);
}

// @return Bytes of the ack in text; 0: none yet.
int web_write_ack(web_client* web, double now_ms)
{
    return (int)ph_client_write_ack(web->client, us_of(now_ms), web->text);
}

double web_ack_due_ms(const web_client* web)
{
    const uint64_t due_us = ph_client_ack_due_us(web->client);
    return due_us != UINT64_MAX ? (double)due_us / 1000.0 : (double)INFINITY;
}

// ---- what is there

static void put_id(double* row, ph_entity_id entity)
{
    row[ROW_INDEX] = entity.index1;
    row[ROW_GENERATION] = entity.generation;
}

static void put_key(double* row, uint64_t key)
{
    row[ROW_KEY_LOW] = (double)(uint32_t)key;
    row[ROW_KEY_HIGH] = (double)(uint32_t)(key >> 32);
}

// @return 1 + the ph_event_kind; 0: no event. numbers: id, class, key, and which properties came, twice 32 bits.
int web_poll(web_client* web)
{
    ph_event event;
    if (!ph_client_poll(web->client, &event)) {
        return 0;
    }
    put_id(web->numbers, event.entity);
    web->numbers[ROW_CLASS] = event.class_index;
    put_key(web->numbers, event.key);
    web->numbers[ROW_KEY_HIGH + 1] = (double)(uint32_t)event.properties;
    web->numbers[ROW_KEY_HIGH + 2] = (double)(uint32_t)(event.properties >> 32);
    return 1 + (int)event.kind;
}

void web_advance(web_client* web, double now_ms)
{
    ph_client_advance(web->client, us_of(now_ms));
}

static bool fill_row(const web_client* web, ph_entity_id entity, double* row)
{
    ph_pose pose;
    uint64_t key = 0;
    int class_index = 0;
    if (ph_client_identify(web->client, entity, &key, &class_index) != PH_OK ||
        ph_client_get_pose(web->client, entity, &pose) != PH_OK) {
        return false;
    }
    put_id(row, entity);
    row[ROW_CLASS] = class_index;
    put_key(row, key);
    memcpy(&row[ROW_X], pose.position_mm, sizeof pose.position_mm);
    row[ROW_HEADING] = pose.has_heading ? pose.heading_deg : (double)NAN;
    return true;
}

// All that is in view, a row each. @return How many.
int web_list(web_client* web)
{
    int count = 0;
    const int slots = ph_client_slot_count(web->client);
    for (int slot = 0; slot < slots && slot < web->row_capacity; ++slot) {
        const ph_entity_id entity = ph_client_entity_at(web->client, slot);
        count += entity.index1 != 0 && fill_row(web, entity, &web->rows[(size_t)count * ROW_SIZE]);
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
    return fill_row(web, entity, web->numbers);
}

int web_find(web_client* web, uint32_t key_low, uint32_t key_high)
{
    const uint64_t key = (uint64_t)key_high << 32 | key_low;
    const ph_entity_id entity = ph_client_find(web->client, key);
    return entity.index1 != 0 && fill_row(web, entity, web->numbers);
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
    if (ph_client_identify(web->client, entity, NULL, &class_index) != PH_OK) {
        return VALUE_NONE;
    }
    const ph_property_def* def = property_of(web, class_index, property);
    web_value value = {0};
    const ph_field field = def != NULL ? ph_coding_field(def->coding) : PH_FIELD_NONE;
    if (def == NULL || ph_client_get_property(web->client, entity, property, field, &value,
                                              ph_field_size(field, PH_TEXT_LENGTH_MAX)) != PH_OK) {
        return VALUE_NONE;
    }
    return put_value(web, field, &value);
}

// numbers: in the order that pinhole.js knows. @return How many.
int web_stats(web_client* web)
{
    const ph_client_stats stats = ph_client_get_stats(web->client);
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
        (double)ph_client_entity_count(web->client),
        (double)ph_client_slot_count(web->client),
    };
    memcpy(web->numbers, all, sizeof all);
    return (int)(sizeof all / sizeof all[0]);
}
