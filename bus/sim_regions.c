// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Who owns a region. Its record {epoch, sim} is changed by compare-and-swap alone; everything else is a question of
// time, and arranged so that two sims never both think that they own it:
//
//   standby   hears the owner's beats and echoes their stamps. After a quarter of suspect_ms without one it reads the
//             record; after suspect_ms, and three quarters of suspect_ms after that read, it swaps.
//   owner     was the owner when the newest beat went out whose stamp all standbys have echoed, or when its last
//             successful swap was sent. After half of suspect_ms without that it swaps anew, and goes on; after three
//             quarters it stops until it has an answer.
//
// So an owner that is cut off stops before a standby begins, and a standby whose swap succeeds knows that the owner has
// not proven itself for long enough. An owner with more standbys than it can list goes by its swaps alone. One that has
// heard of no standby for 10 s, and for twice suspect_ms, needs no echo: it goes on without the records. Such a one
// proves itself first when it was not called for verify_ms, or its connection was lost.
//
// A few operations per region and tick.

#include "bus/sim_state.h"

#include <string.h>

// ---- questions

sim_region* sim_find_region(ph_bus_sim* sim, int number)
{
    for (int i = 0; i < sim->region_count; ++i) {
        if (sim->regions[i].number == number && sim->regions[i].state != SIM_IDLE) {
            return &sim->regions[i];
        }
    }
    return NULL;
}

int sim_region_index(const ph_bus_sim* sim, const sim_region* region)
{
    return (int)(region - sim->regions);
}

bool sim_region_speaks(const sim_region* region)
{
    return region->state == SIM_OWNER || region->state == SIM_RELEASING;
}

uint64_t sim_suspect_us(const ph_bus_sim* sim)
{
    return (uint64_t)sim->def.suspect_ms * 1000;
}

// A sim that was released takes nothing more; the next publish leaves it.
static bool is_left(const ph_bus_sim* sim, const sim_region* region)
{
    return sim->is_released && region->exporter == NULL;
}

// ---- the record

static void ask(ph_bus_sim* sim, sim_region* region, sim_question question)
{
    const ph_bus_transport* transport = &sim->def.transport;
    char key[PH_BUS_SUBJECT_MAX];
    bus_record_key(key, sim->world_name, region->number);
    region->question = question;
    region->ticket = (uint64_t)++sim->ticket_count << 32 | (uint32_t)sim_region_index(sim, region);
    region->asked_us = sim->now_us;
    if (question == SIM_READS || question == SIM_READS_PROOF) {
        transport->read(transport->context, key, region->ticket);
        return;
    }
    bus_ownership record = {.epoch = region->epoch};
    if (question != SIM_GIVES_UP) {
        memcpy(record.sim, sim->name, sizeof record.sim);
    }
    bus_writer_clear(&sim->writer);
    if (!bus_write_ownership(&sim->writer, &record)) {
        region->question = SIM_ASKS_NOTHING;
        return;
    }
    transport->swap(transport->context, key, region->revision, sim->writer.bytes, sim->writer.size,
                    region->ticket);
    bus_writer_clear(&sim->writer);
}

static void set_watching(ph_bus_sim* sim, sim_region* region)
{
    region->state = SIM_WATCHING;
    region->has_read = false;
    region->heard_us = sim->now_us;
}

static void give_up_claim(ph_bus_sim* sim, sim_region* region)
{
    const bool was_watching = region->cells_subscription != 0;
    set_watching(sim, region);
    region->retry_us = sim->now_us + SIM_BEAT_US;
    if (!was_watching) {
        sim_watch_begin(sim, region);
    }
}

static void claim(ph_bus_sim* sim, sim_region* region, uint64_t revision, uint32_t epoch)
{
    region->state = SIM_CLAIMING;
    region->revision = revision;
    region->epoch = epoch;
    ask(sim, region, SIM_CLAIMS);
    if (region->question == SIM_ASKS_NOTHING) {
        give_up_claim(sim, region); // there was no memory to ask
    }
}

// The record is right, a little late perhaps: an epoch that it does not know for long was a lie.
static void doubt_epoch(ph_bus_sim* sim, sim_region* region, uint32_t epoch)
{
    region->doubt_count = epoch < region->heard_epoch ? region->doubt_count + 1 : 0;
    if (region->doubt_count >= 3) {
        sim_refuse(sim, PH_BUS_REFUSAL_FIELD);
        region->doubt_count = 0;
        region->heard_epoch = epoch;
        sim_watch_begin(sim, region);
    }
}

