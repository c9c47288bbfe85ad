// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a game's entities are made of: classes, their properties, how each is written and when it is
// worth sending. Declared as C tables bound to the game's own structs, or as text (docs/schema.md);
// both ends compare fingerprints when they connect.
//
//     typedef struct kart {
//         int64_t position_mm[3];
//         float heading_deg;
//         uint8_t shells;
//         char name[32];
//     } kart;
//
//     static const ph_property_def kart_properties[] = {
//         {.name = "position", .coding = PH_CODING_POSITION,
//          .field = PH_FIELD_I64X3, .offset = offsetof(kart, position_mm)},
//         {.name = "heading", .coding = PH_CODING_ANGLE, .bits = 8,
//          .significant = 5, .distance_m = 50,
//          .field = PH_FIELD_F32, .offset = offsetof(kart, heading_deg)},
//         {.name = "shells", .coding = PH_CODING_RANGE, .hi = 3,
//          .field = PH_FIELD_U8, .offset = offsetof(kart, shells)},
//         {.name = "name", .coding = PH_CODING_STRING, .max_length = 31, .when = PH_SEND_ONCE,
//          .field = PH_FIELD_TEXT, .offset = offsetof(kart, name)},
//     };

#ifndef PINHOLE_SCHEMA_H
#define PINHOLE_SCHEMA_H

#include <pinhole/base.h>
#include <pinhole/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PH_PROPERTIES_MAX 64
#define PH_CLASSES_MAX 256
/// Longest name of a class or property, in bytes.
#define PH_SCHEMA_NAME_MAX 31
/// Longest string or byte string, in bytes.
#define PH_TEXT_LENGTH_MAX 1000
/// The most that all values of an entity may cost together, in bits, each at its dearest: what one
/// datagram of PH_PAYLOAD_MAX bytes has left when it carries everything else that it ever has to and
/// tells all about one newcomer. A class above it is refused; long texts are what takes it there.
#define PH_CLASS_BITS_MAX 8712

/// How a property is written. A parameter that stands beside no coding here must stay 0 with it.
typedef enum ph_coding {
    /// From the field: bool as BOOL, whole numbers as VARINT, ids as ENTITY, text as STRING, bytes
    /// as BYTES.
    PH_CODING_AUTO = 0,
    PH_CODING_BOOL,
    PH_CODING_ENUM,       // count alternatives, 2 or more
    PH_CODING_RANGE,      // whole numbers lo..hi
    PH_CODING_VARINT,     // whole numbers; lo < 0 means signed; lo = hi = 0: see below
    PH_CODING_TWO_BIT,    // the same, in 32 bits
    PH_CODING_GAMMA,      // the same, in 32 bits
    PH_CODING_RICE,       // the same, in 32 bits, with rice_k
    PH_CODING_FIXED,      // lo..hi in steps of step
    PH_CODING_ANGLE,      // 2^bits parts of a full turn
    PH_CODING_QUATERNION, // bits for each of three components
    PH_CODING_VEC3,       // three times FIXED; z_lo, z_hi when z differs
    PH_CODING_STRING,     // UTF-8, max_length bytes
    PH_CODING_BYTES,      // max_length bytes
    PH_CODING_ENTITY,     // a reference to an entity
    PH_CODING_POSITION,   // the entity's place in mm; every class has exactly one
    PH_CODING_COUNT
} ph_coding;

/// What the game's struct holds at the offset.
typedef enum ph_field {
    PH_FIELD_NONE = 0, // not in the struct: only set and read one by one
    PH_FIELD_BOOL,
    PH_FIELD_I8,
    PH_FIELD_I16,
    PH_FIELD_I32,
    PH_FIELD_I64,
    PH_FIELD_U8,
    PH_FIELD_U16,
    PH_FIELD_U32,
    PH_FIELD_U64,
    PH_FIELD_F32,
    PH_FIELD_F64,
    PH_FIELD_I32X3,  // int32_t[3]
    PH_FIELD_I64X3,  // int64_t[3]: position in mm
    PH_FIELD_F32X3,  // float[3]
    PH_FIELD_F64X3,  // double[3]
    PH_FIELD_F32X4,  // float[4]: x, y, z, w
    PH_FIELD_F64X4,  // double[4]: x, y, z, w
    PH_FIELD_TEXT,   // char[max_length + 1], ended by a zero byte
    PH_FIELD_BYTES,  // uint16_t length, then uint8_t[max_length]
    PH_FIELD_ENTITY, // ph_entity_id
    PH_FIELD_COUNT
} ph_field;

