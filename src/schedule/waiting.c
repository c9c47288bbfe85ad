// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Once per record sent, and once per record lost.

#include "schedule/waiting.h"

float ph_waiting_sent(void* context, float score)
{
    (void)context;
    (void)score;
    return 0.0f;
}

float ph_waiting_lost(void* context, float score, float score_then)
{
    (void)context;
    return score + score_then;
}