static void take_read(ph_bus_sim* sim, sim_region* region, const ph_bus_answer* answer)
{
    bus_ownership record;
    if (answer->outcome != PH_BUS_DONE) {
        region->retry_us = sim->now_us + SIM_BEAT_US;
        return;
    }
    if (answer->revision == 0) {
        // There is none behind the last epoch: it was made up.
        claim(sim, region, 0, region->heard_epoch < UINT32_MAX ? region->heard_epoch + 1 : 1);
        return;
    }
    if (!bus_read_ownership(&record, answer->bytes, answer->size) || record.epoch == UINT32_MAX) {
        sim_refuse(sim, PH_BUS_REFUSAL_FIELD);
        region->retry_us = sim->now_us + SIM_REPEAT_US;
        return;
    }
    if (region->state == SIM_STARTING) {
        set_watching(sim, region);
        sim_watch_begin(sim, region);
    }
    if (region->state != SIM_WATCHING) {
        return;
    }
    doubt_epoch(sim, region, record.epoch);
    region->has_read = true;
    region->read_us = sim->now_us;
    region->read_revision = answer->revision;
    region->read_epoch = record.epoch;
    if (record.sim[0] == '\0' || (region->is_released && record.epoch == region->heard_epoch)) {
        claim(sim, region, answer->revision, record.epoch + 1);
    }
}

// ---- becoming the owner, and ceasing to be

static bool create_exporter(ph_bus_sim* sim, sim_region* region)
{
    ph_exporter_def def = ph_exporter_def_default();
    def.world = sim->world;
    def.cell_mm = sim->def.cell_mm;
    def.owner = PH_REGION_OWNER(region->number);
    def.as_owner = def.owner;
    def.on_cell = sim_on_cell;
    def.on_cell_context = region;
    return ph_exporter_create(&def, &region->exporter) == PH_OK;
}

static void unsubscribe_cells(ph_bus_sim* sim, sim_region* region)
{
    const ph_bus_transport* transport = &sim->def.transport;
    transport->unsubscribe(transport->context, region->cells_subscription);
    transport->unsubscribe(transport->context, region->own_subscription);
    region->cells_subscription = 0;
    region->own_subscription = 0;
}

static void become_owner(ph_bus_sim* sim, sim_region* region)
{
    if (!create_exporter(sim, region)) {
        set_watching(sim, region); // tries again later
        return;
    }
    unsubscribe_cells(sim, region);
    region->state = SIM_OWNER;
    region->owner_us = sim->now_us;
    region->stamp = region->heard_stamp + SIM_STAMP_STEP;
    if (region->epoch == 1) {
        region->stamp = 0;
    }
    region->standby_count = 0;
    region->crowded_us = 0;
    region->beat_count = 0;
    region->beat_us = 0;
    region->mirror_sequence = 0;
    region->mirror_wants_all = false;
    region->release_us = 0;
    region->has_echo = false;
    region->is_released = false;
    sim_streams_clear(region);
    sim->stats.takeovers += region->epoch > 1;
    const int at = sim->event_count;
    sim_push_event(sim, &(ph_bus_event){.kind = PH_BUS_REGION_GAINED,
                                        .region = region->number,
                                        .epoch = region->epoch});
    const int count = sim_adopt_region(sim, region);
    if (sim->event_count > at) {
        sim->events[at].event.count = count;
        sim->events[at].event.is_new = count == 0 && !region->had_all;
    }
}

static void lose(ph_bus_sim* sim, sim_region* region)
{
    sim_push_event(sim, &(ph_bus_event){.kind = PH_BUS_REGION_LOST, .region = region->number});
    sim_drop_region(sim, region);
    ph_exporter_destroy(region->exporter);
    region->exporter = NULL;
    sim_streams_clear(region);
    region->question = SIM_ASKS_NOTHING;
    set_watching(sim, region);
    region->heard_stamp = region->stamp > region->heard_stamp ? region->stamp : region->heard_stamp;
    region->had_all = false;
}

static void fence(ph_bus_sim* sim, sim_region* region)
{
    ++sim->stats.fenced;
    lose(sim, region);
    sim_watch_begin(sim, region);
}

