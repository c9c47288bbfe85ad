// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole convert IN OUT`: reads all of a recording, and writes it as the name of OUT says.

#include "convert_command.h"

#include "command.h"
#include "options.h"
#include "output_file.h"
#include "scene_help.h"

#include "kit/gzip.h"
#include "kit/progress.h"
#include "kit/recording_write.h"
#include "kit/sim_clock.h"
#include "kit/truth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND "pinhole convert"

// A packed file is a row of parts, each of which unpacks to so many bytes at most.
enum { PACKED_PART_BYTES = 4 << 20, RATE_MAX = PH_RECORDING_RATE_MAX };

typedef struct convert_options {
    const char* in;
    const char* out;
    double rate_hz;
    double seconds;
} convert_options;

typedef struct convert_job {
    convert_options options;
    ph_recording* recording;
    FILE* file;
    char* part; // of a packed file, not written yet; NULL: not packed
    size_t part_length;
    size_t written;
    ph_progress progress;
    double start_s;
} convert_job;

static void print_help(const app_option* table)
{
    printf(
        COMMAND
        ": recordings from text into bytes, and back\n"
        "\n"
        "usage: " COMMAND " [options] IN OUT\n"
        "\n"
        "IN is a recording, as text (plain or packed by gzip) or as ph_recorder writes it, or\n"
        "scene:NAME. OUT becomes text where its name ends in .csv or .csv.gz; else what\n"
        "ph_recorder writes: a tenth of the size of the text or less, with checksums, and every\n"
        "cell exactly as it was. sim, serve and demo read both.\n"
        "\n"
        "options:\n");
    app_options_print(table);
    printf("\nexample: " COMMAND " --rate 16 evening.csv.gz evening.phrec\n");
}

static bool parse(convert_options* o, int argc, char** argv, int* status)
{
    const app_option table[] = {
        {.name = "IN", .summary = "the recording, or scene:NAME", .text = &o->in},
        {.name = "OUT", .summary = "the file to write", .text = &o->out},
        {.name = "--rate",
         .summary = "ticks per second, where IN does not say it, or says it wrongly",
         .decimal = &o->rate_hz,
         .lo = 1,
         .hi = RATE_MAX},
        {.name = "--seconds",
         .summary = "only so much from the beginning",
         .decimal = &o->seconds,
         .lo = 0,
         .hi = 1000000},
        {0},
    };
    const app_usage usage = {.command = COMMAND, .print_help = print_help};
    if (!app_options_read(&usage, table, argc, argv, status)) {
        return false;
    }
    if (o->in == NULL || o->out == NULL) {
        fprintf(stderr, COMMAND ": say what to read and what to write, as in '" COMMAND
                                " evening.csv.gz evening.phrec'.\n");
        *status = APP_EXIT_USAGE;
        return false;
    }
    if (app_is_same_file(o->in, o->out)) {
        fprintf(stderr, COMMAND ": %s is what is read. Say another file to write.\n", o->out);
        *status = APP_EXIT_USAGE;
        return false;
    }
    return true;
}

// ---- reading

static bool open_recording(convert_job* job)
{
    const convert_options* options = &job->options;
    if (!app_scene_check(COMMAND, options->in)) {
        return false;
    }
    const ph_truth_def def = {
        .source = options->in, .rate_hz = options->rate_hz, .seconds = options->seconds};
    ph_fault fault = {0};
    job->recording = ph_truth_open(&def, &fault);
    if (job->recording == NULL) {
        app_complain(COMMAND, options->in, &fault);
        if (strstr(fault.message, "missing rate") != NULL) {
            fprintf(stderr, "Say how many ticks a second has, as in '--rate 16'.\n");
        }
        return false;
    }
    app_scene_note(COMMAND, options->in, job->recording->note);
    return true;
}

// ---- writing

static bool ends_with(const char* name, const char* ending)
{
    const size_t length = strlen(name);
    const size_t ending_length = strlen(ending);
    return length >= ending_length && strcmp(name + length - ending_length, ending) == 0;
}

static bool write_plain(convert_job* job, const void* bytes, size_t size)
{
    job->written += size;
    return fwrite(bytes, 1, size, job->file) == size;
}

