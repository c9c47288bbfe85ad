// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

/**
 * The maps side by side: one pane per way, one camera for all of them, the errors in large figures above each. Pan by
 * dragging or arrow keys, zoom by wheel, pinch or + and -, follow by F, choose an entity by a click or by N and P.
 */

import {Camera} from "./camera.js";
import {listenToMap, zoomStep} from "./gestures.js";
import {LEGENDS, MapView, layerBy, makeGround} from "./map.js";
import {groundAt} from "./ways.js";
import {digits, length} from "./words.js";

const RECENT_SECONDS = 10;

const TITLES = Object.freeze({
    error_mm: "How far from the truth the entities are shown, on average",
    error_mrad: "The same as an angle from the player’s eye: a milliradian is a millimetre at a metre’s distance",
    error_mm_p95: "95 % of the errors are not larger",
    missing_pct: "Of what the player must see, how much is not shown",
    jolts_per_min: "How often a shown entity jumps, in a minute",
    wire_kbps: "What was sent to the player, IP and UDP headers and encryption included",
});

/** What the toolbar switches; kept in the address. */
export const VIEW_DEFAULTS = Object.freeze({
    colour: "error", magnify: 10, truth: true, lines: true, vision: true, cells: false, slots: false, equipment: true,
    layer: "all",
});

/** What those of them that are no switches may be. */
export const VIEW_CHOICES = Object.freeze({
    colour: Object.keys(LEGENDS), magnify: [1, 10, 30], layer: ["all", "lower", "upper"],
});

function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
        // Style attributes are not allowed by the page's policy, properties of a style are.
        if (key.startsWith("--")) {
            made.style.setProperty(key, value);
        } else {
            made.setAttribute(key, value);
        }
    }
    made.append(...children);
    return made;
}

