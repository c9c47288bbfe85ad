// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A few times a second.

#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "cluster_control.h"

#include <pinhole/net/socket.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LINE_MAX_BYTES = 128 };

void cluster_control_subject(char* subject, const char* root, const char* world)
{
    snprintf(subject, PH_BUS_SUBJECT_MAX, "%s.%s", root, world);
}

bool cluster_control_take(cluster_control* control, const ph_bus_message* message)
{
    char subject[PH_BUS_SUBJECT_MAX];
    cluster_control_subject(subject, "control", control->world);
    if (strcmp(message->subject, subject) != 0) {
        return false;
    }
    char line[LINE_MAX_BYTES] = "";
    memcpy(line, message->bytes, message->size < sizeof line ? message->size : 0);
    uint64_t tick = 0;
    uint64_t start_us = 0;
    if (sscanf(line, "stand %" SCNu64 " %" SCNu64, &tick, &start_us) == 2) {
        control->is_standing = true;
        control->stand_tick = tick;
        control->start_us = start_us;
    } else if (sscanf(line, "go %" SCNu64, &start_us) == 1) {
        control->is_standing = false;
        control->start_us = start_us;
    }
    return true;
}

void cluster_control_say(const cluster_control* control, cluster_bus* bus)
{
    char subject[PH_BUS_SUBJECT_MAX];
    char line[LINE_MAX_BYTES];
    cluster_control_subject(subject, "control", control->world);
    const int length = control->is_standing
                           ? snprintf(line, sizeof line, "stand %" PRIu64 " %" PRIu64,
                                      control->stand_tick, control->start_us)
                           : snprintf(line, sizeof line, "go %" PRIu64, control->start_us);
    cluster_bus_publish(bus, subject, line, (size_t)length);
}

uint64_t cluster_control_tick(const cluster_control* control, const cluster_truth* truth,
                              bool* stands)
{
    const uint64_t tick =
        cluster_truth_tick_at(truth, control->start_us, cluster_control_unix_us());
    *stands = control->is_standing && tick >= control->stand_tick;
    return *stands ? control->stand_tick : tick;
}

uint64_t cluster_control_unix_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

uint64_t cluster_control_next_us(uint64_t start_us, uint32_t tick_us, double late)
{
    const uint64_t late_us = (uint64_t)(late * tick_us);
    const uint64_t now_us = cluster_control_unix_us() + tick_us; // so that nothing is below 0
    const uint64_t into_us = (now_us - start_us % tick_us - late_us) % tick_us;
    return ph_socket_now_us() + tick_us - into_us;
}

bool cluster_report_word(const char* report, const char* name, char* word, size_t capacity)
{
    const size_t length = strlen(name);
    word[0] = '\0';
    for (const char* at = strchr(report, ' '); at != NULL; at = strchr(at, ' ')) {
        ++at;
        if (strncmp(at, name, length) == 0 && at[length] == '=') {
            const char* value = at + length + 1;
            const size_t size = strcspn(value, " ");
            const size_t taken = size < capacity ? size : capacity - 1;
            memcpy(word, value, taken);
            word[taken] = '\0';
            return true;
        }
    }
    return false;
}

double cluster_report_number(const char* report, const char* name)
{
    char word[64];
    return cluster_report_word(report, name, word, sizeof word) ? strtod(word, NULL) : 0.0;
}
