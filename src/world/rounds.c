// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Sends as the game asks for them: to one viewer, or to all whose time has come. Once per viewer and
// tick.

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

void ph_world_send_all(ph_world* world, uint64_t now_us, ph_deliver* deliver, void* context)
{
    for (int i = 0; i < world->viewers.ids.used_count; ++i) {
        const ph_viewer* viewer = &world->viewers.viewers[i];
        if (viewer->slots != NULL && is_time(world, (uint32_t)i, now_us)) {
            ph_sending_run(world, (uint32_t)i, &(ph_occasion){now_us, deliver, context});
        }
    }
}
