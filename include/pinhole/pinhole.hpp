// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Pinhole for C++17: the C headers, with owners, typed ids, structs bound by pointers to their members, and
// callables in place of a function and its context.
//
//     struct kart {
//         std::int64_t place_mm[3];
//         float heading_deg;
//         std::uint8_t shells;
//         char name[32];
//     };
//     const auto karts = pinhole::class_builder<kart>("kart")
//                            .position("place", &kart::place_mm)
//                            .angle("heading", &kart::heading_deg, 8).significant(5).distance_m(50)
//                            .range("shells", &kart::shells, 0, 3)
//                            .string("name", &kart::name).once();
//     pinhole::schema schema(karts);
//     pinhole::world world(schema);                       // defaults; or world.create(def)
//     if (!world) { ... }
//
//     ph_spawn spawn = {};
//     pinhole::entity<kart> mine;
//     if (world.spawn(schema.find_class<kart>("kart"), spawn, mine) != PH_OK) { ... }
//     if (world.set_struct(mine, my_kart) != PH_OK) { ... } // another type does not compile
//     world.tick();
//     world.send_all(now_us, [&](pinhole::viewer_id, const void* bytes, std::size_t size) { ... });
//
// The functions are those of the C headers, and mean what is said there: world.tick() is ph_world_tick(). The
// defs are the C structs, handed through as they are. What has no function here takes get(): the C pointer.
//
// An owner is empty or holds one C object, which it destroys. Owners can be moved, not copied; the C pointer
// stays the same. create() destroys what the owner held, also when it fails, and is empty then. Calling
// anything else of an empty owner is misuse, as NULL is in C. The schema outlives its worlds and clients, and
// the world its host: declare them in this order.
//
// Nothing here allocates; the library allocates as the C headers say. Nothing throws: without exceptions and
// RTTI it works as well. A callable that throws ends the program, because C code stands in between.
//
// Secure connections are in <pinhole/net/net.hpp>.

#ifndef PINHOLE_PINHOLE_HPP
#define PINHOLE_PINHOLE_HPP

// A program that has the two files of `make amalgamation` includes their pinhole.h before this. Inline functions of C
// have casts of C.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wold-style-cast"
#endif
#if !defined(PINHOLE_PINHOLE_H) && !defined(PINHOLE_AMALGAMATION_H)
#include <pinhole/pinhole.h>
#endif
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

/// Pinhole for C++.
namespace pinhole
{

// ---- owners

/// How a C object ends. One specialisation for each that has an owner.
template <class Object> struct ending;

/// Owns one C object, or nothing.
template <class Object> class owner
{
  public:
    owner(const owner&) = delete;
    owner& operator=(const owner&) = delete;

    /// Whether it holds an object.
    explicit operator bool() const noexcept
    {
        return object_ != nullptr;
    }

    /// The C object, or nullptr. Still owned.
    Object* get() const noexcept
    {
        return object_;
    }

    /// Gives the C object away: the caller destroys it. Empty afterwards.
    [[nodiscard]] Object* release() noexcept
    {
        return std::exchange(object_, nullptr);
    }

    /// Destroys what it holds, and takes this instead.
    void reset(Object* object = nullptr) noexcept
    {
        Object* const former = std::exchange(object_, object);
        if (former != nullptr) {
            ending<Object>::end(former);
        }
    }

  protected:
    owner() noexcept = default;
    ~owner()
    {
        reset();
    }
    owner(owner&& other) noexcept : object_(other.release())
    {
    }
    owner& operator=(owner&& other) noexcept
    {
        if (this != &other) {
            reset(other.release());
        }
        return *this;
    }

    /// Destroys what it holds before the new object is made: both may want the same port or memory.
    template <class Def>
    ph_result remake(ph_result (*make)(const Def*, Object**), const Def& def) noexcept
    {
        reset();
        Object* object = nullptr;
        const ph_result result = make(&def, &object);
        object_ = object;
        return result;
    }

  private:
    Object* object_ = nullptr;
};

// ---- ids

/// Names one entity of one world or client. A ph_entity_id that can be compared and asked.
struct entity_id : ph_entity_id {
    constexpr entity_id() noexcept : ph_entity_id{0, 0}
    {
    }
    /// Any id of the C headers.
    constexpr entity_id(ph_entity_id id) noexcept : ph_entity_id(id)
    {
    }
    /// Whether it was ever that of an entity. It may be stale all the same.
    constexpr explicit operator bool() const noexcept
    {
        return index1 != 0;
    }
};

/// Names one viewer of one world. A ph_viewer_id that can be compared and asked.
struct viewer_id : ph_viewer_id {
    constexpr viewer_id() noexcept : ph_viewer_id{0, 0}
    {
    }
    /// Any id of the C headers.
    constexpr viewer_id(ph_viewer_id id) noexcept : ph_viewer_id(id)
    {
    }
    /// Whether it was ever that of a viewer. It may be stale all the same.
    constexpr explicit operator bool() const noexcept
    {
        return index1 != 0;
    }
};

constexpr bool operator==(const entity_id& a, const entity_id& b) noexcept
{
    return a.index1 == b.index1 && a.generation == b.generation;
}
constexpr bool operator!=(const entity_id& a, const entity_id& b) noexcept
{
    return !(a == b);
}
constexpr bool operator==(const viewer_id& a, const viewer_id& b) noexcept
{
    return a.index1 == b.index1 && a.generation == b.generation;
}
constexpr bool operator!=(const viewer_id& a, const viewer_id& b) noexcept
{
    return !(a == b);
}

/// An entity whose class is bound to State: what set_struct() and get_struct() want. spawn() and
/// client::entity_of() make it; by hand it is a promise about the class.
template <class State> struct entity : entity_id {
    constexpr entity() noexcept = default;
    constexpr explicit entity(ph_entity_id id) noexcept : entity_id(id)
    {
    }
};

/// The index of a class that is bound to State; -1: there is none. From schema::find_class().
template <class State> struct class_id {
    /// As in ph_spawn and ph_event.
    int index = -1;

    constexpr explicit operator bool() const noexcept
    {
        return index >= 0;
    }
};

// ---- callbacks

/// A callable as the function and the context that the C headers want, for any callback of them. Borrows
/// the callable: that outlives every call. Signature is the function type of the C header:
///
///     auto filter = [&](pinhole::viewer_id viewer, pinhole::entity_id entity) { return ...; };
///     const pinhole::callback<ph_may_see_fn> may_see(filter);
///     def.may_see = may_see.function;
///     def.may_see_context = may_see.context;
///
/// set_callback() does the same in one line.
template <class Signature> struct callback;

template <class Result, class Context, class... Arguments>
struct callback<Result(Context, Arguments...)> {
    template <class Callable>
    explicit callback(Callable& callable) noexcept
        : function(&call<Callable>), context(const_cast<void*>(static_cast<const void*>(&callable)))
    {
        static_assert(std::is_invocable_r_v<Result, Callable&, Arguments...>,
                      "pinhole: this callable cannot be called with the arguments of the callback; "
                      "its function "
                      "type in the C header says what comes behind the context");
    }

    Result (*function)(Context, Arguments...);
    Context context;

