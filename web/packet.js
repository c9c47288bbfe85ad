// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

/**
 * The newest packet of each way, drawn bit by bit in the order of the packet, coloured by what each bit is for. A record
 * that is pointed at or focused is told as text; the packet stays while it is looked at. Where values are coded by a range
 * coder they do not end at whole bits: a bit has the colour of what its middle belongs to.
 */

import {colourOf, watchSize} from "./theme.js";
import {keyName} from "./charts.js";
import {duration, valueText} from "./words.js";

const GAP = 1;
const HEIGHT_MOST = 300; // px of the bits of a packet

function keyOf(item) {
    return item.reason === "property" ? `property:${item.property}` : item.reason;
}

function recordTitle(record) {
    const [{reason}] = record.items;
    if (record.id < 0) {
        return reason;
    }
    const verb = record.items.some(item => item.reason === "enter") ? "enters"
        : record.items.some(item => item.reason === "leave") ? "leaves" : "updated";
    return `entity ${record.id} ${verb}`;
}

// Positions are in mm.
function toldValue(name, value) {
    if (value === undefined) {
        return "";
    }
    const isPlace = name === "position" && Array.isArray(value);
    return isPlace ? ` = ${value.map(mm => (mm / 1000).toFixed(2)).join(", ")} m` : ` = ${valueText(value)}`;
}

/** What a record says, as a sentence; without its title where it is known which entity it is about. */
export function recordText(record, values, names, {isTitled = true} = {}) {
    const parts = new Map();
    for (const item of record.items) {
        const key = keyOf(item);
        const value = item.property >= 0 ? values.get(`${record.id}:${item.property}`) : undefined;
        const before = parts.get(key) ?? {bits: 0, value};
        parts.set(key, {bits: before.bits + item.bits, value});
    }
    const list = [...parts].map(([key, {bits, value}]) =>
        `${keyName(key, names)}${toldValue(keyName(key, names), value)} (${bits.toFixed(1)} bits)`);
    const where = record.slot >= 0 ? `slot ${record.slot}, ` : "";
    return `${isTitled ? `${recordTitle(record)}, ` : ""}${where}${record.bits.toFixed(1)} bits${record.isResent ? ", sent again" : ""}: ${list.join(", ")}`;
}

class PacketView {
    constructor(way) {
        this.name = way.name;
        this.packet = null;
        this.pointed = -1;
        this.isHeld = false;
        this.root = document.createElement("article");
        this.root.className = "packet";
        this.root.dataset.way = way.name;
        this.root.style.setProperty("--way", `var(--${way.name})`);
        this.root.innerHTML = `<h3></h3><p class="about">No packet has come yet.</p><canvas role="img"></canvas>
            <p class="told" aria-live="polite"></p><ul class="records" aria-label="Records of the packet"></ul>`;
        this.root.querySelector("h3").textContent = way.name;
        this.root.querySelector("canvas").setAttribute("aria-label", `The newest packet of ${way.name}, bit by bit; its records are listed below`);
        this.about = this.root.querySelector(".about");
        this.canvas = this.root.querySelector("canvas");
        this.size = watchSize(this.root.querySelector(".about")); // as wide as the canvas, whose height we set
        this.told = this.root.querySelector(".told");
        this.list = this.root.querySelector("ul");
        this.#listen();
    }

