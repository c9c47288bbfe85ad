// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Some times a second.

#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE // prctl
#endif

#include "cluster_parts.h"

#include <pinhole/net/socket.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define RESTART_US UINT64_C(1000000)
#define POLITE_US UINT64_C(1500000)
enum { FILES_MAX = 1024, FAILED_STATUS = 127 };

cluster_part* cluster_parts_add(cluster_parts* parts, cluster_kind kind, const char* name)
{
    PH_ASSERT(parts->count < CLUSTER_PARTS_MAX);
    cluster_part* part = &parts->all[parts->count++];
    *part = (cluster_part){.kind = kind};
    snprintf(part->name, sizeof part->name, "%s", name);
    return part;
}

void cluster_part_say(cluster_part* part, const char* format, ...)
{
    PH_ASSERT(part->word_count < CLUSTER_WORDS_MAX);
    va_list values;
    va_start(values, format);
    vsnprintf(part->words[part->word_count++], CLUSTER_WORD_MAX, format, values);
    va_end(values);
}

// ---- starting

// In the child: calls that are allowed behind a fork of a process with threads.
static void become(const cluster_part* part, char* const* argv, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(FAILED_STATUS);
    }
    setpgid(0, 0); // Ctrl-C is for the parent alone, which ends us in order
    const int in = open("/dev/null", O_RDONLY);
    const int out = open(part->log_path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (in < 0 || out < 0 || dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
        dup2(out, STDERR_FILENO) < 0) {
        _exit(FAILED_STATUS);
    }
    for (int file = STDERR_FILENO + 1; file < FILES_MAX; ++file) {
        close(file);
    }
    execvp(argv[0], argv);
    _exit(FAILED_STATUS);
}

bool cluster_part_start(cluster_part* part, ph_fault* fault)
{
    char* argv[CLUSTER_WORDS_MAX + 1] = {0};
    for (int i = 0; i < part->word_count; ++i) {
        argv[i] = part->words[i];
    }
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid == 0) {
        become(part, argv, parent);
    }
    if (pid < 0) {
        return ph_fault_set(fault, 0, 0, "%s does not start: %s", part->name, strerror(errno));
    }
    part->pid = pid;
    part->is_wanted = true;
    part->is_stopped = false;
    part->restart_us = 0;
    part->report[0] = '\0';
    return true;
}

// ---- acts

const char* cluster_part_act(cluster_part* part, cluster_act act, uint64_t now_us)
{
    const char* done = "does not run";
    if (part->pid == 0 || part->is_stopped) {
        return part->pid == 0 ? done : "is frozen already";
    }
    switch (act) {
    case CLUSTER_KILL:
        kill(part->pid, SIGKILL);
        done = "killed -9";
        break;
    case CLUSTER_STOP:
        kill(part->pid, SIGSTOP);
        part->is_stopped = true;
        part->thaw_us = now_us + CLUSTER_STOP_US;
        done = "frozen for 3 s";
        break;
    case CLUSTER_FREEZE:
        kill(part->pid, SIGSTOP);
        part->is_stopped = true;
        part->thaw_us = now_us + CLUSTER_FREEZE_US;
        done = "frozen for 5 s";
        break;
    case CLUSTER_EMPTY:
        kill(part->pid, part->kind == CLUSTER_FRONT ? SIGUSR1 : SIGTERM);
        done = part->kind == CLUSTER_FRONT ? "emptied" : "stopped in order";
        break;
    }
    snprintf(part->last_fault, sizeof part->last_fault, "%s", done);
    return done;
}

static bool has_ended(cluster_part* part)
{
    int status = 0;
    if (part->pid == 0 || waitpid(part->pid, &status, WNOHANG) != part->pid) {
        return false;
    }
    part->pid = 0;
    part->is_stopped = false;
    return true;
}

cluster_part* cluster_parts_look_after(cluster_parts* parts, uint64_t now_us)
{
    cluster_part* ended = NULL;
    for (int i = 0; i < parts->count; ++i) {
        cluster_part* part = &parts->all[i];
        ph_fault fault;
        if (has_ended(part)) {
            part->restart_us = now_us + RESTART_US;
            part->report[0] = '\0';
            ended = part;
        }
        if (part->is_stopped && now_us >= part->thaw_us) {
            kill(part->pid, SIGCONT);
            part->is_stopped = false;
        }
        if (part->is_wanted && part->pid == 0 && part->restart_us != 0 &&
            now_us >= part->restart_us && cluster_part_start(part, &fault)) {
            ++part->restarts;
        }
    }
    return ended;
}

void cluster_parts_stop(cluster_parts* parts)
{
    const uint64_t start_us = ph_socket_now_us();
    // NATS last: the others say goodbye by it.
    for (int i = parts->count - 1; i >= 0; --i) {
        cluster_part* part = &parts->all[i];
        part->is_wanted = false;
        if (part->pid != 0) {
            kill(part->pid, SIGCONT);
            kill(part->pid,
                 part->kind == CLUSTER_NATS || part->kind == CLUSTER_SIM ? SIGKILL : SIGTERM);
        }
    }
    bool is_any = true;
    while (is_any && ph_socket_now_us() - start_us < POLITE_US) {
        is_any = false;
        for (int i = 0; i < parts->count; ++i) {
            has_ended(&parts->all[i]);
            is_any = is_any || parts->all[i].pid != 0;
        }
        ph_socket_sleep(is_any ? 10000 : 0);
    }
    for (int i = 0; i < parts->count; ++i) {
        cluster_part* part = &parts->all[i];
        if (part->pid != 0) {
            kill(part->pid, SIGKILL);
            waitpid(part->pid, NULL, 0);
            part->pid = 0;
        }
    }
}

// ---- questions

cluster_part* cluster_parts_find(cluster_parts* parts, const char* name)
{
    for (int i = 0; i < parts->count; ++i) {
        if (strcmp(parts->all[i].name, name) == 0) {
            return &parts->all[i];
        }
    }
    return NULL;
}

int cluster_parts_free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    const int tcp = socket(AF_INET, SOCK_STREAM, 0);
    int port = 0;
    if (tcp >= 0 && bind(tcp, (struct sockaddr*)&address, sizeof address) == 0 &&
        getsockname(tcp, (struct sockaddr*)&address, &size) == 0) {
        port = ntohs(address.sin_port);
    }
    if (tcp >= 0) {
        close(tcp);
    }
    return port;
}
