// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Plays a world to a native client over a bad link, and prints all that goes in and all that comes out of it, a
// line each; test/check_web.mjs plays the same into the client of WebAssembly and wants the same to the last bit.
//
//     schema HEX | client PROFILE SLOTS DELAY_MS
//     datagram US RESULT HEX | ack US HEX | advance US
//     event KIND INDEX GENERATION KEY CLASS MASK
//     row INDEX GENERATION CLASS KEY X Y Z HEADING                      (numbers as their 64 bits)
//     numbers INDEX GENERATION CLASS PROPERTY COUNT BITS... | text ... HEX | bytes ... HEX | entity ... INDEX GENERATION
//     shown INDEX GENERATION PROPERTY BITS...
//     stats BITS...

#include <pinhole/pinhole.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WALKERS = 120, TICKS = 120, TICK_US = 100000, FRAME_US = 16667, SLOTS = 128 };

static const char SCHEMA[] = "class walker\n"
                             "    place: position\n"
                             "    heading: angle 8\n"
                             "    health: range 0..100\n"
                             "    speed: fixed 0..20 step 0.01 smooth\n"
                             "    name: string 31\n"
                             "    mark: bytes 8\n"
                             "    turn: quaternion 10 smooth\n"
                             "    drift: vec3 -10..10 step 0.1 smooth\n"
                             "    target: entity\n"
                             "class stone\n"
                             "    place: position\n";

static uint64_t draws = 88172645463325252u;

static uint32_t draw(uint32_t below)
{
    draws ^= draws << 13;
    draws ^= draws >> 7;
    draws ^= draws << 17;
    return (uint32_t)((draws >> 11) % below);
}

static void print_hex(const void* bytes, size_t size)
{
    for (size_t i = 0; i < size; ++i) {
        printf("%02x", ((const uint8_t*)bytes)[i]);
    }
    puts("");
}

static void print_bits(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    printf(" %016" PRIx64, bits);
}

static void must(ph_result result)
{
    if (result != PH_OK) {
        fprintf(stderr, "transcript: %s\n", ph_result_text(result));
        exit(1);
    }
}

// ---- the world

typedef struct stage {
    ph_schema* schema;
    ph_world* world;
    ph_viewer_id viewer;
    ph_client* client;
    ph_link* down;
    ph_link* up;
    uint64_t now_us;
} stage;

static void set(const stage* on, ph_entity_id walker, const char* name, ph_field field,
                const void* value, size_t size)
{
    const int property = ph_schema_find_property(on->schema, 0, name);
    must(ph_world_set_property(on->world, walker, property, field, value, size));
}

static void set_rarely_changed(const stage* on, ph_entity_id walker, uint32_t i, int tick)
{
    const int64_t health = draw(101);
    const double drift[3] = {draw(20) - 10.0, draw(20) - 10.0, draw(200) / 10.0 - 10.0};
    const double turn[4] = {sin(tick), 0.0, 0.0, cos(tick)};
    const double speed = draw(2000) / 100.0;
    const ph_entity_id target = ph_world_find(on->world, draw(WALKERS));
    struct {
        uint16_t length;
        uint8_t bytes[8];
    } mark = {.length = (uint16_t)draw(9), .bytes = {1, 2, 3, (uint8_t)tick, 255}};
    char name[32];
    snprintf(name, sizeof name, "w\xc3\xa4lker %u.%d", (unsigned)i, tick);
    set(on, walker, "health", PH_FIELD_I64, &health, sizeof health);
    set(on, walker, "drift", PH_FIELD_F64X3, drift, sizeof drift);
    set(on, walker, "turn", PH_FIELD_F64X4, turn, sizeof turn);
    set(on, walker, "speed", PH_FIELD_F64, &speed, sizeof speed);
    set(on, walker, "target", PH_FIELD_ENTITY, &target, sizeof target);
    set(on, walker, "mark", PH_FIELD_BYTES, &mark, sizeof mark);
    set(on, walker, "name", PH_FIELD_TEXT, name, sizeof name);
}

static void change(const stage* on, ph_entity_id walker, uint32_t i, int tick)
{
    const double angle = 0.03 * tick * (1 + i % 5) + i;
    const double radius_mm = 2000.0 * (1 + i % 60);
    must(ph_world_move(on->world, walker, (int64_t)(radius_mm * cos(angle)),
                       (int64_t)(radius_mm * sin(angle)), (int64_t)(i % 7) * 500));
    const double heading = fmod(angle * 57.29577951308232, 360.0);
    set(on, walker, "heading", PH_FIELD_F64, &heading, sizeof heading);
    if (draw(20) == 0) {
        set_rarely_changed(on, walker, i, tick);
    }
}