static bool write_part(convert_job* job)
{
    uint8_t* packed = NULL;
    size_t size = 0;
    ph_fault fault = {0};
    if (job->part_length == 0) {
        return true;
    }
    if (!ph_gzip_pack(job->part, job->part_length, &packed, &size, &fault)) {
        return app_complain(COMMAND, job->options.out, &fault);
    }
    const bool is_written = write_plain(job, packed, size);
    job->part_length = 0;
    free(packed);
    return is_written;
}

static bool write_bytes(void* context, const void* bytes, size_t size)
{
    convert_job* job = context;
    if (job->part == NULL) {
        return write_plain(job, bytes, size);
    }
    if (job->part_length + size > PACKED_PART_BYTES && !write_part(job)) {
        return false;
    }
    memcpy(job->part + job->part_length, bytes, size);
    job->part_length += size;
    return true;
}

static void show_progress(void* context, int done, int total)
{
    convert_job* job = context;
    ph_progress_show(&job->progress, stderr, done, total, ph_sim_clock_wall_s() - job->start_s);
}

static bool open_file(convert_job* job)
{
    const char* path = job->options.out;
    if (ends_with(path, ".csv.gz")) {
        job->part = malloc(PACKED_PART_BYTES);
        if (job->part == NULL) {
            ph_fault fault = {0};
            ph_fault_set_memory(&fault);
            return app_complain(COMMAND, path, &fault);
        }
    }
    job->file = fopen(path, "wb");
    if (job->file == NULL) {
        fprintf(stderr, COMMAND ": %s cannot be written. Does its folder exist?\n", path);
    }
    return job->file != NULL;
}

// Half of it would be mistaken for the whole. What the path names stays: it may be a device.
static void empty_file(convert_job* job)
{
    fclose(job->file);
    job->file = fopen(job->options.out, "wb");
    if (job->file != NULL) {
        fclose(job->file);
    }
    job->file = NULL;
}

static bool close_file(convert_job* job)
{
    const bool is_closed = fclose(job->file) == 0;
    job->file = NULL;
    if (!is_closed) {
        fprintf(stderr, COMMAND ": %s cannot be written. Is the disk full?\n", job->options.out);
    }
    return is_closed;
}

static bool write_recording(convert_job* job)
{
    const char* path = job->options.out;
    const bool is_text = ends_with(path, ".csv") || ends_with(path, ".csv.gz");
    const ph_recording_sink sink = {
        .write = write_bytes, .progress = show_progress, .context = job};
    ph_fault fault = {0};
    char note[PH_RECORDING_NOTE_MAX] = "";
    job->progress = ph_progress_make("convert", ph_progress_is_wanted());
    job->start_s = ph_sim_clock_wall_s();
    bool is_written = is_text ? ph_recording_write_csv(job->recording, &sink, &fault)
                              : ph_recording_write(job->recording, &sink, note, &fault);
    ph_progress_end(&job->progress, stderr);
    if (!is_written) {
        app_complain(COMMAND, fault.line > 0 ? job->options.in : path, &fault);
    } else if (!write_part(job)) {
        fprintf(stderr, COMMAND ": %s cannot be written. Is the disk full?\n", path);
        is_written = false;
    }
    if (!is_written) {
        empty_file(job);
        return false;
    }
    app_scene_note(COMMAND, path, note);
    return close_file(job);
}

static void tell(const convert_job* job)
{
    const ph_recording* recording = job->recording;
    const bool is_large = job->written >= 1000000;
    printf("%s: %d entities, %.6g s at %.6g ticks a second, %d rows in %.2f %s\n", job->options.out,
           recording->entity_count, recording->tick_count / recording->rate_hz, recording->rate_hz,
           recording->row_count, (double)job->written / (is_large ? 1e6 : 1e3),
           is_large ? "MB" : "kB");
}

int convert_command(int argc, char** argv)
{
    convert_job job = {0};
    int status;
    if (!parse(&job.options, argc, argv, &status)) {
        return status;
    }
    const bool is_done = open_recording(&job) && open_file(&job) && write_recording(&job);
    if (is_done) {
        tell(&job);
    }
    free(job.part);
    ph_recording_destroy(job.recording);
    return is_done ? APP_EXIT_OK : APP_EXIT_FAILURE;
}
