// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The classic kart, from the raw struct to the smallest form, a step at a time. Every step adds one
// idea to the steps before it; every message is really written, read back and compared with the
// kart, and the sizes in the table are what the writer says.

#include <pinhole/pinhole.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NAME_MAX_LENGTH 127
#define SHELLS_MAX 3
#define HEADING_BITS 9

typedef struct kart {
    char name[NAME_MAX_LENGTH + 1];
    uint32_t shells;   // 0..3
    float position[3]; // m: x and y 0..1000, z 0..20 above the road
    float velocity[3]; // m/s
    float rotation[4]; // unit quaternion x, y, z, w
} kart;

// Which parts a message carries.
enum {
    HAS_NAME = 1 << 0,
    HAS_SHELLS = 1 << 1,
    HAS_POSE = 1 << 2,
    HAS_VELOCITY = 1 << 3,
    HAS_ALL = 15,
    PARTS_BITS = 4,
};

// One thing to say about a kart.
typedef struct message {
    const char* text;
    kart value;
    int parts; // news; steps without state bits send everything
} message;

// ---- the steps: each keeps the ideas of all steps before it

typedef enum step {
    STEP_RAW = 0,
    STEP_SHORT_NAME,
    STEP_SMALL_SHELLS,
    STEP_PARTS,
    STEP_FIXED_POSITION,
    STEP_DEFAULT_Z,
    STEP_QUATERNION_16,
    STEP_QUATERNION_9,
    STEP_FIXED_VELOCITY,
    STEP_UPRIGHT,
    STEP_CODED,
    STEP_COUNT
} step;

static const char* const step_texts[STEP_COUNT] = {
    [STEP_RAW] = "the raw struct",
    [STEP_SHORT_NAME] = "name: length, then its letters",
    [STEP_SMALL_SHELLS] = "shells 0..3 in two bits",
    [STEP_PARTS] = "state bits: only what is news",
    [STEP_FIXED_POSITION] = "position in steps of 0.1 m",
    [STEP_DEFAULT_Z] = "one bit: is it on the road?",
    [STEP_QUATERNION_16] = "rotation: three of four, 16 bits",
    [STEP_QUATERNION_9] = "rotation: 9 bits are half a degree",
    [STEP_FIXED_VELOCITY] = "velocity to 0.1 m/s, a bit for 0",
    [STEP_UPRIGHT] = "one bit: is it upright? 9-bit angle",
    [STEP_CODED] = "arithmetic coding: no whole bits",
};

// Bits of a quaternion's component.
static int quaternion_width(step how)
{
    return how >= STEP_QUATERNION_9 ? 9 : 16;
}

// ---- the codings, declared once

typedef struct codings {
    ph_vec3_coding position;        // 14 + 14 + 8 bits
    ph_vec3_coding position_ground; // z costs one bit on the road
    ph_vec3_coding velocity;
    ph_angle heading;
    // How likely is what: a game would count this in its own recordings.
    uint16_t parts_table[HAS_ALL + 2];
    uint16_t shells_table[SHELLS_MAX + 2];
    uint16_t rare_table[3];
    uint16_t even_table[3];
    ph_model parts;
    ph_model shells;
    ph_model rare; // a flag that is seldom set
    ph_model even; // a flag that is as often set as not
} codings;

static bool make_ladders(codings* all)
{
    ph_fixed across = {0};
    ph_fixed up = {0};
    bool is_made = ph_fixed_make(0, 1000, 0.1, &across) == PH_OK;
    is_made = is_made && ph_fixed_make(0, 20, 0.1, &up) == PH_OK;
    all->position = (ph_vec3_coding){across, across, up};
    is_made = is_made && ph_fixed_set_default(&up, 0) == PH_OK;
    all->position_ground = (ph_vec3_coding){across, across, up};

    is_made = is_made && ph_fixed_make(-60, 60, 0.1, &across) == PH_OK;
    is_made = is_made && ph_fixed_make(-20, 20, 0.1, &up) == PH_OK;
    is_made = is_made && ph_fixed_set_default(&across, 0) == PH_OK;
    is_made = is_made && ph_fixed_set_default(&up, 0) == PH_OK;
    all->velocity = (ph_vec3_coding){across, across, up};

    all->heading = (ph_angle){.width = HEADING_BITS, .turn = PH_TURN_RADIANS};
    return is_made && ph_angle_check(&all->heading) == PH_OK;
}