/// When a property is sent.
typedef enum ph_send {
    PH_SEND_ON_CHANGE = 0,
    // With the enter only; later changes are not sent. Not of an ENTITY: its target may come into
    // view later than the enter.
    PH_SEND_ONCE,
} ph_send;

/// Which of the viewers that see an entity are sent a property of it.
typedef enum ph_audience {
    PH_AUDIENCE_ALL = 0,
    PH_AUDIENCE_OWNER, // only the viewer whose own entity this is
    PH_AUDIENCE_MASK,  // viewers whose audience bits meet audience_mask
} ph_audience;

/// The greatest whole number: as far as a double counts without gaps.
#define PH_WHOLE_MAX 9007199254740992.0

// For has_default of a VEC3: which components. Others: any value but 0 means yes.
#define PH_DEFAULT_X 1
#define PH_DEFAULT_Y 2
#define PH_DEFAULT_Z 4

/// One property. Zero everywhere else is a sensible choice.
typedef struct ph_property_def {
    /// Letters, digits and underscores, not a digit first, at most PH_SCHEMA_NAME_MAX; unique in
    /// its class.
    const char* name;
    ph_coding coding;

    // The coding's parameters; which are used stands beside the codings above.

    /// Whole numbers lie within -PH_WHOLE_MAX..PH_WHOLE_MAX. VARINT, TWO_BIT, GAMMA and RICE with
    /// lo = hi = 0 take all that the field holds (64 bits: up to PH_WHOLE_MAX); without a field
    /// they take 0..PH_WHOLE_MAX (VARINT) or 0..2^32-1.
    double lo;
    double hi;
    /// FIXED, VEC3. POSITION: in mm, a power of two; 0 means 16.
    double step;
    /// POSITION: the finest step that the pinhole profile tells it in, in mm: step, or that halved up to seven
    /// times, at least 1. 0 means step. Not of one that is sent once.
    double finest;
    double z_lo; // VEC3: when z_lo < z_hi, z has these instead of lo and hi
    double z_hi;
    double turn;    // ANGLE: a full turn in the field's unit; 0 means 360
    int bits;       // ANGLE: 0 means 8; QUATERNION: 0 means 10; POSITION: 0 means 16
    int count;      // ENUM
    int rice_k;     // RICE: 0..31
    int max_length; // STRING, BYTES: 1..PH_TEXT_LENGTH_MAX
    /// ENUM, RANGE: arithmetic coding, log2(n) bits instead of whole ones (pinhole profile only).
    bool is_arithmetic;
    /// POSITION: altitude is the index of a ground layer within this tolerance; 0 means a plain z.
    int ground_tolerance_mm;

    /// QUATERNION: how the entity is turned. The pinhole profile predicts it as it does positions, clients show
    /// it at any moment, and it follows distance and budget. At most one in a class; not sent once.
    bool is_orientation;
    /// ANGLE: where the entity is headed, which its motion says something about. At most one in a class. In a class
    /// without this mark and without an orientation it is the first angle that is not smooth; beside an orientation
    /// there is none.
    bool is_heading;
    /// ENTITY: the entity that this one is carried by, or moves with as one body: a vehicle, a platform, what it is
    /// stuck to. The pinhole profile then predicts how it moves and turns from what the carrier does, where that
    /// serves better. At most one in a class. Worth something when the carrier's class has an orientation.
    bool is_carrier;
    /// It changes steadily for the most part: an angle of a turret, a fuel gauge, a speed. Clients show it at any
    /// moment (ph_client_get_shown()), and the pinhole profile is silent about it while what is shown is right: to a
    /// step, or to less than `significant`. Of codings that have an order: RANGE, VARINT, TWO_BIT, GAMMA, RICE, FIXED,
    /// ANGLE, QUATERNION, VEC3. Not of the orientation or heading, which are motion already; not sent once.
    bool is_smooth;

    /// A number outside of lo..hi is refused instead of clamped. Codings with a range only.
    bool is_strict;

    /// Spends one bit so that default_value costs that bit alone. Numbers and VEC3 only.
    int has_default;
    /// Also what a property is before it is set for the first time. Numbers only. When lo..hi does
    /// not hold 0, a 0 here without has_default means the end that is nearer to it. A VEC3 clamps
    /// it into the range of each component.
    double default_value;

    /// How far it is sent, in m, at most 5,000,000. 0: as far as the viewer sees. Not for POSITION.
    double distance_m;
    /// Which difference is worth sending, in the field's unit. 0: any. Numbers, VEC3, POSITION
    /// (mm).
    double significant;
    /// How much it counts when something must wait, 0.000001..1000000. 0 means 1.
    double weight;
    ph_send when;
    /// A POSITION goes to all who see the entity.
    ph_audience audience;
    uint32_t audience_mask; // PH_AUDIENCE_MASK only: at least one bit

    // Where it is in the game's struct.
    ph_field field;
    size_t offset;
} ph_property_def;

