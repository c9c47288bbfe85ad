// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The controller looks at epochs: some packets and half a second each. A queue that grows shows in the
// round trips; less is then sent than the link was seen to deliver, until the queue is empty. Losses
// without a queue may be a short queue or a bad radio link: less is sent for a trial, and when as much
// gets lost as before, it was not our doing. A few operations per call.

#include <pinhole/net/rate.h>
#include <pinhole/stats.h>

#include <math.h>

#define COOKIE 0x52415445u
#define RATE_MIN 1000.0
#define LEAST_DEFAULT 4000.0
#define FIRST_DEFAULT 64000.0

// ---- epochs
#define EPOCH_MIN_US 400000u
#define EPOCH_MAX_US 2000000u // with a single answer it is over then
#define EPOCH_PACKETS 4
#define SETTLE_US 100000u
#define SILENCE_US 1500000u
#define SILENCE_DATAGRAMS 8 // of fewer all may be lost by chance, or all their answers

// ---- stalls
#define STALL_US 400000u
#define STALL_LATE                                                                                 \
    5 // datagrams: a bottleneck answers at a steady pace, and never lets so many wait
#define STALL_LOST 8 // of fewer all may be lost by chance
#define RESUME_US 500000u

// ---- round trips
#define BASE_HALF_US UINT64_C(15000000)
#define QUEUE_MIN_MS 40.0 // less is jitter
// The very first answer tells of the way before our own datagrams have filled a queue.
#define FIRST_JITTER_MS 20.0
// A datagram takes up to its own interval through a bottleneck: that is no queue. With 0 a client that
// sends twice a second gets two thirds of a bottleneck instead of nine tenths; with 0.6 queues are twice
// as long.
#define QUEUE_INTERVALS 0.2
#define GROWTH 0.08 // of the time that passes
#define GROWING_EPOCHS 2
#define DRAIN_MS 2000.0 // a queue shall be empty after about so long
#define DRAIN_LEAST 0.4
#define DRAIN_MOST 0.85
#define STUBBORN_EPOCHS 4
#define FALLING 0.05

// ---- losses
#define FADE 0.75
#define LOSS_SIGMAS 2.5
#define LOSS_LEAST 2.5 // packets
#define USUAL_PACKETS 150.0
#define TEST_PACKETS 12.0
#define TEST_SHARE 0.9
#define TEST_LEAST 0.4
#define FEWER 0.6 // times as many losses as before: it was our doing

// ---- rising, per second
#define RISE_SHARE 0.25
#define RISE_BITS 300.0
#define NEAR_SHARE 0.03
#define NEAR_FROM 0.85
#define NEAR_TO 1.1
#define USED_SHARE 0.6 // of the rate: below, it is unknown whether the link carries more

ph_rate_def ph_rate_def_default(void)
{
    return (ph_rate_def){.limit_bits_per_second = 13000, .cookie = COOKIE};
}

static double lesser(double a, double b)
{
    return a < b ? a : b;
}

static double greater(double a, double b)
{
    return a > b ? a : b;
}

ph_rate ph_rate_make(const ph_rate_def* def)
{
    PH_ASSERT(def->cookie == COOKIE); // start from ph_rate_def_default()

    const double limit = def->limit_bits_per_second;
    ph_rate rate = {
        .limit = limit,
        .least = def->min_bits_per_second != 0
                     ? def->min_bits_per_second
                     : greater(RATE_MIN, lesser(limit / 4.0, LEAST_DEFAULT)),
        .rate = def->start_bits_per_second != 0 ? def->start_bits_per_second
                                                : lesser(limit, FIRST_DEFAULT),
    };
    PH_ASSERT(RATE_MIN <= rate.least && rate.least <= rate.rate && rate.rate <= limit);
    return rate;
}

int ph_rate_bits_per_second(const ph_rate* rate)
{
    return (int)rate->rate;
}

void ph_rate_set_limit(ph_rate* rate, int limit_bits_per_second)
{
    PH_ASSERT(limit_bits_per_second >= RATE_MIN);

    rate->limit = limit_bits_per_second;
    rate->least = lesser(rate->least, rate->limit);
    rate->rate = lesser(rate->rate, rate->limit);
}

ph_rate_state ph_rate_get_state(const ph_rate* rate)
{
    return rate->state;
}

