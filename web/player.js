// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

/** Play, pause, seek and speed of a recorded run. */

import {clock} from "./words.js";

export class Player {
    #play;
    #time;
    #told;
    #replay;
    #isSeeking = false;

    constructor(root, replay) {
        this.#replay = replay;
        this.#play = root.querySelector("#play");
        this.#time = root.querySelector("#time");
        this.#told = root.querySelector("#time-told");
        this.#time.max = replay.seconds;
        this.#play.addEventListener("click", () => this.toggle());
        this.#time.addEventListener("input", () => {
            this.#isSeeking = true;
            replay.seek(replay.startTime + this.#time.valueAsNumber * 1e6);
        });
        this.#time.addEventListener("change", () => {
            this.#isSeeking = false;
        });
        root.querySelector("#speed").addEventListener("change", event => {
            replay.speed = Number(event.target.value);
        });
    }

    toggle() {
        if (this.#replay.time >= this.#replay.endTime) {
            this.#replay.seek(this.#replay.startTime);
            this.#replay.isPlaying = true;
        } else {
            this.#replay.isPlaying = !this.#replay.isPlaying;
        }
    }

    /** One tick on, and stop there. */
    step(tickUs) {
        this.#replay.isPlaying = false;
        this.#replay.seek(this.#replay.time + tickUs);
    }

    tell() {
        const {second, seconds, isPlaying, time, endTime} = this.#replay;
        const text = `${clock(second)} of ${clock(seconds)}`;
        const word = time >= endTime ? "Again" : isPlaying ? "Pause" : "Play";
        if (this.#told.textContent !== text) {
            this.#told.textContent = text;
            this.#time.setAttribute("aria-valuetext", text);
        }
        if (!this.#isSeeking) {
            this.#time.value = second;
        }
        if (this.#play.textContent !== word) {
            this.#play.textContent = word;
        }
    }
}
