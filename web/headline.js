// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

/** The sentence that matters: what the other way would need, to be as right as this. Measured, by a sweep of budgets. */

import {recentOf} from "./panes.js";
import {digits, kbps, lengthText} from "./words.js";

const SPOKEN_MS = 15000;

export class Headline {
    #title;
    #more;
    #spoken;
    #lastSpoken = 0;
    #scene = null;
    need = null; // the newest NEED

    constructor(title, more, spoken) {
        this.#title = title;
        this.#more = more;
        this.#spoken = spoken;
    }

    begin(scene) {
        this.#scene = scene;
        this.need = null;
    }

    tell(timelines, budget) {
        const names = this.#scene.ways.map(way => way.name);
        const recent = timelines.map(seconds => recentOf(seconds));
        const isMeasured = recent.every(figures => figures !== null);
        put(this.#title, this.#sentence(names, recent, isMeasured));
        put(this.#more, this.#reason(names, recent, isMeasured, budget));
        this.#speak(names, recent, isMeasured);
    }

    #sentence(names, recent, isMeasured) {
        const needs = (this.need?.ways ?? []).filter(way => way.name !== "pinhole");
        if (this.need !== null && this.need.is_done !== false && needs.length > 0) {
            const told = needs.map(way => `${way.name} needs ${way.needs_kbps !== null && way.needs_kbps <= this.need.kbps
                ? "no more" : needText(way)}`);
            return `To be as right as this, ${told.join(", ")}.`;
        }
        const classic = recent[names.indexOf("classic")];
        const own = recent[names.indexOf("pinhole")];
        if (isMeasured && classic && own && own.error_mrad > 0 && classic.error_mrad > own.error_mrad) {
            return `The same world, the same bits: pinhole is ${(classic.error_mrad / own.error_mrad).toFixed(1)} times as right as classic.`;
        }
        return "The same world, the same few bits, shown side by side.";
    }

    #reason(names, recent, isMeasured, budget) {
        if (this.need !== null && this.need.is_done === false) {
            return `Measuring what the others would need: ${Math.round(100 * (this.need.progress ?? 0))} %`;
        }
        if (this.need !== null && this.need.error_mrad !== undefined) {
            return `Pinhole is off by ${digits(this.need.error_mrad)} mrad at ${kbps(this.need.kbps)} kbit/s. A milliradian is a millimetre at a metre’s distance. Found by a sweep of budgets on this scene.`;
        }
        return isMeasured && budget !== null 
            ? `${names.length > 2 ? "All" : "Both"} have ${kbps(budget)} kbit/s, the same loss and the same delays.` : "";
    }

    // For people who hear the page: now and then, not at every change.
    #speak(names, recent, isMeasured) {
        const now = performance.now();
        if (isMeasured && now - this.#lastSpoken > SPOKEN_MS) {
            this.#lastSpoken = now;
            put(this.#spoken, `Position error: ${names.map((name, i) => `${name} ${lengthText(recent[i].error_mm)}`).join(", ")}.`);
        }
    }
}

function needText(way) {
    return way.needs_kbps === null || way.needs_kbps === undefined
        ? `more than ${kbps(way.beyond_kbps ?? 200)} kbit/s` : `${kbps(way.needs_kbps)} kbit/s`;
}

function put(element, text) {
    if (element.textContent !== text) {
        element.textContent = text;
    }
}
