// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

/**
 * The Pinhole client for browsers: the C client, compiled to WebAssembly, behind a few classes.
 *
 *     const pinhole = await Pinhole.load("pinhole.wasm");
 *     const client = pinhole.createClient({schema: "class dancer\n    place: position\n"});
 *     client.receive(datagram, now);                          // a Uint8Array, and milliseconds
 *     for (let ack; (ack = client.takeAck(now)) !== null;) { send(ack); }
 *     for (const event of client.events()) { ... }            // entered, updated, left
 *     client.advance(now);                                    // once per frame
 *     for (const entity of client.entities()) { draw(entity.x, entity.y); }
 *
 * Where a WebSocket carries the datagrams, one in each binary message, connect() does the first lines:
 *
 *     const connection = connect(client, "wss://game.example/world");
 *     connection.onclose = () => { ... };
 *
 * Times are milliseconds as performance.now() has them, and never go back. Nothing here decodes anything: that
 * is C.
 */

/** How packets are written; the server's world has the same. */
export const Profile = Object.freeze({classic: 0, pinhole: 1});

const EVENT_KINDS = ["entered", "updated", "left"];
const ROW = Object.freeze({
    index: 0, generation: 1, classIndex: 2, keyLow: 3, keyHigh: 4, x: 5, y: 6, z: 7, heading: 8,
    qx: 9, qy: 10, qz: 11, qw: 12, size: 13,
});
const NUMBER_COUNT = 32;
const VALUE = Object.freeze({none: 0, numbers: 1, text: 2, bytes: 3, entity: 4});
const STATS = [
    "receivedDatagrams", "receivedBytes", "appliedPackets", "receivedProbes", "refusedDatagrams", "appliedEnters",
    "appliedLeaves", "appliedUpdates", "receivedKbps", "loss", "rttMs", "newestSequence", "newestTick", "tickUs",
    "entityCount", "slotCount",
];

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The module: loaded once, for any number of clients. */
export class Pinhole {
    #exports;

    /** @param {BufferSource | Response | Promise<Response> | string | URL} source bytes, a response, or an address */
    static async load(source) {
        const isAddress = typeof source === "string" || source instanceof URL;
        const found = await (isAddress ? fetch(source) : source);
        const isBytes = found instanceof ArrayBuffer || ArrayBuffer.isView(found);
        const bytes = isBytes ? found : await Pinhole.#bytesOf(found);
        const {instance} = await WebAssembly.instantiate(bytes, {});
        return new Pinhole(instance.exports);
    }

