// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// node test/check_web.mjs MODULE.wasm TRANSCRIPT... : plays what test/web/transcript.c has printed of a native
// client into web/pinhole.js, and wants the same answers to the last bit. Also what pinhole.js says to wrong use.

import {readFileSync} from "node:fs";
import {strict as assert} from "node:assert";
import {Client, Pinhole, Profile, connect} from "../web/pinhole.js";

const pinhole = await Pinhole.load(readFileSync(process.argv[2]));

function bitsOf(number) {
    const view = new DataView(new ArrayBuffer(8));
    view.setFloat64(0, number);
    return view.getBigUint64(0).toString(16).padStart(16, "0");
}

const hexOf = bytes => Buffer.from(bytes).toString("hex");
const bytesOf = hex => new Uint8Array(Buffer.from(hex, "hex"));

// One line of a transcript after another.
class Replay {
    #client = null;
    #schema = "";
    #events = [];
    #shown = new Map();
    counts = {};

    step(line) {
        const [word, ...rest] = line.split(" ");
        this.counts[word] = (this.counts[word] ?? 0) + 1;
        this[word](...rest);
    }

    schema(hex) {
        this.#schema = Buffer.from(hex, "hex").toString();
    }

    client(profile, slots, delayMs) {
        this.#client = pinhole.createClient({schema: this.#schema, profile: Number(profile), slots: Number(slots), delayMs: Number(delayMs)});
    }