static void play(const stage* on, int tick)
{
    for (uint32_t i = 0; i < WALKERS; ++i) {
        const ph_entity_id walker = ph_world_find(on->world, i);
        if (walker.index1 == 0 && (tick == 0 || draw(30) == 0)) {
            const ph_spawn spawn = {.key = i, .position_mm = {1000 * (int64_t)i, 0, 0}};
            ph_entity_id made;
            must(ph_world_spawn(on->world, &spawn, &made));
        } else if (walker.index1 != 0 && i > 0 && draw(400) == 0) {
            must(ph_world_despawn(on->world, walker));
        } else if (walker.index1 != 0) {
            change(on, walker, i, tick);
        }
    }
    if (tick == 0) {
        const ph_spawn stone = {.class_index = 1, .key = UINT64_C(0xfedcba9876543210)};
        ph_entity_id made;
        must(ph_world_spawn(on->world, &stone, &made));
    }
    ph_world_tick(on->world);
}

static void deliver(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    (void)viewer;
    const stage* on = context;
    ph_link_send(on->down, on->now_us, bytes, size);
}

static void create(stage* on, ph_profile profile, int delay_ms)
{
    *on = (stage){.now_us = UINT64_C(5000000)};
    must(ph_schema_parse(SCHEMA, sizeof SCHEMA - 1, NULL, &on->schema, NULL));
    ph_world_def world = ph_world_def_default();
    world.schema = on->schema;
    world.profile = profile;
    world.tick_us = TICK_US;
    must(ph_world_create(&world, &on->world));
    ph_viewer_def viewer = ph_viewer_def_default();
    viewer.bits_per_second = 26000;
    viewer.visible_max = 100;
    viewer.slot_count = SLOTS;
    must(ph_world_add_viewer(on->world, &viewer, &on->viewer));
    ph_client_def client = ph_client_def_default();
    client.schema = on->schema;
    client.profile = profile;
    client.slot_capacity = SLOTS;
    client.interpolation_delay_ms = delay_ms;
    must(ph_client_create(&client, &on->client));
    ph_link_def link = {.seed = 7,
                        .key = 1,
                        .delay_us = 40000,
                        .jitter_us = 30000,
                        .loss = 0.1,
                        .duplication = 0.02};
    must(ph_link_create(&link, &on->down));
    link.key = 2;
    must(ph_link_create(&link, &on->up));
    printf("schema ");
    print_hex(SCHEMA, sizeof SCHEMA - 1);
    printf("client %d %d %d\n", (int)profile, SLOTS, delay_ms);
}

static void destroy(stage* on)
{
    ph_link_destroy(on->up);
    ph_link_destroy(on->down);
    ph_client_destroy(on->client);
    ph_world_destroy(on->world);
    ph_schema_destroy(on->schema);
}

// ---- the client: what goes in

static void receive(stage* on)
{
    uint8_t bytes[PH_PAYLOAD_MAX];
    while (ph_link_next_us(on->down) <= on->now_us) {
        const size_t size = ph_link_receive(on->down, on->now_us, bytes, sizeof bytes);
        if (draw(50) == 0) {
            bytes[draw((uint32_t)size)] ^=
                (uint8_t)(1u << draw(8)); // nothing that the transport would let through
        }
        const ph_result result = ph_client_receive(on->client, on->now_us, bytes, size);
        printf("datagram %" PRIu64 " %d ", on->now_us, (int)result);
        print_hex(bytes, size);
    }
    uint8_t ack[PH_ACK_SIZE];
    while (on->now_us >= ph_client_ack_due_us(on->client)) {
        const size_t size = ph_client_write_ack(on->client, on->now_us, ack);
        printf("ack %" PRIu64 " ", on->now_us);
        print_hex(ack, size);
        ph_link_send(on->up, on->now_us, ack, size);
    }
    while (ph_link_next_us(on->up) <= on->now_us) {
        const size_t size = ph_link_receive(on->up, on->now_us, ack, sizeof ack);
        ph_viewer_receive_ack(on->world, on->viewer, on->now_us, ack, size);
    }
}

// ---- what comes out

static void print_events(const stage* on)
{
    for (ph_event event; ph_client_poll(on->client, &event);) {
        printf("event %d %" PRIu32 " %" PRIu32 " %" PRIu64 " %d %" PRIx64 "\n", (int)event.kind,
               event.entity.index1, event.entity.generation, event.key, event.class_index,
               event.properties);
    }
}

static void print_row(const stage* on, ph_entity_id entity)
{
    uint64_t key = 0;
    int class_index = 0;
    ph_pose pose;
    must(ph_client_identify(on->client, entity, &key, &class_index));
    must(ph_client_get_pose(on->client, entity, &pose));
    printf("row %" PRIu32 " %" PRIu32 " %d %" PRIu64, entity.index1, entity.generation, class_index,
           key);
    for (int axis = 0; axis < 3; ++axis) {
        print_bits(pose.position_mm[axis]);
    }
    if (pose.has_heading) {
        print_bits(pose.heading_deg);
    } else {
        printf(" -");
    }
    puts("");
}

static void print_head(const char* kind, ph_entity_id entity, int property)
{
    printf("%s %" PRIu32 " %" PRIu32 " %d", kind, entity.index1, entity.generation, property);
}

