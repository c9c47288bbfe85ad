// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// How fast to send to one client. A budget is what a game is ready to spend on a client; its link may
// carry less, and then a queue grows somewhere and packets get lost. The controller lowers the rate when
// the link shows it and raises it again up to the limit. Plain arithmetic: no clock, no memory, no
// network; fed with counts that the world keeps anyway.
//
//     ph_rate rate = ph_rate_make(&def);
//     ...                                            // every tick, or a few times a second
//     ph_viewer_get_network_stats(world, viewer, &stats);
//     if (ph_rate_update(&rate, now_us, &stats)) {
//         ph_viewer_set_budget(world, viewer, ph_rate_bits_per_second(&rate), 0);
//         ph_messages_set_budget(messages, ph_rate_bits_per_second(&rate));
//     }
//
// What it takes for a bottleneck: round trips that grow beyond the shortest of the last half minute, and
// losses that become fewer when less is sent. Losses that stay the same whatever is sent are a bad
// radio link: they are learned, and do not lower the rate; nor do those of a client that hardly sends.
// A client or a link that stood still for a while and goes on is no bottleneck either.
// docs/rate.md shows what that gives.

#ifndef PINHOLE_NET_RATE_H
#define PINHOLE_NET_RATE_H

#include <pinhole/stats.h>

#ifdef __cplusplus
extern "C" {
#endif

/// How to make one. Start from ph_rate_def_default() and change what you need.
typedef struct ph_rate_def {
    /// The budget, bits per second. Default 13,000.
    int limit_bits_per_second;
    /// Never less than this, however bad the link is. Default 0: a quarter of the limit, at most 4,000.
    int min_bits_per_second;
    /// Where to begin. Default 0: at the limit, at most at 64,000.
    int start_bits_per_second;
    /// Set by ph_rate_def_default(). Do not touch.
    uint32_t cookie;
} ph_rate_def;

/// The defaults named above. They will do as they are.
PH_API ph_rate_def ph_rate_def_default(void);

/// What is going on.
typedef enum ph_rate_state {
    /// Nothing is known against more.
    PH_RATE_RISING = 0,
    /// Less was sent because round trips grew: the queue empties.
    PH_RATE_DRAINING,
    /// Less was sent because packets got lost: are there fewer losses now?
    PH_RATE_TESTING,
    PH_RATE_STATE_COUNT
} ph_rate_state;

/// A short lower-case name ("rising"), never NULL. Static storage.
PH_API const char* ph_rate_state_name(ph_rate_state state);

/// The rate of one client. A plain value: copy it at will; the fields are private.
typedef struct ph_rate {
    double rate; // bits per second
    double limit;
    double least;
    double ceiling; // where it last became too much; 0: nowhere yet
    ph_rate_state state;

    // The present epoch, which ends when enough is known about packets sent at this rate.
    ph_viewer_network_stats start;
    uint64_t start_us;
    uint64_t deaf_us;              // until then acks are about what was sent before
    uint64_t heard_us;             // when the last ack came
    ph_viewer_network_stats heard; // the counts by then
    bool is_started;

    // Round trips.
    double first_rtt_ms;   // of the first acks; 0: none yet
    double rtt_ms;         // of the last epoch; 0: none yet
    double base_rtt_ms[2]; // the shortest of this and of the former half of the memory; 0: none
    uint64_t base_us;      // when this half began
    double queue_bps;      // what was sent and arrived when a queue showed
    double lowered_rtt_ms; // the shortest since the rate was lowered
    int growing_count;     // epochs in a row
    int stubborn_count;    // epochs in a row in which less was sent than that, and the queue stayed

    // Losses.
    double usual_loss; // that does not depend on the rate
    double packets;    // lately, fading
    double lost;       // of these

    // Before less was sent.
    double before_rate;
    double before_packets;
    double before_lost;
    uint64_t lowered_us;
    bool was_used; // in the last epoch

    // Stalls: answers come again after none came for a while.
    bool is_resuming;
    bool is_silenced; // the rate was lowered because nothing came back
    uint64_t resumed_us;
    uint64_t resumed_datagrams; // that had been sent when the first answer came
    double stalled_rate;        // before it was lowered
    double stalled_ceiling;
} ph_rate;

/// PH_ASSERTs 1,000 <= min <= start <= limit, where they are not 0.
PH_API ph_rate ph_rate_make(const ph_rate_def* def);

/// Tells it what is known by now. As often as you like: a few times a second are enough. now_us as for
/// the world. @return Whether the rate has changed.
PH_API bool ph_rate_update(ph_rate* rate, uint64_t now_us, const ph_viewer_network_stats* stats);

/// What to send at, min..limit.
PH_API int ph_rate_bits_per_second(const ph_rate* rate);

/// Another limit (from the operator, or because the machine is overloaded); the rate stays, or is
/// lowered to it. At least 1,000.
PH_API void ph_rate_set_limit(ph_rate* rate, int limit_bits_per_second);

/// What it is doing now; a new one is rising.
PH_API ph_rate_state ph_rate_get_state(const ph_rate* rate);

#ifdef __cplusplus
}
#endif

#endif
