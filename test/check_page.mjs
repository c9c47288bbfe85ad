// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// node test/check_page.mjs DEMO.wasm [PAGE.html FIGURES.json]: the parts of the page that need no browser. With a page that
// `pinhole sim --page` wrote and what `pinhole sim --json` printed of the same run: the judge's figures are the same.

import {readFileSync} from "node:fs";
import {strict as assert} from "node:assert";
import {gunzipSync, gzipSync} from "node:zlib";
import {CONTROL_KEYS, readAddress, viewOf, viewPairs, wishesOf, writeAddress} from "../web/address.js";
import {Camera} from "../web/camera.js";
import {Charts} from "../web/charts.js";
import {sliderOf, valueOf} from "../web/controls.js";
import {Kind, readFrame, readFrames, writeAck} from "../web/feed.js";
import {Judge} from "../web/judge.js";
import {Live, LiveClock} from "../web/live.js";
import {Pinhole} from "../web/pinhole.js";
import {Replay} from "../web/replay.js";
import {Show} from "../web/show.js";
import {groundAt, openClient} from "../web/ways.js";
import {clock, digits, duration, length, valueText} from "../web/words.js";

const pinhole = await Pinhole.load(readFileSync(process.argv[2]));

const SCENE = {
    version: 1, scene: 1, source: "scene:town", rate: 10, tick_us: 100000, schema: "class a\n    position: position ground 300\n",
    ground: "town", entities: 3, viewer: 7, radius_mm: 250000, slots: 250, slot_capacity: 512, cell_mm: 1000, show_delay_ms: 0,
    bounds_mm: [-1, -1, 1, 1], is_live: true,
    ways: [{name: "classic", profile: "classic", slots: 256}, {name: "pinhole", profile: "pinhole", slots: 500},
        {name: "snapshot", profile: "snapshot", slots: 256, payload_max: 1200}],
};

function textFrame(kind, body) {
    return new Uint8Array([kind, ...new TextEncoder().encode(JSON.stringify(body))]);
}

function truthFrame(time, rows) {
    const bytes = new Uint8Array(17 + 18 * rows.length);
    const view = new DataView(bytes.buffer);
    bytes[0] = Kind.truth;
    view.setBigUint64(1, BigInt(time), true);
    view.setUint32(9, time / 100000, true);
    view.setUint32(13, rows.length, true);
    rows.forEach(([id, x, y, z, heading], i) => {
        const at = 17 + 18 * i;
        view.setUint32(at, id, true);
        view.setInt32(at + 4, x, true);
        view.setInt32(at + 8, y, true);
        view.setInt32(at + 12, z, true);
        view.setUint16(at + 16, heading, true);
    });
    return bytes;
}

function traceFrame(way, time, items) {
    const bytes = new Uint8Array(20 + 13 * items.length);
    const view = new DataView(bytes.buffer);
    bytes[0] = Kind.trace;
    bytes[1] = way;
    view.setBigUint64(2, BigInt(time), true);
    view.setUint32(10, 9, true);
    view.setUint16(14, 2, true);
    view.setUint16(16, 48, true);
    view.setUint16(18, items.length, true);
    items.forEach(([reason, property, slot, id, bits256, flags], i) => {
        const at = 20 + 13 * i;
        bytes[at] = reason;
        bytes[at + 1] = property;
        view.setUint16(at + 2, slot, true);
        view.setUint32(at + 4, id, true);
        view.setUint32(at + 8, bits256, true);
        bytes[at + 12] = flags;
    });
    return bytes;
}

function withSizes(frames) {
    return new Uint8Array(frames.flatMap(frame => {
        const size = new Uint8Array(4);
        new DataView(size.buffer).setUint32(0, frame.length, true);
        return [...size, ...frame];
    }));
}