const char* ph_rate_state_name(ph_rate_state state)
{
    static const char* const NAMES[] = {
        [PH_RATE_RISING] = "rising",
        [PH_RATE_DRAINING] = "draining",
        [PH_RATE_TESTING] = "testing",
    };
    _Static_assert(sizeof NAMES / sizeof NAMES[0] == PH_RATE_STATE_COUNT, "a name for each");
    return (unsigned)state < PH_RATE_STATE_COUNT ? NAMES[state] : "unknown";
}

// ---- what an epoch says

typedef struct epoch {
    double seconds;
    double packets; // whose fate became known
    double lost;
    double rtt_ms; // 0: nothing came back
    double interval_ms;
    double sent_bps;
    double delivered_bps;
} epoch;

static epoch look_back(const ph_rate* rate, uint64_t now_us, const ph_viewer_network_stats* link)
{
    const ph_viewer_network_stats* start = &rate->start;
    const double datagrams = (double)(link->sent_datagrams - start->sent_datagrams);
    const double bytes = (double)(link->sent_wire_bytes - start->sent_wire_bytes);
    const double trips = (double)(link->rtt_samples - start->rtt_samples);
    epoch seen = {
        .seconds = (double)(now_us - rate->start_us) * 1e-6,
        .packets = (double)(link->resolved_packets - start->resolved_packets),
        .lost = (double)(link->lost_packets - start->lost_packets),
    };
    if (trips > 0.0) {
        seen.rtt_ms = (double)(link->rtt_sum_us - start->rtt_sum_us) / trips * 1e-3;
    }
    seen.interval_ms = seen.seconds * 1e3 / greater(datagrams, 1.0);
    seen.sent_bps = 8.0 * bytes / seen.seconds;
    const double mean_bytes = datagrams > 0.0 ? bytes / datagrams : 0.0;
    seen.delivered_bps = 8.0 * mean_bytes * (seen.packets - seen.lost) / seen.seconds;
    return seen;
}

static void begin_epoch(ph_rate* rate, uint64_t now_us, const ph_viewer_network_stats* link)
{
    rate->start = *link;
    rate->start_us = now_us;
}

static bool is_over(const ph_rate* rate, uint64_t now_us, const ph_viewer_network_stats* link)
{
    const uint64_t lasted_us = now_us - rate->start_us;
    const uint64_t packets = link->resolved_packets - rate->start.resolved_packets;
    return (lasted_us >= EPOCH_MIN_US && packets >= EPOCH_PACKETS) ||
           (lasted_us >= EPOCH_MAX_US && packets > 0);
}

// ---- round trips

static double base_ms(const ph_rate* rate)
{
    const double now_ms = rate->base_rtt_ms[0];
    const double before_ms = rate->base_rtt_ms[1];
    return before_ms != 0.0 ? lesser(now_ms, before_ms) : now_ms;
}

static void note_round_trip(ph_rate* rate, uint64_t now_us, double rtt_ms)
{
    if (rate->base_rtt_ms[0] == 0.0) {
        rate->base_rtt_ms[0] = lesser(rtt_ms, rate->first_rtt_ms + FIRST_JITTER_MS);
        rate->base_us = now_us;
    }
    if (now_us - rate->base_us >= BASE_HALF_US) {
        rate->base_rtt_ms[1] = rate->base_rtt_ms[0];
        rate->base_rtt_ms[0] = rtt_ms;
        rate->base_us = now_us;
    }
    rate->base_rtt_ms[0] = lesser(rate->base_rtt_ms[0], rtt_ms);
}

static double allowed_queue_ms(const epoch* seen)
{
    return QUEUE_MIN_MS + QUEUE_INTERVALS * seen->interval_ms;
}

// Whether there is a queue that stands, or one that grows.
static bool is_queueing(ph_rate* rate, const epoch* seen)
{
    const double queue_ms = seen->rtt_ms - base_ms(rate);
    const bool is_growing = rate->rtt_ms != 0.0 && queue_ms > QUEUE_MIN_MS &&
                            seen->rtt_ms - rate->rtt_ms > GROWTH * seen->seconds * 1e3;
    rate->growing_count = is_growing ? rate->growing_count + 1 : 0;
    return queue_ms > allowed_queue_ms(seen) || rate->growing_count >= GROWING_EPOCHS;
}

// ---- lowering

static void forget_losses(ph_rate* rate)
{
    rate->packets = 0.0;
    rate->lost = 0.0;
}

