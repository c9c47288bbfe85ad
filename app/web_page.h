// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The page as one file that needs nothing else: styles, scripts, module and feed inside. A browser opens it from disk
// and loads nothing from anywhere.

#ifndef PH_APP_WEB_PAGE_H
#define PH_APP_WEB_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// feed: frames as docs/wire_feed.md describes them, each after its size as u32, all of it gzipped. The page must be whole:
// web_assets_missing() is NULL. @return False when the file does not take it or there is no memory.
bool web_page_write(FILE* file, const void* feed, size_t size);

#endif
