// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

/**
 * The map of `pinhole cluster`: each entity in the colour of the sim that owns it, with a ring in the colour of the front-end
 * where it is a player's, over the regions in the colours of their owners.
 */

import {watchSize} from "./theme.js";
import {lengthText} from "./words.js";

const TURN = 2 * Math.PI;
const TINT = 0.09;

/** Where an entity is drawn: on its way from the picture before to this one, which came `share` of their distance ago. */
function placeOf(entity, former, share) {
    const from = former?.byKey.get(entity.key);
    return from === undefined ? entity
        : {x: from.x + (entity.x - from.x) * share, y: from.y + (entity.y - from.y) * share};
}

export class ClusterMap {
    constructor(canvas) {
        this.canvas = canvas;
        this.context = canvas.getContext("2d");
        this.size = watchSize(canvas);
        this.marks = [];
    }

    /** @returns {boolean} whether it has any size */
    resize(camera) {
        const ratio = Math.min(2, window.devicePixelRatio || 1);
        const {width, height} = this.size;
        if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
            this.canvas.width = Math.round(width * ratio);
            this.canvas.height = Math.round(height * ratio);
        }
        this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
        camera.width = width || camera.width;
        camera.height = height || camera.height;
        return width > 0;
    }

    /** @param of {picture, former, share, camera, theme, colours, selected} */
    draw(of) {
        const {picture, former, share, camera, theme} = of;
        if (!this.resize(camera)) {
            return;
        }
        const {context} = this;
        context.fillStyle = theme.map;
        context.fillRect(0, 0, camera.width, camera.height);
        this.marks = picture.entities.map(entity => {
            const place = placeOf(entity, former, share);
            return {entity, px: camera.screenX(place.x), py: camera.screenY(place.y)};
        });
        this.#drawRegions(of);
        this.#drawEntities(of);
        this.#drawChosen(of);
        this.#drawNames(of);
        this.#drawScale(of);
    }

    #drawRegions({picture, camera, theme, colours}) {
        const {context} = this;
        const border = borderOf(picture, camera);
        for (const {owner, side} of picture.regions) {
            const [from, to] = side === "west" ? [0, border] : [border, camera.width];
            context.globalAlpha = TINT;
            context.fillStyle = colours.sim(owner);
            context.fillRect(from, 0, to - from, camera.height);
            context.globalAlpha = 1;
        }
        context.strokeStyle = theme.vision;
        context.lineWidth = 1;
        context.setLineDash([6, 5]);
        context.beginPath();
        context.moveTo(border, 0);
        context.lineTo(border, camera.height);
        context.stroke();
        context.setLineDash([]);
    }

    // Over the entities, and readable there.
    #drawNames({picture, camera, theme}) {
        const {context} = this;
        const border = borderOf(picture, camera);
        context.font = "13px system-ui, sans-serif";
        context.fillStyle = theme.ink;
        context.strokeStyle = theme.map;
        context.lineWidth = 4;
        for (const {number, owner, epoch, side} of picture.regions) {
            const isWest = side === "west";
            const room = isWest ? border : camera.width - border;
            const text = owner === "" ? [`region ${number}`, "no owner"] : [`region ${number}: ${owner}`, `epoch ${epoch}`];
            context.textAlign = isWest ? "left" : "right";
            (room > 60 ? text : []).forEach((line, i) => {
                const at = [isWest ? 14 : camera.width - 14, 24 + 17 * i];
                context.strokeText(line, ...at);
                context.fillText(line, ...at);
            });
        }
        context.textAlign = "left";
    }

    // Everything of one colour is one path.
    #trace(groups, radius, paint) {
        for (const [colour, marks] of groups) {
            this.context.beginPath();
            for (const {px, py} of marks) {
                this.context.moveTo(px + radius, py);
                this.context.arc(px, py, radius, 0, TURN);
            }
            paint(colour);
        }
    }

    #drawEntities({camera, colours, theme}) {
        const {context} = this;
        const isCrowd = this.marks.length > 600 && camera.scale < 0.01;
        const size = isCrowd ? 2.4 : 4.5;
        const players = this.marks.filter(({entity}) => entity.front !== "");
        this.#trace(grouped(this.marks, ({entity}) => colours.sim(entity.sim)), size, colour => {
            context.fillStyle = colour;
            context.fill();
        });
        // Between dot and ring the map shows: two colours side by side would look like a third.
        context.lineWidth = isCrowd ? 1 : 1.25;
        context.strokeStyle = theme.map;
        this.#trace([["", players]], size + 0.6, () => context.stroke());
        context.lineWidth = isCrowd ? 1.25 : 2.25;
        this.#trace(grouped(players, ({entity}) => colours.front(entity.front)), size + (isCrowd ? 2 : 3), colour => {
            context.strokeStyle = colour;
            context.stroke();
        });
    }

    // Corners around it: a ring would look like that of a front-end.
    #drawChosen({selected, theme}) {
        const {context} = this;
        const mark = this.marks.find(({entity}) => entity.key === selected);
        if (mark !== undefined) {
            context.beginPath();
            for (const [x, y] of [[-1, -1], [1, -1], [1, 1], [-1, 1]]) {
                context.moveTo(mark.px + 13 * x, mark.py + 6 * y);
                context.lineTo(mark.px + 13 * x, mark.py + 13 * y);
                context.lineTo(mark.px + 6 * x, mark.py + 13 * y);
            }
            context.strokeStyle = theme.select;
            context.lineWidth = 2;
            context.stroke();
        }
    }

    #drawScale({camera, theme}) {
        const {context} = this;
        const wanted = 90 / camera.scale;
        const power = 10 ** Math.floor(Math.log10(wanted));
        const mm = [5, 2, 1].map(n => n * power).find(n => n <= wanted) ?? power;
        const y = camera.height - 14.5;
        context.strokeStyle = theme.faint;
        context.lineWidth = 1;
        context.strokeRect(14, y, mm * camera.scale, 0);
        context.fillStyle = theme.faint;
        context.font = "11px system-ui, sans-serif";
        context.fillText(mm >= 1e6 ? `${mm / 1e6} km` : lengthText(mm).replace(/\.0+ /, " "), 20 + mm * camera.scale, y + 4);
    }

    /** Where an entity is drawn, or null. */
    find(key) {
        const mark = this.marks.find(({entity}) => entity.key === key);
        return mark === undefined ? null : {x: mark.px, y: mark.py};
    }

    /** The key of the entity nearest to a point of the map, within reach; or null. */
    hit(px, py, reach = 18) {
        let best = null;
        let least = reach;
        for (const mark of this.marks) {
            const far = Math.hypot(mark.px - px, mark.py - py);
            if (far < least) {
                best = mark.entity.key;
                least = far;
            }
        }
        return best;
    }
}

// In pixels, where the map shows it; else its edge.
function borderOf(picture, camera) {
    return Math.max(0, Math.min(camera.width, camera.screenX(picture.border_mm)));
}

function grouped(marks, colourOf) {
    const groups = new Map();
    for (const mark of marks) {
        const colour = colourOf(mark);
        groups.set(colour, groups.get(colour) ?? []).get(colour).push(mark);
    }
    return groups;
}