class Pane {
    constructor(way) {
        this.name = way.name;
        this.canvas = element("canvas", {
            "data-way": way.name, tabindex: "0", role: "img",
            "aria-label": `Map of what ${way.name} shows. Arrow keys move it, plus and minus zoom, N and P choose an entity.`,
        });
        this.view = new MapView(this.canvas);
        this.figures = {};
        this.root = element("article", {class: "pane", "data-pane": way.name, "--way": `var(--${way.name})`},
            element("header", {},
                element("h2", {}, element("span", {"data-title": way.name}, way.name), element("small", {}, "mean position error, last 10 s")),
                element("p", {class: "big"}, this.#figure("error_mm"), this.#unit()),
                element("dl", {class: "figures"},
                    ...this.#pair("error_mrad", "as seen", "mrad"), ...this.#pair("error_mm_p95", "p95", ""),
                    ...this.#pair("missing_pct", "missing", "%"), ...this.#pair("jolts_per_min", "jolts", "/min"),
                    ...this.#pair("wire_kbps", "used", "kbit/s"))),
            this.canvas);
    }

    #figure(key) {
        this.figures[key] = element("span", {"data-figure": key, "data-way": this.name, title: TITLES[key]}, "–");
        return this.figures[key];
    }

    #unit() {
        this.unit = element("small", {}, "mm");
        return this.unit;
    }

    #pair(key, title, unit) {
        return [element("div", {title: TITLES[key]}, element("dt", {}, title), element("dd", {}, this.#figure(key), unit === "" ? "" : ` ${unit}`))];
    }

    /** @param figures means of the last seconds, or null */
    tell(figures) {
        if (figures === null) {
            Object.values(this.figures).forEach(figure => {
                figure.textContent = "–";
            });
            return;
        }
        const {value, unit} = length(figures.error_mm);
        const p95 = length(figures.error_mm_p95);
        this.figures.error_mm.textContent = value;
        this.unit.textContent = unit;
        this.figures.error_mrad.textContent = digits(figures.error_mrad);
        this.figures.error_mm_p95.textContent = `${p95.value} ${p95.unit}`;
        this.figures.missing_pct.textContent = digits(figures.missing_pct);
        this.figures.jolts_per_min.textContent = digits(figures.jolts_per_min);
        this.figures.wire_kbps.textContent = figures.wire_kbps.toFixed(figures.wire_kbps < 100 ? 1 : 0);
    }
}

/** Means over the last seconds of a timeline in which anything was measured; null when there was none. */
export function recentOf(seconds, count = RECENT_SECONDS) {
    const recent = seconds.slice(-count).filter(({samples}) => samples > 0);
    if (recent.length === 0) {
        return null;
    }
    const mean = read => recent.reduce((sum, second) => sum + read(second), 0) / recent.length;
    return {
        error_mm: mean(({figures}) => figures.error_mm.mean),
        error_mm_p95: mean(({figures}) => figures.error_mm.p95),
        error_mrad: mean(({figures}) => figures.error_mrad.mean),
        missing_pct: mean(({figures}) => figures.missing_pct),
        jolts_per_min: mean(({figures}) => figures.jolts_per_min),
        wire_kbps: mean(({bits}) => bits.wire / 1000),
    };
}

export class Panes {
    #root;
    #legend;
    #panes = [];
    #ground = null;
    #layerOf = () => 0;
    #isPlaced = false;

    constructor(root, legend, {onSelect, onView}) {
        this.#root = root;
        this.#legend = legend;
        this.onSelect = onSelect;
        this.onView = onView;
        this.camera = new Camera();
        this.options = {...VIEW_DEFAULTS};
        this.selected = null;
        this.show = null;
    }

    /** A new scene: new panes where the ways are others, and the camera where most is to be seen. */
    begin(pinhole, show) {
        const names = show.scene.ways.map(way => way.name).join();
        const isOther = names !== this.#panes.map(pane => pane.name).join();
        this.#isPlaced &&= this.show?.scene.source === show.scene.source;
        this.show = show;
        if (isOther) {
            this.#panes = show.scene.ways.map(way => new Pane(way));
            this.#panes.forEach(pane => this.#listen(pane));
            this.#root.replaceChildren(...this.#panes.map(pane => pane.root));
            this.#root.dataset.count = this.#panes.length;
        }
        this.#panes.forEach(pane => {
            pane.view.groundImage = null;
        });
        this.#ground = (show.scene.ground ?? "") === "" ? null
            : makeGround(grow(show.scene.bounds_mm, 20000), points => groundAt(pinhole, show.scene, points));
        this.#layerOf = layerBy(this.#ground);
    }

    get hasLayers() {
        return this.#ground !== null;
    }

    /** Everything in view: the bounds of the scene, or the vision where that is less. */
    fit() {
        if (this.show === null) {
            return;
        }
        const {scene, truth} = this.show;
        const own = truth.places.get(scene.viewer);
        const [x0, y0, x1, y1] = scene.bounds_mm;
        this.#panes[0].view.resize(this.camera);
        const isWide = own !== undefined && Math.max(x1 - x0, y1 - y0) > 3 * scene.radius_mm;
        if (isWide) {
            this.camera.surround(truth.x[own], truth.y[own], scene.radius_mm);
        } else {
            this.camera.fit(scene.bounds_mm);
        }
        this.camera.isFollowing = isWide;
        this.#isPlaced = true;
        this.onView();
    }

    draw(theme) {
        if (this.show === null || this.show.truth.newer === null) {
            return;
        }
        if (!this.#isPlaced && this.#panes[0].view.size.width > 0) {
            this.fit();
        }
        this.#follow();
        this.#panes.forEach((pane, place) => pane.view.draw({
            show: this.show, place, camera: this.camera, options: this.options, theme, ground: this.#ground,
            layerOf: this.#layerOf, selected: this.selected,
        }));
    }

    #follow() {
        const {truth, scene} = this.show;
        const own = truth.places.get(scene.viewer);
        if (this.camera.isFollowing && own !== undefined) {
            this.camera.x = truth.x[own];
            this.camera.y = truth.y[own];
        }
    }

    /** @param timelines by way: seconds so far */
    tell(timelines) {
        this.#panes.forEach((pane, place) => pane.tell(recentOf(timelines[place])));
    }

    tellLegend(theme) {
        const {title, unit, steps} = LEGENDS[this.options.colour];
        const magnified = `Solid is shown, grey is true, the line between is the error${
            this.options.magnify === 1 ? "." : `, drawn ${this.options.magnify} times as long as it is.`}`;
        this.#legend.replaceChildren(`Colour: ${title}, ${unit}`, ...theme.steps.map((colour, i) =>
            element("span", {"--swatch": colour}, i < steps.length ? `≤ ${steps[i]}` : `> ${steps.at(-1)}`)), magnified);
    }

    select(id) {
        this.selected = id;
    }

    /** Where an entity is drawn, in pixels of the viewport, or null. */
    screenOf(name, id) {
        const pane = this.#panes.find(one => one.name === name);
        const found = pane?.view.find(id) ?? null;
        if (found === null) {
            return null;
        }
        const box = pane.canvas.getBoundingClientRect();
        return {x: box.left + found.x, y: box.top + found.y};
    }

    // ---- by hand

    #listen(pane) {
        listenToMap(pane.canvas, this.camera, {
            onView: this.onView,
            onClick: (x, y) => this.onSelect(pane.view.hit(x, y)),
            keys: {
                0: () => this.fit(),
                f: () => this.follow(!this.camera.isFollowing),
                n: () => this.#choose(1),
                p: () => this.#choose(-1),
                Escape: () => this.onSelect(null),
            },
        });
    }

    zoom(direction) {
        zoomStep(this.camera, direction);
        this.onView();
    }

    follow(is) {
        this.camera.isFollowing = is;
        this.onView();
    }

    // The next or former one by distance from the eye.
    #choose(direction) {
        const {truth, scene} = this.show;
        const own = truth.places.get(scene.viewer);
        if (own === undefined) {
            return;
        }
        const far = i => Math.hypot(truth.x[i] - truth.x[own], truth.y[i] - truth.y[own]);
        const order = [...truth.places.entries()].filter(([id]) => id !== scene.viewer)
            .sort(([, a], [, b]) => far(a) - far(b)).map(([id]) => id);
        const at = order.indexOf(this.selected);
        const next = at < 0 ? (direction > 0 ? 0 : order.length - 1) : (at + direction + order.length) % order.length;
        this.onSelect(order[next] ?? null);
    }
}

function grow([x0, y0, x1, y1], mm) {
    return [x0 - mm, y0 - mm, x1 + mm, y1 + mm];
}
