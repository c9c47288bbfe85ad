// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Programs that must not compile. WRONG chooses one line; the compiler has to answer with the sentence in the comment
// behind it (tools/test headers reads both from here). WRONG 0 is right, and compiles.

#include <pinhole/pinhole.hpp>

struct thing {
    std::int64_t place_mm[3];
    std::int16_t short_place[3];
    float speed;
    float pair[2];
    int count;
    char letter;
    char name[8];
    long double much;
    void* pointer;
    std::string_view words;
    const int fixed_count;
    pinhole::entity_id target;
};

struct with_virtual {
    virtual ~with_virtual() = default;
    std::int64_t place_mm[3];
};

struct other {
    int x;
};

void compile_one(pinhole::world& world, pinhole::entity<other> entity, const thing& state,
                 ph_world_def& def);

void compile_one(pinhole::world& world, pinhole::entity<other> entity, const thing& state,
                 ph_world_def& def)
{
    pinhole::class_builder<thing> builder("thing");
    auto filter = [](pinhole::viewer_id, pinhole::entity_id) { return true; };
    builder.position("place", &thing::place_mm)
        .property("count", &thing::count)
        .string("name", &thing::name);
    pinhole::set_callback(def.may_see, def.may_see_context, filter);
    static_cast<void>(world);
    static_cast<void>(entity);
    static_cast<void>(state);
    // clang-format off
#if WRONG == 1
    builder.position("place", &thing::speed); // a position is bound to int64_t[3] or int32_t[3], in mm
#elif WRONG == 2
    builder.position("place", &thing::short_place); // a member of this type cannot be bound
#elif WRONG == 3
    builder.property("speed", &thing::speed); // the type of this member does not say how it is written
#elif WRONG == 4
    builder.range("speed", &thing::speed, 0, 9); // this coding is for whole numbers
#elif WRONG == 5
    builder.fixed("name", &thing::name, 0, 9, 1); // this coding is for numbers
#elif WRONG == 6
    builder.property("letter", &thing::letter); // a member of this type cannot be bound
#elif WRONG == 7
    builder.fixed("much", &thing::much, 0, 9, 1); // a member of this type cannot be bound
#elif WRONG == 8
    builder.property("pointer", &thing::pointer); // a member of this type cannot be bound
#elif WRONG == 9
    builder.string("words", &thing::words); // a member of this type cannot be bound
#elif WRONG == 10
    builder.property("fixed_count", &thing::fixed_count); // a bound member must not be const
#elif WRONG == 11
    builder.string("count", &thing::count); // a string is bound to char[N]
#elif WRONG == 12
    builder.vec3("pair", &thing::pair, 0, 9, 1); // a member of this type cannot be bound
#elif WRONG == 13
    builder.quaternion("turn", &thing::place_mm); // a quaternion is bound to float[4] or double[4]
#elif WRONG == 14
    builder.entity("target", &thing::count); // an entity reference is bound to
#elif WRONG == 15
    builder.bytes("name", &thing::name); // bytes are bound to pinhole::byte_string<N>
#elif WRONG == 16
    builder.vec3("place", &thing::place_mm, 0, 9, 1); // a vec3 is bound to float[3], double[3] or int32_t[3]
#elif WRONG == 17
    pinhole::class_builder<with_virtual> wrong("wrong"); // must have standard layout
#elif WRONG == 18
    pinhole::class_builder<thing, 65> wrong("wrong"); // a class has 1..PH_PROPERTIES_MAX properties
#elif WRONG == 19
    world.send_all(0, [](int) {}); // this callable cannot be called with the arguments of the callback
#elif WRONG == 20
    pinhole::callback<ph_deliver_fn> wrong(filter); // this callable cannot be called with the arguments of the callback
#elif WRONG == 21
    static_cast<void>(world.set_struct(entity, state)); // thing
#elif WRONG == 22
    pinhole::world copy(world); // deleted
#elif WRONG == 23
    world.despawn(entity); // nodiscard
#elif WRONG == 24
    pinhole::set_callback(def.may_see, def.may_see_context, [](ph_viewer_id, ph_entity_id) { return true; }); // set_callback
#elif WRONG == 25
    static_cast<void>(world.set_property(entity, 0, state)); // a property is not set from a value of this type
#elif WRONG == 26
    pinhole::byte_string<1001> wrong; // a byte string holds 1..PH_TEXT_LENGTH_MAX bytes
#elif WRONG == 27
    pinhole::schema wrong; static_cast<void>(wrong.create(nullptr)); // a schema has at least one class
#endif
    // clang-format on
}
