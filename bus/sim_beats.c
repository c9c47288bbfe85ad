// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Who is heard. An owner beats; a standby echoes each beat by its stamp, so that the owner knows when it last was heard
// by all of them (sim_regions.c says what follows from that). The mirror goes by the same list of standbys.
//
// At most ten beats a second for a region, and as many echoes of each standby.

#include "bus/sim_state.h"

#include <string.h>

// ---- what an owner knows of its standbys

uint64_t sim_region_mirrored(const ph_bus_sim* sim, const sim_region* region)
{
    uint64_t mirrored = UINT64_MAX;
    for (int i = 0; i < region->standby_count; ++i) {
        const sim_standby* standby = &region->standbys[i];
        if (standby->counts && sim->now_us - standby->heard_us < SIM_STANDBY_GATES_US &&
            standby->mirrored < mirrored) {
            mirrored = standby->mirrored;
        }
    }
    return mirrored;
}

// Longer than a standby waits before it takes over: an owner that forgot it sooner would not stop for it.
static bool is_recent(const ph_bus_sim* sim, uint64_t heard_us)
{
    const uint64_t patience_us = 2 * sim_suspect_us(sim);
    return sim->now_us - heard_us <
           (patience_us > SIM_STANDBY_KNOWN_US ? patience_us : SIM_STANDBY_KNOWN_US);
}

static bool is_known(const ph_bus_sim* sim, const sim_standby* standby)
{
    return is_recent(sim, standby->heard_us);
}

bool sim_region_has_standby(const ph_bus_sim* sim, const sim_region* region)
{
    for (int i = 0; i < region->standby_count; ++i) {
        if (is_known(sim, &region->standbys[i])) {
            return true;
        }
    }
    return false;
}

uint64_t sim_region_proven_us(const ph_bus_sim* sim, const sim_region* region)
{
    if (region->crowded_us != 0 && is_recent(sim, region->crowded_us)) {
        return region->proof_us;
    }
    uint64_t echo_us = sim->now_us;
    for (int i = 0; i < region->standby_count; ++i) {
        const sim_standby* standby = &region->standbys[i];
        if (is_known(sim, standby) && standby->echo_us < echo_us) {
            echo_us = standby->echo_us;
        }
    }
    return echo_us > region->proof_us ? echo_us : region->proof_us;
}

// ---- what is heard

void sim_forget_standbys(const ph_bus_sim* sim, sim_region* region)
{
    for (int i = region->standby_count - 1; i >= 0; --i) {
        if (!is_known(sim, &region->standbys[i])) {
            region->standbys[i] = region->standbys[--region->standby_count];
        }
    }
}

// The time of the beat that was echoed.
static uint64_t time_of_echo(const sim_region* region, uint32_t stamp)
{
    const uint32_t kept = region->beat_count < SIM_BEATS_KEPT ? region->beat_count : SIM_BEATS_KEPT;
    for (uint32_t i = 1; i <= kept; ++i) {
        const sim_beat_sent* sent = &region->beats[(region->beat_count - i) % SIM_BEATS_KEPT];
        if (sent->stamp == stamp) {
            return sent->sent_us;
        }
    }
    return 0;
}

static void hear_standby(ph_bus_sim* sim, sim_region* region, const bus_beat* beat)
{
    const uint64_t echo_us = time_of_echo(region, beat->stamp);
    int at = 0;
    while (at < region->standby_count && strcmp(region->standbys[at].name, beat->sim) != 0) {
        ++at;
    }
    if (echo_us == 0 || beat->epoch != region->epoch) {
        return; // too old, of another epoch, or no echo at all
    }
    if (at == region->standby_count) {
        if (at == SIM_STANDBYS_MAX) {
            region->crowded_us = sim->now_us;
            return;
        }
        region->standbys[region->standby_count++] = (sim_standby){0};
        memcpy(region->standbys[at].name, beat->sim, sizeof beat->sim);
    }
    sim_standby* standby = &region->standbys[at];
    standby->heard_us = sim->now_us;
    if (echo_us >= standby->echo_us) {
        standby->echo_us = echo_us;
        standby->echo = beat->stamp;
        standby->has_all = beat->has_all;
        standby->counts = standby->counts || beat->has_all;
    }
}