// What is answered for the next round trip was sent at the old rate.
static void lower(ph_rate* rate, uint64_t now_us, ph_rate_state state, double wanted)
{
    rate->before_rate = rate->rate;
    rate->before_packets = rate->packets;
    rate->before_lost = rate->lost;
    forget_losses(rate);
    rate->state = state;
    rate->rate = greater(rate->least, lesser(wanted, rate->rate));
    rate->lowered_us = now_us;
    rate->lowered_rtt_ms = INFINITY;
    rate->deaf_us = now_us + (uint64_t)(rate->rtt_ms * 1e3) + SETTLE_US;
    rate->growing_count = 0;
}

// Of a client that hardly uses its rate it is unknown what the link would deliver.
static bool is_used(const ph_rate* rate, const epoch* seen)
{
    return seen->sent_bps >= USED_SHARE * rate->rate;
}

static double capacity(const ph_rate* rate, const epoch* seen)
{
    return is_used(rate, seen) ? lesser(seen->delivered_bps, rate->rate) : rate->rate;
}

static void drain(ph_rate* rate, uint64_t now_us, const epoch* seen)
{
    const double queue_ms = seen->rtt_ms - base_ms(rate);
    const double share = lesser(DRAIN_MOST, greater(DRAIN_LEAST, 1.0 - queue_ms / DRAIN_MS));
    const double most = greater(capacity(rate, seen), DRAIN_LEAST * rate->rate);
    rate->ceiling = most;
    rate->queue_bps = lesser(seen->sent_bps, seen->delivered_bps);
    lower(rate, now_us, PH_RATE_DRAINING, share * most);
}

// Half by the losses of several epochs: in a single one chance has too much of a say.
static void begin_test(ph_rate* rate, uint64_t now_us, const epoch* seen)
{
    const double lately = rate->rate * (1.0 - rate->lost / rate->packets);
    const double most = TEST_SHARE * (lately + capacity(rate, seen)) / 2.0;
    lower(rate, now_us, PH_RATE_TESTING, greater(most, TEST_LEAST * rate->rate));
}

// ---- losses

static void note_losses(ph_rate* rate, const epoch* seen)
{
    const double kept = rate->state == PH_RATE_TESTING ? 1.0 : FADE;
    rate->packets = kept * rate->packets + seen->packets;
    rate->lost = kept * rate->lost + seen->lost;
}

static bool is_losing(const ph_rate* rate)
{
    const double usual = rate->packets * rate->usual_loss;
    const double sigma = sqrt(usual * (1.0 - rate->usual_loss) + 0.5);
    return rate->lost >= LOSS_LEAST && rate->lost - usual > LOSS_SIGMAS * sigma;
}

static void learn_usual_loss(ph_rate* rate, const epoch* seen)
{
    const double off = seen->lost - seen->packets * rate->usual_loss;
    rate->usual_loss = greater(0.0, rate->usual_loss + off / greater(USUAL_PACKETS, seen->packets));
}

// ---- rising

static void rise(ph_rate* rate, const epoch* seen)
{
    if (!is_used(rate, seen)) {
        return;
    }
    if (rate->rate > NEAR_TO * rate->ceiling) {
        rate->ceiling = 0.0;
    }
    const bool is_near = rate->rate >= NEAR_FROM * rate->ceiling && rate->ceiling != 0.0;
    const double share = is_near ? NEAR_SHARE : RISE_SHARE;
    const double step = (share * rate->rate + RISE_BITS) * seen->seconds;
    rate->rate = lesser(rate->limit, rate->rate + step);
}

// ---- the states

static void end_rising(ph_rate* rate, uint64_t now_us, const epoch* seen, bool has_queue)
{
    if (has_queue) {
        drain(rate, now_us, seen);
    } else if (is_losing(rate) && is_used(rate, seen)) {
        begin_test(rate, now_us, seen); // else as much would be sent in the trial as before
    } else {
        learn_usual_loss(rate, seen);
        rise(rate, seen);
    }
}

// Whether the queue stays although less is sent than arrived when it showed. Many a client does not use its rate: to
// lower that is not yet to send less.
static bool is_stubborn(ph_rate* rate, const epoch* seen, bool is_falling)
{
    if (is_falling) {
        rate->stubborn_count = 0;
    } else if (seen->sent_bps <= DRAIN_MOST * rate->queue_bps || rate->rate <= rate->least) {
        ++rate->stubborn_count;
    }
    return rate->stubborn_count >= STUBBORN_EPOCHS;
}

