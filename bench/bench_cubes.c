// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole bench cubes FILE`: the public delta compression challenge of networked cubes, with an ordinary schema and
// the library as a game uses it. Each frame is sent as a difference to the one six frames before, and must arrive
// exactly. The models are those of the first half of the recording; the figure is that of the second.

#include "bench.h"

#include "command.h"
#include "cubes_session.h"
#include "options.h"
#include "timer.h"

#include "kit/json.h"
#include "kit/learn.h"
#include "kit/progress.h"
#include "kit/sim_clock.h"
#include "schema/model_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND "pinhole bench cubes"
#define FRAMES_MIN 24
#define LEARN_ROUNDS 2
#define LINE_COLUMNS 84
// Published figures for the whole of the recording that the project has, in bytes per packet.
#define REFERENCE_BYTES 514.9
#define BEST_BYTES 363.8

enum { PART_FIRST, PART_SECOND, PART_COUNT };

typedef struct cubes_options {
    const char* path;
    const char* learn_path;
    bool is_untuned;
    bool is_json;
} cubes_options;

// Sums over frames.
typedef struct cubes_part {
    int frames;
    int64_t bytes;
    int64_t datagrams;
    int most_bytes; // of a frame
    double encode_ns;
    double decode_ns;
    double copy_ns;
    int wrong_frames;
    double reason_bits[PH_REASON_COUNT];
    double property_bits[CUBES_PROPERTIES];
} cubes_part;

typedef struct cubes_job {
    cubes_options options;
    ph_cubes_file file;
    cubes_part parts[PART_COUNT];
    ph_progress progress;
    double start_s;
    int frames_done;
    int frames; // to be played, in all runs together
} cubes_job;

// ---- options

static void print_cubes_help(const app_option* table)
{
    printf(
        COMMAND
        ": the codec against the best, on a public challenge\n"
        "\n"
        "usage: " COMMAND " FILE [options]\n"
        "\n"
        "FILE is a recording of 901 cubes at 60 Hz in the form of the networked cubes challenge,\n"
        "plain or packed by xz. Each frame from the seventh on goes through a world, a viewer and\n"
        "a client as a difference to the frame six before, whose ack is there; the client must\n"
        "equal it exactly. The models are learned from the first half of the project's recording,\n"
        "so bytes_per_packet is that of the second half. docs/cubes.md says more.\n"
        "\n"
        "options:\n");
    app_options_print(table);
    printf("\nexample: " COMMAND " cubes.bin.xz --json\n");
}

static bool read_cubes_options(int argc, char** argv, cubes_options* o, int* status)
{
    const app_option table[] = {
        {.name = "FILE", .summary = "a recording of cubes", .text = &o->path},
        {.name = "--json", .summary = "one JSON object on standard output", .is_set = &o->is_json},
        {.name = "--untuned",
         .summary = "without models learned from cubes: those of the library",
         .is_set = &o->is_untuned},
        {.name = "--learn",
         .summary = "learn models from the first half, and write them as C (bench/cubes_tuned.c)",
         .text = &o->learn_path,
         .value = "FILE"},
        {0},
    };
    const app_usage usage = {COMMAND, print_cubes_help};
    if (!app_options_read(&usage, table, argc, argv, status)) {
        return false;
    }
    *status = APP_EXIT_USAGE;
    if (o->path == NULL) {
        fprintf(stderr, COMMAND ": which recording? As in '" COMMAND " cubes.bin.xz'.\n");
        return false;
    }
    if (o->learn_path != NULL && o->is_untuned) {
        fprintf(stderr,
                COMMAND ": --learn starts from the library's models; leave out --untuned.\n");
        return false;
    }
    return true;
}

// ---- playing

static void show_cubes_progress(cubes_job* job)
{
    ++job->frames_done;
    ph_progress_show(&job->progress, stderr, job->frames_done, job->frames,
                     ph_sim_clock_wall_s() - job->start_s);
}

// What copying the numbers of a frame takes, as they are in a file.
static double copy_frame(const ph_cubes_file* file, int frame)
{
    static uint8_t from[PH_CUBES_FRAME_BYTES];
    static uint8_t to[PH_CUBES_FRAME_BYTES];
    _Static_assert(PH_CUBES * sizeof(ph_cube) <= sizeof from, "cubes are shorter in memory");
    memcpy(from, &file->cubes[(size_t)frame * PH_CUBES], PH_CUBES * sizeof(ph_cube));
    bench_use(from, sizeof from);
    const double begin_ns = bench_cpu_ns();
    memcpy(to, from, sizeof to);
    bench_use(to, sizeof to);
    return bench_cpu_ns() - begin_ns;
}