function checkFrames() {
    const truth = readFrame(truthFrame(300000, [[5, -1000, 2000, 3, 4550], [9, 2147483647, -2147483648, 0, 65535]]));
    assert.deepEqual([truth.time, truth.tick, [...truth.ids], [...truth.x], [...truth.y]],
        [300000, 3, [5, 9], [-1000, 2147483647], [2000, -2147483648]]);
    assert.deepEqual([truth.heading[0], Number.isNaN(truth.heading[1])], [45.5, true]);
    const trace = readFrame(traceFrame(1, 77, [[0, 255, 65535, 0xFFFFFFFF, 256 * 10, 0], [7, 2, 3, 41, 6 * 256, 3]]));
    assert.deepEqual([trace.way, trace.time, trace.sequence, trace.payload, trace.overhead], [1, 77, 9, 2, 48]);
    assert.deepEqual(trace.items, [
        {reason: "header", property: -1, slot: -1, id: -1, bits: 10, isResent: false, isFirst: false},
        {reason: "property", property: 2, slot: 3, id: 41, bits: 6, isResent: true, isFirst: true},
    ]);
    const datagram = readFrame(new Uint8Array([Kind.datagram, 1, 1, 0, 0, 0, 0, 0, 0, 0, 8, 9]));
    assert.deepEqual([datagram.way, datagram.time, [...datagram.payload]], [1, 1, [8, 9]]);
    assert.equal(readFrame(textFrame(Kind.note, {text: "so"})).note.text, "so");
    assert.equal(readFrame(textFrame(Kind.scene, SCENE)).scene.viewer, 7);
    assert.equal(readFrame(new Uint8Array([99])).kind, 0);
    assert.deepEqual([...writeAck(1, 258, new Uint8Array([5, 6]))], [2, 1, 2, 1, 0, 0, 0, 0, 0, 0, 5, 6]);
}

function checkBrokenFrames() {
    const truth = truthFrame(0, [[1, 0, 0, 0, 0]]);
    const trace = traceFrame(0, 0, [[0, 255, 65535, 0, 256, 0]]);
    for (const bytes of [truth.subarray(0, 5), truth.subarray(0, 34), new Uint8Array([...truth, 0]), trace.subarray(0, 12),
        trace.subarray(0, 32), new Uint8Array([Kind.datagram, 0, 1]), textFrame(Kind.scene, {...SCENE, version: 2}),
        textFrame(Kind.scene, {...SCENE, ways: []}), textFrame(Kind.state, null), new Uint8Array([Kind.need, 123])]) {
        assert.throws(() => readFrame(bytes));
    }
    const all = withSizes([textFrame(Kind.scene, SCENE), truth]);
    assert.equal(readFrames(all).length, 2);
    assert.throws(() => readFrames(all.subarray(0, all.length - 1)), /ends within a frame/);
    assert.throws(() => readFrames(new Uint8Array([0, 0, 0, 0])), /ends within a frame/);
}

function checkAddress() {
    const pairs = [["source", "scene:town"], ["kbps", "13"], ["loss", "20"]];
    assert.equal(writeAddress(pairs), "#source=scene:town&kbps=13&loss=20");
    assert.deepEqual([...readAddress(writeAddress(pairs))], pairs);
    assert.deepEqual([...readAddress(writeAddress([["source", "a b&c=d.csv"]]))], [["source", "a b&c=d.csv"]]);
    const defaults = {colour: "error", magnify: 10, truth: true};
    const view = viewOf(new Map([["magnify", "1"], ["truth", "0"], ["colour", "age"]]), defaults);
    assert.deepEqual(view, {colour: "age", magnify: 1, truth: false});
    assert.deepEqual(viewOf(new Map(viewPairs(view, defaults)), defaults), view);
    assert.deepEqual(viewPairs(defaults, defaults), []);
    assert.deepEqual(viewOf(new Map([["magnify", "much"]]), defaults), defaults);
    // An address may come from anywhere.
    const choices = {colour: ["error", "age"], magnify: [1, 10]};
    assert.deepEqual(viewOf(new Map([["colour", "none"], ["magnify", "-3"]]), defaults, choices), defaults);
    assert.deepEqual(viewOf(new Map([["colour", "age"], ["magnify", "1"]]), defaults, choices).colour, "age");
    assert.ok(CONTROL_KEYS.includes("kbps"));
}

