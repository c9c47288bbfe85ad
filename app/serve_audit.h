// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Which client came and went, when and why: a line each, in a file that only its owner may read. Client ids, and
// addresses only when that is asked for; never a key.
//
//     2026-11-18T06:43:54.120Z came client=7
//     2026-11-18T06:44:10.371Z went client=7 why=disconnected

#ifndef PH_APP_SERVE_AUDIT_H
#define PH_APP_SERVE_AUDIT_H

#include "kit/fault.h"

#include <pinhole/net/address.h>

typedef struct serve_audit serve_audit;

// Appends to the file, or makes it. path outlives it. @return NULL with *fault filled.
serve_audit* serve_audit_open(const char* path, bool has_addresses, ph_fault* fault);
void serve_audit_close(serve_audit* audit); // NULL is allowed, here and below

// Opens the file again, which may be another one by now (log rotation). @return False with *fault filled; it goes
// on with the one so far then.
bool serve_audit_reopen(serve_audit* audit, ph_fault* fault);

// Neither waits for the disk. address: NULL when it is not known.
void serve_audit_came(serve_audit* audit, uint64_t client_id, const ph_address* address);
void serve_audit_went(serve_audit* audit, uint64_t client_id, const char* why);

// Lines that were lost since the start.
uint64_t serve_audit_dropped(const serve_audit* audit);

#endif
