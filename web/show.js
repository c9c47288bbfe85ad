// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

/**
 * What is drawn: clients of all ways that are moved on at every frame of the screen, and the truth between two of its
 * ticks. They live a little behind the feed, so that the truth on both sides of the moment is known. What they are told,
 * packet by packet, is kept for the views of packets and entities.
 */

import {Client} from "./pinhole.js";
import {Kind} from "./feed.js";
import {openClient} from "./ways.js";

const ROW = Client.rowLayout;
const KEPT_PACKETS = 48;
const KEPT_RECORDS = 12;
const BEHIND_US = 2e6; // that frames may wait for, where nothing is drawn

/** What one packet said, with the values that the client had right after it. */
class Packet {
    constructor(trace) {
        Object.assign(this, trace);
        this.arrival = null;
        this.values = new Map(); // by "id:property"
    }

    /** Its records: runs of items, each {id, slot, items, bits, isResent}. Slots that are passed over belong to what follows. */
    get records() {
        const records = [];
        for (const item of this.items) {
            const last = records.at(-1);
            if (last !== undefined && isSkip(last)) {
                last.id = item.id;
                last.slot = item.slot;
                add(last, item);
            } else if (last === undefined || item.isFirst || item.id !== last.id || item.id < 0 && item.reason !== last.items[0].reason) {
                records.push(add({id: item.id, slot: item.slot, items: [], bits: 0, isResent: false}, item));
            } else {
                add(last, item);
            }
        }
        return records;
    }
}

function isSkip({id, items}) {
    return id < 0 && items.every(item => item.reason === "slot");
}

function add(record, item) {
    record.items.push(item);
    record.bits += item.bits;
    record.isResent ||= item.isResent;
    return record;
}

class ShownWay {
    constructor(client) {
        this.client = client;
        this.packets = []; // the newest last
        this.touched = new Map(); // id -> time of its last record
        this.names = new Map(); // id -> the names of its properties
        this.records = new Map(); // id -> its last records, the newest first
        this.properties = new Map(); // id -> {name: value} of what was told: far away not everything is
        this.rows = new Float64Array(0);
        this.firstSequence = null;
    }

    // Sequences begin anywhere: people count from 1.
    depart(trace) {
        this.firstSequence ??= trace.sequence;
        const packet = new Packet(trace);
        packet.number = (trace.sequence - this.firstSequence >>> 0) + 1;
        this.packets.push(packet);
        if (this.packets.length > KEPT_PACKETS) {
            this.packets.shift();
        }
    }

    // Snapshots have no sequence that a client tells: the oldest of the same size then.
    #packetOf(size) {
        const {newestSequence} = this.client.statistics();
        const waiting = this.packets.filter(packet => packet.arrival === null);
        return waiting.find(packet => newestSequence > 0 && packet.sequence === newestSequence)
            ?? waiting.find(packet => packet.payload === size) ?? null;
    }

    receive({time, payload}) {
        const ms = time / 1000;
        const isApplied = this.client.receive(payload, ms) === 0;
        while (this.client.takeAck(ms) !== null) {
            // The judge's clients answer.
        }
        this.#hear(time);
        const packet = isApplied ? this.#packetOf(payload.length) : null;
        if (packet !== null) {
            packet.arrival = time;
            this.#note(packet);
        }
    }

    #hear(time) {
        for (const {kind, entity, properties} of this.client.events()) {
            const id = Number(entity.key);
            if (kind === "left") {
                this.properties.delete(id);
                this.touched.delete(id);
                continue;
            }
            this.touched.set(id, time);
            this.names.set(id, this.client.classes[entity.classIndex].properties);
            const known = kind === "entered" ? {} : this.properties.get(id) ?? {};
            for (const name of properties) {
                known[name] = this.client.property(entity, name);
            }
            this.properties.set(id, known);
        }
    }

    // Reads what the packet brought.
    #note(packet) {
        for (const record of packet.records) {
            if (record.id < 0) {
                continue;
            }
            const known = this.properties.get(record.id);
            const names = this.names.get(record.id) ?? [];
            for (const item of record.items) {
                if (item.property >= 0 && known !== undefined) {
                    packet.values.set(`${record.id}:${item.property}`, known[names[item.property]]);
                }
            }
            const kept = this.records.get(record.id) ?? [];
            kept.unshift({time: packet.arrival, number: packet.number, ...record, values: packet.values});
            kept.length = Math.min(kept.length, KEPT_RECORDS);
            this.records.set(record.id, kept);
        }
    }

    look() {
        this.rows = this.client.rows();
    }

    /** What is shown, as plain objects. */
    list() {
        const {rows} = this;
        return Array.from({length: rows.length / ROW.size}, (_, i) => i * ROW.size).map(at => ({
            id: rows[at + ROW.keyLow], x_mm: rows[at + ROW.x], y_mm: rows[at + ROW.y], z_mm: rows[at + ROW.z],
            heading_deg: rows[at + ROW.heading],
        }));
    }
}

/** First in, first out. */
class Queue {
    #items = [];
    #head = 0;

    push(item) {
        this.#items.push(item);
    }

    get length() {
        return this.#items.length - this.#head;
    }

