// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

/**
 * A feed over a WebSocket. Where the server goes away it is asked for again, at first soon, then every few seconds. A
 * password is said where the server wants one.
 */

import {readFrame, writeAck} from "./feed.js";

const PROTOCOL = "pinhole-feed-1";
const WAIT_FIRST_MS = 250;
const WAIT_MOST_MS = 5000;
/** Codes of the server: it wants a password, another one, or a while until the next try. */
const CLOSE_PASSWORD = [4001, 4002, 4003];

export class Live {
    #url;
    #socket = null;
    #wait = WAIT_FIRST_MS;
    #timer;
    #password = "";
    #waiting = [];
    #protocol;
    #read;

    /** @param on {frame, gone, password, error} @param of another feed than the demo's: its protocol, how to read it */
    constructor(url, on, {protocol = PROTOCOL, read = data => readFrame(new Uint8Array(data))} = {}) {
        this.#url = url;
        this.#protocol = protocol;
        this.#read = read;
        this.on = on;
        this.#open();
    }

    // At most one socket counts: another one that is still being opened is given up.
    #open() {
        const former = this.#socket;
        const socket = new WebSocket(this.#url, this.#protocol);
        this.#socket = socket;
        former?.close();
        socket.binaryType = "arraybuffer";
        socket.onopen = () => {
            if (this.#password !== "") {
                socket.send(`password ${this.#password}`);
            }
        };
        socket.onmessage = ({data}) => {
            if (socket === this.#socket) {
                this.#wait = WAIT_FIRST_MS;
                this.#take(data);
            }
        };
        socket.onclose = event => this.#close(socket, event);
    }

    #take(data) {
        try {
            const frame = this.#read(data);
            if (frame.note?.wants_password === true) {
                this.#isAsked();
            } else {
                this.on.frame(frame);
            }
        } catch (error) {
            this.on.error(error);
        }
    }

    // Once in, a server that comes back is told again without a question.
    #isAsked() {
        if (this.#password === "") {
            this.on.password("");
        }
    }

    #close(socket, {code, reason}) {
        if (socket !== this.#socket) {
            return;
        }
        this.#socket = null;
        if (CLOSE_PASSWORD.includes(code)) {
            this.#password = "";
            this.on.password(reason);
            return;
        }
        this.on.gone(reason);
        this.#timer = setTimeout(() => this.#open(), this.#wait * (0.75 + Math.random() / 2));
        this.#wait = Math.min(WAIT_MOST_MS, this.#wait * 2);
    }

    /** Tries again with this password. */
    setPassword(password) {
        this.#password = password;
        clearTimeout(this.#timer);
        this.#wait = WAIT_FIRST_MS;
        if (this.#socket?.readyState === WebSocket.OPEN) {
            this.#socket.send(`password ${password}`);
        } else {
            this.#open();
        }
    }

    /** A command, as docs/wire_feed.md has them. Those of a slider in motion are put together. */
    send(command) {
        const [word] = command.split(" ");
        if (this.#waiting.length === 0) {
            setTimeout(() => this.#flush(), 40);
        }
        this.#waiting = this.#waiting.filter(before => before.split(" ")[0] !== word || word === "step");
        this.#waiting.push(command);
    }

    #flush() {
        if (this.#socket?.readyState === WebSocket.OPEN) {
            this.#waiting.forEach(command => this.#socket.send(command));
        }
        this.#waiting = [];
    }

    sendAck({way, time, ack}) {
        if (this.#socket?.readyState === WebSocket.OPEN) {
            this.#socket.send(writeAck(way, time, ack));
        }
    }
}

/**
 * The clock of what is drawn: a little more than a tick behind the newest truth, at an even pace. It stops with the feed,
 * and goes on with it.
 */
export class LiveClock {
    #time = -1;
    #newest = -1;
    #newestAt = 0;

    constructor(tickUs) {
        this.tickUs = tickUs;
        this.delayUs = tickUs * 1.15 + 15000;
    }

    /** A truth came. now: ms of the page's clock. */
    take(time, now) {
        this.#newest = time;
        this.#newestAt = now;
    }

    /** The moment to draw. */
    advance(now, elapsedMs) {
        const since = Math.min((now - this.#newestAt) * 1000, 1.5 * this.tickUs);
        const target = this.#newest + since - this.delayUs;
        const behind = target - this.#time;
        if (this.#time < 0 || Math.abs(behind) > 700000) {
            this.#time = target;
        } else {
            const pace = 1 + Math.max(-0.3, Math.min(0.3, behind / 400000));
            this.#time += elapsedMs * 1000 * pace;
        }
        this.#time = Math.min(this.#time, this.#newest);
        return this.#time;
    }
}