  private:
    template <class Callable> static Result call(Context context, Arguments... arguments) noexcept
    {
        Callable& callable =
            *static_cast<Callable*>(const_cast<void*>(static_cast<const void*>(context)));
        return static_cast<Result>(callable(arguments...));
    }
};

/// Sets a function and its context in a def: set_callback(def.may_see, def.may_see_context, filter). The
/// callable is borrowed: it outlives what the def creates.
template <class Result, class Context, class... Arguments, class Callable>
void set_callback(Result (*&function)(Context, Arguments...), Context& context,
                  Callable& callable) noexcept
{
    const callback<Result(Context, Arguments...)> bound(callable);
    function = bound.function;
    context = bound.context;
}

/// A callable that ends with this line cannot be called later.
template <class Result, class Context, class... Arguments, class Callable>
void set_callback(Result (*&function)(Context, Arguments...), Context& context,
                  const Callable&& callable) = delete;

// ---- fields: which types can be bound

/// A byte string of at most Capacity bytes in a struct: PH_FIELD_BYTES.
template <int Capacity> struct byte_string {
    static_assert(Capacity >= 1 && Capacity <= PH_TEXT_LENGTH_MAX,
                  "pinhole: a byte string holds 1..PH_TEXT_LENGTH_MAX bytes");
    /// How many of the bytes count.
    std::uint16_t length;
    std::uint8_t bytes[static_cast<std::size_t>(Capacity)];
};

/// Internals.
namespace detail
{

template <class T> constexpr bool is_letter()
{
    return std::is_same_v<T, char> || std::is_same_v<T, wchar_t> || std::is_same_v<T, char16_t> ||
           std::is_same_v<T, char32_t>;
}

template <class T> constexpr ph_field number_field()
{
    if constexpr (std::is_enum_v<T>) {
        return number_field<std::underlying_type_t<T>>();
    } else if constexpr (std::is_same_v<T, bool>) {
        return PH_FIELD_BOOL;
    } else if constexpr (std::is_integral_v<T> && !is_letter<T>()) {
        constexpr bool is_signed = std::is_signed_v<T>;
        return sizeof(T) == 1   ? (is_signed ? PH_FIELD_I8 : PH_FIELD_U8)
               : sizeof(T) == 2 ? (is_signed ? PH_FIELD_I16 : PH_FIELD_U16)
               : sizeof(T) == 4 ? (is_signed ? PH_FIELD_I32 : PH_FIELD_U32)
               : sizeof(T) == 8 ? (is_signed ? PH_FIELD_I64 : PH_FIELD_U64)
                                : PH_FIELD_NONE;
    } else {
        return std::is_same_v<T, float>    ? PH_FIELD_F32
               : std::is_same_v<T, double> ? PH_FIELD_F64
                                           : PH_FIELD_NONE;
    }
}

template <class T, std::size_t Count> constexpr ph_field array_field()
{
    constexpr ph_field one = number_field<T>();
    if (std::is_same_v<T, char>) {
        return Count >= 2 ? PH_FIELD_TEXT : PH_FIELD_NONE;
    }
    if (Count == 3) {
        return one == PH_FIELD_I32   ? PH_FIELD_I32X3
               : one == PH_FIELD_I64 ? PH_FIELD_I64X3
               : one == PH_FIELD_F32 ? PH_FIELD_F32X3
               : one == PH_FIELD_F64 ? PH_FIELD_F64X3
                                     : PH_FIELD_NONE;
    }
    return Count == 4 && one == PH_FIELD_F32   ? PH_FIELD_F32X4
           : Count == 4 && one == PH_FIELD_F64 ? PH_FIELD_F64X4
                                               : PH_FIELD_NONE;
}

template <class T> constexpr ph_field scalar_field()
{
    if constexpr (std::is_base_of_v<ph_entity_id, T>) {
        return sizeof(T) == sizeof(ph_entity_id) ? PH_FIELD_ENTITY : PH_FIELD_NONE;
    } else {
        return number_field<T>();
    }
}

constexpr bool is_whole(ph_field field)
{
    return field >= PH_FIELD_BOOL && field <= PH_FIELD_U64;
}

constexpr bool is_number(ph_field field)
{
    return is_whole(field) || field == PH_FIELD_F32 || field == PH_FIELD_F64;
}

// Where a member lies in its struct. No object is needed: a member of a standard-layout struct lies at the same
// place in each, and only its address is taken.
template <class State, class Member> std::size_t offset_of(Member State::*member) noexcept
{
    alignas(State) static const unsigned char storage[sizeof(State)] = {};
    const State* state = reinterpret_cast<const State*>(storage);
    return static_cast<std::size_t>(reinterpret_cast<const unsigned char*>(&(state->*member)) -
                                    storage);
}

// What a callback can borrow: the callable itself, or a pointer to a plain function.
template <class Callable> decltype(auto) borrowable(Callable& callable) noexcept
{
    if constexpr (std::is_function_v<Callable>) {
        return &callable;
    } else {
        return (callable);
    }
}

// A name ended by a zero byte, as the C functions want it. One that is too long becomes empty, which is nothing's
// name.
template <std::size_t Size> struct ended_text {
    explicit ended_text(std::string_view text) noexcept : bytes{}
    {
        if (text.size() < Size) {
            text.copy(bytes, text.size());
        }
    }
    char bytes[Size];
};

} // namespace detail

/// What a member of this type is to the library: value is its ph_field, PH_FIELD_NONE when it cannot be bound;
/// max_length that of a text or byte string; size the bytes that count. Known are bool, whole numbers and
/// enumerations of 8 to 64 bits, float, double, int32_t[3], int64_t[3], float[3], double[3], float[4], double[4],
/// std::array of these, char[N], byte_string<N>, ph_entity_id, entity_id and entity<State>.
///
/// A game's own vector is made known by a specialisation:
///
///     template <> struct pinhole::field_of<my_vector> : pinhole::field_as<my_vector, float[3]> {};
template <class Member> struct field_of {
    static constexpr ph_field value = detail::scalar_field<Member>();
    static constexpr int max_length = 0;
    static constexpr std::size_t size = sizeof(Member);
};

template <class Element, std::size_t Count> struct field_of<Element[Count]> {
    static constexpr ph_field value = detail::array_field<Element, Count>();
    static constexpr int max_length = value == PH_FIELD_TEXT ? static_cast<int>(Count) - 1 : 0;
    static constexpr std::size_t size = sizeof(Element[Count]);
};

template <class Element, std::size_t Count>
struct field_of<std::array<Element, Count>> : field_of<Element[Count]> {
};

template <int Capacity> struct field_of<byte_string<Capacity>> {
    static constexpr ph_field value = PH_FIELD_BYTES;
    static constexpr int max_length = Capacity;
    static constexpr std::size_t size = sizeof(std::uint16_t) + Capacity;
};

/// For specialisations of field_of: Member has the layout of Known.
template <class Member, class Known> struct field_as : field_of<Known> {
    static_assert(std::is_standard_layout_v<Member> && sizeof(Member) == sizeof(Known),
                  "pinhole: this type does not have the layout of the type it shall be bound as");
};

// ---- classes

/// Declares a class and binds its properties to the members of State, in the words of docs/schema.md. Each
/// function adds a property; the ones behind "options" change the property that was added last. Wrong types do
/// not compile; wrong numbers are refused by schema::create(), with a sentence.
///
/// Holds the table in itself, 10 KB for 64 properties: a smaller Capacity takes less. Names are borrowed until
/// the schema is created, which copies everything.
template <class State, int Capacity = PH_PROPERTIES_MAX> class class_builder
{
    static_assert(std::is_standard_layout_v<State>,
                  "pinhole: a struct with bound members must have standard layout: no virtual "
                  "functions, and all "
                  "members in one class with one access");
    static_assert(Capacity >= 1 && Capacity <= PH_PROPERTIES_MAX,
                  "pinhole: a class has 1..PH_PROPERTIES_MAX properties");

  public:
    explicit class_builder(const char* name) noexcept : name_(name)
    {
    }

    /// From the type of the member: bool, whole numbers (as varint), text, byte strings, ids.
    template <class Member>
    class_builder& property(const char* name, Member State::*member) noexcept
    {
        constexpr ph_field field = field_of<Member>::value;
        static_assert(detail::is_whole(field) || field == PH_FIELD_TEXT ||
                          field == PH_FIELD_BYTES || field == PH_FIELD_ENTITY ||
                          field == PH_FIELD_NONE,
                      "pinhole: the type of this member does not say how it is written; use "
                      "fixed(), angle(), "
                      "vec3(), quaternion() or position()");
        bind(name, PH_CODING_AUTO, member).max_length = field_of<Member>::max_length;
        return *this;
    }

    /// The place of the entity in mm. Every class has exactly one.
    template <class Member>
    class_builder& position(const char* name, Member State::*member) noexcept
    {
        constexpr ph_field field = field_of<Member>::value;
        static_assert(field == PH_FIELD_I64X3 || field == PH_FIELD_I32X3 || field == PH_FIELD_NONE,
                      "pinhole: a position is bound to int64_t[3] or int32_t[3], in mm");
        bind(name, PH_CODING_POSITION, member);
        return *this;
    }

    template <class Member> class_builder& boolean(const char* name, Member State::*member) noexcept
    {
        bind_whole(name, PH_CODING_BOOL, member);
        return *this;
    }

    /// One of count alternatives, 0..count-1.
    template <class Member>
    class_builder& enumeration(const char* name, Member State::*member, int count) noexcept
    {
        bind_whole(name, PH_CODING_ENUM, member).count = count;
        return *this;
    }

    /// Whole numbers lo..hi.
    template <class Member>
    class_builder& range(const char* name, Member State::*member, double lo, double hi) noexcept
    {
        set_range(bind_whole(name, PH_CODING_RANGE, member), lo, hi);
        return *this;
    }

    /// Whole numbers, short when they are small: all that the member holds, or lo..hi by the option of that name.
    template <class Member> class_builder& varint(const char* name, Member State::*member) noexcept
    {
        bind_whole(name, PH_CODING_VARINT, member);
        return *this;
    }

    template <class Member> class_builder& two_bit(const char* name, Member State::*member) noexcept
    {
        bind_whole(name, PH_CODING_TWO_BIT, member);
        return *this;
    }

    template <class Member> class_builder& gamma(const char* name, Member State::*member) noexcept
    {
        bind_whole(name, PH_CODING_GAMMA, member);
        return *this;
    }

    /// rice_k is 0..31.
    template <class Member>
    class_builder& rice(const char* name, Member State::*member, int rice_k) noexcept
    {
        bind_whole(name, PH_CODING_RICE, member).rice_k = rice_k;
        return *this;
    }

    /// Numbers lo..hi in steps.
    template <class Member>
    class_builder& fixed(const char* name, Member State::*member, double lo, double hi,
                         double step) noexcept
    {
        ph_property_def& def = bind_number(name, PH_CODING_FIXED, member);
        set_range(def, lo, hi);
        def.step = step;
        return *this;
    }

    /// 2^bits parts of a full turn; 0 means 8 bits. Degrees, unless the option turn() says otherwise.
    template <class Member>
    class_builder& angle(const char* name, Member State::*member, int bits = 0) noexcept
    {
        bind_number(name, PH_CODING_ANGLE, member).bits = bits;
        return *this;
    }

    /// x, y, z, w of length 1; bits for each of three components, 0 means 10.
    template <class Member>
    class_builder& quaternion(const char* name, Member State::*member, int bits = 0) noexcept
    {
        constexpr ph_field field = field_of<Member>::value;
        static_assert(field == PH_FIELD_F32X4 || field == PH_FIELD_F64X4 || field == PH_FIELD_NONE,
                      "pinhole: a quaternion is bound to float[4] or double[4]: x, y, z, w");
        bind(name, PH_CODING_QUATERNION, member).bits = bits;
        return *this;
    }

    /// Three numbers lo..hi in steps; the option z() gives the third a range of its own.
    template <class Member>
    class_builder& vec3(const char* name, Member State::*member, double lo, double hi,
                        double step) noexcept
    {
        constexpr ph_field field = field_of<Member>::value;
        static_assert(field == PH_FIELD_F32X3 || field == PH_FIELD_F64X3 ||
                          field == PH_FIELD_I32X3 || field == PH_FIELD_NONE,
                      "pinhole: a vec3 is bound to float[3], double[3] or int32_t[3]");
        ph_property_def& def = bind(name, PH_CODING_VEC3, member);
        set_range(def, lo, hi);
        def.step = step;
        return *this;
    }

    /// UTF-8 in a char[N]: at most N - 1 bytes and a zero byte.
    template <class Member> class_builder& string(const char* name, Member State::*member) noexcept
    {
        constexpr ph_field field = field_of<Member>::value;
        static_assert(field == PH_FIELD_TEXT || field == PH_FIELD_NONE,
                      "pinhole: a string is bound to char[N], N - 1 bytes and a zero byte");
        bind(name, PH_CODING_STRING, member).max_length = field_of<Member>::max_length;
        return *this;
    }

    /// Any bytes, in a byte_string<N>.
    template <class Member> class_builder& bytes(const char* name, Member State::*member) noexcept
    {
        constexpr ph_field field = field_of<Member>::value;
        static_assert(field == PH_FIELD_BYTES || field == PH_FIELD_NONE,
                      "pinhole: bytes are bound to pinhole::byte_string<N>");
        bind(name, PH_CODING_BYTES, member).max_length = field_of<Member>::max_length;
        return *this;
    }

    /// A reference to an entity.
    template <class Member> class_builder& entity(const char* name, Member State::*member) noexcept
    {
        constexpr ph_field field = field_of<Member>::value;
        static_assert(
            field == PH_FIELD_ENTITY || field == PH_FIELD_NONE,
            "pinhole: an entity reference is bound to pinhole::entity_id or ph_entity_id");
        bind(name, PH_CODING_ENTITY, member);
        return *this;
    }

    /// How much of a change of velocity goes on (ph_class_def); 0: nothing.
    class_builder& bend(double share) noexcept
    {
        bend_ = share > 0.0 ? share : PH_BEND_NONE;
        return *this;
    }

    /// Over how many ms velocities are taken.
    class_builder& leg(int milliseconds) noexcept
    {
        leg_ms_ = milliseconds;
        return *this;
    }

    /// Any property as the C header declares it, bound or not.
    class_builder& add(const ph_property_def& def) noexcept
    {
        is_bound_ = is_bound_ || def.field != PH_FIELD_NONE;
        append() = def;
        return *this;
    }

    // ---- options: of the property that was added last

    /// varint(), two_bit(), gamma(), rice(): the legal values.
    class_builder& within(double lo, double hi) noexcept
    {
        set_range(last(), lo, hi);
        return *this;
    }

    /// vec3(): the range of the third component.
    class_builder& z(double lo, double hi) noexcept
    {
        last().z_lo = lo;
        last().z_hi = hi;
        return *this;
    }

    /// angle(): a full turn in the unit of the member.
    class_builder& turn(double full_turn) noexcept
    {
        last().turn = full_turn;
        return *this;
    }

    /// position(): in mm, a power of two, and so many bits.
    class_builder& window(double step_mm, int bits) noexcept
    {
        last().step = step_mm;
        last().bits = bits;
        return *this;
    }

    /// position(): the finest step that the pinhole profile tells it in, in mm.
    class_builder& finest(double finest_mm) noexcept
    {
        last().finest = finest_mm;
        return *this;
    }

    /// position(): altitude is the index of a ground layer within this tolerance.
    class_builder& ground(int tolerance_mm) noexcept
    {
        last().ground_tolerance_mm = tolerance_mm;
        return *this;
    }

    /// enumeration(), range(): log2(n) bits instead of whole ones.
    class_builder& arithmetic() noexcept
    {
        last().is_arithmetic = true;
        return *this;
    }

    /// quaternion(): how the entity is turned.
    class_builder& orientation() noexcept
    {
        last().is_orientation = true;
        return *this;
    }

    /// entity(): what the entity is carried by.
    class_builder& carrier() noexcept
    {
        last().is_carrier = true;
        return *this;
    }

    /// Numbers, vec3(), quaternion(): shown at any moment, and told when what is shown is wrong.
    class_builder& smooth() noexcept
    {
        last().is_smooth = true;
        return *this;
    }

    /// angle(): where the entity is headed.
    class_builder& heading() noexcept
    {
        last().is_heading = true;
        return *this;
    }

    /// Of the class: how far its surface is from its place, in m.
    class_builder& radius_m(double radius) noexcept
    {
        radius_m_ = radius;
        return *this;
    }

    /// One bit for this value. vec3(): components are PH_DEFAULT_X and so on.
    class_builder& default_value(double value, int components = 1) noexcept
    {
        last().has_default = components;
        last().default_value = value;
        return *this;
    }

    /// What it is before it is set.
    class_builder& initial(double value) noexcept
    {
        last().default_value = value;
        return *this;
    }

    /// How far it is sent, in m.
    class_builder& distance_m(double distance) noexcept
    {
        last().distance_m = distance;
        return *this;
    }

    /// Which difference is worth sending, in the unit of the member.
    class_builder& significant(double difference) noexcept
    {
        last().significant = difference;
        return *this;
    }

    /// How much it counts when something must wait.
    class_builder& weight(double factor) noexcept
    {
        last().weight = factor;
        return *this;
    }

    /// A number out of range is refused instead of clamped.
    class_builder& strict() noexcept
    {
        last().is_strict = true;
        return *this;
    }

    /// With the enter only.
    class_builder& once() noexcept
    {
        last().when = PH_SEND_ONCE;
        return *this;
    }

    /// Only to the viewer whose own entity it is.
    class_builder& owner_only() noexcept
    {
        last().audience = PH_AUDIENCE_OWNER;
        return *this;
    }

    /// Only to viewers whose audience bits meet the mask.
    class_builder& audience(std::uint32_t mask) noexcept
    {
        last().audience = PH_AUDIENCE_MASK;
        last().audience_mask = mask;
        return *this;
    }

    /// The declaration of the property that was added last, for whatever else the C header has.
    ph_property_def& last() noexcept
    {
        PH_ASSERT(count_ > 0); // an option stands behind a property
        return properties_[count_ > 0 && count_ <= Capacity ? count_ - 1 : Capacity - 1];
    }

    /// The class as the C header declares it. Borrows from the builder. More properties than Capacity are
    /// refused when the schema is created.
    ph_class_def def() const noexcept
    {
        ph_class_def result = {};
        result.name = name_;
        result.properties = properties_;
        result.property_count = count_ <= Capacity ? count_ : PH_PROPERTIES_MAX + 1;
        result.struct_size = is_bound_ ? sizeof(State) : 0;
        result.radius_m = radius_m_;
        result.bend = bend_;
        result.leg_ms = leg_ms_;
        return result;
    }

  private:
    // One too many is counted and written over the last: def() says that it did not fit.
    ph_property_def& append() noexcept
    {
        count_ = count_ <= Capacity ? count_ + 1 : count_;
        last() = ph_property_def{};
        return last();
    }

    template <class Member>
    ph_property_def& bind(const char* name, ph_coding coding, Member State::*member) noexcept
    {
        static_assert(!std::is_const_v<Member>,
                      "pinhole: a bound member must not be const: a client writes it");
        static_assert(std::is_const_v<Member> || field_of<Member>::value != PH_FIELD_NONE,
                      "pinhole: a member of this type cannot be bound; field_of in pinhole.hpp "
                      "names the types "
                      "that can, and how to add one");
        ph_property_def& def = append();
        def.name = name;
        def.coding = coding;
        def.field = field_of<Member>::value;
        def.offset = detail::offset_of(member);
        is_bound_ = true;
        return def;
    }

    template <class Member>
    ph_property_def& bind_whole(const char* name, ph_coding coding, Member State::*member) noexcept
    {
        constexpr ph_field field = field_of<Member>::value;
        static_assert(
            detail::is_whole(field) || field == PH_FIELD_NONE,
            "pinhole: this coding is for whole numbers: bind it to a bool, an integer or an "
            "enumeration");
        return bind(name, coding, member);
    }

    template <class Member>
    ph_property_def& bind_number(const char* name, ph_coding coding, Member State::*member) noexcept
    {
        constexpr ph_field field = field_of<Member>::value;
        static_assert(
            detail::is_number(field) || field == PH_FIELD_NONE,
            "pinhole: this coding is for numbers: bind it to a float, a double or an integer");
        return bind(name, coding, member);
    }

    static void set_range(ph_property_def& def, double lo, double hi) noexcept
    {
        def.lo = lo;
        def.hi = hi;
    }

    const char* name_;
    ph_property_def properties_[static_cast<std::size_t>(Capacity)] = {};
    int count_ = 0;
    bool is_bound_ = false;
    double radius_m_ = 0;
    double bend_ = 0.0;
    int leg_ms_ = 0;
};

template <> struct ending<ph_schema> {
    static void end(ph_schema* object) noexcept
    {
        ph_schema_destroy(object);
    }
};

/// Owns a ph_schema.
class schema : public owner<ph_schema>
{
  public:
    schema() noexcept = default;