// The queue is gone; or it goes; or it stays, whatever is sent: then the way has become longer, to the shortest since.
// More than that is a queue, which others fill, too. Without a round trip it is unknown.
static void end_draining(ph_rate* rate, uint64_t now_us, const epoch* seen)
{
    if (seen->rtt_ms == 0.0) {
        return;
    }
    if (seen->rtt_ms - base_ms(rate) <= allowed_queue_ms(seen)) {
        rate->state = PH_RATE_RISING;
        rate->stubborn_count = 0;
        rate->rate = lesser(rate->limit, greater(rate->rate, NEAR_FROM * rate->ceiling));
        forget_losses(rate);
        return;
    }
    rate->lowered_rtt_ms = lesser(rate->lowered_rtt_ms, seen->rtt_ms);
    const bool is_falling = rate->rtt_ms - seen->rtt_ms > FALLING * seen->seconds * 1e3;
    if (!is_stubborn(rate, seen, is_falling)) {
        if (!is_falling) {
            rate->rate = greater(rate->least, DRAIN_MOST * rate->rate);
        }
        return;
    }
    rate->stubborn_count = 0;
    rate->base_rtt_ms[0] = rate->lowered_rtt_ms;
    rate->base_rtt_ms[1] = 0.0;
    rate->base_us = now_us;
    rate->state = PH_RATE_RISING;
    rate->ceiling = 0.0;
}

static void end_testing(ph_rate* rate, uint64_t now_us, const epoch* seen, bool has_queue)
{
    if (has_queue) {
        drain(rate, now_us, seen);
        return;
    }
    if (rate->packets < TEST_PACKETS) {
        return;
    }
    const double before = rate->before_lost / rate->before_packets;
    if (rate->lost / rate->packets <= FEWER * before) {
        rate->ceiling = rate->rate / TEST_SHARE;
    } else {
        rate->usual_loss =
            (rate->before_lost + rate->lost) / (rate->before_packets + rate->packets);
        rate->rate = lesser(rate->limit, rate->before_rate);
    }
    rate->state = PH_RATE_RISING;
    forget_losses(rate);
}

static void end_epoch(ph_rate* rate, uint64_t now_us, const epoch* seen)
{
    bool has_queue = false;
    rate->was_used = is_used(rate, seen);
    note_losses(rate, seen);
    if (seen->rtt_ms > 0.0) {
        note_round_trip(rate, now_us, seen->rtt_ms);
        has_queue = is_queueing(rate, seen);
    }
    switch (rate->state) {
    case PH_RATE_DRAINING:
        end_draining(rate, now_us, seen);
        break;
    case PH_RATE_TESTING:
        end_testing(rate, now_us, seen, has_queue);
        break;
    default:
        end_rising(rate, now_us, seen, has_queue);
        break;
    }
    rate->rtt_ms = seen->rtt_ms > 0.0 ? seen->rtt_ms : rate->rtt_ms;
}

// ---- the whole

// Datagrams leave and nothing comes back. Packets of the view alone are acked here: when none is in flight, as while a
// block goes to a client that looks at a still world, there is nothing to hear.
static bool is_silent(const ph_rate* rate, uint64_t now_us, const ph_viewer_network_stats* link)
{
    const uint64_t usual_us = SILENCE_US + (uint64_t)(2e3 * rate->rtt_ms);
    return link->in_flight_packets > 0 &&
           link->sent_datagrams - rate->heard.sent_datagrams >= SILENCE_DATAGRAMS &&
           link->sent_datagrams > rate->start.sent_datagrams &&
           now_us - rate->heard_us > usual_us && now_us - rate->lowered_us > usual_us;
}

// A rate that was hardly used comes back as it was, however long it was silent, as it would not rise by
// itself. Whether it was used is asked of the time before: in silence senders fall silent, too.
static void check_silence(ph_rate* rate, uint64_t now_us)
{
    const bool is_first = rate->lowered_us <= rate->heard_us;
    if (!rate->is_silenced) {
        rate->is_silenced = true;
        rate->stalled_rate = rate->rate;
        rate->stalled_ceiling = rate->ceiling;
        rate->queue_bps = rate->rate;
    }
    if (rate->was_used) {
        rate->ceiling = is_first ? rate->rate : rate->ceiling;
    } else {
        rate->ceiling = greater(rate->ceiling, rate->rate / NEAR_FROM);
    }
    lower(rate, now_us, PH_RATE_DRAINING, rate->rate / 2.0);
}

