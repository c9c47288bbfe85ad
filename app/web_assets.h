// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The files of the page, inside the program: all of web/ that a browser loads, and the module demo.wasm. The table is
// written by tools/embed while the program is built.

#ifndef PH_APP_WEB_ASSETS_H
#define PH_APP_WEB_ASSETS_H

#include <stddef.h>
#include <stdint.h>

typedef struct web_asset {
    const char* path; // as a browser asks for it: "/main.js"
    const char* type; // for Content-Type
    const uint8_t* bytes;
    size_t size;
} web_asset;

extern const web_asset web_asset_table[];
extern const int web_asset_count;

// "/" is "/index.html". @return NULL when there is none.
const web_asset* web_asset_find(const char* path);

// @return NULL when the page is whole; else a sentence that says why this program has none, and what to do.
const char* web_assets_missing(void);

#endif