    /// Empty when it is refused; create() also says why.
    template <class... States, int... Capacities>
    explicit schema(const class_builder<States, Capacities>&... classes) noexcept
    {
        static_cast<void>(create(nullptr, classes...));
    }

    /// Empty when the text is refused; parse() also says why.
    explicit schema(std::string_view text) noexcept
    {
        static_cast<void>(parse(text));
    }

    /// ph_schema_create() of classes in this order; error may be nullptr.
    template <class... States, int... Capacities>
    [[nodiscard]] ph_result create(ph_error* error,
                                   const class_builder<States, Capacities>&... classes) noexcept
    {
        static_assert(sizeof...(classes) > 0, "pinhole: a schema has at least one class");
        const ph_class_def table[] = {classes.def()...};
        return create(table, static_cast<int>(sizeof...(classes)), error);
    }

    /// ph_schema_create().
    [[nodiscard]] ph_result create(const ph_class_def* classes, int class_count,
                                   ph_error* error = nullptr,
                                   const ph_allocator* allocator = nullptr) noexcept
    {
        reset();
        ph_schema* made = nullptr;
        const ph_result result = ph_schema_create(classes, class_count, allocator, &made, error);
        reset(made);
        return result;
    }

    /// ph_schema_parse().
    [[nodiscard]] ph_result parse(std::string_view text, ph_error* error = nullptr,
                                  const ph_allocator* allocator = nullptr) noexcept
    {
        reset();
        ph_schema* made = nullptr;
        const ph_result result = ph_schema_parse(text.data() != nullptr ? text.data() : "",
                                                 text.size(), allocator, &made, error);
        reset(made);
        return result;
    }