// ---- stalls

// Losses with a long round trip: a full queue drops what is ours, which it may do to one client many times
// in a row. Behind a stall that lost what was sent, the first round trip is as short as ever.
static bool is_queue_full(const ph_rate* rate, const ph_viewer_network_stats* link)
{
    const uint64_t trips = link->rtt_samples - rate->heard.rtt_samples;
    const uint64_t sum_us = link->rtt_sum_us - rate->heard.rtt_sum_us;
    return (double)sum_us * 1e-3 > (base_ms(rate) + QUEUE_MIN_MS) * (double)trips;
}

// An answer came. After a stall of the client or of the link it tells of what was sent meanwhile: round
// trips as long as the stall, or losses, or both.
static void hear(ph_rate* rate, uint64_t now_us, const ph_viewer_network_stats* link)
{
    const uint64_t unheard = link->sent_datagrams - rate->heard.sent_datagrams;
    const bool is_lost = link->lost_packets - rate->heard.lost_packets > 1;
    if (now_us - rate->heard_us >= STALL_US && unheard >= (is_lost ? STALL_LOST : STALL_LATE) &&
        !(is_lost && is_queue_full(rate, link))) {
        rate->is_resuming = true;
        rate->resumed_us = now_us;
        rate->resumed_datagrams = link->sent_datagrams;
    } else if (!rate->is_resuming) {
        rate->is_silenced = false; // the queue was full: no later stall brings the old rate back
    }
    rate->heard = *link;
    rate->heard_us = now_us;
}

// A stall is over when the fate is known of all that was sent in it: then it counts for nothing.
static void end_stall(ph_rate* rate, uint64_t now_us, const ph_viewer_network_stats* link)
{
    if (rate->is_silenced) {
        rate->rate = lesser(rate->limit, rate->stalled_rate);
        rate->ceiling = rate->stalled_ceiling;
        rate->state = PH_RATE_RISING;
        rate->stubborn_count = 0;
        forget_losses(rate);
    }
    rate->growing_count = 0;
    rate->deaf_us = now_us;
    rate->is_silenced = false;
    rate->is_resuming = false;
    begin_epoch(rate, now_us, link);
}

// Behind a bottleneck a queue is left, of which answers come one by one: then there was no stall.
static void check_stall(ph_rate* rate, uint64_t now_us, const ph_viewer_network_stats* link)
{
    const uint64_t since = link->sent_datagrams - rate->resumed_datagrams;
    if (link->in_flight_packets <= since) {
        end_stall(rate, now_us, link);
    } else if (now_us - rate->resumed_us > RESUME_US + (uint64_t)(1e3 * base_ms(rate))) {
        rate->is_silenced = false;
        rate->is_resuming = false;
    }
}

bool ph_rate_update(ph_rate* rate, uint64_t now_us, const ph_viewer_network_stats* link)
{
    const int before = ph_rate_bits_per_second(rate);
    if (!rate->is_started) {
        rate->is_started = true;
        rate->heard_us = now_us;
        rate->lowered_us = now_us;
        begin_epoch(rate, now_us, link);
    }
    if (link->resolved_packets != rate->heard.resolved_packets) {
        hear(rate, now_us, link);
    }
    if (rate->is_resuming) {
        check_stall(rate, now_us, link);
    }
    if (rate->first_rtt_ms == 0.0 && link->rtt_samples > 0) {
        rate->first_rtt_ms = (double)link->rtt_sum_us * 1e-3 / (double)link->rtt_samples;
    }
    if (is_silent(rate, now_us, link)) {
        check_silence(rate, now_us);
        begin_epoch(rate, now_us, link);
    } else if (now_us < rate->deaf_us) {
        begin_epoch(rate, now_us, link);
    } else if (!rate->is_resuming && is_over(rate, now_us, link)) {
        const epoch seen = look_back(rate, now_us, link);
        end_epoch(rate, now_us, &seen);
        begin_epoch(rate, now_us, link);
    }
    return ph_rate_bits_per_second(rate) != before;
}
