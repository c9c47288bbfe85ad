// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

/**
 * One entity, looked at closely: what each client has of it beside where it truly is, its last records and their bits, its
 * priority and what that is made of, and when it was last served.
 */

import {Client} from "./pinhole.js";
import {recordText} from "./packet.js";
import {digits, duration, lengthText, valueText} from "./words.js";

const ROW = Client.rowLayout;

/** Fields of ph_explanation in plain words, and how each is told. */
const EXPLAINED = [
    ["state", "state", String],
    ["slot", "slot", String],
    ["priority", "priority", digits],
    ["score", "score", digits],
    ["weight", "weight", digits],
    ["distance_mm", "distance, |dx| + |dy|", lengthText],
    ["mileage_mm", "way since its position was sent", lengthText],
    ["change", "change", digits],
    ["error_mm", "error, as the server knows it", lengthText],
    ["error_mrad", "the same as seen", value => `${digits(value)} mrad`],
    ["growth_mrad_s", "grows by", value => `${digits(value)} mrad/s`],
    ["heading_rad", "heading off by", value => `${digits(value * 180 / Math.PI)}°`],
    ["position_bits", "bits of its position", digits],
    ["since_sent_ms", "last sent", value => (value < 0 ? "never" : `${duration(value)} ago`)],
    ["wait_ms", "has waited", duration],
];

function make(name, text = "", className = "") {
    const made = document.createElement(name);
    made.textContent = text;
    if (className !== "") {
        made.className = className;
    }
    return made;
}

function tableOf(head, rows) {
    const table = make("table");
    const top = table.createTHead().insertRow();
    head.forEach(text => top.append(Object.assign(make("th", text), {scope: "col"})));
    const body = table.createTBody();
    for (const [title, ...cells] of rows) {
        const row = body.insertRow();
        row.append(Object.assign(make("th", title), {scope: "row"}));
        cells.forEach(cell => row.append(make("td", cell)));
    }
    return table;
}

export class Inspector {
    #root;
    #body;
    #title;
    explain = null; // the newest EXPLAIN

    constructor(root, onClose) {
        this.#root = root;
        this.#title = root.querySelector("h2");
        this.#body = root.querySelector(".body");
        root.querySelector("button").addEventListener("click", onClose);
        root.addEventListener("keydown", event => {
            if (event.key === "Escape") {
                onClose();
            }
        });
    }

    open(id) {
        this.explain = null;
        this.#root.hidden = id === null;
        document.body.classList.toggle("has-entity", id !== null);
        this.#title.textContent = id === null ? "" : `Entity ${id}`;
    }

    /** Some times a second, while an entity is chosen. */
    tell(show, id) {
        if (this.#root.hidden) {
            return;
        }
        const names = show.scene.ways.map(way => way.name);
        const parts = [
            make("p", this.#whereText(show, id), "where"),
            tableOf(["", "truth", ...names], this.#valueRows(show, id)),
        ];
        if (this.explain?.entity === id && this.explain.ways?.some(way => way !== null)) {
            parts.push(make("h3", "Its priority, and what it is made of"), tableOf(["", ...names], this.#explainRows()));
        }
        parts.push(make("h3", "Its last records"));
        show.ways.forEach((way, place) => parts.push(this.#records(show, way, names[place], id)));
        const top = this.#body.scrollTop;
        this.#body.replaceChildren(...parts);
        this.#body.scrollTop = top;
    }

    #whereText(show, id) {
        const {truth, scene} = show;
        const place = truth.places.get(id);
        const own = truth.places.get(scene.viewer);
        if (place === undefined) {
            return "It is not there at this moment.";
        }
        if (id === scene.viewer) {
            return "This is the viewer’s own entity: the eye.";
        }
        if (own === undefined) {
            return "The player is away: there is no eye to see it.";
        }
        const far = `${lengthText(Math.hypot(truth.x[place] - truth.x[own], truth.y[place] - truth.y[own]))} from the eye`;
        return `It stands ${far}.`;
    }

    #valueRows(show, id) {
        const place = show.truth.places.get(id);
        const rows = show.ways.map((_, way) => show.row(way, id));
        const true_ = place === undefined ? null : [show.truth.x[place], show.truth.y[place], show.truth.z[place]];
        const shown = rows.map(row => (row === null ? null : [row[ROW.x], row[ROW.y], row[ROW.z]]));
        const metres = (point, axis) => (point === null ? "–" : (point[axis] / 1000).toFixed(2));
        const error = point => (point === null || true_ === null ? "–"
            : lengthText(Math.hypot(...point.map((mm, axis) => mm - true_[axis]))));
        const heading = degrees => (degrees === null || Number.isNaN(degrees) ? "–" : `${degrees.toFixed(1)}°`);
        const lines = [
            ...["x, m", "y, m", "z, m"].map((title, axis) =>
                [title, metres(true_, axis), ...shown.map(point => metres(point, axis))]),
            ["error", "", ...shown.map(error)],
            ["heading", heading(place === undefined ? null : show.truth.heading(place)),
                ...rows.map((row, way) => heading(row === null || show.ways[way].properties.get(id)?.heading === undefined ? null
                    : row[ROW.heading]))],
            ["last told", "", ...show.ways.map(way => {
                const time = way.touched.get(id);
                return time === undefined ? "–" : `${duration((show.time - time) / 1000)} ago`;
            })],
        ];
        const names = (show.ways.find(way => way.names.has(id))?.names.get(id) ?? [])
            .filter(name => name !== "position" && name !== "heading");
        for (const name of names) {
            lines.push([name, "", ...show.ways.map(way => valueText(way.properties.get(id)?.[name]))]);
        }
        return lines;
    }

    #explainRows() {
        return EXPLAINED.map(([key, title, tell]) => [title, ...this.explain.ways.map(way => {
            const value = way?.[key];
            return value === undefined || value === null ? "–" : tell(value);
        })]);
    }

    #records(show, way, name, id) {
        const names = way.names.get(id) ?? [];
        const list = make("ol", "", "records");
        list.setAttribute("aria-label", `Last records of ${name}`);
        list.style.setProperty("--way", `var(--${name})`);
        for (const record of way.records.get(id) ?? []) {
            const ago = duration(Math.max(0, show.time - record.time) / 1000);
            list.append(make("li", `${ago} ago, packet ${record.number}: ${recordText(record, record.values, names, {isTitled: false})}`));
        }
        return list.children.length > 0 ? list : make("p", `${name}: none seen yet.`, "faint");
    }
}