// ---- proving it

static void prove(ph_bus_sim* sim, sim_region* region)
{
    if (region->question == SIM_ASKS_NOTHING && sim->now_us >= region->retry_us) {
        ++sim->stats.verifications;
        ask(sim, region, SIM_PROVES);
    }
}

static void begin_verifying(ph_bus_sim* sim, sim_region* region)
{
#ifndef PH_BUS_UNFENCED
    if (sim_region_speaks(region)) {
        region->state = SIM_VERIFYING;
        prove(sim, region);
    }
#else
    (void)sim;
    (void)region;
#endif
}

static void take_proof(ph_bus_sim* sim, sim_region* region, const ph_bus_answer* answer)
{
    if (answer->outcome == PH_BUS_UNKNOWN) {
        region->retry_us = sim->now_us + SIM_BEAT_US / 2;
        return;
    }
    if (answer->outcome == PH_BUS_CONFLICT) {
        ask(sim, region, SIM_READS_PROOF); // perhaps its own swap, which came late
        return;
    }
    region->revision = answer->revision;
    region->proof_us = region->asked_us;
    if (region->state == SIM_VERIFYING &&
        sim->now_us - region->proof_us < sim_suspect_us(sim) * 3 / 4) {
        if (region->exporter == NULL) {
            become_owner(sim, region); // a claim that took long
        } else {
            region->state = SIM_OWNER;
        }
    }
}

static void take_read_proof(ph_bus_sim* sim, sim_region* region, const ph_bus_answer* answer)
{
    bus_ownership record;
    region->retry_us = sim->now_us + SIM_BEAT_US / 2;
    if (answer->outcome != PH_BUS_DONE ||
        !bus_read_ownership(&record, answer->bytes, answer->size) || record.epoch < region->epoch) {
        return; // not known, or too old: once more
    }
    if (record.epoch == region->epoch && strcmp(record.sim, sim->name) == 0) {
        region->revision = answer->revision;
        region->retry_us = 0;
        prove(sim, region);
        return;
    }
    if (region->exporter == NULL) {
        set_watching(sim, region);
    } else {
        fence(sim, region);
    }
}

static void take_claim(ph_bus_sim* sim, sim_region* region, const ph_bus_answer* answer)
{
    if (answer->outcome != PH_BUS_DONE) {
        give_up_claim(sim, region);
        return;
    }
    region->revision = answer->revision;
    region->proof_us = region->asked_us;
    if (sim->now_us - region->asked_us > sim_suspect_us(sim) / 2) {
        region->state = SIM_VERIFYING; // another one may have claimed it since
        prove(sim, region);
        return;
    }
    become_owner(sim, region);
}

void sim_take_answer(ph_bus_sim* sim, const ph_bus_answer* answer)
{
    const uint32_t index = (uint32_t)answer->ticket;
    if (index >= (uint32_t)sim->region_count || sim->regions[index].ticket != answer->ticket ||
        sim->regions[index].question == SIM_ASKS_NOTHING) {
        return; // of a question that does not matter any more
    }
    sim_region* region = &sim->regions[index];
    const sim_question question = region->question;
    region->question = SIM_ASKS_NOTHING;
    if (is_left(sim, region)) {
        return;
    }
    if (question == SIM_READS) {
        take_read(sim, region, answer);
    } else if (question == SIM_CLAIMS) {
        take_claim(sim, region, answer);
    } else if (question == SIM_PROVES) {
        take_proof(sim, region, answer);
    } else if (question == SIM_READS_PROOF) {
        take_read_proof(sim, region, answer);
    }
}