static bool make_model(const uint32_t* seen, int count, uint16_t* table, ph_model* model)
{
    *model = (ph_model){.cumulative = table, .count = (uint16_t)count};
    return ph_model_build(seen, count, table) == PH_OK;
}

static bool make_models(codings* all)
{
    const uint32_t parts_seen[HAS_ALL + 1] = {
        [HAS_POSE] = 300,  [HAS_POSE | HAS_VELOCITY] = 600,
        [HAS_SHELLS] = 40, [HAS_POSE | HAS_VELOCITY | HAS_SHELLS] = 40,
        [HAS_ALL] = 20,
    };
    const uint32_t shells_seen[SHELLS_MAX + 1] = {50, 20, 10, 20};
    const uint32_t rare_seen[2] = {4, 1};
    const uint32_t even_seen[2] = {1, 1};
    return make_model(parts_seen, HAS_ALL + 1, all->parts_table, &all->parts) &&
           make_model(shells_seen, SHELLS_MAX + 1, all->shells_table, &all->shells) &&
           make_model(rare_seen, 2, all->rare_table, &all->rare) &&
           make_model(even_seen, 2, all->even_table, &all->even);
}

// ---- floats, vectors, rotations

static void write_floats(ph_bit_writer* writer, const float* numbers, int count)
{
    for (int i = 0; i < count; ++i) {
        uint32_t bits;
        memcpy(&bits, &numbers[i], sizeof bits);
        ph_bits_write(writer, bits, 32);
    }
}

static void read_floats(ph_bit_reader* reader, float* numbers, int count)
{
    for (int i = 0; i < count; ++i) {
        const uint32_t bits = (uint32_t)ph_bits_read(reader, 32);
        memcpy(&numbers[i], &bits, sizeof bits);
    }
}

static ph_vec3 vec3_of(const float* numbers)
{
    return (ph_vec3){numbers[0], numbers[1], numbers[2]};
}

static void set_vec3(float* numbers, ph_vec3 value)
{
    numbers[0] = (float)value.x;
    numbers[1] = (float)value.y;
    numbers[2] = (float)value.z;
}

static ph_quaternion quaternion_of(const float* numbers)
{
    return (ph_quaternion){numbers[0], numbers[1], numbers[2], numbers[3]};
}

static void set_quaternion(float* numbers, ph_quaternion value)
{
    numbers[0] = (float)value.x;
    numbers[1] = (float)value.y;
    numbers[2] = (float)value.z;
    numbers[3] = (float)value.w;
}

// A rotation about the vertical axis alone.
static bool is_upright(const float* rotation)
{
    return fabsf(rotation[0]) < 1e-4f && fabsf(rotation[1]) < 1e-4f;
}

static double heading_of(const float* rotation)
{
    return 2 * atan2(rotation[2], rotation[3]);
}

static void set_heading(float* rotation, double heading)
{
    set_quaternion(rotation, (ph_quaternion){0, 0, sin(heading / 2), cos(heading / 2)});
}

// ---- a message of whole bits

static void write_rotation(step how, const codings* all, ph_bit_writer* writer,
                           const float* rotation)
{
    if (how < STEP_QUATERNION_16) {
        write_floats(writer, rotation, 4);
        return;
    }
    if (how >= STEP_UPRIGHT) {
        ph_bits_write_bool(writer, is_upright(rotation));
        if (is_upright(rotation)) {
            ph_angle_write(&all->heading, writer, heading_of(rotation));
            return;
        }
    }
    ph_quaternion_write(quaternion_width(how), writer, quaternion_of(rotation));
}