    takeWhile(isDue, take) {
        while (this.#head < this.#items.length && isDue(this.#items[this.#head])) {
            take(this.#items[this.#head++]);
        }
        if (this.#head > 64 && this.#head * 2 > this.#items.length) {
            this.#items.splice(0, this.#head);
            this.#head = 0;
        }
    }
}

/** The truth between two ticks. Arrays by place in the newer one. */
class Truth {
    older = null;
    newer = null;
    count = 0;
    x = new Float64Array(0);
    y = new Float64Array(0);
    z = new Float64Array(0);
    places = new Map(); // id -> place
    #before = new Int32Array(0); // place in the older one, -1: it was not there

    take(frame) {
        this.older = this.newer ?? frame;
        this.newer = frame;
        this.count = frame.count;
        if (this.x.length < frame.count) {
            this.x = new Float64Array(2 * frame.count);
            this.y = new Float64Array(2 * frame.count);
            this.z = new Float64Array(2 * frame.count);
            this.#before = new Int32Array(2 * frame.count);
        }
        this.places.clear();
        for (let i = 0, k = 0; i < frame.count; ++i) {
            while (k < this.older.count && this.older.ids[k] < frame.ids[i]) {
                ++k;
            }
            this.#before[i] = k < this.older.count && this.older.ids[k] === frame.ids[i] ? k : -1;
            this.places.set(frame.ids[i], i);
        }
    }

    advance(time) {
        const {older, newer} = this;
        if (newer === null) {
            return;
        }
        const span = newer.time - older.time;
        const share = span > 0 ? Math.min(1, Math.max(0, (time - older.time) / span)) : 1;
        for (let i = 0; i < newer.count; ++i) {
            const k = this.#before[i];
            if (k < 0) {
                this.x[i] = newer.x[i];
                this.y[i] = newer.y[i];
                this.z[i] = newer.z[i];
                continue;
            }
            // Differences wrap, as the world's coordinates do.
            this.x[i] = older.x[k] + share * ((newer.x[i] - older.x[k]) | 0);
            this.y[i] = older.y[k] + share * ((newer.y[i] - older.y[k]) | 0);
            this.z[i] = older.z[k] + share * ((newer.z[i] - older.z[k]) | 0);
        }
    }

    heading(place) {
        return this.newer.heading[place];
    }

    /** The newest one, as plain objects; none before the first tick. */
    list() {
        const {ids, x, y, z, heading} = this.newer ?? {ids: []};
        return Array.from(ids, (id, i) => ({id, x_mm: x[i], y_mm: y[i], z_mm: z[i], heading_deg: heading[i]}));
    }

    id(place) {
        return this.newer.ids[place];
    }
}

export class Show {
    #frames = new Queue(); // datagrams and traces
    #truths = new Queue();
    #lastTime = 0;

    constructor(pinhole, scene) {
        this.scene = scene;
        this.truth = new Truth();
        this.ways = scene.ways.map((_, place) => new ShownWay(openClient(pinhole, scene, place)));
        this.time = -1;
    }

    close() {
        this.ways.forEach(way => way.client.close());
    }

    /** Frames in the order of the feed; applied when their time has come. */
    push(frame) {
        if (frame.kind === Kind.truth) {
            this.#truths.push(frame);
            this.#lastTime = frame.time;
        } else if (frame.kind === Kind.datagram || frame.kind === Kind.trace) {
            this.#frames.push(frame);
        }
    }

    /** The newest moment of which the truth is known. */
    get lastTime() {
        return this.#lastTime;
    }

    /** Frames that wait for their time. */
    get waiting() {
        return this.#frames.length + this.#truths.length;
    }

    /** While a page is hidden it is not drawn, and frames would gather for hours: it is moved on without being drawn. */
    keepUp() {
        if (this.#lastTime - this.time > BEHIND_US) {
            this.advance(this.#lastTime - BEHIND_US / 2);
        }
    }

    /** Moves everything on to this moment, which does not go back. */
    advance(time) {
        const to = Math.max(this.time, Math.min(time, this.#lastTime));
        this.#frames.takeWhile(frame => frame.time <= to, frame => this.#apply(frame));
        // The truth is wanted before its moment, to be drawn on the way to it.
        this.#truths.takeWhile(() => this.truth.newer === null || this.truth.newer.time < to, frame => this.truth.take(frame));
        this.time = to;
        this.ways.forEach(way => way.client.advance(to / 1000));
        // Views of the module's memory, which may have grown before: all of them now.
        this.ways.forEach(way => way.look());
        this.truth.advance(to);
    }

    #apply(frame) {
        if (frame.kind === Kind.trace) {
            this.ways[frame.way]?.depart(frame);
        } else {
            this.ways[frame.way]?.receive(frame);
        }
    }

    /** Whether the entity is in view of the way's client, and where: a row, or null. */
    row(place, id) {
        const {rows} = this.ways[place];
        for (let at = 0; at < rows.length; at += ROW.size) {
            if (rows[at + ROW.keyLow] === id && rows[at + ROW.keyHigh] === 0) {
                return rows.subarray(at, at + ROW.size);
            }
        }
        return null;
    }
}