void sim_regions_look(ph_bus_sim* sim)
{
    const ph_bus_transport* transport = &sim->def.transport;
    const uint64_t lost_count = transport->lost_count(transport->context);
    const bool was_away =
        lost_count != sim->lost_count || !transport->is_connected(transport->context) ||
        (sim->ran_us != 0 && sim->now_us - sim->ran_us > (uint64_t)sim->def.verify_ms * 1000);
    sim->lost_count = lost_count;
    for (int i = 0; i < sim->region_count; ++i) {
        sim_region* region = &sim->regions[i];
        if (was_away && region->state == SIM_WATCHING) {
            region->heard_us = sim->now_us; // what it did not hear may have been said
            region->has_read = false;
            region->has_echo = false;
        }
        const uint64_t age_us = sim->now_us - sim_region_proven_us(sim, region);
        // Standbys say by their echoes how long it may go on, also when its NATS server has just died: a proof would
        // wait for seconds if that was the one which leads the records.
        const bool is_alone_back = was_away && !sim_region_has_standby(sim, region);
        if (is_alone_back || region->is_doubted || age_us > sim_suspect_us(sim) * 3 / 4) {
            region->is_doubted = false;
            begin_verifying(sim, region);
        }
#ifndef PH_BUS_UNFENCED
        if (sim_region_speaks(region) && age_us > sim_suspect_us(sim) / 2) {
            prove(sim, region);
        }
#endif
    }
}

// ---- timers

static void step_watching(ph_bus_sim* sim, sim_region* region)
{
    const uint64_t silent_us = sim->now_us - region->heard_us;
    const uint64_t patience_us = sim_suspect_us(sim) * (region->had_all ? 1 : 2);
    const bool is_due = region->is_released || silent_us > sim_suspect_us(sim) / 4;
    if (!region->has_read) {
        if (is_due && region->question == SIM_ASKS_NOTHING && sim->now_us >= region->retry_us) {
            ask(sim, region, SIM_READS);
        }
    } else if (silent_us >= patience_us &&
               sim->now_us - region->read_us >= sim_suspect_us(sim) * 3 / 4) {
        claim(sim, region, region->read_revision, region->read_epoch + 1);
        return;
    }
    sim_watch_step(sim, region);
}

// A standby has all: it has heard of the last stamp, and time has passed for heartbeats to show what it lacks.
static bool may_release(const ph_bus_sim* sim, const sim_region* region)
{
    for (int i = 0; i < region->standby_count; ++i) {
        const sim_standby* standby = &region->standbys[i];
        if (standby->has_all && standby->echo > region->release_stamp &&
            standby->mirrored >= region->mirror_sequence &&
            sim->now_us - standby->heard_us < SIM_REPEAT_US) {
            return sim->now_us - region->release_us > SIM_RELEASE_US;
        }
    }
    return false;
}

static void give_up(ph_bus_sim* sim, sim_region* region)
{
    const bus_beat beat = {
        .role = BUS_ROLE_RELEASED, .epoch = region->epoch, .stamp = region->stamp};
    sim_send_beat(sim, region, &beat);
    ask(sim, region, SIM_GIVES_UP);
    lose(sim, region);
    region->state = SIM_IDLE;
}

static void step_release(ph_bus_sim* sim, sim_region* region)
{
    if (region->state == SIM_OWNER && sim_region_mirrored(sim, region) != UINT64_MAX) {
        region->state = SIM_RELEASING;
        region->release_us = sim->now_us;
        region->release_stamp = region->stamp;
    } else if (region->state == SIM_RELEASING && may_release(sim, region)) {
        give_up(sim, region);
    } else if (region->state == SIM_RELEASING && sim_region_mirrored(sim, region) == UINT64_MAX) {
        region->state = SIM_OWNER; // its standby is gone
    } else if (is_left(sim, region) && region->state != SIM_IDLE) {
        // Has its claim succeeded, another sim takes it over from a silent owner.
        unsubscribe_cells(sim, region);
        sim_drop_region(sim, region);
        region->question = SIM_ASKS_NOTHING;
        region->state = SIM_IDLE;
    }
}

// At a publish: messages that came in this tick have had their effects.
void sim_regions_release(ph_bus_sim* sim)
{
    for (int i = 0; i < sim->region_count && sim->is_released; ++i) {
        step_release(sim, &sim->regions[i]);
    }
}

void sim_regions_step(ph_bus_sim* sim)
{
    for (int i = 0; i < sim->region_count; ++i) {
        sim_region* region = &sim->regions[i];
        sim_forget_standbys(sim, region);
        if (is_left(sim, region)) {
            continue;
        }
        if (region->state == SIM_STARTING && region->question == SIM_ASKS_NOTHING &&
            sim->now_us >= region->retry_us) {
            ask(sim, region, SIM_READS);
        } else if (region->state == SIM_VERIFYING) {
            prove(sim, region);
        } else if (region->state == SIM_WATCHING) {
            step_watching(sim, region);
        }
    }
}