static void read_rotation(step how, const codings* all, ph_bit_reader* reader, float* rotation)
{
    if (how < STEP_QUATERNION_16) {
        read_floats(reader, rotation, 4);
    } else if (how >= STEP_UPRIGHT && ph_bits_read_bool(reader)) {
        set_heading(rotation, ph_angle_read(&all->heading, reader));
    } else {
        set_quaternion(rotation, ph_quaternion_read(quaternion_width(how), reader));
    }
}

static void write_plain(step how, const codings* all, ph_bit_writer* writer, const message* which)
{
    const kart* value = &which->value;
    const int parts = how >= STEP_PARTS ? which->parts : HAS_ALL;
    if (how == STEP_RAW) {
        ph_bits_write_bytes(writer, value, sizeof *value);
        return;
    }
    if (how >= STEP_PARTS) {
        ph_bits_write(writer, (uint64_t)parts, PARTS_BITS);
    }
    if ((parts & HAS_NAME) != 0) {
        ph_string_write(writer, value->name, strlen(value->name), NAME_MAX_LENGTH);
    }
    if ((parts & HAS_SHELLS) != 0) {
        ph_range_write(writer, value->shells, 0,
                       how >= STEP_SMALL_SHELLS ? SHELLS_MAX : UINT32_MAX);
    }
    if ((parts & HAS_POSE) != 0) {
        if (how >= STEP_FIXED_POSITION) {
            const ph_vec3_coding* coding =
                how >= STEP_DEFAULT_Z ? &all->position_ground : &all->position;
            ph_vec3_write(coding, writer, vec3_of(value->position));
        } else {
            write_floats(writer, value->position, 3);
        }
        write_rotation(how, all, writer, value->rotation);
    }
    if ((parts & HAS_VELOCITY) != 0) {
        if (how >= STEP_FIXED_VELOCITY) {
            ph_vec3_write(&all->velocity, writer, vec3_of(value->velocity));
        } else {
            write_floats(writer, value->velocity, 3);
        }
    }
}

// What the message does not carry stays as it was in *value.
static void read_plain(step how, const codings* all, ph_bit_reader* reader, kart* value)
{
    if (how == STEP_RAW) {
        ph_bits_read_bytes(reader, value, sizeof *value);
        return;
    }
    const int parts = how >= STEP_PARTS ? (int)ph_bits_read(reader, PARTS_BITS) : HAS_ALL;
    if ((parts & HAS_NAME) != 0) {
        ph_string_read(reader, value->name, sizeof value->name, NAME_MAX_LENGTH);
    }
    if ((parts & HAS_SHELLS) != 0) {
        const int64_t most = how >= STEP_SMALL_SHELLS ? SHELLS_MAX : UINT32_MAX;
        value->shells = (uint32_t)ph_range_read(reader, 0, most);
    }
    if ((parts & HAS_POSE) != 0) {
        if (how >= STEP_FIXED_POSITION) {
            const ph_vec3_coding* coding =
                how >= STEP_DEFAULT_Z ? &all->position_ground : &all->position;
            set_vec3(value->position, ph_vec3_read(coding, reader));
        } else {
            read_floats(reader, value->position, 3);
        }
        read_rotation(how, all, reader, value->rotation);
    }
    if ((parts & HAS_VELOCITY) != 0) {
        if (how >= STEP_FIXED_VELOCITY) {
            set_vec3(value->velocity, ph_vec3_read(&all->velocity, reader));
        } else {
            read_floats(reader, value->velocity, 3);
        }
    }
}

// ---- a message of symbols, for the last step: a number costs log2 of its levels, a flag what it
// tells

static void code_number(ph_entropy_writer* writer, const ph_fixed* coding, double value)
{
    uint32_t level = 0;
    const ph_result result = ph_fixed_encode(coding, value, &level);
    if (result != PH_OK) {
        ph_bit_writer_fail(&writer->raw, result);
        return;
    }
    ph_entropy_write_uniform(writer, level, coding->top_level + 1);
}