static void add_reasons(const cubes_session* session, cubes_part* part, double sign)
{
    for (int r = 0; r < PH_REASON_COUNT; ++r) {
        part->reason_bits[r] += sign * cubes_session_reason_bits(session, (ph_reason)r);
    }
    for (int p = 0; p < CUBES_PROPERTIES; ++p) {
        part->property_bits[p] += sign * cubes_session_property_bits(session, p);
    }
}

static bool play_part(cubes_job* job, cubes_session* session, int end, cubes_part* part)
{
    add_reasons(session, part, -1.0);
    while (session->frame < end) {
        cubes_frame frame;
        const double copy_ns = copy_frame(&job->file, session->frame);
        if (!cubes_session_play(session, &frame)) {
            return false;
        }
        ++part->frames;
        part->bytes += frame.bytes;
        part->datagrams += frame.datagrams;
        part->most_bytes = frame.bytes > part->most_bytes ? frame.bytes : part->most_bytes;
        part->encode_ns += frame.encode_ns;
        part->decode_ns += frame.decode_ns;
        part->copy_ns += copy_ns;
        part->wrong_frames += frame.is_lossless ? 0 : 1;
        show_cubes_progress(job);
    }
    add_reasons(session, part, 1.0);
    return true;
}

// Of lines that end with NULL. @return NULL when there is no memory.
static ph_schema* parse_lines(const char* const lines[])
{
    size_t size = 0;
    for (int i = 0; lines[i] != NULL; ++i) {
        size += strlen(lines[i]);
    }
    char* text = malloc(size + 1);
    size_t length = 0;
    for (int i = 0; text != NULL && lines[i] != NULL; ++i) {
        length += (size_t)snprintf(text + length, size + 1 - length, "%s", lines[i]);
    }
    ph_schema* schema = NULL;
    if (text != NULL) {
        (void)ph_schema_parse(text, length, NULL, &schema, NULL);
    }
    free(text);
    return schema;
}

static bool complain_of_library(void)
{
    fprintf(stderr, COMMAND ": the library refused a frame, or there is not enough memory.\n");
    return false;
}

static bool measure(cubes_job* job)
{
    ph_schema* schema = parse_lines(job->options.is_untuned ? CUBES_SCHEMA : CUBES_TUNED);
    const int half = job->file.frame_count / 2;
    job->frames = job->file.frame_count - CUBES_PLAYERS;
    cubes_session session = {0};
    const bool is_done = schema != NULL && cubes_session_make(&session, schema, &job->file) &&
                         play_part(job, &session, half, &job->parts[PART_FIRST]) &&
                         play_part(job, &session, job->file.frame_count, &job->parts[PART_SECOND]);
    cubes_session_destroy(&session);
    ph_schema_destroy(schema);
    ph_progress_end(&job->progress, stderr);
    return is_done || complain_of_library();
}

// ---- learning

static bool count_first_half(cubes_job* job, const ph_schema* schema, ph_pinhole_counts* counts)
{
    cubes_session session = {0};
    cubes_part part = {0};
    *counts = (ph_pinhole_counts){0};
    bool is_done = cubes_session_make(&session, schema, &job->file);
    if (is_done) {
        cubes_session_count(&session, counts);
        is_done = play_part(job, &session, job->file.frame_count / 2, &part);
    }
    cubes_session_destroy(&session);
    return is_done || complain_of_library();
}

// What is sent depends on the models that say what it costs, so they are learned again with themselves.
static ph_schema* learn_models(cubes_job* job, ph_pinhole_counts* counts)
{
    ph_schema* base = parse_lines(CUBES_SCHEMA);
    ph_schema* learned = NULL;
    ph_fault fault = {0};
    job->frames = LEARN_ROUNDS * (job->file.frame_count / 2 - CUBES_PLAYERS);
    bool is_right = base != NULL;
    for (int round = 0; is_right && round < LEARN_ROUNDS; ++round) {
        ph_schema* trial = ph_learn_trial(learned != NULL ? learned : base, &fault);
        ph_schema_destroy(learned);
        learned = NULL;
        is_right = trial != NULL && count_first_half(job, trial, counts);
        learned = is_right ? ph_learn_schema(base, counts, true, &fault) : NULL;
        is_right = learned != NULL;
        ph_schema_destroy(trial);
    }
    ph_progress_end(&job->progress, stderr);
    ph_schema_destroy(base);
    return learned;
}