    std::size_t print(char* text, std::size_t capacity) const noexcept
    {
        return ph_schema_print(get(), text, capacity);
    }

    /// ph_schema_print_wire(). @return Length without the end.
    std::size_t print_wire(char* text, std::size_t capacity) const noexcept
    {
        return ph_schema_print_wire(get(), text, capacity);
    }

    /// ph_schema_difference(). @return Whether there is one.
    [[nodiscard]] bool difference(const char* name, const schema& other, const char* other_name,
                                  char (&text)[PH_ERROR_TEXT_SIZE]) const noexcept
    {
        return ph_schema_difference(get(), name, other.get(), other_name, text);
    }

    std::uint64_t fingerprint() const noexcept
    {
        return ph_schema_fingerprint(get());
    }

    int class_count() const noexcept
    {
        return ph_schema_class_count(get());
    }

    /// The class of this name that is bound to State. Null when there is none, or one that is bound to a struct
    /// of another size, or to none. An empty schema has none.
    template <class State> class_id<State> find_class(std::string_view name) const noexcept
    {
        const int index = find_class(name);
        const bool is_bound =
            index >= 0 && ph_schema_class(get(), index)->struct_size == sizeof(State);
        return {is_bound ? index : -1};
    }

    /// The index of the class, or -1. An empty schema has none.
    int find_class(std::string_view name) const noexcept
    {
        const detail::ended_text<PH_SCHEMA_NAME_MAX + 1> ended(name);
        return get() != nullptr ? ph_schema_find_class(get(), ended.bytes) : -1;
    }