function checkWishes() {
    const has = {kbps: 13, entities: 80, viewer: 17, snapshot: false};
    const wishes = (hash, source = "scene:town") => {
        const {now, later} = wishesOf(readAddress(hash), {...has, source}, source);
        return [now.map(pair => pair.join(" ")), [...later]];
    };
    assert.deepEqual(wishes("#kbps=13&snapshot=0&viewer=17&entities=80&source=scene:town"), [[], []]);
    assert.deepEqual(wishes("#kbps=8&snapshot=1&viewer=3"), [["viewer 3", "kbps 8", "snapshot 1"], []]);
    // A new source has another number of entities, even where the old one had as many, and its viewer is asked for then.
    assert.deepEqual(wishes("#source=scene:crowd&entities=80&viewer=17"),
        [["source scene:crowd", "entities 80"], [["viewer", "17"]]]);
    assert.deepEqual(wishes("#source=a.csv&entities=32"), [["source a.csv"], []]);
    assert.deepEqual(wishes("#entities=32", "a.csv"), [[], []]);
    // The server ends a connection for a message that is too long, and the page would say it again to the next one.
    assert.deepEqual(wishes(`#source=${"é".repeat(94)}&kbps=9`), [["kbps 9"], []]);
}

function checkWords() {
    assert.deepEqual([digits(0), digits(0.1234), digits(12.34), digits(123.4), digits(NaN)], ["0", "0.12", "12.3", "123", "–"]);
    assert.deepEqual([length(32.4), length(999.6), length(1234)],
        [{value: "32", unit: "mm"}, {value: "1.00", unit: "m"}, {value: "1.23", unit: "m"}]);
    assert.deepEqual([duration(80), duration(2400), clock(65)], ["80 ms", "2.4 s", "1:05"]);
    assert.deepEqual([valueText(3), valueText([1, 2.5]), valueText(null), valueText(undefined), valueText("a")],
        ["3", "1, 2.50", "none", "–", "“a”"]);
}

function checkSliders() {
    const range = [2, 200];
    assert.deepEqual([valueOf(0, range), valueOf(200, range)], [2, 200]);
    for (const value of [2, 2.5, 5, 13, 26, 51, 200]) {
        assert.equal(valueOf(sliderOf(value, range), range), value);
    }
}

function checkCamera() {
    const camera = new Camera();
    camera.fit([-100000, -50000, 100000, 50000]);
    assert.deepEqual([camera.screenX(0), camera.screenY(0)], [300, 300]);
    assert.ok(camera.screenX(100000) < 600 && camera.screenX(100000) > 500 && camera.screenY(50000) < 300);
    const before = camera.worldOf(450, 120);
    camera.zoom(3, 450, 120);
    const after = camera.worldOf(450, 120);
    assert.ok(Math.hypot(before.x - after.x, before.y - after.y) < 1e-6);
    camera.isFollowing = true;
    camera.pan(10, 0);
    assert.equal(camera.isFollowing, false);
}

// Draws a tick behind at an even pace, stops when the feed stops, and does not go back.
function checkClock() {
    const live = new LiveClock(100000);
    let last = -1;
    let now = 0;
    for (; now < 5000; now += 16) {
        if (now % 100 < 16) {
            live.take(1e6 + Math.floor(now / 100) * 100000, now);
        }
        const time = live.advance(now, 16);
        assert.ok(time >= last || now < 200, `${time} after ${last}`);
        last = time;
    }
    const newest = 1e6 + 49 * 100000;
    assert.ok(newest - last > 20000 && newest - last < 200000, `${newest - last} us behind`);
    for (; now < 6000; now += 16) {
        last = live.advance(now, 16);
    }
    assert.equal(last <= newest, true);
}