/// bend of a class whose velocities are followed straight on.
#define PH_BEND_NONE (-1.0)

/// One class of entities.
typedef struct ph_class_def {
    /// As with properties; unique in the schema.
    const char* name;
    const ph_property_def* properties;
    int property_count;
    /// sizeof the game's struct; 0 when no property is bound to one.
    size_t struct_size;
    /// How far its surface is from its place, in m, 0.001..100000; 0 means 0.5. What an orientation is worth to a
    /// viewer goes by it: a turn moves the surface of something large by more. The sender's alone.
    double radius_m;
    /// How it moves (docs/motion.md). Not part of the wire: clients show by it, and servers take them to
    /// have the same.
    /// How much of the last change of velocity is expected once more, up to 2; 0 means 0.55. PH_BEND_NONE:
    /// nothing.
    double bend;
    /// Velocities are taken over at least so many ms, up to 10000, or 200 mm; 0 means 80.
    int leg_ms;
} ph_class_def;

/// A checked set of classes. It never changes, and may be used by any number of worlds, clients and
/// threads at once. It keeps copies of everything it was made from.
typedef struct ph_schema ph_schema;

/// Makes a schema from tables of 1..PH_CLASSES_MAX classes. allocator may be NULL (malloc and
/// free); error may be NULL: it says where and why a schema was refused.
/// @return PH_OK, or PH_ERROR_SCHEMA or PH_ERROR_MEMORY with *error filled; *schema is NULL unless
/// PH_OK.
PH_API ph_result ph_schema_create(const ph_class_def* classes, int class_count,
                                  const ph_allocator* allocator, ph_schema** schema,
                                  ph_error* error);

/// The same from text (docs/schema.md). Its properties are bound to no struct. The error has line and
/// column.
PH_API ph_result ph_schema_parse(const char* text, size_t length, const ph_allocator* allocator,
                                 ph_schema** schema, ph_error* error);

/// As ph_schema_create(), with the models of a schema that `pinhole tune` has learned from the game's
/// recordings: those of properties go to the properties of the same class and name. A class that leaves
/// bend or leg_ms 0 takes that of the class of its name. tuned may be destroyed afterwards. Only the pinhole profile
/// uses models; both ends must have the same ones, so they are part of the fingerprint.
/// @return As ph_schema_create(); PH_ERROR_SCHEMA, too, when there are more properties than a schema
/// with models may have, some 1,200.
PH_API ph_result ph_schema_create_tuned(const ph_class_def* classes, int class_count,
                                        const ph_schema* tuned, const ph_allocator* allocator,
                                        ph_schema** schema, ph_error* error);

/// NULL is allowed. Nothing may use the schema any more.
PH_API void ph_schema_destroy(ph_schema* schema);

/// Writes the text form, ended by a zero byte; parsing it gives the same schema (without bindings).
/// text may be NULL when capacity is 0.
/// @return Length without the end; when it is not below capacity, nothing useful was written.
PH_API size_t ph_schema_print(const ph_schema* schema, char* text, size_t capacity);

/// As ph_schema_print(), but only what decides the wire: names, codings, defaults. Parsing it gives a
/// schema with the same fingerprint. @return As there.
PH_API size_t ph_schema_print_wire(const ph_schema* schema, char* text, size_t capacity);

/// Changes with everything that changes the wire, and with nothing else: not with names, policies
/// or bindings.
PH_API uint64_t ph_schema_fingerprint(const ph_schema* schema);

