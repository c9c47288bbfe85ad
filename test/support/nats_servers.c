// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#define _GNU_SOURCE // nftw, and to end with the parent

#include "support/nats_servers.h"

#include "support/test_support.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { READY_TRIES = 2000, TRY_MS = 5, STARTS_MAX = 3 };

static void wait_ms(int ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000L}, NULL);
}

// Debian puts it where only root looks.
static const char* program(void)
{
    static char path[512];
    static const char* const folders[] = {"/usr/sbin", "/usr/bin", "/usr/local/bin",
                                          "/usr/local/sbin"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; ++i) {
        snprintf(path, sizeof path, "%s/nats-server", folders[i]);
        if (access(path, X_OK) == 0) {
            return path;
        }
    }
    return NULL;
}

bool nats_servers_are_there(void)
{
    return program() != NULL;
}

// ---- ports -----------------------------------------------------------------------------------------

// All at once, so that no two are the same. Another program may take one before the server does.
static void find_ports(int* ports, int count)
{
    int sockets[2 * NATS_SERVERS_MAX];
    for (int i = 0; i < count; ++i) {
        struct sockaddr_in address = {.sin_family = AF_INET,
                                      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t size = sizeof address;
        sockets[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_true(sockets[i] >= 0);
        assert_int_equal(bind(sockets[i], (struct sockaddr*)&address, size), 0);
        assert_int_equal(getsockname(sockets[i], (struct sockaddr*)&address, &size), 0);
        ports[i] = ntohs(address.sin_port);
    }
    for (int i = 0; i < count; ++i) {
        close(sockets[i]);
    }
}

// It has said its first word.
static bool answers(int port)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)port),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(s >= 0);
    char word[4] = "";
    const bool is_ready = connect(s, (const struct sockaddr*)&address, sizeof address) == 0 &&
                          recv(s, word, sizeof word, MSG_WAITALL) == sizeof word &&
                          memcmp(word, "INFO", 4) == 0;
    close(s);
    return is_ready;
}

// ---- processes -------------------------------------------------------------------------------------

static void write_configuration(const nats_servers* servers, int index, const char* settings)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%d.conf", servers->folder, index);
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "listen: \"127.0.0.1:%d\"\nserver_name: n%d\n", servers->ports[index], index);
    fprintf(file,
            "jetstream { store_dir: \"%s/%d\", max_memory_store: 16MB, max_file_store: 64MB }\n",
            servers->folder, index);
    // One that does not read is left soon, and does not make others wait for it.
    fprintf(file, "write_deadline: \"500ms\"\nmax_pending: 16MB\n");
    if (servers->count > 1) {
        fprintf(file,
                "cluster { name: test, listen: \"127.0.0.1:%d\", no_advertise: true, routes: [",
                servers->route_ports[index]);
        for (int i = 0; i < servers->count; ++i) {
            fprintf(file, "%s\"nats-route://127.0.0.1:%d\"", i > 0 ? ", " : "",
                    servers->route_ports[i]);
        }
        fprintf(file, "] }\n");
    }
    fprintf(file, "%s\n", settings != NULL ? settings : "");
    assert_int_equal(fclose(file), 0);
}

static void launch(nats_servers* servers, int index)
{
    char configuration[128];
    char log[128];
    snprintf(configuration, sizeof configuration, "%s/%d.conf", servers->folder, index);
    snprintf(log, sizeof log, "%s/%d.log", servers->folder, index);
    const char* path = program();
    assert_non_null(path);
    const pid_t parent = getpid();
    const pid_t process = fork();
    assert_true(process >= 0);
    if (process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        const int output = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
        if (output < 0 || getppid() != parent) {
            _exit(1);
        }
        dup2(output, 1);
        dup2(output, 2);
        execl(path, path, "-c", configuration, (char*)NULL);
        _exit(1);
    }
    servers->processes[index] = process;
}

static bool has_ended(nats_servers* servers, int index)
{
    if (waitpid(servers->processes[index], NULL, WNOHANG) == servers->processes[index]) {
        servers->processes[index] = 0;
    }
    return servers->processes[index] == 0;
}

static bool becomes_ready(nats_servers* servers, int index)
{
    for (int i = 0; i < READY_TRIES && !has_ended(servers, index); ++i) {
        if (answers(servers->ports[index])) {
            return true;
        }
        wait_ms(TRY_MS);
    }
    return false;
}

static bool try_to_start(nats_servers* servers, const char* settings)
{
    int ports[2 * NATS_SERVERS_MAX];
    find_ports(ports, 2 * servers->count);
    servers->urls[0] = '\0';
    for (int i = 0; i < servers->count; ++i) {
        servers->ports[i] = ports[2 * i];
        servers->route_ports[i] = ports[2 * i + 1];
        const size_t used = strlen(servers->urls);
        snprintf(servers->urls + used, sizeof servers->urls - used, "%snats://127.0.0.1:%d",
                 i > 0 ? "," : "", servers->ports[i]);
    }
    bool are_ready = true;
    for (int i = 0; i < servers->count; ++i) {
        write_configuration(servers, i, settings);
        launch(servers, i);
    }
    for (int i = 0; i < servers->count; ++i) {
        are_ready = becomes_ready(servers, i) && are_ready;
    }
    return are_ready;
}

void nats_servers_start(nats_servers* servers, const nats_servers_def* def)
{
    *servers = (nats_servers){.count = def->count > 0 ? def->count : 1};
    assert_in_range(servers->count, 1, NATS_SERVERS_MAX);
    snprintf(servers->folder, sizeof servers->folder, "/tmp/pinhole_nats_XXXXXX");
    assert_non_null(mkdtemp(servers->folder));
    for (int i = 0; i < STARTS_MAX; ++i) {
        if (try_to_start(servers, def->settings)) {
            return;
        }
        for (int k = 0; k < servers->count; ++k) {
            nats_servers_kill(servers, k);
        }
    }
    fail_msg("nats-server does not start; see %s", servers->folder);
}

void nats_servers_kill(nats_servers* servers, int index)
{
    if (servers->processes[index] != 0) {
        kill(servers->processes[index], SIGKILL);
        waitpid(servers->processes[index], NULL, 0);
        servers->processes[index] = 0;
    }
}

void nats_servers_restart(nats_servers* servers, int index)
{
    assert_int_equal(servers->processes[index], 0);
    launch(servers, index);
    assert_true(becomes_ready(servers, index));
}

void nats_servers_freeze(nats_servers* servers, int index)
{
    assert_int_equal(kill(servers->processes[index], SIGSTOP), 0);
}

void nats_servers_thaw(nats_servers* servers, int index)
{
    assert_int_equal(kill(servers->processes[index], SIGCONT), 0);
}

static int remove_one(const char* path, const struct stat* about, int kind, struct FTW* place)
{
    (void)about;
    (void)kind;
    (void)place;
    return remove(path);
}

void nats_servers_end(nats_servers* servers)
{
    for (int i = 0; i < servers->count; ++i) {
        nats_servers_kill(servers, i);
    }
    if (servers->folder[0] != '\0') {
        nftw(servers->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
    *servers = (nats_servers){0};
}

const char* nats_servers_urls(const nats_servers* servers)
{
    return servers->urls;
}

const char* nats_servers_url(const nats_servers* servers, int index)
{
    static char url[64];
    snprintf(url, sizeof url, "nats://127.0.0.1:%d", servers->ports[index]);
    return url;
}
