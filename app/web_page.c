// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Finds assets, and composes the page that stands alone. Runs once per page that is written.
//
// Modules import each other by relative paths, which have no meaning in a page from disk. So each script becomes a
// data: address in an import map, under its bare name, and the imports are changed to that name:
//
//     import {Feed} from "./feed.js";     ──▶     import {Feed} from "feed.js";

#include "web_page.h"

#include "web_assets.h"

#include <pinhole/base.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// What index.html has where something is to be put; each a line of its own.
#define STYLE_TAG "<link rel=\"stylesheet\" href=\"page.css\">"
#define SCRIPT_TAG "<script type=\"module\" src=\"main.js\"></script>"
#define POLICY_TAG "<meta name=\"policy\">"

#define IMPORT_MARK " from \"./"
#define MODULE_PATH "/demo.wasm"

// ---- assets

const web_asset* web_asset_find(const char* path)
{
    const char* wanted = strcmp(path, "/") == 0 ? "/index.html" : path;
    for (int i = 0; i < web_asset_count; ++i) {
        if (strcmp(web_asset_table[i].path, wanted) == 0) {
            return &web_asset_table[i];
        }
    }
    return NULL;
}

const char* web_assets_missing(void)
{
    if (web_asset_find(MODULE_PATH) != NULL) {
        return NULL;
    }
    return "this program was built without the page, which needs clang for WebAssembly; `make "
           "demo` "
           "installs it and builds again (Debian: clang-14 lld-14 llvm-14 wasi-libc "
           "libclang-rt-14-dev-wasm32)";
}

// ---- composing

typedef struct out {
    FILE* file;
    bool has_failed;
} out;

static void put(out* to, const void* bytes, size_t size)
{
    to->has_failed = to->has_failed || fwrite(bytes, 1, size, to->file) != size;
}

static void put_text(out* to, const char* text)
{
    put(to, text, strlen(text));
}

static void put_base64(out* to, const uint8_t* bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t at = 0; at < size; at += 3) {
        const size_t count = size - at < 3 ? size - at : 3;
        uint32_t group = (uint32_t)bytes[at] << 16;
        group |= count > 1 ? (uint32_t)bytes[at + 1] << 8 : 0;
        group |= count > 2 ? bytes[at + 2] : 0;
        const char four[4] = {
            digits[group >> 18],
            digits[group >> 12 & 63],
            count > 1 ? digits[group >> 6 & 63] : '=',
            count > 2 ? digits[group & 63] : '=',
        };
        put(to, four, sizeof four);
    }
}

// Scripts are text without zero bytes.
static char* copy_text(const web_asset* asset)
{
    char* text = malloc(asset->size + 1);
    if (text != NULL) {
        memcpy(text, asset->bytes, asset->size);
        text[asset->size] = '\0';
    }
    return text;
}

static void put_script(out* to, const web_asset* asset)
{
    char* text = copy_text(asset);
    if (text == NULL) {
        to->has_failed = true;
        return;
    }
    const size_t mark = strlen(IMPORT_MARK);
    const size_t dot_and_slash = 2;
    for (char* found = strstr(text, IMPORT_MARK); found != NULL;
         found = strstr(found, IMPORT_MARK)) {
        char* name = found + mark;
        memmove(name - dot_and_slash, name, strlen(name) + 1);
    }
    put_base64(to, (const uint8_t*)text, strlen(text));
    free(text);
}

// Of this page: those of the page of `pinhole cluster` have its name.
static bool is_script(const web_asset* asset)
{
    return strncmp(asset->type, "text/javascript", strlen("text/javascript")) == 0 &&
           strncmp(asset->path, "/cluster", strlen("/cluster")) != 0;
}

static void put_import_map(out* to)
{
    const char* comma = "";
    put_text(to, "<script type=\"importmap\">{\"imports\":{");
    for (int i = 0; i < web_asset_count; ++i) {
        if (is_script(&web_asset_table[i])) {
            put_text(to, comma);
            put_text(to, "\n\"");
            put_text(to, web_asset_table[i].path + 1);
            put_text(to, "\":\"data:text/javascript;charset=utf-8;base64,");
            put_script(to, &web_asset_table[i]);
            put_text(to, "\"");
            comma = ",";
        }
    }
    put_text(to, "}}</script>\n");
}

static void put_data(out* to, const char* id, const void* bytes, size_t size)
{
    put_text(to, "<script type=\"application/octet-stream\" id=\"");
    put_text(to, id);
    put_text(to, "\">");
    put_base64(to, bytes, size);
    put_text(to, "</script>\n");
}

// Nothing may be loaded: what is not inside is not there.
static void put_policy(out* to)
{
    put_text(to, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                 "script-src 'unsafe-inline' 'wasm-unsafe-eval' data:; style-src 'unsafe-inline'; "
                 "img-src data:; form-action 'none'; base-uri 'none'\">");
}

static void put_style(out* to)
{
    const web_asset* style = web_asset_find("/page.css");
    put_text(to, "<style>\n");
    put(to, style->bytes, style->size);
    put_text(to, "</style>");
}

static void put_scripts(out* to, const void* feed, size_t size)
{
    const web_asset* module = web_asset_find(MODULE_PATH);
    put_import_map(to);
    put_data(to, "pinhole-module", module->bytes, module->size);
    put_data(to, "pinhole-feed", feed, size);
    put_text(to, "<script type=\"module\">import \"main.js\";</script>");
}

bool web_page_write(FILE* file, const void* feed, size_t size)
{
    PH_ASSERT(web_assets_missing() == NULL);
    char* page = copy_text(web_asset_find("/index.html"));
    if (page == NULL) {
        return false;
    }
    out to = {.file = file};
    const char* tags[] = {POLICY_TAG, STYLE_TAG, SCRIPT_TAG};
    const char* at = page;
    for (int i = 0; i < 3; ++i) {
        const char* tag = strstr(at, tags[i]);
        PH_ASSERT(tag != NULL); // index.html has them, in this order
        put(&to, at, (size_t)(tag - at));
        if (i == 0) {
            put_policy(&to);
        } else if (i == 1) {
            put_style(&to);
        } else {
            put_scripts(&to, feed, size);
        }
        at = tag + strlen(tags[i]);
    }
    put_text(&to, at);
    free(page);
    return !to.has_failed && fflush(file) == 0;
}
