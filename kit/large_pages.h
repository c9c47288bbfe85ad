// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// An allocator for worlds of thousands of viewers. A send touches some hundred kilobytes all over
// the viewer's memory; in pages of 4 KiB most of that misses the processor's list of pages, in pages
// of 2 MiB hardly any does. Blocks are cut from regions that the system is asked to back with large
// pages (Linux; elsewhere the regions are ordinary memory). What is released is kept for blocks of
// about the same size, and given back when all is destroyed.
//
// One thread at a time, as it is with a world's allocator: not for a host with a pool whose clients send or get blocks.

#ifndef PINHOLE_KIT_LARGE_PAGES_H
#define PINHOLE_KIT_LARGE_PAGES_H

#include <pinhole/base.h>

typedef struct ph_large_pages ph_large_pages;

// @return NULL when there is no memory.
ph_large_pages* ph_large_pages_create(void);

// NULL is allowed. Nothing that was allocated may be used any more.
void ph_large_pages_destroy(ph_large_pages* pages);

// For defs. Valid as long as the pages.
ph_allocator ph_large_pages_allocator(ph_large_pages* pages);

#endif
