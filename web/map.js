// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

/**
 * One map: what a client shows (solid) over the truth (faint), and the error as a line between them. 2,000 entities in a
 * few milliseconds: everything of one colour is one path. Points are drawn as squares where they are small.
 *
 * Errors may be drawn longer than they are: what is shown then stands so many times as far from the truth.
 */

import {Client} from "./pinhole.js";
import {watchSize} from "./theme.js";
import {lengthText} from "./words.js";

const ROW = Client.rowLayout;
const TURN = 2 * Math.PI;
const RADIANS = Math.PI / 180;
const EQUIPMENT_SCALE = 0.006; // px per mm, from which on single entities are looked at
const SLOT_SCALE = 0.0025;
const UPPER_MM = 2500; // so much above the lowest layer is on another one

/** Limits of the classes of colour, in mrad and in ms. */
const ERROR_STEPS = [0.3, 1, 3, 10, 30];
const AGE_STEPS = [250, 500, 1000, 2000, 5000];

export const LEGENDS = Object.freeze({
    error: {title: "error as seen", unit: "mrad", steps: ERROR_STEPS},
    age: {title: "since it was last told", unit: "ms", steps: AGE_STEPS},
});

function classOf(steps, value) {
    let found = 0;
    while (found < steps.length && value > steps[found]) {
        ++found;
    }
    return found;
}

/** What the upper layers of a ground cover, as an image of the map: made once per scene. */
export function makeGround(bounds, layersAt, stepMm = 2000) {
    const [x0, y0, x1, y1] = bounds;
    const columns = Math.min(400, Math.ceil((x1 - x0) / stepMm));
    const rows = Math.min(400, Math.ceil((y1 - y0) / stepMm));
    const points = [];
    for (let row = 0; row < rows; ++row) {
        for (let column = 0; column < columns; ++column) {
            points.push([x0 + (column + 0.5) * (x1 - x0) / columns, y1 - (row + 0.5) * (y1 - y0) / rows]);
        }
    }
    const layers = layersAt(points);
    const upper = layers.map(heights => heights.length > 1);
    const low = layers.map(heights => heights[0] ?? 0);
    return upper.includes(true) ? {bounds, columns, rows, upper, low} : null;
}

/** Everything that a map is drawn from; the same for all maps but for the way. */
export class MapView {
    constructor(canvas) {
        this.canvas = canvas;
        this.context = canvas.getContext("2d");
        this.groundImage = null;
        this.size = watchSize(canvas);
        this.last = null; // what was drawn
        this.eye = {x: 0, y: 0}; // where the player is, or was last
        this.pool = []; // marks, used again in every frame: thousands of new ones would keep the collector busy
    }

