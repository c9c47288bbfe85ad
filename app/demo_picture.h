// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What the demo draws on a terminal: the world around player 1 as its two clients show it, classic left and
// pinhole right, over the truth; the figures of both below.

#ifndef PH_APP_DEMO_PICTURE_H
#define PH_APP_DEMO_PICTURE_H

#include "demo_canvas.h"
#include "demo_players.h"

enum { DEMO_PICTURE_WIDTH_MIN = 60, DEMO_PICTURE_HEIGHT_MIN = 18, DEMO_HISTORY_MAX = 240 };

// What a person may change of it, and what it must remember. {0} is the beginning.
typedef struct demo_picture {
    int zoom;           // steps nearer, or farther if negative
    int magnified;      // errors are drawn so many times as long; 0: by itself
    int magnified_auto; // found last
    int scene;          // that all of this is about
    // Error of each way, by second, the newest last.
    float history_mrad[DEMO_PLAYER_WAYS][DEMO_HISTORY_MAX];
    int history_count;
    double history_us;
} demo_picture;

typedef struct demo_picture_def {
    const demo_players* players;
    const char* address; // of the page; NULL: there is none
    const char* note;    // of the moment, in place of the sentence; NULL: none
} demo_picture_def;

// Fills a canvas that was begun.
void demo_picture_draw(demo_picture* picture, const demo_picture_def* def, demo_canvas* canvas);

#endif