    /// The index of the property in its class, or -1.
    int find_property(int class_index, std::string_view name) const noexcept
    {
        const detail::ended_text<PH_SCHEMA_NAME_MAX + 1> ended(name);
        return ph_schema_find_property(get(), class_index, ended.bytes);
    }
};

// ---- the server

template <> struct ending<ph_world> {
    static void end(ph_world* object) noexcept
    {
        ph_world_destroy(object);
    }
};

/// Owns a ph_world: world.h, viewer.h and transfer.h.
class world : public owner<ph_world>
{
  public:
    world() noexcept = default;

    /// Empty when it is refused; on_error of the def is told why.
    explicit world(const ph_world_def& def) noexcept
    {
        static_cast<void>(create(def));
    }

    /// A world by default, of this schema.
    explicit world(const schema& classes) noexcept
    {
        ph_world_def def = ph_world_def_default();
        def.schema = classes.get();
        static_cast<void>(create(def));
    }

    [[nodiscard]] ph_result create(const ph_world_def& def) noexcept
    {
        return remake(ph_world_create, def);
    }

    /// What it was made from. Valid as long as the world.
    const ph_world_def& def() const noexcept
    {
        return *ph_world_get_def(get());
    }

    // entities

    [[nodiscard]] ph_result spawn(const ph_spawn& def, entity_id& entity) noexcept
    {
        return ph_world_spawn(get(), &def, &entity);
    }

    /// The class of the def is replaced. @return Also PH_ERROR_ARGUMENT when there is no such
    /// class.
    template <class State>
    [[nodiscard]] ph_result spawn(class_id<State> kind, ph_spawn def, entity<State>& made) noexcept
    {
        def.class_index = kind.index;
        return ph_world_spawn(get(), &def, &made);
    }

    [[nodiscard]] ph_result despawn(entity_id entity) noexcept
    {
        return ph_world_despawn(get(), entity);
    }

    bool is_alive(entity_id entity) const noexcept
    {
        return ph_world_is_alive(get(), entity);
    }

    int entity_count() const noexcept
    {
        return ph_world_entity_count(get());
    }

    entity_id find(std::uint64_t key) const noexcept
    {
        return ph_world_find(get(), key);
    }

    /// The entity with this key if it is of this class, else null.
    template <class State>
    entity<State> find(class_id<State> kind, std::uint64_t key) const noexcept
    {
        const ph_entity_id found = ph_world_find(get(), key);
        int index = -1;
        const bool is_of_kind = found.index1 != 0 &&
                                ph_world_identify(get(), found, nullptr, &index) == PH_OK &&
                                index == kind.index;
        return entity<State>(is_of_kind ? found : ph_entity_id{0, 0});
    }

    /// Either pointer may be nullptr.
    [[nodiscard]] ph_result identify(entity_id entity, std::uint64_t* key,
                                     int* class_index) const noexcept
    {
        return ph_world_identify(get(), entity, key, class_index);
    }

    // state

    /// Of a property that is refused, on_error of the def says which it is.
    template <class State>
    [[nodiscard]] ph_result set_struct(entity<State> target,
                                       const std::common_type_t<State>& state) noexcept
    {
        return ph_world_set_struct(get(), target, &state);
    }

    template <class State>
    [[nodiscard]] ph_result get_struct(entity<State> source,
                                       std::common_type_t<State>& state) const noexcept
    {
        return ph_world_get_struct(get(), source, &state);
    }

    /// One property, from a value of any type that can be bound to it.
    template <class Value>
    [[nodiscard]] ph_result set_property(entity_id entity, int property,
                                         const Value& value) noexcept
    {
        static_assert(field_of<Value>::value != PH_FIELD_NONE,
                      "pinhole: a property is not set from a value of this type; see field_of in "
                      "pinhole.hpp");
        return ph_world_set_property(get(), entity, property, field_of<Value>::value, &value,
                                     field_of<Value>::size);
    }

    /// A text, which needs no zero byte at its end.
    [[nodiscard]] ph_result set_property(entity_id entity, int property,
                                         std::string_view text) noexcept
    {
        return ph_world_set_property(get(), entity, property, PH_FIELD_TEXT,
                                     text.data() != nullptr ? text.data() : "", text.size());
    }

    /// One property, as a value of any type that can be bound to it.
    template <class Value>
    [[nodiscard]] ph_result get_property(entity_id entity, int property,
                                         Value& value) const noexcept
    {
        static_assert(
            field_of<Value>::value != PH_FIELD_NONE,
            "pinhole: a property is not got as a value of this type; see field_of in pinhole.hpp");
        return ph_world_get_property(get(), entity, property, field_of<Value>::value, &value,
                                     field_of<Value>::size);
    }

    [[nodiscard]] ph_result move(entity_id entity, std::int64_t x_mm, std::int64_t y_mm,
                                 std::int64_t z_mm) noexcept
    {
        return ph_world_move(get(), entity, x_mm, y_mm, z_mm);
    }

