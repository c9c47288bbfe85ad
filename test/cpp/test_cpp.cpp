// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The C++ headers: a whole session, members of every type that can be bound, owners that move and end, creates that
// fail, callables in place of functions. Leaks and double frees are found by AddressSanitizer in build/debug.

#include <pinhole/net/net.hpp>
#include <pinhole/pinhole.hpp>

#include <array>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>
#include <setjmp.h>
#include <unordered_set>
#include <utility>

extern "C" {
#include <cmocka.h>
}

// cmocka casts by the rules of C, which an explicit operator bool does not follow. Variadic: arguments of templates have
// commas.
#define CHECK(...) assert_true(static_cast<bool>(__VA_ARGS__))

// ---- what C++ allocates by itself

static int new_count;

void* operator new(std::size_t size)
{
    ++new_count;
    void* memory = std::malloc(size > 0 ? size : 1);
    if (memory == nullptr) {
        std::abort();
    }
    return memory;
}

void operator delete(void* memory) noexcept
{
    std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept
{
    std::free(memory);
}

// ---- a struct with everything that can be bound

enum class mood : std::uint8_t { calm, cross, furious };

struct own_vector {
    float x, y, z;
};

template <> struct pinhole::field_of<own_vector> : pinhole::field_as<own_vector, float[3]> {
};

struct creature {
    int not_bound = 77;
    std::int64_t place_mm[3] = {};
    bool is_armed = false;
    mood feels = mood::calm;
    std::int8_t i8 = 0;
    std::int16_t i16 = 0;
    std::int32_t i32 = 0;
    std::int64_t i64 = 0;
    std::uint8_t u8 = 0;
    std::uint16_t u16 = 0;
    std::uint32_t u32 = 0;
    std::uint64_t u64 = 0;
    long plain_long = 0;
    float heading_deg = 0.0f;
    double health = 0.0;
    std::int32_t cell[3] = {};
    float speed[3] = {};
    std::array<double, 3> wind = {};
    own_vector aim = {};
    float turn[4] = {0.0f, 0.0f, 0.0f, 1.0f};
    double spin[4] = {0.0, 0.0, 0.0, 1.0};
    char name[16] = {};
    pinhole::byte_string<5> badge = {};
    pinhole::entity_id target;
    ph_entity_id friend_of = {};
};

static pinhole::class_builder<creature> creature_class()
{
    return pinhole::class_builder<creature>("creature")
        .position("place", &creature::place_mm)
        .property("armed", &creature::is_armed)
        .enumeration("feels", &creature::feels, 3)
        .arithmetic()
        .range("i8", &creature::i8, -100, 100)
        .varint("i16", &creature::i16)
        .two_bit("i32", &creature::i32)
        .property("i64", &creature::i64)
        .boolean("u8", &creature::u8)
        .gamma("u16", &creature::u16)
        .rice("u32", &creature::u32, 4)
        .within(0, 5000)
        .varint("u64", &creature::u64)
        .property("plain_long", &creature::plain_long)
        .angle("heading", &creature::heading_deg, 8)
        .significant(5)
        .distance_m(200)
        .fixed("health", &creature::health, 0, 100, 0.5)
        .default_value(100)
        .vec3("cell", &creature::cell, -8, 8, 1)
        .vec3("speed", &creature::speed, -16, 16, 0.25)
        .z(-2, 2)
        .vec3("wind", &creature::wind, -1, 1, 0.125)
        .weight(2)
        .vec3("aim", &creature::aim, 0, 4, 0.5)
        .quaternion("turn", &creature::turn)
        .quaternion("spin", &creature::spin, 12)
        .string("name", &creature::name)
        .once()
        .bytes("badge", &creature::badge)
        .entity("target", &creature::target)
        .property("friend", &creature::friend_of);
}

struct banana {
    std::int32_t place_mm[3];
    std::uint8_t age_s;
};

static pinhole::class_builder<banana, 3> banana_class()
{
    return pinhole::class_builder<banana, 3>("banana")
        .position("place", &banana::place_mm)
        .window(16, 16)
        .range("age", &banana::age_s, 0, 60)
        .smooth()
        .owner_only()
        .add(ph_property_bool("ripe"));
}

static creature drawn_creature(pinhole::entity_id target)
{
    creature c;
    c.place_mm[0] = 16000;
    c.place_mm[1] = -32000;
    c.place_mm[2] = 1600;
    c.is_armed = true;
    c.feels = mood::furious;
    c.i8 = -77;
    c.i16 = -1234;
    c.i32 = 123456;
    c.i64 = -(INT64_C(1) << 40);
    c.u8 = 1;
    c.u16 = 54321;
    c.u32 = 4711;
    c.u64 = UINT64_C(1) << 50;
    c.plain_long = -99;
    c.heading_deg = 90.0f;
    c.health = 37.5;
    c.cell[2] = -7;
    c.speed[0] = -15.75f;
    c.speed[2] = 1.5f;
    c.wind = {{0.125, -0.5, 1.0}};
    c.aim = {0.5f, 2.0f, 3.5f};
    c.turn[2] = 1.0f;
    c.turn[3] = 0.0f;
    c.spin[0] = 1.0;
    c.spin[3] = 0.0;
    std::strcpy(c.name, "Aya");
    c.badge.length = 3;
    c.badge.bytes[0] = 200;
    c.badge.bytes[2] = 7;
    c.target = target;
    c.friend_of = target;
    return c;
}

// References are compared by the caller: ids of a world are not those of its clients.
static void assert_same(const creature& a, const creature& b)
{
    assert_memory_equal(a.place_mm, b.place_mm, sizeof a.place_mm);
    CHECK(a.is_armed == b.is_armed && a.feels == b.feels);
    CHECK(a.i8 == b.i8 && a.i16 == b.i16 && a.i32 == b.i32 && a.i64 == b.i64);
    CHECK(a.u8 == b.u8 && a.u16 == b.u16 && a.u32 == b.u32 && a.u64 == b.u64);
    CHECK(a.plain_long == b.plain_long);
    assert_memory_equal(&a.heading_deg, &b.heading_deg, sizeof a.heading_deg);
    assert_memory_equal(&a.health, &b.health, sizeof a.health);
    assert_memory_equal(a.cell, b.cell, sizeof a.cell);
    assert_memory_equal(a.speed, b.speed, sizeof a.speed);
    assert_memory_equal(&a.wind, &b.wind, sizeof a.wind);
    assert_memory_equal(&a.aim, &b.aim, sizeof a.aim);
    for (int i = 0; i < 4; ++i) {
        CHECK(a.turn[i] - b.turn[i] < 0.01f && b.turn[i] - a.turn[i] < 0.01f);
        CHECK(a.spin[i] - b.spin[i] < 0.01 && b.spin[i] - a.spin[i] < 0.01);
    }
    assert_string_equal(a.name, b.name);
    assert_memory_equal(&a.badge, &b.badge, sizeof(std::uint16_t) + 3);
}

// ---- binding

static void table_is_what_c_would_declare(void**)
{
    const auto builder = creature_class();
    const ph_class_def def = builder.def();
    assert_int_equal(def.property_count, 24);
    assert_int_equal(def.struct_size, sizeof(creature));
    const ph_field fields[] = {
        PH_FIELD_I64X3, PH_FIELD_BOOL,   PH_FIELD_U8,
        PH_FIELD_I8,    PH_FIELD_I16,    PH_FIELD_I32,
        PH_FIELD_I64,   PH_FIELD_U8,     PH_FIELD_U16,
        PH_FIELD_U32,   PH_FIELD_U64,    sizeof(long) == 8 ? PH_FIELD_I64 : PH_FIELD_I32,
        PH_FIELD_F32,   PH_FIELD_F64,    PH_FIELD_I32X3,
        PH_FIELD_F32X3, PH_FIELD_F64X3,  PH_FIELD_F32X3,
        PH_FIELD_F32X4, PH_FIELD_F64X4,  PH_FIELD_TEXT,
        PH_FIELD_BYTES, PH_FIELD_ENTITY, PH_FIELD_ENTITY};
    for (int i = 0; i < def.property_count; ++i) {
        assert_int_equal(def.properties[i].field, fields[i]);
    }
    assert_int_equal(def.properties[0].offset, offsetof(creature, place_mm));
    assert_int_equal(def.properties[12].offset, offsetof(creature, heading_deg));
    assert_int_equal(def.properties[23].offset, offsetof(creature, friend_of));
    assert_int_equal(def.properties[20].max_length, 15);
    assert_int_equal(def.properties[21].max_length, 5);
    assert_int_equal(def.properties[12].significant, 5);
    assert_int_equal(def.properties[12].distance_m, 200);
    assert_int_equal(def.properties[20].when, PH_SEND_ONCE);
}

// Text has no bindings: the same wire, in other words.
static void same_schema_as_from_text(void**)
{
    const pinhole::schema bound(banana_class());
    const pinhole::schema text(
        "class banana\n place: position 16 step 16\n age: range 0..60 smooth owner\n ripe: bool\n");
    CHECK(bound && text);
    CHECK(bound.fingerprint() == text.fingerprint());
    assert_int_equal(bound.find_property(0, "age"), 1);
    assert_int_equal(bound.find_property(0, std::string_view("ripened").substr(0, 4)), 2);
    assert_int_equal(bound.find_class("a name that is longer than any name of a class can be"), -1);
    CHECK(bound.find_class<banana>("banana"));
    CHECK(!bound.find_class<creature>("banana")); // another struct
    CHECK(!text.find_class<banana>("banana"));    // bound to none
    char printed[200];
    assert_in_range(bound.print(printed, sizeof printed), 1, sizeof printed - 1);
}

static void one_property_too_many_is_refused(void**)
{
    auto four = banana_class();
    four.add(ph_property_bool("spotted"));
    four.add(ph_property_bool("peeled"));
    pinhole::schema schema;
    ph_error error = {};
    assert_int_equal(schema.create(&error, four), PH_ERROR_SCHEMA);
    CHECK(!schema);
    assert_non_null(std::strstr(error.text, "property_count"));
}

// ---- a session

struct session {
    pinhole::schema schema;
    pinhole::world world;
    pinhole::client client;
    pinhole::link down;
    pinhole::viewer_id viewer;
    std::uint64_t now_us = 0;

    session() : schema(banana_class(), creature_class())
    {
        ph_link_def def = {};
        def.delay_us = 30000;
        assert_int_equal(down.create(def), PH_OK);
        world = pinhole::world(schema);
        client = pinhole::client(schema);
        CHECK(schema && world && client && down);
        assert_int_equal(world.add_viewer(ph_viewer_def_default(), viewer), PH_OK);
    }

    void run(int ticks)
    {
        for (int i = 0; i < ticks; ++i, now_us += 100000) {
            world.tick();
            world.send_all(now_us,
                           [this](pinhole::viewer_id to, const void* bytes, std::size_t size) {
                               CHECK(to == viewer);
                               assert_int_equal(down.send(now_us, bytes, size), PH_OK);
                           });
            std::uint8_t bytes[PH_PAYLOAD_MAX];
            while (const std::size_t size = down.receive(now_us, bytes, sizeof bytes)) {
                assert_int_equal(client.receive(now_us, bytes, size), PH_OK);
                const std::size_t ack_size = client.write_ack(now_us, bytes);
                assert_int_equal(world.receive_ack(viewer, now_us, bytes, ack_size), PH_OK);
            }
        }
    }
};

static void members_arrive_as_they_were_set(void**)
{
    session s;
    const auto creatures = s.schema.find_class<creature>("creature");
    const auto bananas = s.schema.find_class<banana>("banana");
    assert_int_equal(creatures.index, 1);
    ph_spawn spawn = {};
    pinhole::entity<creature> first;
    pinhole::entity<banana> second;
    spawn.key = 1;
    assert_int_equal(s.world.spawn(creatures, spawn, first), PH_OK);
    spawn.key = 2;
    assert_int_equal(s.world.spawn(bananas, spawn, second), PH_OK);
    assert_int_equal(s.world.spawn(pinhole::class_id<banana>(), spawn, second), PH_ERROR_ARGUMENT);
    CHECK(!second);
    second = s.world.find(bananas, 2);
    CHECK(second && !s.world.find(creatures, 2) && !s.world.find(bananas, 3));

    const creature sent = drawn_creature(second);
    assert_int_equal(s.world.set_struct(first, sent), PH_OK);
    creature kept;
    assert_int_equal(s.world.get_struct(first, kept), PH_OK);
    assert_same(sent, kept);
    s.run(30);

    ph_event event;
    int enters = 0;
    while (s.client.poll(event)) {
        enters += event.kind == PH_EVENT_ENTER;
    }
    assert_int_equal(enters, 2);
    const auto shown = s.client.entity_of(creatures, s.client.find(1));
    CHECK(shown);
    CHECK(!s.client.entity_of(bananas, s.client.find(1)));
    creature received;
    received.not_bound = 5;
    assert_int_equal(s.client.get_struct(shown, received), PH_OK);
    creature as_shown{};
    double numbers[4];
    assert_int_equal(s.client.get_shown_struct(shown, as_shown), PH_OK);
    CHECK(as_shown.i8 == received.i8); // nothing of it is smooth
    assert_int_equal(s.client.get_shown(s.client.find(1), 0, numbers), PH_ERROR_ARGUMENT);
    assert_same(sent, received);
    assert_int_equal(received.not_bound, 5);
    CHECK(received.target == s.client.find(2));
    CHECK(pinhole::entity_id(received.friend_of) == s.client.find(2));
}

static void single_properties(void**)
{
    session s;
    const auto creatures = s.schema.find_class<creature>("creature");
    pinhole::entity<creature> mine;
    assert_int_equal(s.world.spawn(creatures, ph_spawn{}, mine), PH_OK);
    const int name = s.schema.find_property(creatures.index, "name");
    const int health = s.schema.find_property(creatures.index, "health");
    const int aim = s.schema.find_property(creatures.index, "aim");
    const int badge = s.schema.find_property(creatures.index, "badge");
    const own_vector straight = {1.0f, 0.0f, 0.5f};
    const pinhole::byte_string<5> bytes = {2, {8, 9}};
    assert_int_equal(s.world.set_property(mine, name, std::string_view("Beatrice").substr(0, 3)),
                     PH_OK);
    assert_int_equal(s.world.set_property(mine, health, 12.5), PH_OK);
    assert_int_equal(s.world.set_property(mine, aim, straight), PH_OK);
    assert_int_equal(s.world.set_property(mine, badge, bytes), PH_OK);
    s.run(10);
    const pinhole::entity_id shown = s.client.find(0);
    char text[16];
    double points = 0.0;
    own_vector direction = {};
    pinhole::byte_string<5> got = {};
    assert_int_equal(s.client.get_property(shown, name, text), PH_OK);
    assert_string_equal(text, "Bea");
    assert_int_equal(s.client.get_property(shown, health, points), PH_OK);
    assert_memory_equal(&points, "\0\0\0\0\0\0\x29\x40", 8);
    assert_int_equal(s.client.get_property(shown, aim, direction), PH_OK);
    assert_memory_equal(&direction, &straight, sizeof straight);
    assert_int_equal(s.client.get_property(shown, badge, got), PH_OK);
    assert_memory_equal(&got, &bytes, 4);
    assert_int_equal(s.world.set_property(mine, name, std::string_view()), PH_OK);
    assert_int_equal(s.world.get_property(mine, name, text), PH_OK);
    assert_string_equal(text, "");
}

// ---- owners

static void owners_move_and_end(void**)
{
    pinhole::schema schema(banana_class());
    ph_schema* const raw = schema.get();
    pinhole::schema other(std::move(schema));
    CHECK(other.get() == raw && !schema);
    schema = std::move(other);
    CHECK(schema.get() == raw && !other);
    pinhole::schema& itself = schema;
    schema = std::move(itself);
    CHECK(schema.get() == raw);

    pinhole::world world(schema);
    pinhole::world second(schema);
    second = std::move(world); // ends the one that it had
    CHECK(second && !world);
    second.tick();
    ph_world* const released = second.release();
    CHECK(!second);
    world.reset(released);
    assert_int_equal(world.tick_count(), 1);
    assert_int_equal(world.create(ph_world_def_default()), PH_ERROR_ARGUMENT); // no schema
    CHECK(!world);
    world.reset();

    static_assert(!std::is_copy_constructible_v<pinhole::world>);
    static_assert(!std::is_copy_assignable_v<pinhole::client>);
    static_assert(std::is_nothrow_move_constructible_v<pinhole::link>);
    static_assert(std::is_nothrow_move_assignable_v<pinhole::host>);
    static_assert(!std::is_convertible_v<pinhole::world, bool>);
    static_assert(sizeof(pinhole::world) == sizeof(void*));
}

struct counting_memory {
    int left;   // calls until it refuses
    int blocks; // not given back
};

static void* count_allocate(void* context, std::size_t size)
{
    counting_memory* memory = static_cast<counting_memory*>(context);
    if (memory->left == 0) {
        return nullptr;
    }
    --memory->left;
    ++memory->blocks;
    return std::malloc(size);
}

static void count_release(void* context, void* block, std::size_t)
{
    --static_cast<counting_memory*>(context)->blocks;
    std::free(block);
}

// Each create, with memory that ends after 0, 1, 2, ... blocks.
template <class Owner, class Def> static void fail_creates(Def def)
{
    int tries = 0;
    for (ph_result result = PH_ERROR_MEMORY; result != PH_OK; ++tries) {
        counting_memory memory = {tries, 0};
        def.allocator = {count_allocate, count_release, &memory};
        {
            Owner owner;
            result = owner.create(def);
            CHECK(result == PH_OK || result == PH_ERROR_MEMORY);
            CHECK(static_cast<bool>(owner) == (result == PH_OK));
            CHECK((memory.blocks > 0) == (result == PH_OK));
        }
        assert_int_equal(memory.blocks, 0);
        assert_in_range(tries, 0, 1000);
    }
    assert_in_range(tries, 2, 1000);
}

static void failing_creates_leave_an_empty_owner(void**)
{
    const pinhole::schema schema(creature_class());
    ph_world_def world_def = ph_world_def_default();
    ph_client_def client_def = ph_client_def_default();
    world_def.schema = client_def.schema = schema.get();
    fail_creates<pinhole::world>(world_def);
    fail_creates<pinhole::client>(client_def);
    fail_creates<pinhole::messages>(ph_messages_def_default());
    fail_creates<pinhole::link>(ph_link_def{});

    pinhole::schema wrong("class banana\n place: blue\n");
    CHECK(!wrong);
    assert_int_equal(wrong.find_class("banana"), -1);
    ph_error error = {};
    assert_int_equal(wrong.parse("class banana\n place: blue\n", &error), PH_ERROR_SCHEMA);
    assert_int_equal(error.line, 2);
    CHECK(!pinhole::world(wrong));
    CHECK(!pinhole::client(wrong));
    ph_link_def link_def = {};
    link_def.loss = 2.0;
    CHECK(!pinhole::link(link_def));
}

// ---- ids and callables

static void ids_compare_and_hash(void**)
{
    const pinhole::entity_id none, one(ph_entity_id{1, 1}), later(ph_entity_id{1, 2});
    CHECK(!none && one && one == pinhole::entity_id(ph_entity_id{1, 1}) && one != later);
    std::unordered_set<pinhole::entity_id> all = {none, one, later, one};
    assert_int_equal(all.size(), 3);
    const pinhole::viewer_id nobody, viewer(ph_viewer_id{3, 1});
    CHECK(!nobody && viewer && nobody != viewer);
    std::unordered_set<pinhole::viewer_id> viewers = {nobody, viewer};
    assert_int_equal(viewers.count(viewer), 1);
    static_assert(!std::is_convertible_v<pinhole::viewer_id, pinhole::entity_id>);
    static_assert(!std::is_convertible_v<pinhole::entity<banana>, pinhole::entity<creature>>);
    static_assert(sizeof(pinhole::entity<banana>) == sizeof(ph_entity_id));
}

static int delivered_count;

static void count_delivery(ph_viewer_id, const void*, std::size_t)
{
    ++delivered_count;
}

static void any_callable_is_a_callback(void**)
{
    pinhole::schema schema(banana_class());
    ph_world_def def = ph_world_def_default();
    def.schema = schema.get();
    int asked = 0;
    pinhole::entity_id hidden;
    auto filter = [&](pinhole::viewer_id viewer, pinhole::entity_id entity) {
        ++asked;
        return viewer && entity != hidden;
    };
    pinhole::set_callback(def.may_see, def.may_see_context, filter);
    pinhole::world world(def);
    pinhole::entity_id shown;
    pinhole::viewer_id viewer;
    ph_spawn spawn = {};
    assert_int_equal(world.spawn(spawn, hidden), PH_OK);
    spawn.key = 1;
    assert_int_equal(world.spawn(spawn, shown), PH_OK);
    assert_int_equal(world.add_viewer(ph_viewer_def_default(), viewer), PH_OK);
    world.tick();
    CHECK(asked > 0);
    ph_vision vision;
    assert_int_equal(world.get_vision(viewer, vision), PH_OK);
    assert_int_equal(vision.visible_count, 1);

    struct counter {
        int datagrams = 0;
        std::size_t bytes = 0;
        void operator()(pinhole::viewer_id, const void*, std::size_t size)
        {
            ++datagrams;
            bytes += size;
        }
    } counting;
    delivered_count = 0;
    world.send_all(1000000, counting); // not a copy of it
    assert_int_equal(world.move(shown, 5000, 0, 0), PH_OK);
    world.tick();
    world.send_all(3000000, count_delivery);
    auto* pointer = &count_delivery;
    assert_int_equal(world.send(viewer, 6000000, pointer), PH_OK);
    const auto unchanging = [](pinhole::viewer_id, const void*, std::size_t) { ++delivered_count; };
    assert_int_equal(world.send(viewer, 9000000, unchanging), PH_OK);
    ph_viewer_stats stats;
    assert_int_equal(world.get_viewer_stats(viewer, stats), PH_OK);
    CHECK(counting.datagrams > 0 && counting.bytes > 0 && delivered_count > 0);
    assert_int_equal(stats.sent_datagrams, counting.datagrams + delivered_count);
}

static void nothing_is_allocated_by_the_header(void**)
{
    const int before = new_count;
    {
        session s;
        pinhole::entity<banana> fruit;
        assert_int_equal(s.world.spawn(s.schema.find_class<banana>("banana"), ph_spawn{}, fruit),
                         PH_OK);
        s.run(5);
        pinhole::world moved(std::move(s.world));
    }
    assert_int_equal(new_count, before);
}

// ---- messages and net

static void a_world_goes_into_another(void**)
{
    const pinhole::schema classes(banana_class());
    pinhole::world from(classes);
    pinhole::world to(classes);
    pinhole::importer importer(to);
    pinhole::entity_id made;
    ph_spawn spawn = ph_spawn();
    spawn.key = 7;
    assert_true(from.spawn(spawn, made) == PH_OK);
    ph_ownership ownership = ph_ownership();
    ownership.epoch = 3;
    assert_true(from.set_ownership(made, ownership) == PH_OK);
    ph_export_def def = ph_export_def_default();
    def.as_owner = 2;
    const auto take = [&](const void* bytes, std::size_t size) {
        assert_true(importer.take(bytes, size) == PH_OK);
    };
    assert_true(from.export_batches(def, take) == PH_OK);
    assert_true(to.get_ownership(to.find(7), ownership) == PH_OK);
    assert_true(ownership.owner == 2 && ownership.epoch == 3);
    assert_true(importer.get_stats().created == 1);
}

static void messages_as_texts(void**)
{
    pinhole::messages a(ph_messages_def_default());
    pinhole::messages b(ph_messages_def_default());
    std::uint8_t datagram[PH_PAYLOAD_MAX];
    std::uint8_t text[PH_MESSAGE_SIZE_MAX];
    ph_messages_rest rest;
    assert_int_equal(a.send("hello"), PH_OK);
    assert_int_equal(a.set_input(1, "go", 2), PH_OK);
    CHECK(a.plan(0) > PH_MESSAGES_EMPTY_SIZE);
    const std::size_t size = a.pack(nullptr, 0, datagram);
    assert_int_equal(b.unpack(1000, datagram, size, rest), PH_OK);
    assert_int_equal(b.receive(text), 5);
    assert_memory_equal(text, "hello", 5);
    assert_int_equal(b.receive(text), 0);
    assert_int_equal(b.newest_input().number, 1);
}

static void blocks_and_unreliable_messages(void**)
{
    ph_messages_def def = ph_messages_def_default();
    def.bits_per_second = 0;
    def.block_size_max = 1000;
    pinhole::messages a(def);
    pinhole::messages b(def);
    std::uint8_t datagram[PH_PAYLOAD_MAX];
    ph_messages_rest rest;
    std::uint32_t id = 0;
    assert_int_equal(a.send_block(7, "a map", 5, &id), PH_OK);
    assert_int_equal(a.lend_block(8, "another", 7), PH_OK);
    assert_int_equal(a.cancel_block(id + 1), PH_OK);
    assert_int_equal(a.send_unreliable(PH_UNRELIABLE_NEWEST, 3, "bang", 4), PH_OK);
    CHECK(a.has_bulk());
    CHECK(a.plan_block(0, INT64_MAX, 0) > 0);
    std::size_t size = a.pack(nullptr, 0, datagram);
    assert_int_equal(b.unpack(1000, datagram, size, rest), PH_OK);
    CHECK(a.plan(0) > PH_MESSAGES_EMPTY_SIZE);
    size = a.pack("packet", 6, datagram);
    assert_int_equal(b.unpack(1000, datagram, size, rest), PH_OK);
    ph_block block;
    CHECK(b.receive_block(block));
    assert_int_equal(block.tag, 7);
    assert_memory_equal(block.bytes, "a map", 5);
    CHECK(!b.receive_block(block));
    ph_unreliable message;
    CHECK(b.receive_unreliable(message));
    assert_int_equal(message.channel, 3);
    b.plan(2000);
    size = b.pack("packet", 6, datagram);
    assert_int_equal(a.unpack(3000, datagram, size, rest), PH_OK);
    ph_block_end end;
    CHECK(a.next_block_end(end)); // the one that was cancelled
    CHECK(a.next_block_end(end));
    assert_int_equal(end.id, id);
    assert_int_equal(end.outcome, PH_BLOCK_SENT);
    ph_block_progress progress;
    CHECK(!a.sending_block(progress) && !b.receiving_block(progress));
}

static void peer_is_shown_a_world(void**)
{
    const pinhole::schema schema(banana_class());
    const auto bananas = schema.find_class<banana>("banana");
    pinhole::world world(schema);
    pinhole::entity_id entity{};
    ph_spawn spawn{};
    spawn.key = 7;
    assert_int_equal(world.spawn(spawn, entity), PH_OK);
    pinhole::host host;
    ph_host_def def = ph_host_def_default();
    def.world = world.get();
    assert_int_equal(host.open(def), PH_ERROR_ARGUMENT); // neither a key nor without one
    def.is_insecure_dev = true;
    assert_int_equal(host.open(def), PH_OK);
    char address[PH_ADDRESS_TEXT_MAX];
    const ph_address server = host.public_address();
    ph_address_print(&server, address);

    pinhole::peer peer;
    assert_int_equal(peer.open(schema), PH_OK);
    assert_int_equal(peer.connect("no token", 8), PH_ERROR_ARGUMENT);
    std::uint8_t key[PH_NETCODE_KEY_SIZE];
    assert_int_equal(pinhole::read_key_file("/dev/null", key), PH_ERROR_ARGUMENT);
    assert_int_equal(peer.connect_to("192.0.2.1:40000"), PH_ERROR_ARGUMENT); // public
    assert_int_equal(peer.connect_to(address), PH_OK);
    CHECK(peer.state() == PH_PEER_STATE_CONNECTING && peer.view() == nullptr);
    CHECK(!peer.own() && !peer.entity_at(0) && !peer.entity_of(bananas, peer.own()));
    assert_int_equal(peer.send("hello", 5), PH_OK);
    assert_int_equal(peer.send(std::string_view("hello")), PH_OK);
    CHECK(peer.set_input("x", 1) == 1 && peer.processed_input() == 0);
    bool has_entered = false;
    for (int i = 0; i < 500 && !has_entered; ++i) {
        host.receive(ph_socket_now_us() + 10000);
        host.tick();
        for (ph_net_event event; host.next_event(event);) {
            ph_viewer_def viewer = ph_viewer_def_default();
            viewer.entity = entity;
            assert_int_equal(host.admit(event.client, viewer), PH_OK);
        }
        world.tick();
        host.send();
        peer.tick();
        for (ph_peer_event event; peer.next_event(event);) {
            has_entered = has_entered || event.kind == PH_PEER_ENTERED;
        }
    }
    CHECK(has_entered);
    ph_pose pose{};
    assert_int_equal(peer.get_pose(peer.find(7), pose), PH_OK);
    CHECK(peer.own() && peer.own() == peer.find(7) && peer.own() == peer.entity_at(0));
    banana shown{};
    CHECK(!peer.entity_of(pinhole::class_id<banana>{1}, peer.own()));
    assert_int_equal(peer.get_struct(peer.entity_of(bananas, peer.own()), shown), PH_OK);
    assert_int_equal(peer.get_shown_struct(peer.entity_of(bananas, peer.own()), shown), PH_OK);
    CHECK(peer.stats().entity_count == 1 && peer.view() != nullptr);
    CHECK(world.viewer_slot_count(host.viewer(host.client_at(0))) == peer.stats().slot_count);
    CHECK(world.def().tick_us == peer.stats().tick_us);
    peer.disconnect();
    CHECK(peer.state() == PH_PEER_STATE_IDLE);
    peer.reset();
    host.refuse(0, "over");
}

static void schemas_that_differ_say_how(void**)
{
    const pinhole::schema schema(banana_class());
    const pinhole::schema same(banana_class());
    char text[PH_ERROR_TEXT_SIZE];
    CHECK(!schema.difference("one", same, "other", text));
    CHECK(schema.print_wire(nullptr, 0) > 0);
}

static void host_lets_a_client_in(void**)
{
    const pinhole::schema schema(banana_class());
    pinhole::world world(schema);
    pinhole::pool pool(1);
    pinhole::host host;
    ph_host_def def = ph_host_def_default();
    def.world = world.get();
    def.pool = pool.get();
    def.private_key[0] = 1;
    int heard = 0;
    auto on_messages = [&heard](int, ph_messages*) { ++heard; };
    pinhole::set_callback(def.on_messages, def.on_messages_context, on_messages);
    assert_int_equal(host.open(def), PH_OK);
    assert_int_equal(host.open(def), PH_OK); // the first one is closed
    pinhole::host moved(std::move(host));
    CHECK(moved && !host);

    ph_address nowhere;
    assert_int_equal(pinhole::parse_address("127.0.0.1:70000", nowhere), PH_ERROR_TEXT);
    ph_token_def token_def = ph_token_def_default();
    token_def.create_s = static_cast<std::uint64_t>(time(nullptr));
    token_def.addresses[token_def.address_count++] = moved.public_address();
    token_def.private_key[0] = 1;
    std::uint8_t token[PH_TOKEN_SIZE];
    assert_int_equal(ph_token_write(&token_def, token), PH_OK);

    pinhole::socket socket;
    assert_int_equal(socket.open(ph_socket_def_default()), PH_OK);
    static ph_socket_batch batch;
    ph_socket_batch_begin(&batch, socket.get());
    ph_net_client_def net_def = ph_net_client_def_default();
    net_def.sink = {ph_socket_batch_add, &batch};
    pinhole::net_client net;
    assert_int_equal(net.create(net_def), PH_OK);
    net.connect(token, sizeof token, ph_socket_now_us());
    int admitted = 0;
    for (int i = 0; i < 500 && admitted == 0; ++i) {
        ph_datagram datagrams[PH_SOCKET_BATCH_MAX];
        const int count = socket.receive(datagrams, PH_SOCKET_BATCH_MAX);
        for (int d = 0; d < count; ++d) {
            ph_net_payload payload;
            net.receive(datagrams[d].peer, datagrams[d].bytes, datagrams[d].size, payload);
        }
        net.tick(ph_socket_now_us());
        ph_socket_batch_flush(&batch);
        moved.receive(ph_socket_now_us() + 10000);
        moved.tick();
        for (ph_net_event event; moved.next_event(event);) {
            admitted += moved.admit(event.client, ph_viewer_def_default()) == PH_OK;
        }
        world.tick();
        moved.send();
    }
    assert_int_equal(admitted, 1);
    assert_int_equal(moved.client_count(), 1);
    CHECK(moved.viewer(moved.client_at(0)));
    moved.stop();
    int sum = 0;
    pool.run(10, [&sum](int index) { sum += index; }); // one thread
    assert_int_equal(sum, 45);
}

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(table_is_what_c_would_declare),
        cmocka_unit_test(same_schema_as_from_text),
        cmocka_unit_test(one_property_too_many_is_refused),
        cmocka_unit_test(members_arrive_as_they_were_set),
        cmocka_unit_test(single_properties),
        cmocka_unit_test(owners_move_and_end),
        cmocka_unit_test(failing_creates_leave_an_empty_owner),
        cmocka_unit_test(ids_compare_and_hash),
        cmocka_unit_test(any_callable_is_a_callback),
        cmocka_unit_test(nothing_is_allocated_by_the_header),
        cmocka_unit_test(a_world_goes_into_another),
        cmocka_unit_test(messages_as_texts),
        cmocka_unit_test(blocks_and_unreliable_messages),
        cmocka_unit_test(peer_is_shown_a_world),
        cmocka_unit_test(schemas_that_differ_say_how),
        cmocka_unit_test(host_lets_a_client_in),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