// A text as strings of C, one for each line, on lines that are not too long.
static void write_text(FILE* file, const char* text)
{
    while (*text != '\0') {
        const size_t length = strcspn(text, "\n");
        const size_t part = length < LINE_COLUMNS ? length : LINE_COLUMNS;
        const bool is_end = part == length;
        fprintf(file, "    \"%.*s%s\n", (int)part, text, is_end ? "\\n\"," : "\"");
        text += part + (is_end && text[part] == '\n' ? 1 : 0);
    }
}

static bool write_learned(const char* path, const ph_schema* schema)
{
    const size_t size = ph_schema_print(schema, NULL, 0) + 1;
    char* text = malloc(size);
    FILE* file = text != NULL ? fopen(path, "w") : NULL;
    if (file != NULL) {
        ph_schema_print(schema, text, size);
        fprintf(file, "// SPDX-FileCopyrightText: 2026 The Pinhole authors\n"
                      "// SPDX-License-Identifier: MIT\n"
                      "\n"
                      "// Made by `" COMMAND " FILE --learn bench/cubes_tuned.c`, from the first "
                      "half of\n"
                      "// the recording of cubes (docs/cubes.md). Not to be changed by hand.\n"
                      "\n"
                      "#include \"cubes_session.h\"\n"
                      "\n"
                      "#include <stddef.h>\n"
                      "\n"
                      "// clang-format off\n"
                      "const char* const CUBES_TUNED[] = {\n");
        write_text(file, text);
        fprintf(file, "    NULL,\n};\n// clang-format on\n");
    }
    const bool is_put = file != NULL && !ferror(file);
    const bool is_written = (file == NULL || fclose(file) == 0) && is_put;
    free(text);
    if (!is_written) {
        fprintf(stderr, COMMAND ": %s cannot be written. Is the disk full?\n", path);
    }
    return is_written;
}

static bool learn_cubes(cubes_job* job)
{
    ph_pinhole_counts* counts = calloc(1, sizeof *counts);
    ph_schema* learned = counts != NULL ? learn_models(job, counts) : NULL;
    const bool is_done = learned != NULL && write_learned(job->options.learn_path, learned);
    if (is_done) {
        printf("%s: %d models, learned from %llu updates. Build again, and bench.\n",
               job->options.learn_path, ph_learn_model_count(learned),
               (unsigned long long)counts->updates);
    }
    ph_schema_destroy(learned);
    free(counts);
    return is_done;
}

// ---- output

static cubes_part whole_of(const cubes_job* job)
{
    cubes_part whole = job->parts[PART_FIRST];
    const cubes_part* more = &job->parts[PART_SECOND];
    whole.frames += more->frames;
    whole.bytes += more->bytes;
    whole.datagrams += more->datagrams;
    whole.most_bytes = more->most_bytes > whole.most_bytes ? more->most_bytes : whole.most_bytes;
    whole.encode_ns += more->encode_ns;
    whole.decode_ns += more->decode_ns;
    whole.copy_ns += more->copy_ns;
    whole.wrong_frames += more->wrong_frames;
    for (int r = 0; r < PH_REASON_COUNT; ++r) {
        whole.reason_bits[r] += more->reason_bits[r];
    }
    for (int p = 0; p < CUBES_PROPERTIES; ++p) {
        whole.property_bits[p] += more->property_bits[p];
    }
    return whole;
}

static const char* const PROPERTY_NAMES[CUBES_PROPERTIES] = {"place", "rotation", "interacting",
                                                             "player", "slip"};

static void write_part(ph_json* json, const char* key, const cubes_part* part)
{
    ph_json_open(json, key);
    ph_json_integer(json, "frames", part->frames);
    ph_json_number(json, "bytes_per_packet", (double)part->bytes / part->frames);
    ph_json_integer(json, "datagrams", part->datagrams);
    ph_json_integer(json, "largest_frame_bytes", part->most_bytes);
    ph_json_open(json, "bytes_by");
    for (int r = 0; r < PH_REASON_COUNT; ++r) {
        if (r != PH_REASON_PROPERTY) {
            ph_json_number(json, ph_reason_name((ph_reason)r),
                           part->reason_bits[r] / 8.0 / part->frames);
        }
    }
    for (int p = 0; p < CUBES_PROPERTIES; ++p) {
        ph_json_number(json, PROPERTY_NAMES[p], part->property_bits[p] / 8.0 / part->frames);
    }
    ph_json_close(json);
    ph_json_close(json);
}