    datagram(us, result, hex) {
        assert.equal(this.#client.receive(bytesOf(hex), us / 1000), Number(result));
    }

    ack(us, hex) {
        assert.equal(hexOf(this.#client.takeAck(us / 1000)), hex);
    }

    event(kind, index, generation, key, classIndex, mask) {
        if (this.#events.length === 0) {
            this.#events = [...this.#client.events()];
        }
        const event = this.#events.shift();
        const names = this.#client.classes[classIndex].properties.filter((_, i) => (BigInt(`0x${mask}`) >> BigInt(i)) & 1n);
        assert.deepEqual(event, {
            kind: ["entered", "updated", "left"][kind],
            entity: {index: Number(index), generation: Number(generation), key: BigInt(key), classIndex: Number(classIndex)},
            properties: names,
        });
    }

    advance(us, count) {
        assert.equal(this.#events.length, 0);
        assert.equal(this.#client.takeAck(us / 1000), null);
        this.#client.advance(us / 1000);
        const shown = this.#client.entities();
        assert.equal(shown.length, Number(count));
        this.#shown = new Map(shown.map(entity => [entity.index, entity]));
    }

    row(index, generation, classIndex, key, x, y, z, heading) {
        const entity = this.#shown.get(Number(index));
        const headingBits = entity.heading === null ? "-" : bitsOf(entity.heading);
        assert.deepEqual([entity.generation, entity.classIndex, entity.key, bitsOf(entity.x), bitsOf(entity.y), bitsOf(entity.z), headingBits],
            [Number(generation), Number(classIndex), BigInt(key), x, y, z, heading]);
        assert.deepEqual(this.#client.find(BigInt(key)), entity);
        assert.deepEqual(this.#client.pose(entity), entity);
    }

    #value(index, place) {
        const entity = this.#shown.get(Number(index));
        return this.#client.property(entity, this.#client.classes[entity.classIndex].properties[place]);
    }

    numbers(index, _generation, place, ...bits) {
        assert.deepEqual([this.#value(index, place)].flat().map(bitsOf), bits);
    }

    shown(index, _generation, place, ...bits) {
        const entity = this.#shown.get(Number(index));
        const name = this.#client.classes[entity.classIndex].properties[place];
        assert.deepEqual([this.#client.shown(entity, name)].flat().map(bitsOf), bits);
        assert.equal(this.#client.shown(entity, "health"), undefined);
    }

    text(index, _generation, place, hex) {
        assert.equal(this.#value(index, place), Buffer.from(hex.slice(1), "hex").toString());
    }

    bytes(index, _generation, place, hex) {
        assert.equal(`x${hexOf(this.#value(index, place))}`, hex);
    }

    entity(index, _generation, place, targetIndex, targetGeneration) {
        const expected = targetIndex === "0" ? null : {index: Number(targetIndex), generation: Number(targetGeneration)};
        assert.deepEqual(this.#value(index, place), expected);
    }

    stats(datagrams, packets, updates, rttMs, loss) {
        const found = this.#client.statistics();
        assert.deepEqual([found.receivedDatagrams, found.appliedPackets, found.appliedUpdates].map(String), [datagrams, packets, updates]);
        assert.deepEqual([bitsOf(found.rttMs), bitsOf(found.loss)], [rttMs, loss]);
    }

    // Every kind of line was there: an empty transcript shows nothing.
    finish() {
        for (const word of ["datagram", "ack", "event", "advance", "row", "numbers", "shown", "text", "bytes", "entity", "stats"]) {
            assert.ok(this.counts[word] > 0, `the transcript has no ${word}`);
        }
        this.#client.close();
    }
}

function checkTranscript(path) {
    const replay = new Replay();
    readFileSync(path, "utf8").split("\n").forEach((line, i) => {
        try {
            if (line !== "") {
                replay.step(line);
            }
        } catch (error) {
            error.message = `${path}:${i + 1}: ${error.message}`;
            throw error;
        }
    });
    replay.finish();
    return `${replay.counts.datagram} datagrams, ${replay.counts.row} poses`;
}

function checkMisuse() {
    assert.throws(() => pinhole.createClient({schema: "class\n"}), /name/);
    assert.throws(() => pinhole.createClient({schema: "class a\n    p: position\n", slots: 1}), /slot_capacity/);
    assert.throws(() => pinhole.createClient({schema: "class a\n    p: position\n", profile: 9}), /profile/);
    const client = pinhole.createClient({schema: "class a\n    p: position\n", profile: Profile.classic});
    assert.notEqual(client.receive(new Uint8Array(100000), 1), 0);
    assert.notEqual(client.receive(new Uint8Array(0), 2), 0);
    assert.equal(client.statistics().refusedDatagrams, 2);
    assert.equal(client.takeAck(3), null);
    assert.equal(client.find(1n), null);
    assert.equal(client.pose({index: 1, generation: 1}), null);
    assert.equal(client.property({index: 1, generation: 1, classIndex: 0}, "p"), undefined);
    assert.equal(client.property({index: 1, generation: 1, classIndex: 7}, "none"), undefined);
    assert.equal(client.shown({index: 1, generation: 1, classIndex: 0}, "p"), undefined);
    assert.equal(client.rows().length, 0);
    assert.equal(Client.rowLayout.size, 13);
    client.close();
    return "refused";
}

// A client and a socket that write down what is done with them; acks are due at 10 and 20 ms, by a clock of the test.
function checkConnect() {
    const done = [];
    const dues = [10, 20];
    let now = 10;
    const client = {
        receive: (bytes, at) => done.push(`receive ${bytes.length} at ${at}`),
        takeAck: at => (at >= (dues[0] ?? Infinity) ? new Uint8Array([dues.shift()]) : null),
        get ackDue() { return dues[0] ?? Infinity; },
    };
    const socket = {send: bytes => done.push(`send ${bytes[0]}`), close: () => done.push("close")};
    const timers = [];
    const {setTimeout: realSet, clearTimeout: realClear} = globalThis;
    globalThis.setTimeout = (work, ms) => timers.push({work, ms});
    globalThis.clearTimeout = number => number !== undefined && (timers[number - 1].isCleared = true);
    try {
        const connection = connect(client, socket, {now: () => now});
        connection.onclose = ({code}) => done.push(`closed ${code}`);
        socket.onmessage({data: "text is passed over"});
        socket.onmessage({data: new ArrayBuffer(3)});
        assert.deepEqual(done, ["receive 3 at 10", "send 10"]);
        assert.equal(timers.at(-1).ms, 10);
        now = 20;
        timers.at(-1).work();
        assert.equal(done.at(-1), "send 20");
        dues.push(30);
        socket.onmessage({data: new ArrayBuffer(1)});
        connection.close();
        assert.ok(timers.at(-1).isCleared && socket.onmessage === null, "a client that may be closed is not asked any more");
        socket.onclose({code: 1000});
        assert.deepEqual(done.slice(-2), ["close", "closed 1000"]);
    } finally {
        Object.assign(globalThis, {setTimeout: realSet, clearTimeout: realClear});
    }
    return "datagrams in, acks out, each at its time";
}

let failed = 0;
const checks = [["misuse", checkMisuse], ["connect", checkConnect], ...process.argv.slice(3).map(path => [path.split("/").pop(), () => checkTranscript(path)])];
for (const [name, check] of checks) {
    try {
        console.log(`ok     ${name}: ${check()}`);
    } catch (error) {
        ++failed;
        console.log(`FAILED ${name}: ${error.message}`);
    }
}
console.log(`${checks.length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