/// Says what differs between two schemas whose fingerprints are not the same, in one English sentence without its
/// full stop: "class ship, property hull: server range 0..200, client range 0..100". The names say whose they
/// are ("server", "client"). One difference is told, where there are several the first.
/// @return Whether there is one; if not, the text is empty.
PH_API bool ph_schema_difference(const ph_schema* one, const char* one_name, const ph_schema* other,
                                 const char* other_name, char text[PH_ERROR_TEXT_SIZE]);

/// Classes there are, 1..PH_CLASSES_MAX.
PH_API int ph_schema_class_count(const ph_schema* schema);

/// The declaration of a class as the schema keeps it, with every default spelled out. Valid as long
/// as the schema; class_index is 0..ph_schema_class_count()-1.
PH_API const ph_class_def* ph_schema_class(const ph_schema* schema, int class_index);

/// @return Index, or -1.
PH_API int ph_schema_find_class(const ph_schema* schema, const char* name);
/// @return Index of the property in that class, which must exist; or -1.
PH_API int ph_schema_find_property(const ph_schema* schema, int class_index, const char* name);

// For programs that know a schema at run time alone: inspectors, bindings to other languages.

/// The field type that holds every value of a coding: I64 for whole numbers, F64 for FIXED and ANGLE, I64X3 for
/// POSITION, F64X3, F64X4, TEXT, BYTES or ENTITY. NONE for AUTO, and for what is no coding.
PH_API ph_field ph_coding_field(ph_coding coding);

/// Bytes that a value of a field type takes. max_length matters for TEXT and BYTES only; it is 0 or more.
/// @return 0 for NONE, and for what is no field type.
PH_API size_t ph_field_size(ph_field field, int max_length);

// Makers for languages without designated initialisers: ph_property_range("hp", 0, 100) and then
// change fields as needed.

/// True or false, in one bit. This and the others keep the pointer to the name: it must last until
/// the schema is made.
PH_API ph_property_def ph_property_bool(const char* name);
/// One of count alternatives, 0..count-1. count is 2 or more.
PH_API ph_property_def ph_property_enum(const char* name, int count);
/// Whole numbers lo..hi, all about equally likely.
PH_API ph_property_def ph_property_range(const char* name, double lo, double hi);
/// Whole numbers, mostly small, rarely huge. Set lo and hi for less than the field holds.
PH_API ph_property_def ph_property_varint(const char* name);
/// Whole numbers of 32 bits, mostly below 256. lo and hi narrow them.
PH_API ph_property_def ph_property_two_bit(const char* name);
/// Whole numbers of 32 bits, mostly 0, 1 or 2. lo and hi narrow them.
PH_API ph_property_def ph_property_gamma(const char* name);
/// Whole numbers of 32 bits with a spread of about 2^rice_k; rice_k is 0..31.
PH_API ph_property_def ph_property_rice(const char* name, int rice_k);
/// Numbers lo..hi in steps of step, all in the field's unit.
PH_API ph_property_def ph_property_fixed(const char* name, double lo, double hi, double step);
/// An angle in 2^bits parts of a full turn, which is 360 unless turn is set. 0 bits mean 8.
PH_API ph_property_def ph_property_angle(const char* name, int bits);
/// A rotation, with so many bits for each of three components. 0 bits mean 10.
PH_API ph_property_def ph_property_quaternion(const char* name, int bits);
/// Three numbers, each lo..hi in steps of step. Set z_lo and z_hi when z differs.
PH_API ph_property_def ph_property_vec3(const char* name, double lo, double hi, double step);
/// UTF-8 text of at most max_length bytes, 1..PH_TEXT_LENGTH_MAX.
PH_API ph_property_def ph_property_string(const char* name, int max_length);
/// At most max_length bytes of any kind, 1..PH_TEXT_LENGTH_MAX.
PH_API ph_property_def ph_property_bytes(const char* name, int max_length);
/// A reference to another entity.
PH_API ph_property_def ph_property_entity(const char* name);
/// The entity's place in mm, in steps of 16 unless step is set. Every class has exactly one.
PH_API ph_property_def ph_property_position(const char* name);

/// Binds a property to a field of the game's struct.
PH_API ph_property_def ph_property_bound(ph_property_def property, ph_field field, size_t offset);

#ifdef __cplusplus
}
#endif

#endif