// A page that is hidden for an hour takes frames all the time, and is not drawn.
function checkHiddenPage() {
    const show = new Show(pinhole, SCENE);
    for (let tick = 0; tick < 36000; ++tick) {
        show.push(readFrame(truthFrame(tick * 100000, [[7, tick, 0, 0, 0]])));
        show.keepUp();
        assert.ok(show.waiting < 30, `${show.waiting} frames wait`);
    }
    assert.ok(show.lastTime - show.time < 3e6);
    show.advance(show.lastTime);
    assert.equal(show.truth.x[0], 35999);
    show.close();
}

// Two passwords one after the other, before the first socket is open: one feed, not two.
function checkSockets() {
    const sockets = [];
    globalThis.WebSocket = class {
        static OPEN = 1;
        readyState = 0;
        sent = [];
        constructor() { sockets.push(this); }
        send(text) { this.sent.push(text); }
        close() { this.isClosed = true; }
    };
    const frames = [];
    const live = new Live("ws://x/feed", {frame: frame => frames.push(frame), gone() {}, password() {}, error(error) { throw error; }});
    live.setPassword("one");
    live.setPassword("two");
    assert.deepEqual(sockets.map(({isClosed = false}) => isClosed), [true, true, false]);
    const data = textFrame(Kind.note, {text: "so"}).buffer;
    sockets.forEach(socket => socket.onmessage({data}));
    assert.equal(frames.length, 1);
    sockets[2].onopen();
    assert.deepEqual(sockets[2].sent, ["password two"]);
}

/** As much of a document as charts touch. */
function fakeDocument() {
    const context = new Proxy({}, {get: () => () => undefined, set: () => true});
    const element = () => ({
        style: {setProperty() {}}, dataset: {}, clientWidth: 300, clientHeight: 100, textContent: "",
        querySelector: () => element(), addEventListener() {}, setAttribute() {}, replaceChildren() {}, append() {},
        getContext: () => context,
    });
    globalThis.document = {createElement: element};
    globalThis.window = {devicePixelRatio: 1};
    globalThis.ResizeObserver = class { observe() {} };
    return element();
}

// A scene with one more way: what is known belongs to the scene before, until the next figures come.
function checkChartsOfAnotherScene() {
    const colours = {reasons: {}, values: [""], ways: {}};
    const charts = new Charts(fakeDocument());
    const timelines = [0, 1].map(() => []);
    charts.begin({...SCENE, ways: SCENE.ways.slice(0, 2)});
    charts.set({scene: {...SCENE, ways: SCENE.ways.slice(0, 2)}, colours, names: [], timelines, startTime: 0, kbps: 13});
    charts.parts.forEach(draw => draw());
    charts.begin(SCENE);
    charts.parts.forEach(draw => draw());
}

// Without a single datagram nothing is shown: the judge counts, the show interpolates the truth.
function checkJudgeAndShow() {
    const judge = new Judge(pinhole, SCENE);
    const show = new Show(pinhole, SCENE);
    const frames = [];
    for (let tick = 0; tick < 25; ++tick) {
        frames.push(readFrame(traceFrame(1, tick * 100000, [[0, 255, 65535, 0xFFFFFFFF, 8 * 256, 0], [7, 0, 3, 41, 8 * 256, 3]])));
        frames.push(readFrame(truthFrame(tick * 100000, [[7, 0, 0, 0, 0], [41, 10000 + 1000 * tick, 5000, 0, 9000]])));
    }
    for (const frame of frames) {
        assert.deepEqual(judge.take(frame), []);
        show.push(frame);
    }
    assert.equal(judge.whole(0).missing_pct, 100);
    assert.equal(judge.seconds(1).length, 2);
    const [second] = judge.seconds(1);
    assert.equal(second.samples, 0);
    assert.deepEqual([second.bits.datagrams, second.bits.wire, second.bits.by.get("property:0"), second.bits.resent],
        [10, 10 * 8 * 50, 80, 80]);
    show.advance(450000);
    assert.equal(show.truth.x[show.truth.places.get(41)], 14500);
    assert.equal(show.ways[1].packets.at(-1).records.length, 2);
    show.advance(1e9);
    assert.equal(show.time, 24 * 100000);
    assert.equal(show.row(1, 41), null);
    show.close();
    judge.close();
    assert.throws(() => new Judge(pinhole, {...SCENE, rate: 0}), /cannot be measured/);
    assert.throws(() => openClient(pinhole, {...SCENE, ground: "moon"}, 0), /no ground/);
    assert.throws(() => openClient(pinhole, {...SCENE, schema: "class"}, 1), /name/);
    assert.throws(() => openClient(pinhole, {...SCENE, ways: [{name: "x", profile: "x"}]}, 0), /knows no way/);
    const [street, gallery] = groundAt(pinhole, SCENE, [[0, 0], [0, 30000]]);
    assert.deepEqual([street.length, gallery.length, gallery[1] - gallery[0]], [1, 2, 6000]);
}