    static async #bytesOf(response) {
        if (!response.ok) {
            throw new Error(`${response.url} cannot be loaded: ${response.status} ${response.statusText}`);
        }
        return response.arrayBuffer();
    }

    /** @private Use load(). */
    constructor(exports) {
        exports._initialize();
        this.#exports = exports;
    }

    /** What the module exports, for pages with a module of their own that has more than pinhole.wasm. */
    get exports() {
        return this.#exports;
    }

    /**
     * @param {{schema: string, profile?: number, slots?: number, delayMs?: number}} options
     * @throws {Error} which says what is wrong with the options
     */
    createClient({schema, profile = Profile.pinhole, slots = 512, delayMs = 0}) {
        return this.openClient(schema, (place, size) => this.#exports.open(place, size, profile, slots, delayMs));
    }

    /**
     * A client that an export of the module opens: open(place, size) gets the schema as bytes in the module's memory, after
     * which a zero byte comes, and returns a handle, or 0.
     */
    openClient(schema, open) {
        const module = this.#exports;
        const text = encoder.encode(schema);
        const place = module.allocate(text.length + 1);
        if (place === 0) {
            throw new Error("there is no memory");
        }
        new Uint8Array(module.memory.buffer, place, text.length + 1).set([...text, 0]);
        const handle = open(place, text.length);
        module.release(place);
        if (handle === 0) {
            throw new Error(this.#errorText());
        }
        return new Client(module, handle);
    }

    #errorText() {
        const bytes = new Uint8Array(this.#exports.memory.buffer, this.#exports.error_text());
        return decoder.decode(bytes.subarray(0, bytes.indexOf(0)));
    }
}

/** One view of one server. */
export class Client {
    #module;
    #handle;
    #classes = [];

    /** @private Use Pinhole.createClient(). */
    constructor(module, handle) {
        this.#module = module;
        this.#handle = handle;
        for (let index = 0; module.describe(handle, index, -1) >= 0; ++index) {
            this.#classes.push(this.#readClass(index));
        }
    }

    #readClass(index) {
        const properties = [];
        for (let length; (length = this.#module.describe(this.#handle, index, properties.length)) >= 0;) {
            properties.push(this.#text(length));
        }
        const name = this.#text(this.#module.describe(this.#handle, index, -1));
        return Object.freeze({name, properties: Object.freeze(properties)});
    }

    // Memory may have grown since the last look, so views are made anew each time.
    #numbers() {
        return new Float64Array(this.#module.memory.buffer, this.#module.numbers(this.#handle), NUMBER_COUNT);
    }

    #bytes(length) {
        return new Uint8Array(this.#module.memory.buffer, this.#module.text(this.#handle), length);
    }

    #text(length) {
        return decoder.decode(this.#bytes(length));
    }

    /** Frees its memory. Nothing may be called afterwards. */
    close() {
        this.#module.close(this.#handle);
        this.#handle = 0;
    }

    /** What exports of the module know the client by. */
    get handle() {
        return this.#handle;
    }

    /** The classes of the schema: [{name, properties: [name, ...]}, ...]. */
    get classes() {
        return this.#classes;
    }

    /**
     * Takes one datagram, whatever it is: applies it whole or not at all.
     * @param {Uint8Array} datagram
     * @returns {number} 0: done; else why not, as ph_result. statistics() counts them.
     */
    receive(datagram, now) {
        const size = Math.min(datagram.length, this.#module.text_size());
        this.#bytes(size).set(datagram.subarray(0, size));
        return this.#module.receive(this.#handle, now, datagram.length);
    }

    /** The ack that is due, a Uint8Array of its own, or null. Send it at once. */
    takeAck(now) {
        if (now < this.ackDue) {
            return null;
        }
        const size = this.#module.write_ack(this.#handle, now);
        return size > 0 ? this.#bytes(size).slice() : null;
    }

    /** When the next ack is due; Infinity: not before another datagram comes. */
    get ackDue() {
        return this.#module.ack_due_ms(this.#handle);
    }

    /** What happened since it was last asked: {kind, entity: {index, generation, key, classIndex}, properties}. */
    *events() {
        for (let kind; (kind = this.#module.poll(this.#handle)) > 0;) {
            const numbers = this.#numbers();
            const entity = entityOf(numbers);
            const masks = [numbers[ROW.keyHigh + 1], numbers[ROW.keyHigh + 2]];
            const names = this.#classes[entity.classIndex].properties;
            const properties = names.filter((_, i) => Math.floor(masks[i >> 5] / 2 ** (i & 31)) % 2 === 1);
            yield {kind: EVENT_KINDS[kind - 1], entity, properties};
        }
    }

    /** Moves everything in view on to this moment. Once per frame. */
    advance(now) {
        this.#module.advance(this.#handle, now);
    }

    /**
     * All that is in view, as numbers: for each entity ROW.size of them, in the order of ROW (rowLayout). Valid until
     * the next call of anything: for programs that draw thousands.
     * @returns {Float64Array}
     */
    rows() {
        const count = this.#module.list(this.#handle);
        return new Float64Array(this.#module.memory.buffer, this.#module.rows(this.#handle), count * ROW.size);
    }

    /** What a row of rows() is made of. */
    static get rowLayout() {
        return ROW;
    }

    /** All that is in view: [{index, generation, key, classIndex, x, y, z, heading, rotation}, ...]; mm and degrees. */
    entities() {
        const rows = this.rows();
        const found = [];
        for (let at = 0; at < rows.length; at += ROW.size) {
            found.push(shownOf(rows.subarray(at, at + ROW.size)));
        }
        return found;
    }

    /** The entity with this key (a bigint or a number), as in entities(), or null. */
    find(key) {
        const wide = BigInt(key);
        const low = Number(BigInt.asUintN(32, wide));
        const high = Number(BigInt.asUintN(32, wide >> 32n));
        return this.#module.find(this.#handle, low, high) !== 0 ? shownOf(this.#numbers()) : null;
    }

    /** What is shown of an entity at the moment of the last advance(), or null when it has left. */
    pose({index, generation}) {
        return this.#module.pose(this.#handle, index, generation) !== 0 ? shownOf(this.#numbers()) : null;
    }

    /** The same at a moment, which everything in view is moved on to: no earlier than the last advance(). */
    poseAt(entity, now) {
        this.advance(now);
        return this.pose(entity);
    }

    /**
     * The value of a property by its name: a number, an array of numbers, a string, a Uint8Array, {index, generation} for a
     * reference (null for none), or undefined when entity or property are not there.
     */
    property(entity, name) {
        const place = this.#classes[entity.classIndex]?.properties.indexOf(name) ?? -1;
        switch (place < 0 ? VALUE.none : this.#module.property(this.#handle, entity.index, entity.generation, place)) {
        case VALUE.numbers:
            return this.#readNumbers();
        case VALUE.text:
            return this.#text(this.#numbers()[0]);
        case VALUE.bytes:
            return this.#bytes(this.#numbers()[0]).slice();
        case VALUE.entity: {
            const [index, generation] = this.#numbers();
            return index !== 0 ? {index, generation} : null;
        }
        default:
            return undefined;
        }
    }

    /**
     * What is shown of a smooth property at the moment of the last advance(): a number or an array of numbers, or
     * undefined.
     */
    shown(entity, name) {
        const place = this.#classes[entity.classIndex]?.properties.indexOf(name) ?? -1;
        const kind = place < 0 ? VALUE.none : this.#module.shown(this.#handle, entity.index, entity.generation, place);
        return kind === VALUE.numbers ? this.#readNumbers() : undefined;
    }

    #readNumbers() {
        const numbers = this.#numbers();
        const count = numbers[0];
        return count === 1 ? numbers[1] : Array.from(numbers.subarray(1, 1 + count));
    }

    /** How it is doing since it was created; names as in ph_client_stats. */
    statistics() {
        const count = this.#module.stats(this.#handle);
        const numbers = this.#numbers();
        return Object.fromEntries(STATS.slice(0, count).map((name, i) => [name, numbers[i]]));
    }
}

/**
 * Lets a WebSocket carry the datagrams, one in each binary message, and the acks back, each at its time. Where a
 * connection ends, onclose is called with the event of the socket; a new one begins with a new client, as a new session.
 * @param {Client} client
 * @param {string | URL | WebSocket} to an address, or a socket that is made already
 * @param {{protocols?: string | string[], now?: () => number}} options now: the clock of advance(), by default
 * performance.now()
 */
export function connect(client, to, {protocols = [], now = () => performance.now()} = {}) {
    const socket = typeof to === "string" || to instanceof URL ? new WebSocket(to, protocols) : to;
    let timer;
    // From then on the client is left alone, and may be closed, too.
    const close = () => {
        clearTimeout(timer);
        socket.onmessage = null;
        socket.close();
    };
    const connection = {socket, onclose: null, close};
    const answer = () => {
        clearTimeout(timer);
        for (let ack; (ack = client.takeAck(now())) !== null;) {
            socket.send(ack);
        }
        if (client.ackDue !== Infinity) {
            timer = setTimeout(answer, Math.max(1, client.ackDue - now()));
        }
    };
    socket.binaryType = "arraybuffer";
    socket.onmessage = ({data}) => {
        if (data instanceof ArrayBuffer) {
            client.receive(new Uint8Array(data), now());
            answer();
        }
    };
    socket.onclose = event => {
        clearTimeout(timer);
        connection.onclose?.(event);
    };
    return connection;
}

function entityOf(row) {
    return {
        index: row[ROW.index],
        generation: row[ROW.generation],
        key: (BigInt(row[ROW.keyHigh]) << 32n) | BigInt(row[ROW.keyLow]),
        classIndex: row[ROW.classIndex],
    };
}

function shownOf(row) {
    const heading = row[ROW.heading];
    const place = {x: row[ROW.x], y: row[ROW.y], z: row[ROW.z]};
    const rotation = Number.isNaN(row[ROW.qw]) ? null : Array.from(row.subarray(ROW.qx, ROW.qw + 1));
    return {...entityOf(row), ...place, heading: Number.isNaN(heading) ? null : heading, rotation};
}