static double decode_number(ph_entropy_reader* reader, const ph_fixed* coding)
{
    return ph_fixed_decode(coding, ph_entropy_read_uniform(reader, coding->top_level + 1));
}

// One flag, and the number only when it is not the default.
static void code_with_default(ph_entropy_writer* writer, const ph_model* flag,
                              const ph_fixed* coding, double value)
{
    uint32_t level = 0;
    const ph_result result = ph_fixed_encode(coding, value, &level);
    if (result != PH_OK) {
        ph_bit_writer_fail(&writer->raw, result);
        return;
    }
    const bool is_other = level != coding->default_level;
    ph_entropy_write(writer, flag, is_other ? 1 : 0);
    if (is_other) {
        ph_entropy_write_uniform(writer, level, coding->top_level + 1);
    }
}

static double decode_with_default(ph_entropy_reader* reader, const ph_model* flag,
                                  const ph_fixed* coding)
{
    if (ph_entropy_read(reader, flag) == 0) {
        return ph_fixed_decode(coding, coding->default_level);
    }
    const uint32_t level = ph_entropy_read_uniform(reader, coding->top_level + 1);
    if (level == coding->default_level) { // one value has one encoding
        ph_bit_reader_fail(&reader->raw, PH_ERROR_VALUE);
    }
    return ph_fixed_decode(coding, level);
}

static void write_coded(const codings* all, ph_entropy_writer* writer, const message* which)
{
    const kart* value = &which->value;
    const int parts = which->parts;
    ph_entropy_write(writer, &all->parts, parts);
    if ((parts & HAS_NAME) != 0) {
        ph_string_write(&writer->raw, value->name, strlen(value->name), NAME_MAX_LENGTH);
    }
    if ((parts & HAS_SHELLS) != 0) {
        ph_entropy_write(writer, &all->shells, (int)value->shells);
    }
    if ((parts & HAS_POSE) != 0) {
        code_number(writer, &all->position.x, value->position[0]);
        code_number(writer, &all->position.y, value->position[1]);
        code_with_default(writer, &all->rare, &all->position_ground.z, value->position[2]);
        ph_entropy_write(writer, &all->rare, is_upright(value->rotation) ? 0 : 1);
        if (is_upright(value->rotation)) {
            ph_angle_write(&all->heading, &writer->raw, heading_of(value->rotation));
        } else {
            ph_quaternion_write(quaternion_width(STEP_CODED), &writer->raw,
                                quaternion_of(value->rotation));
        }
    }
    if ((parts & HAS_VELOCITY) != 0) {
        code_with_default(writer, &all->even, &all->velocity.x, value->velocity[0]);
        code_with_default(writer, &all->even, &all->velocity.y, value->velocity[1]);
        code_with_default(writer, &all->rare, &all->velocity.z, value->velocity[2]);
    }
}

static void read_coded(const codings* all, ph_entropy_reader* reader, kart* value)
{
    const int parts = ph_entropy_read(reader, &all->parts);
    if ((parts & HAS_NAME) != 0) {
        ph_string_read(&reader->raw, value->name, sizeof value->name, NAME_MAX_LENGTH);
    }
    if ((parts & HAS_SHELLS) != 0) {
        value->shells = (uint32_t)ph_entropy_read(reader, &all->shells);
    }
    if ((parts & HAS_POSE) != 0) {
        value->position[0] = (float)decode_number(reader, &all->position.x);
        value->position[1] = (float)decode_number(reader, &all->position.y);
        value->position[2] =
            (float)decode_with_default(reader, &all->rare, &all->position_ground.z);
        if (ph_entropy_read(reader, &all->rare) == 0) {
            set_heading(value->rotation, ph_angle_read(&all->heading, &reader->raw));
        } else {
            set_quaternion(value->rotation,
                           ph_quaternion_read(quaternion_width(STEP_CODED), &reader->raw));
        }
    }
    if ((parts & HAS_VELOCITY) != 0) {
        value->velocity[0] = (float)decode_with_default(reader, &all->even, &all->velocity.x);
        value->velocity[1] = (float)decode_with_default(reader, &all->even, &all->velocity.y);
        value->velocity[2] = (float)decode_with_default(reader, &all->rare, &all->velocity.z);
    }
}

