// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

/** Light and dark: as the system prefers, or as the switch says. Colours for canvases are those of page.css; sizes are the page's. */

const NAMES = ["auto", "light", "dark"];
const PROPERTY_COLOURS = 10;
const WAYS = ["classic", "pinhole", "snapshot"];
const REASONS = ["overhead", "header", "hello", "eye", "padding", "reserved", "leave", "enter", "slot", "mask", "property"];

/** Colours of the page, by their names in page.css. */
export class Theme {
    #isDark = window.matchMedia("(prefers-color-scheme: dark)");
    #onChange;
    name = "auto";
    colours = null;

    constructor(onChange) {
        this.#onChange = onChange;
        this.#isDark.addEventListener("change", () => this.#read());
        this.#read();
    }

    set(name) {
        this.name = NAMES.includes(name) ? name : "auto";
        if (this.name === "auto") {
            delete document.documentElement.dataset.theme;
        } else {
            document.documentElement.dataset.theme = this.name;
        }
        this.#read();
    }

    /** The next one of auto, light and dark. */
    turn() {
        this.set(NAMES[(NAMES.indexOf(this.name) + 1) % NAMES.length]);
    }

    #read() {
        const style = getComputedStyle(document.documentElement);
        const colour = name => style.getPropertyValue(`--${name}`).trim();
        const table = (names, prefix) => Object.fromEntries(names.map(name => [name, colour(prefix + name) || colour("faint")]));
        this.colours = {
            map: colour("map"), ink: colour("ink"), faint: colour("faint"), line: colour("line"), truth: colour("truth"),
            cells: colour("cells"), vision: colour("vision"), select: colour("select"), health: colour("health"),
            healthy: colour("soft"),
            card: colour("card"), groundAlpha: Number(colour("ground-alpha")),
            steps: [0, 1, 2, 3, 4, 5].map(i => colour(`step-${i}`)),
            values: Array.from({length: PROPERTY_COLOURS}, (_, i) => colour(`value-${i}`)),
            ways: table(WAYS, ""),
            reasons: table(REASONS, "reason-"),
        };
        this.#onChange?.();
    }
}

/** The size of an element, kept up to date: asking for it in every frame would make the browser lay the page out. */
export function watchSize(element) {
    const size = {width: 0, height: 0};
    new ResizeObserver(([entry]) => {
        size.width = entry.contentRect.width;
        size.height = entry.contentRect.height;
    }).observe(element);
    return size;
}

/** The colour of a key of Bits.by: a reason, or "property:3". */
export function colourOf(colours, key) {
    const [reason, property] = key.split(":");
    return property === undefined ? colours.reasons[reason] : colours.values[Number(property) % colours.values.length];
}