    #listen() {
        this.root.addEventListener("pointerenter", () => this.#hold(true));
        this.root.addEventListener("pointerleave", () => this.#hold(false));
        this.root.addEventListener("focusin", () => this.#hold(true));
        this.root.addEventListener("focusout", () => this.#hold(false));
        this.canvas.addEventListener("pointermove", event => {
            const box = this.canvas.getBoundingClientRect();
            this.point(this.#recordAt(event.clientX - box.left, event.clientY - box.top));
        });
        const fromRow = event => {
            const row = event.target.closest("[data-item]");
            if (row !== null) {
                this.point(Number(row.dataset.item));
            }
        };
        this.list.addEventListener("pointerover", fromRow);
        this.list.addEventListener("focusin", fromRow);
        this.list.addEventListener("keydown", event => this.#press(event));
    }

    // One stop for Tab; arrows go from record to record.
    #press(event) {
        const rows = [...this.list.children];
        const at = rows.indexOf(event.target);
        const to = {ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1}[event.key];
        if (to === undefined || at < 0) {
            return;
        }
        event.preventDefault();
        const next = rows[Math.min(rows.length - 1, Math.max(0, to))];
        rows[at].tabIndex = -1;
        next.tabIndex = 0;
        next.focus();
    }

    #hold(is) {
        this.isHeld = is;
        if (!is) {
            this.point(-1);
        }
    }

    point(record) {
        if (record !== this.pointed && this.packet !== null) {
            this.pointed = record;
            this.#tell();
            this.#paint();
        }
    }

    #tell() {
        const record = this.records[this.pointed];
        this.told.textContent = record === undefined ? "Point at a bit, or at a record below, to read it."
            : recordText(record, this.packet.values, this.names);
    }

    /** Another packet, unless this one is being looked at. */
    set(packet, {names, colours, time, longest}) {
        this.longest = Math.max(longest, this.isHeld && this.packet !== null ? this.packet.payload : 0);
        this.colours = colours;
        this.names = names;
        if (packet === null || this.size.width === 0 || this.isHeld && this.packet !== null) {
            return;
        }
        const isOther = packet !== this.packet || colours !== this.painted || this.size.width !== this.paintedWidth;
        if (packet !== this.packet) {
            this.packet = packet;
            this.records = packet.records;
            this.pointed = -1;
            this.#list();
            this.#tell();
        }
        this.about.textContent = `Packet ${packet.number}, ${packet.payload} bytes and ${packet.overhead} of overhead, ${
            this.records.length} records; ${packet.arrival === null ? "in flight" : `on the way for ${duration((packet.arrival - packet.time) / 1000)}`
        }, ${duration(Math.max(0, time - packet.time) / 1000)} ago`;
        if (isOther) {
            this.painted = colours;
            this.paintedWidth = this.size.width;
            this.#paint();
        }
    }

    #list() {
        this.list.replaceChildren(...this.records.map((record, i) => {
            const row = document.createElement("li");
            row.tabIndex = i === 0 ? 0 : -1;
            row.dataset.item = i;
            row.style.setProperty("--swatch", colourOf(this.colours, keyOf(record.items.at(-1))));
            row.textContent = `${recordTitle(record)} · ${record.bits.toFixed(0)} bits`;
            return row;
        }));
    }

    // Whole bytes per row. Cells are smaller where one of the packets is long, and equal in all views: area is bits.
    #layout() {
        const bits = 8 * this.packet.payload;
        const {width} = this.size;
        const wanted = Math.sqrt(8 * this.longest * width / HEIGHT_MOST);
        const columns = Math.max(32, Math.floor(width / 11 / 8) * 8, Math.ceil(wanted / 8) * 8);
        const cell = width / columns;
        return {bits, columns, cell, rows: Math.ceil(bits / columns)};
    }

    // By bit: which record and which item, by the middle of the bit.
    #owners() {
        const owners = [];
        let end = 0;
        this.records.forEach((record, r) => record.items.forEach(item => {
            end += item.bits;
            while (owners.length + 0.5 <= end) {
                owners.push({record: r, item});
            }
        }));
        return owners;
    }

    #recordAt(px, py) {
        const {columns, cell} = this.#layout();
        const bit = Math.floor(py / cell) * columns + Math.floor(px / cell);
        return this.#owners()[bit]?.record ?? -1;
    }

    #paint() {
        const {bits, columns, cell, rows} = this.#layout();
        const height = Math.ceil(rows * cell);
        const ratio = Math.min(2, window.devicePixelRatio || 1);
        this.canvas.style.height = `${height}px`;
        this.canvas.width = Math.round(this.size.width * ratio);
        this.canvas.height = Math.round(height * ratio);
        const context = this.canvas.getContext("2d");
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        // One path for each colour.
        const paths = new Map();
        this.#owners().slice(0, bits).forEach(({record, item}, bit) => {
            const key = `${this.pointed >= 0 && record !== this.pointed ? "faint" : "clear"} ${keyOf(item)}`;
            const path = paths.get(key) ?? paths.set(key, new Path2D()).get(key);
            path.rect(bit % columns * cell, Math.floor(bit / columns) * cell, cell - GAP, cell - GAP);
        });
        for (const [key, path] of paths) {
            const [strength, meaning] = key.split(" ");
            context.globalAlpha = strength === "faint" ? 0.25 : 1;
            context.fillStyle = colourOf(this.colours, meaning);
            context.fill(path);
        }
        context.globalAlpha = 1;
    }
}

export class Packets {
    #root;
    #views = [];

    constructor(root) {
        this.#root = root;
    }

    begin(scene) {
        this.#views = scene.ways.map(way => new PacketView(way));
        this.#root.replaceChildren(...this.#views.map(view => view.root));
    }

    /** The newest packets that have arrived. */
    draw(show, names, colours) {
        const newest = show.ways.map(({packets}) =>
            packets.findLast(packet => packet.arrival !== null) ?? packets.at(-1) ?? null);
        const longest = Math.max(1, ...newest.map(packet => packet?.payload ?? 0));
        this.#views.forEach((view, place) => view.set(newest[place], {names, colours, time: show.time, longest}));
    }
}
