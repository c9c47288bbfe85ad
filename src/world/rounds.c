// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Sends as the game asks for them: to one viewer, or to all whose time has come. Once per viewer and
// tick.

#include "world/fetching.h"
#include "world/sending.h"
#include "world/survey.h"
#include "world/telling.h"

ph_result ph_world_send(ph_world* world, ph_viewer_id viewer, uint64_t now_us, ph_deliver* deliver,
                        void* context)
{
    uint32_t index;
    if (!ph_world_try_viewer(world, viewer, &index)) {
        return PH_ERROR_STALE;
    }
    ph_sending_run(world, index, &(ph_occasion){now_us, deliver, context});
    return PH_OK;
}

// Without a fixed rhythm: whether everything worth telling can be paid for.
static bool is_worth_sending(const ph_world* world, uint32_t index, uint64_t now_us)
{
    ph_sender* sender = world->viewers.viewers[index].sender;
    const ph_outlook outlook = ph_outlook_make(world, index);
    ph_sender_pass_time(sender, now_us);
    ph_tell_viewer(world, index);
    ph_survey_references(&(ph_survey){.outlook = &outlook, .sender = sender});
    return ph_sender_is_worth(sender);
}

bool ph_world_is_send_due(ph_world* world, ph_viewer_id viewer, uint64_t now_us)
{
    uint32_t index;
    return ph_world_try_viewer(world, viewer, &index) &&
           (world->viewers.viewers[index].sender->period_parts != 0 ||
            is_worth_sending(world, index, now_us));
}

double ph_world_sends_per_second(const ph_world* world, ph_viewer_id viewer)
{
    uint32_t index;
    return ph_world_try_viewer(world, viewer, &index)
               ? ph_sender_often(world->viewers.viewers[index].sender)
               : 0.0;
}

static bool is_time(const ph_world* world, uint32_t index, uint64_t now_us)
{
    ph_sender* sender = world->viewers.viewers[index].sender;
    return sender->period_parts != 0 ? ph_sender_is_time(sender, index, now_us)
                                     : is_worth_sending(world, index, now_us);
}

typedef struct everybody {
    ph_world* world;
    ph_occasion occasion;
} everybody;

// A job: nothing of another viewer is changed.
static void serve(void* context, int index)
{
    const everybody* now = context;
    const bool is_there = now->world->viewers.viewers[index].slots != NULL;
    if (is_there && is_time(now->world, (uint32_t)index, now->occasion.now_us)) {
        // Whoever was said to follow may be sent to at the same time.
        ph_sender_take_follower(now->world->viewers.viewers[index].sender);
        ph_sending_run(now->world, (uint32_t)index, &now->occasion);
    }
}

void ph_world_send_all(ph_world* world, uint64_t now_us, ph_deliver* deliver, void* context)
{
    const int count = world->viewers.ids.used_count;
    everybody now = {world, {now_us, deliver, context}};
    if (world->def.run_jobs != NULL) {
        world->def.run_jobs(world->def.run_jobs_context, count, serve, &now);
        return;
    }
    for (int i = 0; i < count; ++i) {
        serve(&now, i);
    }
}