// ---- writing, reading back, comparing

typedef struct outcome {
    size_t bits;
    ph_result result;
} outcome;

// Each writes the parts of one kart and reads them over another.
static outcome send_plain(step how, const codings* all, const message* which, kart* got)
{
    uint8_t packet[sizeof(kart)];
    ph_bit_writer writer = ph_bit_writer_make(packet, sizeof packet);
    write_plain(how, all, &writer, which);
    outcome out = {.bits = ph_bit_writer_size_bits(&writer),
                   .result = ph_bit_writer_result(&writer)};
    ph_bit_reader reader = ph_bit_reader_make(packet, ph_bit_writer_finish(&writer));
    read_plain(how, all, &reader, got);
    out.result = out.result != PH_OK ? out.result : ph_bit_reader_finish(&reader);
    return out;
}

static outcome send_coded(const codings* all, const message* which, kart* got)
{
    uint8_t packet[sizeof(kart)];
    ph_entropy_writer writer;
    ph_entropy_writer_init(&writer, packet, sizeof packet);
    write_coded(all, &writer, which);
    outcome out = {.bits = ph_entropy_writer_size_bits(&writer),
                   .result = ph_entropy_writer_result(&writer)};
    ph_entropy_reader reader;
    ph_entropy_reader_init(&reader, packet, ph_entropy_writer_finish(&writer));
    read_coded(all, &reader, got);
    out.result = out.result != PH_OK ? out.result : ph_entropy_reader_finish(&reader);
    return out;
}

static bool are_near(const float* left, const float* right, double tolerance)
{
    for (int i = 0; i < 3; ++i) {
        if (!(fabs((double)left[i] - (double)right[i]) <= tolerance)) {
            return false;
        }
    }
    return true;
}

// The angle between two rotations in radians. q and -q are the same rotation.
static double angle_between(const float* left, const float* right)
{
    double minus = 0;
    double plus = 0;
    for (int i = 0; i < 4; ++i) {
        minus += pow((double)left[i] - (double)right[i], 2);
        plus += pow((double)left[i] + (double)right[i], 2);
    }
    return 4 * asin(sqrt(minus < plus ? minus : plus) / 2);
}

// What a step promises; floats round once more on the way back.
static double rotation_tolerance(step how, const float* rotation)
{
    if (how < STEP_QUATERNION_16) {
        return 0;
    }
    if (how >= STEP_UPRIGHT && is_upright(rotation)) {
        return PH_TURN_RADIANS / (1 << HEADING_BITS) / 2 + 1e-3;
    }
    return 2 * sqrt(3) * sqrt(2) / ((1 << quaternion_width(how)) - 2) + 1e-6;
}

static bool is_same(step how, const kart* sent, const kart* got)
{
    const double position_tolerance = how >= STEP_FIXED_POSITION ? 0.05 + 1e-4 : 0;
    const double velocity_tolerance = how >= STEP_FIXED_VELOCITY ? 0.05 + 1e-4 : 0;
    return strcmp(sent->name, got->name) == 0 && sent->shells == got->shells &&
           are_near(sent->position, got->position, position_tolerance) &&
           are_near(sent->velocity, got->velocity, velocity_tolerance) &&
           angle_between(sent->rotation, got->rotation) <= rotation_tolerance(how, sent->rotation);
}

// ---- the three messages and the table