bool sim_hear_epoch(ph_bus_sim* sim, sim_region* region, uint32_t epoch)
{
#ifdef PH_BUS_UNFENCED
    if (region->state != SIM_OWNER && epoch > region->heard_epoch) {
        region->heard_epoch = epoch;
        sim_watch_begin(sim, region);
    }
    return region->state == SIM_WATCHING;
#else
    if (sim_region_speaks(region)) {
        // Another one says that it is the owner. The record knows; not too often, as anybody can say that.
        if (epoch > region->epoch && sim->now_us - region->doubted_us > SIM_HEARTBEAT_US) {
            region->doubted_us = sim->now_us;
            region->is_doubted = true; // when the game has had the events of this tick
        }
        return false;
    }
    if (region->state != SIM_WATCHING || epoch < region->heard_epoch) {
        return false;
    }
    if (epoch > region->heard_epoch) {
        region->heard_epoch = epoch;
        sim_watch_begin(sim, region);
    }
    return true;
#endif
}

static void hear_owner(ph_bus_sim* sim, sim_region* region, const bus_beat* beat)
{
    if (!sim_hear_epoch(sim, region, beat->epoch)) {
        return;
    }
    region->heard_us = sim->now_us;
    region->has_read = false;
    region->is_released = beat->role == BUS_ROLE_RELEASED;
    memcpy(region->owner, beat->sim, sizeof region->owner);
    if (beat->stamp > region->heard_stamp) {
        region->heard_stamp = beat->stamp;
    }
    region->echo_stamp = beat->stamp;
    region->has_echo = !region->is_released;
}

// A transport brings nothing of its own, so there is another one. It counts like any other: were its beats ignored, both
// would own the region.
static void tell_of_namesake(ph_bus_sim* sim, int region)
{
    if (!sim->has_told_namesake) {
        const ph_check call =
            ph_check_begin(sim->def.on_error, sim->def.on_error_context, "ph_bus_sim_receive");
        ph_fail(&call, PH_ERROR_TAKEN, NULL,
                "another sim is named %s, too, and speaks for region %d; ph_bus_sim_def.name must "
                "be each machine's own",
                sim->name, region);
        sim->has_told_namesake = true;
    }
}

void sim_take_beat(ph_bus_sim* sim, const ph_bus_message* message)
{
    bus_beat beat;
    ph_bus_refusal refusal;
    if (!bus_read_beat(&beat, message->bytes, message->size, &refusal)) {
        sim_refuse(sim, refusal);
        return;
    }
    char subject[PH_BUS_SUBJECT_MAX];
    bus_subject_region(subject, "beat", sim->world_name, beat.region);
    if (strcmp(subject, message->subject) != 0) {
        sim_refuse(sim, PH_BUS_REFUSAL_SUBJECT);
        return;
    }
    sim_region* region = sim_find_region(sim, beat.region);
    if (region == NULL) {
        return;
    }
    if (strcmp(beat.sim, sim->name) == 0) {
        tell_of_namesake(sim, beat.region);
    }
    if (beat.role == BUS_ROLE_STANDBY) {
        if (sim_region_speaks(region) || region->state == SIM_VERIFYING) {
            hear_standby(sim, region, &beat);
        }
    } else {
        hear_owner(sim, region, &beat);
    }
}

// ---- what is said

void sim_send_beat(ph_bus_sim* sim, const sim_region* region, const bus_beat* with)
{
    bus_beat beat = *with;
    char subject[PH_BUS_SUBJECT_MAX];
    beat.region = region->number;
    memcpy(beat.sim, sim->name, sizeof beat.sim);
    bus_subject_region(subject, "beat", sim->world_name, region->number);
    bus_write_beat(&sim->writer, &beat);
    sim_send(sim, subject);
}

void sim_regions_beat(ph_bus_sim* sim)
{
    for (int i = 0; i < sim->region_count; ++i) {
        sim_region* region = &sim->regions[i];
        if (sim_region_speaks(region) && sim->now_us - region->beat_us >= SIM_BEAT_US) {
            const bus_beat beat = {.role = BUS_ROLE_OWNER,
                                   .epoch = region->epoch,
                                   .stamp = region->stamp,
                                   .entities = (uint32_t)region->filed_count,
                                   .players = (uint32_t)region->by_client.count};
            sim_send_beat(sim, region, &beat);
            region->beat_us = sim->now_us;
            region->beats[region->beat_count++ % SIM_BEATS_KEPT] =
                (sim_beat_sent){region->stamp, sim->now_us};
        }
        // An echo, and nothing else: a standby that does not hear its owner is silent. None while a claim is under
        // way: the owner would take it for a proof.
        if (region->state == SIM_WATCHING && region->has_echo) {
            const bus_beat beat = {.role = BUS_ROLE_STANDBY,
                                   .epoch = region->heard_epoch,
                                   .stamp = region->echo_stamp,
                                   .has_all = region->has_cells && region->has_sessions &&
                                              !region->has_gaps};
            sim_send_beat(sim, region, &beat);
            region->has_echo = false;
        }
    }
}
