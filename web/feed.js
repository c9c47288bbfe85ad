// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

/**
 * The frames of a feed (docs/wire_feed.md), from bytes to objects. Everything that comes from outside is read here, and a
 * frame that is none is an error that says why. Times are microseconds of the clients' clock.
 */

export const Kind = Object.freeze({
    scene: 1, truth: 2, datagram: 3, trace: 4, state: 5, explain: 6, need: 7, note: 8,
});

/** What bits are for, in the order of ph_reason. */
export const REASONS = Object.freeze([
    "header", "hello", "eye", "leave", "enter", "slot", "mask", "property", "padding", "reserved",
]);

const TRUTH_HEAD = 17;
const TRUTH_ROW = 18;
const TRACE_HEAD = 20;
const TRACE_ITEM = 13;
const TRUTH_MAX = 100000;
const NO_HEADING = 65535;
const NO_ENTITY = 0xFFFFFFFF;

const decoder = new TextDecoder("utf-8", {fatal: true});

function fail(sentence) {
    throw new Error(`The feed is broken: ${sentence}.`);
}

function readJson(bytes) {
    const found = JSON.parse(decoder.decode(bytes.subarray(1)));
    if (found === null || typeof found !== "object") {
        fail("a frame of text holds no object");
    }
    return found;
}

function readScene(bytes) {
    const scene = readJson(bytes);
    if (scene.version !== 1) {
        fail(`its version is ${scene.version}, this page knows version 1; load the page again`);
    }
    if (!Array.isArray(scene.ways) || scene.ways.length === 0 || !(scene.tick_us > 0) || !(scene.rate > 0)) {
        fail("a scene lacks ways or ticks");
    }
    return {kind: Kind.scene, scene};
}

function readTruth(bytes, view) {
    if (bytes.length < TRUTH_HEAD) {
        fail("a truth is too short");
    }
    const count = view.getUint32(13, true);
    if (count > TRUTH_MAX || bytes.length !== TRUTH_HEAD + count * TRUTH_ROW) {
        fail("a truth has another size than it says");
    }
    const frame = {
        kind: Kind.truth, bytes, time: Number(view.getBigUint64(1, true)), tick: view.getUint32(9, true), count,
        ids: new Uint32Array(count), x: new Int32Array(count), y: new Int32Array(count), z: new Int32Array(count),
        heading: new Float32Array(count),
    };
    for (let i = 0, at = TRUTH_HEAD; i < count; ++i, at += TRUTH_ROW) {
        const heading = view.getUint16(at + 16, true);
        frame.ids[i] = view.getUint32(at, true);
        frame.x[i] = view.getInt32(at + 4, true);
        frame.y[i] = view.getInt32(at + 8, true);
        frame.z[i] = view.getInt32(at + 12, true);
        frame.heading[i] = heading === NO_HEADING ? NaN : heading / 100;
    }
    return frame;
}

function readDatagram(bytes, view) {
    if (bytes.length < 10) {
        fail("a datagram is too short");
    }
    return {kind: Kind.datagram, way: bytes[1], time: Number(view.getBigUint64(2, true)), payload: bytes.subarray(10)};
}

function readTrace(bytes, view) {
    const count = bytes.length >= TRACE_HEAD ? view.getUint16(18, true) : -1;
    if (bytes.length !== TRACE_HEAD + count * TRACE_ITEM) {
        fail("a trace has another size than it says");
    }
    const items = [];
    for (let at = TRACE_HEAD; at < bytes.length; at += TRACE_ITEM) {
        const property = bytes[at + 1];
        const slot = view.getUint16(at + 2, true);
        const id = view.getUint32(at + 4, true);
        const flags = bytes[at + 12];
        items.push({
            reason: REASONS[bytes[at]] ?? "reserved",
            property: property === 255 ? -1 : property,
            slot: slot === 65535 ? -1 : slot,
            id: id === NO_ENTITY ? -1 : id,
            bits: view.getUint32(at + 8, true) / 256,
            isResent: (flags & 1) !== 0,
            isFirst: (flags & 2) !== 0,
        });
    }
    return {
        kind: Kind.trace, way: bytes[1], time: Number(view.getBigUint64(2, true)), sequence: view.getUint32(10, true),
        payload: view.getUint16(14, true), overhead: view.getUint16(16, true), items,
    };
}

/** @param {Uint8Array} bytes one frame @throws {Error} which says what is wrong with it */
export function readFrame(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    switch (bytes[0]) {
    case Kind.scene: return readScene(bytes);
    case Kind.truth: return readTruth(bytes, view);
    case Kind.datagram: return readDatagram(bytes, view);
    case Kind.trace: return readTrace(bytes, view);
    case Kind.state: return {kind: Kind.state, state: readJson(bytes)};
    case Kind.explain: return {kind: Kind.explain, explain: readJson(bytes)};
    case Kind.need: return {kind: Kind.need, need: readJson(bytes)};
    case Kind.note: return {kind: Kind.note, note: readJson(bytes)};
    default: return {kind: 0}; // of a later version: passed over
    }
}

/** All frames of a file: each after its size as u32. */
export function readFrames(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const frames = [];
    for (let at = 0; at < bytes.length;) {
        const size = at + 4 <= bytes.length ? view.getUint32(at, true) : -1;
        if (size <= 0 || at + 4 + size > bytes.length) {
            fail("the file ends within a frame");
        }
        frames.push(readFrame(bytes.subarray(at + 4, at + 4 + size)));
        at += 4 + size;
    }
    return frames;
}

/** An ack as the page sends it; time: when its client wrote it. */
export function writeAck(way, time, ack) {
    const message = new Uint8Array(10 + ack.length);
    message[0] = 2;
    message[1] = way;
    new DataView(message.buffer).setBigUint64(2, BigInt(Math.round(time)), true);
    message.set(ack, 10);
    return message;
}