static const message messages[] = {
    {
        .text = "on the road",
        .value = {.name = "Mia",
                  .shells = 2,
                  .position = {412.37f, 655.18f, 0.0f},
                  .rotation = {0.0f, 0.0f, 0.8674232f, 0.4975710f}},
        .parts = HAS_ALL,
    },
    {
        .text = "in the air",
        .value = {.name = "Mia",
                  .shells = 2,
                  .position = {433.91f, 640.02f, 3.46f},
                  .velocity = {23.41f, -8.13f, 4.72f},
                  .rotation = {0.1196f, -0.0869f, 0.8575f, 0.4928f}},
        .parts = HAS_ALL,
    },
    {
        .text = "pose only",
        .value = {.name = "Mia",
                  .shells = 2,
                  .position = {427.26f, 648.94f, 0.0f},
                  .velocity = {21.07f, -9.88f, 0.0f},
                  .rotation = {0.0f, 0.0f, -0.2164396f, 0.9762960f}},
        .parts = HAS_POSE,
    },
};
#define MESSAGE_COUNT ((int)(sizeof messages / sizeof messages[0]))

// Size of one message in bits; 0 when it did not come back as it went.
static size_t try_message(step how, const codings* all, const message* which)
{
    // The receiver knows all that is no news, and something else of the rest.
    kart got = which->value;
    if ((which->parts & HAS_NAME) != 0) {
        memset(got.name, 0, sizeof got.name);
        got.shells = 0;
        memset(got.velocity, 0, sizeof got.velocity);
    }
    memset(got.position, 0, sizeof got.position);
    memset(got.rotation, 0, sizeof got.rotation);

    const outcome out =
        how >= STEP_CODED ? send_coded(all, which, &got) : send_plain(how, all, which, &got);
    if (out.result == PH_OK && is_same(how, &which->value, &got)) {
        return out.bits;
    }
    fprintf(stderr, "kart: '%s', %s: %s\n", step_texts[how], which->text,
            out.result == PH_OK ? "another kart came back" : ph_result_text(out.result));
    return 0;
}

static void print_bar(size_t bits, size_t most_bits)
{
    static const char bar[] = "##############################";
    const size_t length = sizeof bar - 1;
    printf("%.*s\n", (int)((length * bits + most_bits - 1) / most_bits), bar);
}

static void print_heading(void)
{
    printf("A kart on the wire, from the raw struct to the smallest form\n\n");
    printf("%-39s", "");
    for (int m = 0; m < MESSAGE_COUNT; ++m) {
        printf("%14s", messages[m].text);
    }
    printf("\n%-39s", "step");
    for (int m = 0; m < MESSAGE_COUNT; ++m) {
        printf("%8s %5s", "bits", "bytes");
    }
    printf("   pose only\n");
}

int main(void)
{
    codings all;
    if (!make_ladders(&all) || !make_models(&all)) {
        fprintf(stderr, "kart: a coding was refused\n");
        return 1;
    }
    print_heading();
    size_t first_bits[MESSAGE_COUNT] = {0};
    size_t bits[MESSAGE_COUNT] = {0};
    for (int s = 0; s < STEP_COUNT; ++s) {
        printf("%2d  %-35s", s, step_texts[s]);
        for (int m = 0; m < MESSAGE_COUNT; ++m) {
            bits[m] = try_message((step)s, &all, &messages[m]);
            if (bits[m] == 0) {
                printf("\n");
                return 1;
            }
            first_bits[m] = s == 0 ? bits[m] : first_bits[m];
            printf("%8d %5d", (int)bits[m], (int)((bits[m] + 7) / 8));
        }
        printf("   ");
        print_bar(bits[MESSAGE_COUNT - 1], first_bits[MESSAGE_COUNT - 1]);
    }
    printf("%-39s", "\ntimes smaller");
    for (int m = 0; m < MESSAGE_COUNT; ++m) {
        printf("%14.1f", (double)first_bits[m] / (double)bits[m]);
    }
    printf("\n\nIn step %d what is rare costs more, so that what is common costs less.\n"
           "Every message was written, read back and compared with its kart.\n",
           STEP_COUNT - 1);
    return 0;
}
