// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

/**
 * The judge: clients of all ways that take every frame of a feed at its own time, and the meters that compare what they
 * show with the truth. All of it is C (kit/judge.h); here are the calls. Its clients are moved on at the ticks of the
 * truth alone, as those of `pinhole sim` are, so that its figures are those of `pinhole sim --json`, to the last bit.
 *
 * It also keeps the timeline: for every second and way the figures, and what the bits were for.
 */

import {Kind} from "./feed.js";
import {openClient} from "./ways.js";

const SPREADS = ["error_mm", "error_mrad", "heading_deg"];
const SPREAD_KEYS = ["mean", "p50", "p95", "p99"];
const SINGLES = ["missing_pct", "ghost_pct", "jolts_per_min", "join_s"];
const FIGURE_COUNT = SPREADS.length * SPREAD_KEYS.length + SINGLES.length + 1;
const CAPACITY_LEAST = 1024;
const SECOND_US = 1e6;

function figuresOf(numbers) {
    const figures = {};
    SPREADS.forEach((name, i) => {
        figures[name] = Object.fromEntries(SPREAD_KEYS.map((key, k) => [key, numbers[4 * i + k]]));
    });
    SINGLES.forEach((name, i) => {
        figures[name] = numbers[4 * SPREADS.length + i];
    });
    return figures;
}

/** What was sent within a while: bits by what they were for, "property" by its name's number as "property:3". */
class Bits {
    wire = 0;
    payload = 0;
    datagrams = 0;
    resent = 0;
    by = new Map();

    add(trace) {
        this.wire += 8 * (trace.payload + trace.overhead);
        this.payload += 8 * trace.payload;
        ++this.datagrams;
        this.#count("overhead", 8 * trace.overhead);
        for (const item of trace.items) {
            this.#count(item.reason === "property" ? `property:${item.property}` : item.reason, item.bits);
            this.resent += item.isResent ? item.bits : 0;
        }
    }

    #count(key, bits) {
        this.by.set(key, (this.by.get(key) ?? 0) + bits);
    }
}

class JudgedWay {
    constructor(client) {
        this.client = client;
        this.shown = 0;
        this.received = {datagrams: 0, bytes: 0};
        this.sent = new Bits();
        this.second = new Bits();
        this.seconds = [];
    }
}

export class Judge {
    #module;
    #handle;
    #scene;
    #ways;
    #buffer = 0;
    #bufferSize = 0;
    #startTime = -1;
    #ticks = 0;
    #keptSeconds;

    /**
     * @param ids of all entities that will come, ascending, where that is known: equally far entities rank by it
     * @param keptSeconds of the timeline
     */
    constructor(pinhole, scene, {ids = [], keptSeconds = Infinity} = {}) {
        const module = pinhole.exports;
        this.#module = module;
        this.#scene = scene;
        this.#keptSeconds = keptSeconds;
        if (ids.length > 0) {
            const place = module.judge_ids(ids.length);
            new Uint32Array(module.memory.buffer, place, ids.length).set(ids);
        }
        const capacity = Math.max(CAPACITY_LEAST, ids.length + 1, 2 * scene.entities);
        this.#handle = module.judge_open(scene.rate, scene.viewer, scene.radius_mm, scene.slots, scene.ways.length, capacity);
        if (this.#handle === 0) {
            throw new Error("The scene cannot be measured: there is no memory, or it is none that a feed can have.");
        }
        this.#ways = scene.ways.map((_, place) => new JudgedWay(openClient(pinhole, scene, place)));
    }

    close() {
        this.#ways.forEach(way => way.client.close());
        this.#module.judge_close(this.#handle);
        this.#module.release(this.#buffer);
    }

    /** Takes one frame. @returns acks to send: [{way, time, ack}] */
    take(frame) {
        const acks = [];
        if (frame.kind === Kind.datagram && this.#ways[frame.way] !== undefined) {
            this.#receive(frame, acks);
        } else if (frame.kind === Kind.truth) {
            this.#measure(frame, acks);
        } else if (frame.kind === Kind.trace && this.#ways[frame.way] !== undefined) {
            this.#begin(frame.time);
            this.#ways[frame.way].sent.add(frame);
            this.#ways[frame.way].second.add(frame);
        }
        return acks;
    }

    // Acks that were due before this moment, each at its own time.
    #answerUntil(place, ms, acks) {
        const {client} = this.#ways[place];
        for (let due; (due = client.ackDue) <= ms;) {
            const ack = client.takeAck(due);
            if (ack === null) {
                return;
            }
            acks.push({way: place, time: 1000 * due, ack});
        }
    }

    #receive({way: place, time, payload}, acks) {
        const way = this.#ways[place];
        const ms = time / 1000;
        this.#answerUntil(place, ms, acks);
        way.client.receive(payload, ms);
        ++way.received.datagrams;
        way.received.bytes += payload.length;
        for (let ack; (ack = way.client.takeAck(ms)) !== null;) {
            acks.push({way: place, time, ack});
        }
    }

    #begin(time) {
        this.#startTime = this.#startTime < 0 ? time : this.#startTime;
    }

    #put(bytes) {
        if (bytes.length > this.#bufferSize) {
            this.#module.release(this.#buffer);
            this.#bufferSize = 2 * bytes.length;
            this.#buffer = this.#module.allocate(this.#bufferSize);
            if (this.#buffer === 0) {
                throw new Error("There is no memory.");
            }
        }
        new Uint8Array(this.#module.memory.buffer, this.#buffer, bytes.length).set(bytes);
    }

    #measure(frame, acks) {
        this.#begin(frame.time);
        this.#put(frame.bytes);
        if (this.#module.judge_truth(this.#handle, this.#buffer, frame.bytes.length) === 0) {
            throw new Error("The feed is broken: a truth is none.");
        }
        this.#ways.forEach((way, place) => {
            const ms = frame.time / 1000;
            this.#answerUntil(place, ms, acks);
            way.client.advance(ms);
            for (const event of way.client.events()) {
                void event; // taken, so that they do not pile up
            }
            way.shown = this.#module.judge_measure(this.#handle, place, way.client.handle);
        });
        if (++this.#ticks % Math.max(1, Math.round(this.#scene.rate)) === 0) {
            this.#endSecond(frame.time);
        }
    }

    #endSecond(time) {
        this.#ways.forEach((way, place) => {
            const numbers = this.#numbers(this.#module.judge_second(this.#handle, place));
            way.seconds.push({time, figures: figuresOf(numbers), samples: numbers.at(-1), bits: way.second, shown: way.shown});
            way.second = new Bits();
            if (way.seconds.length > this.#keptSeconds) {
                way.seconds.shift();
            }
        });
    }

    #numbers(place) {
        return new Float64Array(this.#module.memory.buffer, place, FIGURE_COUNT);
    }

    /** Figures of the whole run so far, by the keys of `pinhole sim --json`. */
    whole(place) {
        const {sent, received, shown} = this.#ways[place];
        const figures = figuresOf(this.#numbers(this.#module.judge_whole(this.#handle, place)));
        return {...figures, shown, datagrams: sent.datagrams, payload_bytes: sent.payload / 8, received};
    }

    /** [{time, figures, samples, bits, shown}] of each full second, the newest last. Without samples figures mean nothing. */
    seconds(place) {
        return this.#ways[place].seconds;
    }

    client(place) {
        return this.#ways[place].client;
    }

    get startTime() {
        return this.#startTime;
    }
}