    [[nodiscard]] ph_result jump(entity_id entity, std::int64_t x_mm, std::int64_t y_mm,
                                 std::int64_t z_mm) noexcept
    {
        return ph_world_jump(get(), entity, x_mm, y_mm, z_mm);
    }

    [[nodiscard]] ph_result set_visibility(entity_id entity, std::uint32_t seen_by,
                                           bool is_always_visible, bool is_never_visible) noexcept
    {
        return ph_world_set_visibility(get(), entity, seen_by, is_always_visible, is_never_visible);
    }

    std::uint64_t changed_properties(entity_id entity) const noexcept
    {
        return ph_world_changed_properties(get(), entity);
    }

    std::uint32_t mileage(entity_id entity) const noexcept
    {
        return ph_world_mileage(get(), entity);
    }

    // time

    void tick() noexcept
    {
        ph_world_tick(get());
    }

    std::uint32_t tick_count() const noexcept
    {
        return ph_world_tick_count(get());
    }

    ph_world_stats stats() const noexcept
    {
        return ph_world_get_stats(get());
    }

    // viewers

    [[nodiscard]] ph_result add_viewer(const ph_viewer_def& def, viewer_id& viewer) noexcept
    {
        return ph_world_add_viewer(get(), &def, &viewer);
    }

    /// How many slots its client must be able to hold; 0 for a stale id.
    int viewer_slot_count(viewer_id viewer) const noexcept
    {
        return ph_viewer_slot_count(get(), viewer);
    }

    [[nodiscard]] ph_result remove_viewer(viewer_id viewer) noexcept
    {
        return ph_world_remove_viewer(get(), viewer);
    }

    [[nodiscard]] ph_result set_eye(viewer_id viewer, std::int64_t x_mm, std::int64_t y_mm,
                                    std::int64_t z_mm) noexcept
    {
        return ph_viewer_set_eye(get(), viewer, x_mm, y_mm, z_mm);
    }

    [[nodiscard]] ph_result set_viewer_entity(viewer_id viewer, entity_id entity) noexcept
    {
        return ph_viewer_set_entity(get(), viewer, entity);
    }

    [[nodiscard]] ph_result set_sees(viewer_id viewer, std::uint32_t sees) noexcept
    {
        return ph_viewer_set_sees(get(), viewer, sees);
    }

    [[nodiscard]] ph_result set_hint(viewer_id viewer, entity_id entity, double weight) noexcept
    {
        return ph_viewer_set_hint(get(), viewer, entity, weight);
    }

    [[nodiscard]] ph_result get_vision(viewer_id viewer, ph_vision& vision) const noexcept
    {
        return ph_viewer_get_vision(get(), viewer, &vision);
    }

    entity_id entity_at(ph_entity_index index) const noexcept
    {
        return ph_world_entity_at(get(), index);
    }

    /// ph_world_send_all(). deliver(viewer_id, const void* bytes, std::size_t size) takes each datagram.
    template <class Deliver> void send_all(std::uint64_t now_us, Deliver&& deliver) noexcept
    {
        auto&& target = detail::borrowable(deliver);
        const callback<ph_deliver_fn> bound(target);
        ph_world_send_all(get(), now_us, bound.function, bound.context);
    }

    /// ph_viewer_send(), with deliver as in send_all().
    template <class Deliver>
    [[nodiscard]] ph_result send(viewer_id viewer, std::uint64_t now_us, Deliver&& deliver) noexcept
    {
        auto&& target = detail::borrowable(deliver);
        const callback<ph_deliver_fn> bound(target);
        return ph_viewer_send(get(), viewer, now_us, bound.function, bound.context);
    }

    bool is_send_due(viewer_id viewer, std::uint64_t now_us) noexcept
    {
        return ph_viewer_is_send_due(get(), viewer, now_us);
    }

    [[nodiscard]] ph_result receive_ack(viewer_id viewer, std::uint64_t now_us, const void* bytes,
                                        std::size_t size) noexcept
    {
        return ph_viewer_receive_ack(get(), viewer, now_us, bytes, size);
    }

    [[nodiscard]] ph_result set_budget(viewer_id viewer, int bits_per_second,
                                       int burst_bits = 0) noexcept
    {
        return ph_viewer_set_budget(get(), viewer, bits_per_second, burst_bits);
    }

    [[nodiscard]] ph_result reserve(viewer_id viewer, int each_bytes, int next_bytes) noexcept
    {
        return ph_viewer_reserve(get(), viewer, each_bytes, next_bytes);
    }

    [[nodiscard]] ph_result spend(viewer_id viewer, std::uint64_t now_us, int bytes) noexcept
    {
        return ph_viewer_spend(get(), viewer, now_us, bytes);
    }

    /// What its budget can pay for now.
    std::int64_t left_bits(viewer_id viewer, std::uint64_t now_us) noexcept
    {
        return ph_viewer_left_bits(get(), viewer, now_us);
    }

    /// What of that the view does not need.
    std::int64_t spare_bits(viewer_id viewer, std::uint64_t now_us) noexcept
    {
        return ph_viewer_spare_bits(get(), viewer, now_us);
    }

    [[nodiscard]] ph_result get_viewer_stats(viewer_id viewer,
                                             ph_viewer_stats& stats) const noexcept
    {
        return ph_viewer_get_stats(get(), viewer, &stats);
    }

    /// What each bit of its datagrams was for; nullptr: no more.
    [[nodiscard]] ph_result set_trace(viewer_id viewer, ph_trace_fn* trace, void* context) noexcept
    {
        return ph_viewer_set_trace(get(), viewer, trace, context);
    }

    [[nodiscard]] ph_result explain(viewer_id viewer, entity_id entity,
                                    ph_explanation& explanation) const noexcept
    {
        return ph_viewer_explain(get(), viewer, entity, &explanation);
    }

    // transfer

    [[nodiscard]] ph_result set_ownership(entity_id entity, ph_ownership ownership) noexcept
    {
        return ph_world_set_ownership(get(), entity, ownership);
    }

    [[nodiscard]] ph_result get_ownership(entity_id entity, ph_ownership& ownership) const noexcept
    {
        return ph_world_get_ownership(get(), entity, &ownership);
    }

    /// ph_world_export(). deliver(const void* bytes, std::size_t size) takes each batch.
    template <class Deliver>
    [[nodiscard]] ph_result export_batches(const ph_export_def& def,
                                           Deliver&& deliver) const noexcept
    {
        auto&& target = detail::borrowable(deliver);
        const callback<ph_export_fn> bound(target);
        return ph_world_export(get(), &def, bound.function, bound.context);
    }
};

template <> struct ending<ph_importer> {
    static void end(ph_importer* object) noexcept
    {
        ph_importer_destroy(object);
    }
};

/// Owns a ph_importer: transfer.h. The world outlives it.
class importer : public owner<ph_importer>
{
  public:
    importer() noexcept = default;

    /// Of this world, as by default. Empty when there is no memory.
    explicit importer(world& into) noexcept
    {
        ph_importer_def def = ph_importer_def();
        def.world = into.get();
        static_cast<void>(create(def));
    }

    [[nodiscard]] ph_result create(const ph_importer_def& def) noexcept
    {
        return remake(ph_importer_create, def);
    }

    [[nodiscard]] ph_result take(const void* bytes, std::size_t size) noexcept
    {
        return ph_importer_take(get(), bytes, size);
    }

