// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

/** A feed from a file: a whole run, which can be played, sought and measured to its end. */

import {Kind, readFrames} from "./feed.js";

export function bytesOfBase64(text) {
    return Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
}

async function unpack(bytes) {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

export class Replay {
    /** @param {Uint8Array} packed the feed, gzipped */
    static async open(packed) {
        return new Replay(readFrames(await unpack(packed)));
    }

    constructor(frames) {
        const [first] = frames;
        if (first?.kind !== Kind.scene) {
            throw new Error("The feed is broken: it does not begin with a scene.");
        }
        this.scene = first.scene;
        this.frames = frames.slice(1);
        this.need = frames.findLast(frame => frame.kind === Kind.need)?.need ?? null;
        const truths = frames.filter(frame => frame.kind === Kind.truth);
        if (truths.length === 0) {
            throw new Error("The feed is empty: it has no moment to show.");
        }
        this.startTime = truths[0].time;
        this.endTime = truths.at(-1).time;
        this.ids = [...new Set(truths.flatMap(truth => Array.from(truth.ids)))].sort((a, b) => a - b);
        this.time = this.startTime;
        this.speed = 1;
        this.isPlaying = true;
    }

    /** Some milliseconds of the page have gone by. @returns {boolean} whether it has come to its end */
    advance(elapsedMs) {
        if (this.isPlaying) {
            this.time = Math.min(this.endTime, this.time + elapsedMs * 1000 * this.speed);
        }
        return this.time >= this.endTime;
    }

    seek(time) {
        this.time = Math.min(this.endTime, Math.max(this.startTime, time));
    }

    get seconds() {
        return (this.endTime - this.startTime) / 1e6;
    }

    get second() {
        return (this.time - this.startTime) / 1e6;
    }
}