static void print_text(const stage* on, ph_entity_id entity, int property, const char* kind)
{
    struct {
        uint16_t length;
        char text[PH_TEXT_LENGTH_MAX + 1];
    } value = {0};
    const bool is_text = strcmp(kind, "text") == 0;
    if (is_text) {
        must(ph_client_get_property(on->client, entity, property, PH_FIELD_TEXT, value.text,
                                    sizeof value.text));
    } else {
        must(ph_client_get_property(on->client, entity, property, PH_FIELD_BYTES, &value,
                                    sizeof value));
    }
    print_head(kind, entity, property);
    printf(" x");
    print_hex(value.text, is_text ? strlen(value.text) : value.length);
}

static void print_reals(const stage* on, ph_entity_id entity, int property, ph_field field,
                        int count)
{
    double numbers[4];
    must(ph_client_get_property(on->client, entity, property, field, numbers,
                                (size_t)count * sizeof numbers[0]));
    print_head("numbers", entity, property);
    for (int i = 0; i < count; ++i) {
        print_bits(numbers[i]);
    }
    puts("");
}

static void print_wholes(const stage* on, ph_entity_id entity, int property, ph_field field,
                         int count)
{
    int64_t wholes[3];
    must(ph_client_get_property(on->client, entity, property, field, wholes,
                                (size_t)count * sizeof wholes[0]));
    print_head("numbers", entity, property);
    for (int i = 0; i < count; ++i) {
        print_bits((double)wholes[i]);
    }
    puts("");
}

// Of a smooth property.
static void print_shown(const stage* on, ph_entity_id entity, int property, int count)
{
    double numbers[4];
    must(ph_client_get_shown(on->client, entity, property, numbers));
    print_head("shown", entity, property);
    for (int i = 0; i < count; ++i) {
        print_bits(numbers[i]);
    }
    puts("");
}

static void print_walker(const stage* on, ph_entity_id walker)
{
    print_wholes(on, walker, 0, PH_FIELD_I64X3, 3);
    print_reals(on, walker, 1, PH_FIELD_F64, 1);
    print_wholes(on, walker, 2, PH_FIELD_I64, 1);
    print_reals(on, walker, 3, PH_FIELD_F64, 1);
    print_text(on, walker, 4, "text");
    print_text(on, walker, 5, "bytes");
    print_reals(on, walker, 6, PH_FIELD_F64X4, 4);
    print_reals(on, walker, 7, PH_FIELD_F64X3, 3);
    print_shown(on, walker, 3, 1);
    print_shown(on, walker, 6, 4);
    print_shown(on, walker, 7, 3);
    ph_entity_id target;
    must(ph_client_get_property(on->client, walker, 8, PH_FIELD_ENTITY, &target, sizeof target));
    printf("entity %" PRIu32 " %" PRIu32 " 8 %" PRIu32 " %" PRIu32 "\n", walker.index1,
           walker.generation, target.index1, target.generation);
}

static void print_frame(const stage* on, bool has_values)
{
    print_events(on);
    ph_client_advance(on->client, on->now_us);
    printf("advance %" PRIu64 " %d\n", on->now_us, ph_client_entity_count(on->client));
    for (int slot = 0; slot < ph_client_slot_count(on->client); ++slot) {
        const ph_entity_id entity = ph_client_entity_at(on->client, slot);
        int class_index = -1;
        if (entity.index1 == 0) {
            continue;
        }
        print_row(on, entity);
        ph_client_identify(on->client, entity, NULL, &class_index);
        if (has_values && class_index == 0) {
            print_walker(on, entity);
        }
    }
}

static void print_stats(const stage* on)
{
    const ph_client_stats stats = ph_client_get_stats(on->client);
    printf("stats %" PRIu64 " %" PRIu64 " %" PRIu64, stats.received_datagrams,
           stats.applied_packets, stats.applied_updates);
    print_bits(stats.rtt_ms);
    print_bits(stats.loss);
    puts("");
}

int main(int argc, char** argv)
{
    const bool is_classic = argc > 1 && strcmp(argv[1], "classic") == 0;
    const bool is_delayed = argc > 2 && strcmp(argv[2], "delayed") == 0;
    stage on;
    create(&on, is_classic ? PH_PROFILE_CLASSIC : PH_PROFILE_PINHOLE, is_delayed ? 300 : 0);
    const uint64_t start_us = on.now_us;
    int tick = 0;
    for (int frame = 0; tick < TICKS; ++frame) {
        on.now_us = start_us + (uint64_t)frame * FRAME_US;
        for (; start_us + (uint64_t)tick * TICK_US <= on.now_us; ++tick) {
            play(&on, tick);
            ph_viewer_send(on.world, on.viewer, on.now_us, deliver, &on);
        }
        receive(&on);
        print_frame(&on, frame % 100 == 99);
    }
    print_stats(&on);
    destroy(&on);
    return 0;
}
