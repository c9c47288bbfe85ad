// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A dozen requests when a page opens.

#include "demo_web_http.h"

#include "web_assets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    HEAD_MAX = 2048,
    PART_MAX = 16384, // of a body, at a time
    PACKED_LEAST = 1024,
    TEXT_MAX = 400,
};

// Everything from this server alone, scripts as files alone; WebAssembly may be compiled. Nothing may embed the page.
static const char POLICY[] = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; "
                             "style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
                             "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// ---- files

typedef struct packed_file {
    uint8_t* bytes; // as gzip; NULL: it is sent as it is
    size_t size;
} packed_file;

struct demo_web_files {
    int count;
    packed_file packed[];
};

static void pack(const web_asset* asset, packed_file* to)
{
    enum { GZIP = 16 + MAX_WBITS };
    z_stream stream = {0};
    const uLong room = compressBound((uLong)asset->size) + 32;
    uint8_t* bytes = malloc(room);
    if (bytes == NULL ||
        deflateInit2(&stream, 9, Z_DEFLATED, GZIP, 9, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(bytes);
        return;
    }
    stream.next_in = (Bytef*)(uintptr_t)asset->bytes; // zlib's own type has no const
    stream.avail_in = (uInt)asset->size;
    stream.next_out = bytes;
    stream.avail_out = (uInt)room;
    const bool is_done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
    const size_t size = stream.total_out;
    deflateEnd(&stream);
    if (!is_done || size >= asset->size) {
        free(bytes);
        return;
    }
    *to = (packed_file){.bytes = bytes, .size = size};
}

demo_web_files* demo_web_files_create(void)
{
    demo_web_files* files =
        calloc(1, sizeof *files + (size_t)web_asset_count * sizeof files->packed[0]);
    if (files == NULL) {
        return NULL;
    }
    files->count = web_asset_count;
    for (int i = 0; i < web_asset_count; ++i) {
        if (web_asset_table[i].size >= PACKED_LEAST) {
            pack(&web_asset_table[i], &files->packed[i]);
        }
    }
    return files;
}

void demo_web_files_destroy(demo_web_files* files)
{
    for (int i = 0; files != NULL && i < files->count; ++i) {
        free(files->packed[i].bytes);
    }
    free(files);
}

// ---- heads

typedef struct head {
    struct lws* wsi;
    uint8_t bytes[LWS_PRE + HEAD_MAX];
    uint8_t* at;
    bool is_full;
} head;

static uint8_t* end_of(head* of)
{
    return of->bytes + sizeof of->bytes - 1;
}

static void add(head* to, const char* name, const char* value)
{
    to->is_full = to->is_full ||
                  lws_add_http_header_by_name(to->wsi, (const uint8_t*)name, (const uint8_t*)value,
                                              (int)strlen(value), &to->at, end_of(to)) != 0;
}

static void begin_head(head* of, struct lws* wsi, int status, const char* type)
{
    of->wsi = wsi;
    of->at = of->bytes + LWS_PRE;
    of->is_full = lws_add_http_header_status(wsi, (unsigned)status, &of->at, end_of(of)) != 0;
    add(of, "content-type:", type);
    add(of, "content-security-policy:", POLICY);
    add(of, "x-content-type-options:", "nosniff");
    add(of, "referrer-policy:", "no-referrer");
    add(of, "cross-origin-resource-policy:", "same-origin");
    add(of, "cross-origin-opener-policy:", "same-origin");
    // Another build of the program has other files at the same addresses.
    add(of, "cache-control:", "no-cache");
}

static bool send_head(head* of, size_t body_size)
{
    of->is_full = of->is_full ||
                  lws_add_http_header_content_length(of->wsi, body_size, &of->at, end_of(of)) != 0;
    return !of->is_full &&
           lws_finalize_write_http_header(of->wsi, of->bytes + LWS_PRE, &of->at, end_of(of)) == 0;
}

// ---- requests

// Whether the Host line names this server, exactly once. Counts it otherwise.
static bool takes_host(const demo_web_http* http, struct lws* wsi, char host[128])
{
    const int size = lws_hdr_copy(wsi, host, 128, WSI_TOKEN_HOST);
    const bool is_ours = size > 0 && demo_gate_takes_host(http->gate, host);
    http->counts->refused_hosts += is_ours ? 0 : 1;
    return is_ours;
}

static bool takes_gzip(struct lws* wsi)
{
    char text[128];
    return lws_hdr_copy(wsi, text, sizeof text, WSI_TOKEN_HTTP_ACCEPT_ENCODING) > 0 &&
           strstr(text, "gzip") != NULL && strstr(text, "gzip;q=0") == NULL;
}

// With a status and a sentence; ends the connection.
static int refuse(struct lws* wsi, int status, const char* sentence)
{
    head of;
    uint8_t body[LWS_PRE + TEXT_MAX];
    const bool has_no_body = lws_hdr_total_length(wsi, WSI_TOKEN_HEAD_URI) > 0;
    const size_t size = strlen(sentence);
    begin_head(&of, wsi, status, "text/plain; charset=utf-8");
    add(&of, "connection:", "close");
    if (status == 405) {
        add(&of, "allow:", "GET, HEAD");
    }
    if (!send_head(&of, size) || has_no_body) {
        return -1;
    }
    memcpy(body + LWS_PRE, sentence, size);
    lws_write(wsi, body + LWS_PRE, size, LWS_WRITE_HTTP_FINAL);
    return -1;
}

// The path without what stands behind a question mark: libwebsockets takes that off itself.
static bool read_path(char* uri, int size, char path[128])
{
    if (size <= 0 || size >= 128) {
        return false;
    }
    memcpy(path, uri, (size_t)size);
    path[size] = '\0';
    return true;
}

static int send_file(const demo_web_http* http, struct lws* wsi, const web_asset* asset,
                     demo_web_answer* answer)
{
    const packed_file* packed = &http->files->packed[asset - web_asset_table];
    const bool is_packed = packed->bytes != NULL && takes_gzip(wsi);
    const size_t size = is_packed ? packed->size : asset->size;
    head of;
    begin_head(&of, wsi, HTTP_STATUS_OK, asset->type);
    if (packed->bytes != NULL) {
        add(&of, "vary:", "accept-encoding");
    }
    if (is_packed) {
        add(&of, "content-encoding:", "gzip");
    }
    if (!send_head(&of, size)) {
        return -1;
    }
    *answer = (demo_web_answer){.bytes = is_packed ? packed->bytes : asset->bytes, .size = size};
    return 0;
}

static int answer_request(const demo_web_http* http, struct lws* wsi, demo_web_answer* answer)
{
    char host[128];
    char path[128];
    char* uri = NULL;
    int size = 0;
    ++http->counts->requests;
    if (!takes_host(http, wsi, host)) {
        ++http->counts->refused_requests;
        return refuse(
            wsi, 403,
            "Ask for localhost or the address that this server listens at, with its port.\n");
    }
    const int method = lws_http_get_uri_and_method(wsi, &uri, &size);
    if (method != LWSHUMETH_GET && method != LWSHUMETH_HEAD) {
        ++http->counts->refused_requests;
        return refuse(wsi, 405, "GET and HEAD only.\n");
    }
    const bool is_read = read_path(uri, size, path);
    const bool is_first = is_read && strcmp(path, "/") == 0;
    const web_asset* asset = is_read ? web_asset_find(is_first ? http->first_page : path) : NULL;
    if (asset == NULL) {
        ++http->counts->refused_requests;
        return refuse(wsi, 404, "There is no such file. The page is at /.\n");
    }
    if (send_file(http, wsi, asset, answer) != 0) {
        return -1;
    }
    if (method == LWSHUMETH_HEAD) {
        answer->size = 0;
        return lws_http_transaction_completed(wsi) != 0 ? -1 : 0;
    }
    lws_callback_on_writable(wsi);
    return 0;
}

static int go_on(struct lws* wsi, demo_web_answer* answer)
{
    uint8_t part[LWS_PRE + PART_MAX];
    if (answer->size == 0) {
        return 0;
    }
    const size_t size = answer->size < PART_MAX ? answer->size : PART_MAX;
    const bool is_last = size == answer->size;
    memcpy(part + LWS_PRE, answer->bytes, size);
    if (lws_write(wsi, part + LWS_PRE, size, is_last ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP) <
        (int)size) {
        return -1;
    }
    answer->bytes += size;
    answer->size -= size;
    if (is_last) {
        return lws_http_transaction_completed(wsi) != 0 ? -1 : 0;
    }
    lws_callback_on_writable(wsi);
    return 0;
}

// Before a WebSocket is opened: who asks, and what for. @return As LWS_CALLBACK_HTTP_CONFIRM_UPGRADE has it.
static int judge_upgrade(const demo_web_http* http, struct lws* wsi, const char* wanted)
{
    char host[128];
    char origin[256];
    char protocol[64];
    ++http->counts->requests;
    if (strcmp(wanted, "websocket") != 0) {
        ++http->counts->refused_requests;
        refuse(wsi, 400, "The only upgrade here is to a WebSocket.\n");
        return 1;
    }
    if (!takes_host(http, wsi, host)) {
        refuse(wsi, 403, "This is not the host that this server listens at.\n");
        return 1;
    }
    const int size = lws_hdr_copy(wsi, origin, sizeof origin, WSI_TOKEN_ORIGIN);
    if (size <= 0 || !demo_gate_takes_origin(http->gate, origin, host)) {
        ++http->counts->refused_origins;
        refuse(wsi, 403, "Only this server's own page may open its feed.\n");
        return 1;
    }
    if (lws_hdr_copy(wsi, protocol, sizeof protocol, WSI_TOKEN_PROTOCOL) <= 0 ||
        strcmp(protocol, http->protocol) != 0) {
        ++http->counts->refused_requests;
        refuse(wsi, 400, "The feed has another protocol: load the page again.\n");
        return 1;
    }
    return 0;
}

int demo_web_http_serve(const demo_web_http* http, struct lws* wsi,
                        enum lws_callback_reasons reason, void* user, void* in, size_t size)
{
    switch (reason) {
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
        return judge_upgrade(http, wsi, in);
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
        return -1; // a feed has its own protocol
    case LWS_CALLBACK_HTTP:
        return answer_request(http, wsi, user);
    case LWS_CALLBACK_HTTP_WRITEABLE:
        return go_on(wsi, user);
    case LWS_CALLBACK_HTTP_BODY:
    case LWS_CALLBACK_HTTP_BODY_COMPLETION:
        return -1; // no request here has one
    default:
        return lws_callback_http_dummy(wsi, reason, user, in, size);
    }
}

// ---- listening

struct lws_vhost* demo_web_http_listen(const demo_web_http* http, struct lws_context* context,
                                       const struct lws_protocols* protocols, const char* listen,
                                       int port, char url[96], ph_fault* fault)
{
    const char* address = listen != NULL ? listen : "127.0.0.1";
    const bool is_six = http->gate->address.kind == PH_ADDRESS_IPV6;
    const bool is_any = ph_address_is_any(&http->gate->address);
    const struct lws_context_creation_info info = {
        .port = port,
        .iface = is_any ? NULL : address,
        .protocols = protocols,
        .vhost_name = "page",
        .keepalive_timeout = DEMO_WEB_LIFE_S,
        .options = (is_six ? 0 : LWS_SERVER_OPTION_DISABLE_IPV6) |
                   LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND,
    };
    struct lws_vhost* vhost = lws_create_vhost(context, &info);
    if (vhost == NULL) {
        ph_fault_set(fault, 0, 0,
                     "%.60s, port %d, cannot be listened at: is another demo running there? "
                     "--port takes another one, 0 any that is free",
                     address, port);
        return NULL;
    }
    const int bound = lws_get_vhost_listen_port(vhost);
    demo_gate_set_port(http->gate, bound);
    const char* shown = !is_any  ? address
                        : is_six ? "::1"
                                 : "127.0.0.1"; // of all, one that works here
    snprintf(url, 96, is_six ? "http://[%s]:%d" : "http://%s:%d", shown, bound);
    return vhost;
}
