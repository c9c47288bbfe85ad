// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The inside of a page's session, and the frames of text and truth that it is told by. For demo_page_session.c.

#ifndef PH_APP_DEMO_PAGE_FRAMES_H
#define PH_APP_DEMO_PAGE_FRAMES_H

#include "demo_page_session.h"

#include "kit/budget.h"

typedef struct ph_link ph_link;

// One way: its world, sender and links. sender NULL: none was made yet.
typedef struct demo_page_way {
    ph_way way;
    int number;    // its place in the scene
    ph_feed* feed; // the page's
    ph_sim_stage* stage;
    ph_world* world; // that has the viewer; NULL: none has
    ph_viewer_id viewer;
    ph_entity_id entity; // that the viewer looks from; {0}: it was absent
    ph_way_sender* sender;
    ph_link* down;
    ph_link* up;
    int64_t send_count;    // since the page's first_us
    uint64_t second_us;    // the present second began; 0: none did
    uint64_t second_bytes; // on the wire in it
    double sent_kbps;      // within the last full one
} demo_page_way;

struct demo_page {
    demo_page_def def;
    demo_page_controls controls;
    const demo_scene* scene; // that its viewers are in; NULL: none
    int scene_count;         // frames SCENE so far
    bool is_stale;           // a control asks for new viewers
    bool is_viewer_chosen;   // by the page
    int entity;              // that it looks from, in the recording
    bool has_selected;
    uint32_t selected; // id of the entity that is explained
    uint64_t first_us; // sends are counted from; 0: from the next tick on
    uint64_t begun_us; // when its viewers were made
    uint64_t refused_acks;
    demo_page_way ways[PH_WAY_COUNT];
    int way_count;
    ph_feed feed;
};

// What each way may send.
ph_budget_def demo_page_budget(const demo_page_controls* controls);

void demo_page_write_scene(demo_page* page);
void demo_page_write_truth(demo_page* page);
// Nothing where no entity is selected.
void demo_page_write_explain(demo_page* page);

#endif