    /** As large as it is on the page, in the device's own pixels. @returns {boolean} whether it has any size */
    resize(camera) {
        const ratio = Math.min(2, window.devicePixelRatio || 1);
        const {width, height} = this.size;
        if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
            this.canvas.width = Math.round(width * ratio);
            this.canvas.height = Math.round(height * ratio);
        }
        this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
        if (width > 0) {
            camera.width = width;
            camera.height = height;
        }
        return width > 0;
    }

    /**
     * @param {{show, place, camera, options, theme, ground, selected}} of options: see panes.js
     */
    draw(of) {
        const {camera, theme} = of;
        if (!this.resize(camera)) {
            return;
        }
        const {context} = this;
        context.fillStyle = theme.map;
        context.fillRect(0, 0, camera.width, camera.height);
        this.last = null;
        if (of.show === null || of.show.truth.newer === null) {
            return;
        }
        this.#drawGround(of);
        this.#drawVision(of);
        const marks = this.#collect(of);
        this.last = {of, marks};
        this.#drawTruth(of);
        this.#drawErrors(of, marks);
        this.#drawShown(of, marks);
        this.#drawNames(of, marks);
        this.#drawOwn(of);
        this.#drawScale(of);
    }

    // ---- what lies below

    #drawGround({camera, options, theme, ground, show}) {
        const {context} = this;
        if (ground !== null) {
            this.groundImage ??= paintGround(ground);
            const [x0, y0, x1, y1] = ground.bounds;
            context.globalAlpha = theme.groundAlpha;
            context.imageSmoothingEnabled = false;
            context.drawImage(this.groundImage, camera.screenX(x0), camera.screenY(y1),
                (x1 - x0) * camera.scale, (y1 - y0) * camera.scale);
            context.globalAlpha = 1;
        }
        if (options.cells && show.scene.cell_mm * camera.scale > 5) {
            this.#drawCells(camera, show.scene.cell_mm, theme);
        }
    }

    #drawCells(camera, cell, theme) {
        const {context} = this;
        const low = camera.worldOf(0, camera.height);
        const high = camera.worldOf(camera.width, 0);
        context.beginPath();
        for (let x = Math.ceil(low.x / cell) * cell; x < high.x; x += cell) {
            const px = Math.round(camera.screenX(x)) + 0.5;
            context.moveTo(px, 0);
            context.lineTo(px, camera.height);
        }
        for (let y = Math.ceil(low.y / cell) * cell; y < high.y; y += cell) {
            const py = Math.round(camera.screenY(y)) + 0.5;
            context.moveTo(0, py);
            context.lineTo(camera.width, py);
        }
        context.strokeStyle = theme.cells;
        context.lineWidth = 1;
        context.stroke();
    }

    #drawVision({show, camera, options, theme}) {
        const own = show.truth.places.get(show.scene.viewer);
        if (!options.vision || own === undefined) {
            return;
        }
        const {context} = this;
        context.beginPath();
        context.arc(camera.screenX(show.truth.x[own]), camera.screenY(show.truth.y[own]), show.scene.radius_mm * camera.scale, 0, TURN);
        context.strokeStyle = theme.vision;
        context.setLineDash([5, 5]);
        context.lineWidth = 1.25;
        context.stroke();
        context.setLineDash([]);
    }

    // ---- entities

    // As large as a person of 1.4 m across would be, but always seen; smaller where there are many.
    #size(camera, count) {
        return Math.min(11, Math.max(count < 150 ? 3.8 : count < 600 ? 3 : 2.2, 700 * camera.scale));
    }

    // Marks of what is shown: screen coordinates, class of colour, and what else is drawn of it.
    #collect({show, place, camera, options, layerOf}) {
        const {rows, touched, properties} = show.ways[place];
        const {truth} = show;
        const own = truth.places.get(show.scene.viewer);
        if (own !== undefined) {
            this.eye = {x: truth.x[own], y: truth.y[own]};
        }
        let count = 0;
        for (let at = 0; at < rows.length; at += ROW.size) {
            const id = rows[at + ROW.keyLow];
            if (id === show.scene.viewer) {
                continue;
            }
            const x = rows[at + ROW.x];
            const y = rows[at + ROW.y];
            const z = rows[at + ROW.z];
            const mark = this.pool[count] ??= {};
            mark.id = id;
            mark.slot = rows[at + ROW.index] - 1;
            mark.heading = NaN;
            mark.axes = axesOf(rows, at);
            mark.layer = layerOf(x, y, z);
            // A heading that was never told, or is what it is before that, is not shown: far away it is not sent.
            if (properties.get(id)?.heading !== undefined && rows[at + ROW.heading] !== 0) {
                mark.heading = rows[at + ROW.heading];
            }
            if (options.layer !== "all" && (options.layer === "upper") !== (mark.layer > 0)) {
                continue;
            }
            const truePlace = truth.places.get(id);
            mark.hasTruth = truePlace !== undefined;
            const tx = mark.hasTruth ? truth.x[truePlace] : x;
            const ty = mark.hasTruth ? truth.y[truePlace] : y;
            mark.px = camera.screenX(tx + options.magnify * (x - tx));
            mark.py = camera.screenY(ty + options.magnify * (y - ty));
            mark.tx = camera.screenX(tx);
            mark.ty = camera.screenY(ty);
            if (options.colour === "age") {
                mark.class = classOf(AGE_STEPS, (show.time - (touched.get(id) ?? show.time)) / 1000);
            } else {
                const error = mark.hasTruth ? Math.hypot(x - tx, y - ty, z - truth.z[truePlace]) : 0;
                const far = Math.max(1000, Math.hypot(tx - this.eye.x, ty - this.eye.y));
                mark.class = classOf(ERROR_STEPS, 1000 * error / far);
            }
            ++count;
        }
        return this.pool.slice(0, count);
    }

    #drawTruth({show, camera, options, theme, layerOf}) {
        if (!options.truth) {
            return;
        }
        const {context} = this;
        const {truth} = show;
        const size = this.#size(camera, truth.count);
        const half = Math.max(1.1, size * 0.62);
        context.fillStyle = theme.truth;
        context.beginPath();
        for (let i = 0; i < truth.count; ++i) {
            const px = camera.screenX(truth.x[i]);
            const py = camera.screenY(truth.y[i]);
            if (px < -10 || py < -10 || px > camera.width + 10 || py > camera.height + 10 || truth.id(i) === show.scene.viewer) {
                continue;
            }
            if (options.layer !== "all" && (options.layer === "upper") !== (layerOf(truth.x[i], truth.y[i], truth.z[i]) > 0)) {
                continue;
            }
            if (half < 2.2) {
                context.rect(px - half, py - half, 2 * half, 2 * half);
            } else {
                context.moveTo(px + half, py);
                context.arc(px, py, half, 0, TURN);
            }
        }
        context.fill();
    }

    #drawErrors({options, theme}, marks) {
        if (!options.lines) {
            return;
        }
        const {context} = this;
        context.lineWidth = 1.5;
        theme.steps.forEach((colour, step) => {
            context.beginPath();
            for (const mark of marks) {
                if (mark.class === step && mark.hasTruth && Math.abs(mark.px - mark.tx) + Math.abs(mark.py - mark.ty) > 1.5) {
                    context.moveTo(mark.tx, mark.ty);
                    context.lineTo(mark.px, mark.py);
                }
            }
            context.strokeStyle = colour;
            context.stroke();
        });
    }

    #drawShown({camera, theme, show}, marks) {
        const {context} = this;
        const size = this.#size(camera, show.truth.count);
        theme.steps.forEach((colour, step) => {
            context.beginPath();
            for (const mark of marks) {
                if (mark.class === step) {
                    traceMark(context, mark, size);
                }
            }
            context.fillStyle = colour;
            context.fill();
        });
        // The upper layer: outlined.
        context.beginPath();
        for (const mark of marks) {
            if (mark.layer > 0) {
                context.moveTo(mark.px + size + 2, mark.py);
                context.arc(mark.px, mark.py, size + 2, 0, TURN);
            }
        }
        context.strokeStyle = theme.ink;
        context.lineWidth = 1.25;
        context.stroke();
    }

    // ---- single ones

    #drawNames({show, place, camera, options, theme, selected}, marks) {
        const {context} = this;
        const size = this.#size(camera, show.truth.count);
        const chosen = selected === null ? null : this.find(selected);
        if (chosen !== null) {
            context.beginPath();
            context.arc(chosen.x, chosen.y, size + 6, 0, TURN);
            context.strokeStyle = theme.select;
            context.lineWidth = 2.5;
            context.stroke();
        }
        if (options.equipment && camera.scale >= EQUIPMENT_SCALE) {
            this.#drawEquipment(show.ways[place], marks, size, theme);
        }
        if (options.slots && camera.scale >= SLOT_SCALE) {
            context.font = "10px ui-monospace, monospace";
            context.fillStyle = theme.faint;
            for (const mark of marks) {
                context.fillText(String(mark.slot), mark.px + size + 3, mark.py - size);
            }
        }
    }

    // Each property beside position and heading is an arc of a ring, its colour follows from the value; health is a bar.
    #drawEquipment({properties}, marks, size, theme) {
        const {context} = this;
        context.lineWidth = 3;
        for (const mark of marks) {
            const known = properties.get(mark.id);
            if (known === undefined) {
                continue;
            }
            const names = Object.keys(known).filter(name => isSmall(known[name]) && name !== "heading" && name !== "position");
            names.forEach((name, i) => {
                const from = -Math.PI / 2 + (i + 0.08) / names.length * TURN;
                context.beginPath();
                context.arc(mark.px, mark.py, size + 5, from, from + 0.84 / names.length * TURN);
                context.strokeStyle = theme.values[Math.abs(known[name]) % theme.values.length];
                context.stroke();
            });
            if (known.health !== undefined) {
                context.fillStyle = theme.line;
                context.fillRect(mark.px - 11, mark.py + size + 10, 22, 3);
                context.fillStyle = known.health < 50 ? theme.health : theme.healthy;
                context.fillRect(mark.px - 11, mark.py + size + 10, 22 * Math.min(1, known.health / 100), 3);
            }
        }
    }

    // The viewer's own entity: an eye that looks where it heads.
    #drawOwn({show, camera, theme}) {
        const own = show.truth.places.get(show.scene.viewer);
        const {context} = this;
        if (own === undefined) {
            context.font = "13px system-ui, sans-serif";
            context.fillStyle = theme.faint;
            context.textAlign = "center";
            context.strokeStyle = theme.map;
            context.lineWidth = 4;
            const text = "The player is away: nothing is measured.";
            context.strokeText(text, camera.width / 2, 24);
            context.fillText(text, camera.width / 2, 24);
            context.textAlign = "left";
            return;
        }
        const px = camera.screenX(show.truth.x[own]);
        const py = camera.screenY(show.truth.y[own]);
        context.beginPath();
        context.arc(px, py, 6, 0, TURN);
        context.fillStyle = theme.map;
        context.fill();
        context.lineWidth = 2.5;
        context.strokeStyle = theme.ink;
        context.stroke();
        context.beginPath();
        context.arc(px, py, 2.25, 0, TURN);
        context.fillStyle = theme.ink;
        context.fill();
        const heading = show.truth.heading(own);
        if (!Number.isNaN(heading)) {
            context.beginPath();
            context.moveTo(px + 6 * Math.cos(heading * RADIANS), py - 6 * Math.sin(heading * RADIANS));
            context.lineTo(px + 13 * Math.cos(heading * RADIANS), py - 13 * Math.sin(heading * RADIANS));
            context.stroke();
        }
    }

    #drawScale({camera, theme}) {
        const {context} = this;
        const wanted = 90 / camera.scale;
        const power = 10 ** Math.floor(Math.log10(wanted));
        const mm = [5, 2, 1].map(n => n * power).find(n => n <= wanted) ?? power;
        const px = mm * camera.scale;
        const y = camera.height - 14.5;
        context.strokeStyle = theme.faint;
        context.lineWidth = 1;
        context.beginPath();
        context.moveTo(14, y - 4);
        context.lineTo(14, y);
        context.lineTo(14 + px, y);
        context.lineTo(14 + px, y - 4);
        context.stroke();
        context.fillStyle = theme.faint;
        context.font = "11px system-ui, sans-serif";
        context.fillText(mm >= 1e6 ? `${mm / 1e6} km` : lengthText(mm).replace(/\.0+ /, " "), 20 + px, y + 1);
    }

    /** Where an entity is drawn, or null. */
    find(id) {
        if (this.last === null) {
            return null;
        }
        const {of: {show: {truth}, camera}, marks} = this.last;
        const mark = marks.find(one => one.id === id);
        const place = truth.places.get(id);
        if (mark !== undefined) {
            return {x: mark.px, y: mark.py};
        }
        return place === undefined ? null : {x: camera.screenX(truth.x[place]), y: camera.screenY(truth.y[place])};
    }

    /** The entity nearest to a point of the map, within reach: what is shown, and what is only true. */
    hit(px, py, reach = 18) {
        let best = null;
        let least = reach;
        const look = (id, x, y) => {
            const far = Math.hypot(x - px, y - py);
            if (far < least) {
                best = id;
                least = far;
            }
        };
        if (this.last !== null) {
            const {of: {show: {truth}, camera}, marks} = this.last;
            marks.forEach(mark => look(mark.id, mark.px, mark.py));
            truth.places.forEach((place, id) => look(id, camera.screenX(truth.x[place]), camera.screenY(truth.y[place])));
        }
        return best;
    }
}

