// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

/**
 * What the address keeps, so that a view can be shared: #kbps=13&loss=20&colour=age. Keys of controls are the words of the
 * commands (docs/wire_feed.md); all others belong to the view.
 */

export const CONTROL_KEYS = Object.freeze([
    "source", "entities", "viewer", "kbps", "loss", "rtt", "jitter", "hz", "scheduler", "snapshot",
]);

const WORD_MAX = 187; // bytes that a command may have behind its name

/** A value as the address has it. */
export function wordOf(value) {
    return typeof value === "boolean" ? String(Number(value)) : String(value);
}

/**
 * What to ask a server for, of what an address wants: {now: [[key, value], ...], later: Map}. What it has already is not
 * asked for again. Another source or number of entities begins a new scene: only that has the viewer that is wanted. A
 * new source comes with another number of entities, a recording with its own.
 * @param {Map<string, string>} wanted @param has the controls of the server @param source what it plays
 */
export function wishesOf(wanted, has, source) {
    const isRecording = !(wanted.get("source") ?? source).startsWith("scene:");
    const now = [];
    const later = new Map();
    let isNewScene = false;
    const isSayable = value => value !== undefined && new TextEncoder().encode(value).length <= WORD_MAX;
    for (const key of CONTROL_KEYS.filter(name => isSayable(wanted.get(name)))) {
        const value = wanted.get(key);
        const isHad = value === wordOf(has[key]);
        if (key === "viewer" && isNewScene) {
            later.set(key, value);
        } else if (key === "entities" ? !isRecording && (!isHad || isNewScene) : !isHad) {
            now.push([key, value]);
            isNewScene ||= key === "source" || key === "entities";
        }
    }
    return {now, later};
}

/** @returns {Map<string, string>} */
export function readAddress(hash = location.hash) {
    return new Map(new URLSearchParams(hash.replace(/^#/, "")));
}

/** Only what differs from what it is anyway, in a fixed order. */
export function writeAddress(values) {
    const parameters = new URLSearchParams();
    for (const [key, value] of values) {
        parameters.set(key, value);
    }
    // Colons and slashes of sources may stay readable.
    return `#${parameters.toString().replaceAll("%3A", ":").replaceAll("%2F", "/")}`;
}

/**
 * What the address has, put into an object of defaults: numbers, switches and words stay what they are.
 * @param choices by key, what it may be: anything else is passed over, because an address may come from anywhere
 */
export function viewOf(address, defaults, choices = {}) {
    const view = {...defaults};
    for (const [key, value] of Object.entries(defaults)) {
        const said = address.get(key);
        if (said === undefined) {
            continue;
        }
        if (typeof value === "boolean") {
            view[key] = said === "1";
            continue;
        }
        const word = typeof value === "number" ? Number(said) : said;
        const isPossible = choices[key]?.includes(word) ?? !Number.isNaN(word);
        view[key] = isPossible ? word : value;
    }
    return view;
}

/** The other way: pairs of what differs from the defaults. */
export function viewPairs(view, defaults) {
    return Object.entries(defaults).filter(([key, value]) => view[key] !== value)
        .map(([key]) => [key, wordOf(view[key])]);
}