    /// ph_importer_drop(): @return How many.
    int drop(ph_cell cell, std::int32_t cell_mm, int channel) noexcept
    {
        return ph_importer_drop(get(), cell, cell_mm, channel);
    }

    ph_import_stats get_stats() const noexcept
    {
        return ph_importer_get_stats(get());
    }
};

template <> struct ending<ph_exporter> {
    static void end(ph_exporter* object) noexcept
    {
        ph_exporter_destroy(object);
    }
};

/// Owns a ph_exporter: transfer.h. The world outlives it.
class exporter : public owner<ph_exporter>
{
  public:
    exporter() noexcept = default;

    [[nodiscard]] ph_result create(const ph_exporter_def& def) noexcept
    {
        return remake(ph_exporter_create, def);
    }

    /// ph_exporter_changes(). deliver(const ph_cell_batch* batch) takes each batch.
    template <class Deliver>
    [[nodiscard]] ph_result changes(std::uint32_t stamp, Deliver&& deliver) noexcept
    {
        auto&& target = detail::borrowable(deliver);
        const callback<ph_cell_batch_fn> bound(target);
        return ph_exporter_changes(get(), stamp, bound.function, bound.context);
    }

    /// ph_exporter_cell().
    template <class Deliver>
    [[nodiscard]] ph_result cell(ph_cell of, int channel, std::uint32_t stamp,
                                 Deliver&& deliver) noexcept
    {
        auto&& target = detail::borrowable(deliver);
        const callback<ph_cell_batch_fn> bound(target);
        return ph_exporter_cell(get(), of, channel, stamp, bound.function, bound.context);
    }

    /// ph_exporter_count().
    int count(ph_cell of, int channel) const noexcept
    {
        return ph_exporter_count(get(), of, channel);
    }

    /// ph_exporter_entity(): @return Its size, or 0.
    std::size_t entity(entity_id of, std::uint32_t stamp, void* bytes,
                       std::size_t capacity) noexcept
    {
        return ph_exporter_entity(get(), of, stamp, bytes, capacity);
    }
};

// ---- the client

template <> struct ending<ph_client> {
    static void end(ph_client* object) noexcept
    {
        ph_client_destroy(object);
    }
};

/// Owns a ph_client: client.h.
class client : public owner<ph_client>
{
  public:
    client() noexcept = default;

    /// Empty when it is refused; on_error of the def is told why.
    explicit client(const ph_client_def& def) noexcept
    {
        static_cast<void>(create(def));
    }

    /// A client by default, of this schema.
    explicit client(const schema& classes) noexcept
    {
        ph_client_def def = ph_client_def_default();
        def.schema = classes.get();
        static_cast<void>(create(def));
    }

    [[nodiscard]] ph_result create(const ph_client_def& def) noexcept
    {
        return remake(ph_client_create, def);
    }

    /// Takes one datagram. Old ones are refused, which is no fault: a game may ignore the result.
    ph_result receive(std::uint64_t now_us, const void* bytes, std::size_t size) noexcept
    {
        return ph_client_receive(get(), now_us, bytes, size);
    }

    /// bytes has room for PH_ACK_SIZE. @return How many were written: that, or 0 before the first packet.
    [[nodiscard]] std::size_t write_ack(std::uint64_t now_us, std::uint8_t* bytes) noexcept
    {
        return ph_client_write_ack(get(), now_us, bytes);
    }

    std::uint64_t ack_due_us() const noexcept
    {
        return ph_client_ack_due_us(get());
    }

    /// @return False when there is no event.
    [[nodiscard]] bool poll(ph_event& event) noexcept
    {
        return ph_client_poll(get(), &event);
    }

    int entity_count() const noexcept
    {
        return ph_client_entity_count(get());
    }

    int slot_count() const noexcept
    {
        return ph_client_slot_count(get());
    }

    /// ph_client_move(): another server goes on.
    [[nodiscard]] ph_result move_to(ph_profile profile, int slot_capacity) noexcept
    {
        return ph_client_move(get(), profile, slot_capacity);
    }

    entity_id entity_at(int slot) const noexcept
    {
        return ph_client_entity_at(get(), slot);
    }

    entity_id find(std::uint64_t key) const noexcept
    {
        return ph_client_find(get(), key);
    }

    bool is_in_view(entity_id entity) const noexcept
    {
        return ph_client_is_in_view(get(), entity);
    }

    /// Either pointer may be nullptr.
    [[nodiscard]] ph_result identify(entity_id entity, std::uint64_t* key,
                                     int* class_index) const noexcept
    {
        return ph_client_identify(get(), entity, key, class_index);
    }

    /// The same entity if it is in view and of this class, else null.
    template <class State>
    entity<State> entity_of(class_id<State> kind, entity_id id) const noexcept
    {
        int index = -1;
        const bool is_of_kind =
            ph_client_identify(get(), id, nullptr, &index) == PH_OK && index == kind.index;
        return entity<State>(is_of_kind ? id : entity_id());
    }

    template <class State>
    [[nodiscard]] ph_result get_struct(entity<State> source,
                                       std::common_type_t<State>& state) const noexcept
    {
        return ph_client_get_struct(get(), source, &state);
    }

    /// One property, as a value of any type that can be bound to it.
    template <class Value>
    [[nodiscard]] ph_result get_property(entity_id entity, int property,
                                         Value& value) const noexcept
    {
        static_assert(
            field_of<Value>::value != PH_FIELD_NONE,
            "pinhole: a property is not got as a value of this type; see field_of in pinhole.hpp");
        return ph_client_get_property(get(), entity, property, field_of<Value>::value, &value,
                                      field_of<Value>::size);
    }

    [[nodiscard]] ph_result set_user(entity_id entity, void* user) noexcept
    {
        return ph_client_set_user(get(), entity, user);
    }

    /// The pointer as what it was set from, or nullptr.
    template <class User> User* user(entity_id entity) const noexcept
    {
        return static_cast<User*>(ph_client_user(get(), entity));
    }

    void advance(std::uint64_t now_us) noexcept
    {
        ph_client_advance(get(), now_us);
    }

    [[nodiscard]] ph_result get_pose(entity_id entity, ph_pose& pose) const noexcept
    {
        return ph_client_get_pose(get(), entity, &pose);
    }

    [[nodiscard]] ph_result get_shown(entity_id entity, int property,
                                      double (&numbers)[4]) const noexcept
    {
        return ph_client_get_shown(get(), entity, property, numbers);
    }

    template <class State>
    [[nodiscard]] ph_result get_shown_struct(entity<State> source,
                                             std::common_type_t<State>& state) const noexcept
    {
        return ph_client_get_shown_struct(get(), source, &state);
    }

    double server_time_us(std::uint64_t now_us) const noexcept
    {
        return ph_client_server_time_us(get(), now_us);
    }

    ph_client_stats stats() const noexcept
    {
        return ph_client_get_stats(get());
    }
};

// ---- messages

template <> struct ending<ph_messages> {
    static void end(ph_messages* object) noexcept
    {
        ph_messages_destroy(object);
    }
};

/// Owns a ph_messages: one end of a connection, message.h.
class messages : public owner<ph_messages>
{
  public:
    messages() noexcept = default;

    /// Empty when it is refused; on_error of the def is told why.
    explicit messages(const ph_messages_def& def) noexcept
    {
        static_cast<void>(create(def));
    }