function isSmall(value) {
    return typeof value === "number" && Number.isInteger(value);
}

/** Where the nose (+x) and the top (+z) of something that turns in space point, as seen from above; null for others. */
function axesOf(rows, at) {
    const [x, y, z, w] = [rows[at + ROW.qx], rows[at + ROW.qy], rows[at + ROW.qz], rows[at + ROW.qw]];
    return Number.isNaN(w) ? null : {
        nose: [1 - 2 * (y * y + z * z), 2 * (x * y + z * w)],
        top: [2 * (x * z + y * w), 2 * (y * z - x * w)],
    };
}

// Foreshortened: what points at the viewer, or away, is a point.
function traceAxes(context, {px, py, axes}, size) {
    const [nx, ny] = axes.nose.map(part => part * size * 2.4);
    const [tx, ty] = axes.top.map(part => part * size * 1.7);
    const [sx, sy] = axes.nose.map(part => part * size * 0.5);
    context.moveTo(px + nx, py - ny);
    context.lineTo(px - sy * 1.2, py - sx * 1.2);
    context.lineTo(px + sy * 1.2, py + sx * 1.2);
    context.closePath();
    context.rect(px + tx - size * 0.35, py - ty - size * 0.35, size * 0.7, size * 0.7);
}

// A point, with a nose where it heads when it is large enough.
function traceMark(context, {px, py, heading, axes}, size) {
    if (size < 2.6) {
        context.rect(px - size, py - size, 2 * size, 2 * size);
        return;
    }
    context.moveTo(px + size, py);
    context.arc(px, py, size, 0, TURN);
    if (axes) {
        traceAxes(context, {px, py, axes}, size);
    } else if (!Number.isNaN(heading)) {
        const c = Math.cos(heading * RADIANS);
        const s = Math.sin(heading * RADIANS);
        const nose = size * 2.1;
        const side = size * 0.62;
        context.moveTo(px + nose * c, py - nose * s);
        context.lineTo(px + side * s + size * 0.6 * c, py + side * c - size * 0.6 * s);
        context.lineTo(px - side * s + size * 0.6 * c, py - side * c - size * 0.6 * s);
        context.closePath();
    }
}

function paintGround({columns, rows, upper}) {
    const canvas = document.createElement("canvas");
    canvas.width = columns;
    canvas.height = rows;
    const context = canvas.getContext("2d");
    const image = context.createImageData(columns, rows);
    upper.forEach((isUpper, i) => {
        image.data.set([128, 128, 140, isUpper ? 255 : 0], 4 * i);
    });
    context.putImageData(image, 0, 0);
    return canvas;
}

/** Which layer of a ground an entity stands on: 0 the lowest. */
export function layerBy(ground) {
    if (ground === null) {
        return () => 0;
    }
    const [x0, y0, x1, y1] = ground.bounds;
    return (x, y, z) => {
        const column = Math.floor((x - x0) / (x1 - x0) * ground.columns);
        const row = Math.floor((y1 - y) / (y1 - y0) * ground.rows);
        if (column < 0 || row < 0 || column >= ground.columns || row >= ground.rows) {
            return 0;
        }
        return ground.upper[row * ground.columns + column] && z - ground.low[row * ground.columns + column] > UPPER_MM ? 1 : 0;
    };
}