static void tell_json(const cubes_job* job)
{
    const cubes_part* second = &job->parts[PART_SECOND];
    const cubes_part whole = whole_of(job);
    ph_json json = ph_json_make(stdout);
    ph_json_open(&json, NULL);
    ph_json_text(&json, "bench", "cubes");
    ph_json_number(&json, "bytes_per_packet", (double)second->bytes / second->frames);
    ph_json_number(&json, "bytes_per_packet_whole", (double)whole.bytes / whole.frames);
    ph_json_bool(&json, "lossless", whole.wrong_frames == 0);
    ph_json_number(&json, "encode_us", whole.encode_ns / 1e3 / whole.frames);
    ph_json_number(&json, "decode_us", whole.decode_ns / 1e3 / whole.frames);
    ph_json_number(&json, "memcpy_us", whole.copy_ns / 1e3 / whole.frames);
    write_part(&json, "first_half", &job->parts[PART_FIRST]);
    write_part(&json, "second_half", second);
    write_part(&json, "whole", &whole);
    ph_json_close(&json);
    printf("\n");
}

static void tell_table(const cubes_job* job)
{
    const cubes_part whole = whole_of(job);
    const cubes_part* columns[] = {&job->parts[PART_FIRST], &job->parts[PART_SECOND], &whole};
    printf("%-28s %10s %10s %10s\n", "bytes per packet", "1st half", "2nd half", "whole");
    printf("%-28s", "all of it");
    for (int c = 0; c < 3; ++c) {
        printf(" %10.1f", (double)columns[c]->bytes / columns[c]->frames);
    }
    for (int r = 0; r < PH_REASON_COUNT; ++r) {
        if (r == PH_REASON_PROPERTY || whole.reason_bits[r] == 0.0) {
            continue;
        }
        printf("\n  %-26s", ph_reason_name((ph_reason)r));
        for (int c = 0; c < 3; ++c) {
            printf(" %10.2f", columns[c]->reason_bits[r] / 8.0 / columns[c]->frames);
        }
    }
    for (int p = 0; p < CUBES_PROPERTIES; ++p) {
        printf("\n  %-26s", PROPERTY_NAMES[p]);
        for (int c = 0; c < 3; ++c) {
            printf(" %10.2f", columns[c]->property_bits[p] / 8.0 / columns[c]->frames);
        }
    }
    printf("\n%-28s", "largest frame, bytes");
    for (int c = 0; c < 3; ++c) {
        printf(" %10d", columns[c]->most_bytes);
    }
    printf("\n%-28s", "datagrams per frame");
    for (int c = 0; c < 3; ++c) {
        printf(" %10.3f", (double)columns[c]->datagrams / columns[c]->frames);
    }
    printf("\n\nlossless: %s\n", whole.wrong_frames == 0 ? "yes" : "NO");
    printf("a frame takes %.1f us to encode, %.1f us to decode, %.2f us to copy (28.8 kB)\n",
           whole.encode_ns / 1e3 / whole.frames, whole.decode_ns / 1e3 / whole.frames,
           whole.copy_ns / 1e3 / whole.frames);
    printf("published for the project's recording, whole: %.1f bit-packed, %.1f the best\n",
           REFERENCE_BYTES, BEST_BYTES);
}

// ---- the command

static bool load_cubes(cubes_job* job)
{
    ph_fault fault = {0};
    if (!ph_cubes_file_load(job->options.path, &job->file, &fault)) {
        return app_complain(COMMAND, job->options.path, &fault);
    }
    if (job->file.frame_count < FRAMES_MIN) {
        fprintf(stderr, COMMAND ": %s: it has %d frames; %d are the least.\n", job->options.path,
                job->file.frame_count, FRAMES_MIN);
        return false;
    }
    return true;
}

int bench_cubes(int argc, char** argv)
{
    static cubes_job job;
    int status;
    job = (cubes_job){0};
    if (!read_cubes_options(argc, argv, &job.options, &status)) {
        return status;
    }
    job.progress = ph_progress_make("cubes", ph_progress_is_wanted());
    job.start_s = ph_sim_clock_wall_s();
    bool is_done = load_cubes(&job);
    if (is_done && job.options.learn_path != NULL) {
        is_done = learn_cubes(&job);
    } else if (is_done) {
        is_done = measure(&job);
        if (is_done && job.options.is_json) {
            tell_json(&job);
        } else if (is_done) {
            tell_table(&job);
        }
        is_done = is_done && whole_of(&job).wrong_frames == 0;
    }
    ph_cubes_file_unload(&job.file);
    return is_done ? APP_EXIT_OK : APP_EXIT_FAILURE;
}