    [[nodiscard]] ph_result create(const ph_messages_def& def) noexcept
    {
        return remake(ph_messages_create, def);
    }

    [[nodiscard]] ph_result send(const void* bytes, std::size_t size) noexcept
    {
        return ph_messages_send(get(), bytes, size);
    }

    [[nodiscard]] ph_result send(std::string_view text) noexcept
    {
        return ph_messages_send(get(), text.data(), text.size());
    }

    /// Copied. id may be nullptr.
    [[nodiscard]] ph_result send_block(std::uint32_t tag, const void* bytes, std::size_t size,
                                       std::uint32_t* id = nullptr) noexcept
    {
        return ph_messages_send_block(get(), tag, bytes, size, id);
    }

    /// Not copied: the bytes stay as they are until the block has ended. id may be nullptr.
    [[nodiscard]] ph_result lend_block(std::uint32_t tag, const void* bytes, std::size_t size,
                                       std::uint32_t* id = nullptr) noexcept
    {
        return ph_messages_lend_block(get(), tag, bytes, size, id);
    }

    [[nodiscard]] ph_result cancel_block(std::uint32_t id) noexcept
    {
        return ph_messages_cancel_block(get(), id);
    }

    /// @return False when no block has ended.
    [[nodiscard]] bool next_block_end(ph_block_end& end) noexcept
    {
        return ph_messages_next_block_end(get(), &end);
    }

    bool sending_block(ph_block_progress& progress) const noexcept
    {
        return ph_messages_sending_block(get(), &progress);
    }

    bool receiving_block(ph_block_progress& progress) const noexcept
    {
        return ph_messages_receiving_block(get(), &progress);
    }

    /// @return False when no block has come whole; call it until then.
    [[nodiscard]] bool receive_block(ph_block& block) noexcept
    {
        return ph_messages_receive_block(get(), &block);
    }

    [[nodiscard]] ph_result send_unreliable(ph_unreliable_kind kind, int channel, const void* bytes,
                                            std::size_t size) noexcept
    {
        return ph_messages_send_unreliable(get(), kind, channel, bytes, size);
    }

    /// @return False when there is none.
    [[nodiscard]] bool receive_unreliable(ph_unreliable& message) noexcept
    {
        return ph_messages_receive_unreliable(get(), &message);
    }

    /// Whether anything of blocks or unreliable messages waits to be sent or acked.
    bool has_bulk() const noexcept
    {
        return ph_messages_has_bulk(get());
    }

    /// 0 when no datagram of blocks alone is wanted.
    std::size_t plan_block(std::uint64_t now_us, std::int64_t left_bits,
                           std::int64_t spare_bits) noexcept
    {
        return ph_messages_plan_block(get(), now_us, left_bits, spare_bits);
    }

    /// @return Size of the message, 0 when there is none.
    [[nodiscard]] std::size_t receive(std::uint8_t (&bytes)[PH_MESSAGE_SIZE_MAX]) noexcept
    {
        return ph_messages_receive(get(), bytes);
    }

    bool is_all_acked() const noexcept
    {
        return ph_messages_is_all_acked(get());
    }

    /// ph_messages_export(): @return Bytes of the whole.
    std::size_t export_state(void* bytes, std::size_t capacity) const noexcept
    {
        return ph_messages_export(get(), bytes, capacity);
    }

    [[nodiscard]] ph_result import_state(const void* bytes, std::size_t size) noexcept
    {
        return ph_messages_import(get(), bytes, size);
    }

    /// ph_messages_continue(): another server goes on.
    void go_on() noexcept
    {
        ph_messages_continue(get());
    }

    [[nodiscard]] ph_result confirm(std::uint64_t count) noexcept
    {
        return ph_messages_confirm(get(), count);
    }

    std::uint64_t received_count() const noexcept
    {
        return ph_messages_received_count(get());
    }

    void set_budget(int bits_per_second) noexcept
    {
        ph_messages_set_budget(get(), bits_per_second);
    }

    [[nodiscard]] ph_result set_input(std::uint32_t number, const void* bytes,
                                      std::size_t size) noexcept
    {
        return ph_messages_set_input(get(), number, bytes, size);
    }

    ph_input newest_input() const noexcept
    {
        return ph_messages_newest_input(get());
    }

    [[nodiscard]] ph_result set_processed_input(std::uint32_t number) noexcept
    {
        return ph_messages_set_processed_input(get(), number);
    }

    std::uint32_t processed_input() const noexcept
    {
        return ph_messages_processed_input(get());
    }

    std::size_t plan(std::uint64_t now_us) noexcept
    {
        return ph_messages_plan(get(), now_us);
    }

    std::size_t plan_alone(std::uint64_t now_us) noexcept
    {
        return ph_messages_plan_alone(get(), now_us);
    }

    /// @return Bytes of the whole datagram.
    [[nodiscard]] std::size_t pack(const void* packet, std::size_t size,
                                   std::uint8_t (&bytes)[PH_PAYLOAD_MAX]) noexcept
    {
        return ph_messages_pack(get(), packet, size, bytes);
    }

    [[nodiscard]] ph_result unpack(std::uint64_t now_us, const void* bytes, std::size_t size,
                                   ph_messages_rest& rest) noexcept
    {
        return ph_messages_unpack(get(), now_us, bytes, size, &rest);
    }

    ph_messages_stats stats() const noexcept
    {
        return ph_messages_get_stats(get());
    }
};

// ---- a simulated network

template <> struct ending<ph_link> {
    static void end(ph_link* object) noexcept
    {
        ph_link_destroy(object);
    }
};

/// Owns a ph_link: one direction of a simulated network, link.h.
class link : public owner<ph_link>
{
  public:
    link() noexcept = default;

    /// Empty when it is refused; on_error of the def is told why.
    explicit link(const ph_link_def& def) noexcept
    {
        static_cast<void>(create(def));
    }

    [[nodiscard]] ph_result create(const ph_link_def& def) noexcept
    {
        return remake(ph_link_create, def);
    }

    [[nodiscard]] ph_result send(std::uint64_t now_us, const void* bytes, std::size_t size) noexcept
    {
        return ph_link_send(get(), now_us, bytes, size);
    }

    /// @return Size of the datagram, 0 when nothing has arrived.
    [[nodiscard]] std::size_t receive(std::uint64_t now_us, void* bytes,
                                      std::size_t capacity) noexcept
    {
        return ph_link_receive(get(), now_us, bytes, capacity);
    }

    std::uint64_t next_us() const noexcept
    {
        return ph_link_next_us(get());
    }

    [[nodiscard]] ph_result change(const ph_link_def& def) noexcept
    {
        return ph_link_change(get(), &def);
    }

    ph_link_stats stats() const noexcept
    {
        return ph_link_get_stats(get());
    }
};

} // namespace pinhole

namespace std
{

/// Ids as keys of the standard containers.
template <> struct hash<pinhole::entity_id> {
    std::size_t operator()(const pinhole::entity_id& id) const noexcept
    {
        return hash<std::uint64_t>()(static_cast<std::uint64_t>(id.generation) << 32 | id.index1);
    }
};

/// Ids as keys of the standard containers.
template <> struct hash<pinhole::viewer_id> {
    std::size_t operator()(const pinhole::viewer_id& id) const noexcept
    {
        return hash<std::uint64_t>()(static_cast<std::uint64_t>(id.generation) << 32 | id.index1);
    }
};

} // namespace std

#endif