async function checkReplayFile() {
    const truths = [truthFrame(100000, [[9, 0, 0, 0, 0]]), truthFrame(200000, [[3, 0, 0, 0, 0]])];
    const replay = await Replay.open(gzipSync(withSizes([textFrame(Kind.scene, SCENE), ...truths])));
    assert.deepEqual([replay.startTime, replay.endTime, replay.ids], [100000, 200000, [3, 9]]);
    replay.advance(50);
    assert.equal(replay.time, 150000);
    replay.isPlaying = false;
    replay.advance(500);
    assert.equal(replay.time, 150000);
    replay.seek(-5);
    assert.equal(replay.time, 100000);
    await assert.rejects(Replay.open(gzipSync(withSizes(truths))), /begin with a scene/);
    await assert.rejects(Replay.open(gzipSync(withSizes([textFrame(Kind.scene, SCENE)]))), /no moment/);
}

// The same figures as the program's own, to the digits that it prints.
function checkFigures(path, jsonPath) {
    const [, packed] = /id="pinhole-feed">([^<]*)</.exec(readFileSync(path, "utf8"));
    const replay = new Replay(readFrames(gunzipSync(Buffer.from(packed, "base64"))));
    const judge = new Judge(pinhole, replay.scene, {ids: replay.ids});
    replay.frames.forEach(frame => judge.take(frame));
    const told = JSON.parse(readFileSync(jsonPath, "utf8"));
    let count = 0;
    replay.scene.ways.forEach(({name}, place) => {
        const found = judge.whole(place);
        const wanted = told[name] ?? told;
        for (const key of ["error_mm", "error_mrad", "heading_deg"]) {
            for (const part of ["mean", "p50", "p95", "p99"]) {
                assert.equal(Number(found[key][part].toPrecision(10)), wanted[key][part], `${name} ${key} ${part}`);
                ++count;
            }
        }
        for (const key of ["missing_pct", "ghost_pct", "jolts_per_min", "join_s"]) {
            assert.equal(Number(found[key].toPrecision(10)), wanted[key], `${name} ${key}`);
            ++count;
        }
        assert.ok(wanted.error_mm.mean > 0);
    });
    judge.close();
    return `${count} figures of ${replay.scene.ways.length} ways are those of pinhole sim`;
}

const checks = {checkFrames, checkBrokenFrames, checkAddress, checkWishes, checkWords, checkSliders, checkCamera, checkClock, checkHiddenPage, checkSockets,
    checkChartsOfAnotherScene, checkJudgeAndShow, checkReplayFile};
if (process.argv.length > 4) {
    checks.checkFigures = () => checkFigures(process.argv[3], process.argv[4]);
}
let failed = 0;
for (const [name, check] of Object.entries(checks)) {
    try {
        console.log(`ok     ${name}${(text => (text === undefined ? "" : `: ${text}`))(await check())}`);
    } catch (error) {
        ++failed;
        console.log(`FAILED ${name}: ${error.stack}`);
    }
}
console.log(`${Object.keys(checks).length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
