// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

/** One camera for all maps: what lies in the middle, and how large a metre is. y points up, as in the world. */

const SCALE_LEAST = 1e-6; // px per mm
const SCALE_MOST = 0.2;
const MARGIN = 1.12;

export class Camera {
    x = 0;
    y = 0;
    scale = 0.002;
    isFollowing = false;
    width = 600;
    height = 600;

    /** Shows the whole of a rectangle in mm. */
    fit([x0, y0, x1, y1]) {
        this.x = (x0 + x1) / 2;
        this.y = (y0 + y1) / 2;
        const across = Math.max(x1 - x0, 1000) * MARGIN;
        const up = Math.max(y1 - y0, 1000) * MARGIN;
        this.scale = this.#clamp(Math.min(this.width / across, this.height / up));
    }

    /** Around a point, so that a circle of this radius is seen. */
    surround(x, y, radius) {
        this.fit([x - radius, y - radius, x + radius, y + radius]);
    }

    /** By pixels. */
    pan(dx, dy) {
        this.isFollowing = false;
        this.x -= dx / this.scale;
        this.y += dy / this.scale;
    }

    /** Around a point of the map, which stays where it is; without one, around the middle. */
    zoom(factor, px = this.width / 2, py = this.height / 2) {
        const before = this.worldOf(px, py);
        this.scale = this.#clamp(this.scale * factor);
        if (!this.isFollowing) {
            const after = this.worldOf(px, py);
            this.x += before.x - after.x;
            this.y += before.y - after.y;
        }
    }

    #clamp(scale) {
        return Math.min(SCALE_MOST, Math.max(SCALE_LEAST, scale));
    }

    screenX(x) {
        return this.width / 2 + (x - this.x) * this.scale;
    }

    screenY(y) {
        return this.height / 2 - (y - this.y) * this.scale;
    }

    worldOf(px, py) {
        return {x: this.x + (px - this.width / 2) / this.scale, y: this.y - (py - this.height / 2) / this.scale};
    }
}
