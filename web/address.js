// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

/**
 * What the address keeps, so that a view can be shared: #kbps=13&loss=20&colour=age. Keys of controls are the words of the
 * commands (docs/wire_feed.md); all others belong to the view.
 */

export const CONTROL_KEYS = Object.freeze([
    "source", "entities", "viewer", "kbps", "loss", "rtt", "jitter", "hz", "scheduler", "snapshot",
]);

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

/** What the address has, put into an object of defaults: numbers, switches and words stay what they are. */
export function viewOf(address, defaults) {
    const view = {...defaults};
    for (const [key, value] of Object.entries(defaults)) {
        const said = address.get(key);
        if (said === undefined) {
            continue;
        }
        if (typeof value === "boolean") {
            view[key] = said === "1";
        } else if (typeof value === "number") {
            view[key] = Number.isFinite(Number(said)) ? Number(said) : value;
        } else {
            view[key] = said;
        }
    }
    return view;
}

/** The other way: pairs of what differs from the defaults. */
export function viewPairs(view, defaults) {
    return Object.entries(defaults).filter(([key, value]) => view[key] !== value)
        .map(([key]) => [key, typeof view[key] === "boolean" ? (view[key] ? "1" : "0") : String(view[key])]);
}
