// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

/** The ways that are compared: their names, and clients of them for a scene. */

/** In the order of ph_way. */
export const WAYS = Object.freeze(["classic", "pinhole", "snapshot"]);

const encoder = new TextEncoder();

/** Puts a text with a zero behind it into the module's memory while use(place) runs. */
export function withText(pinhole, text, use) {
    const module = pinhole.exports;
    const bytes = encoder.encode(text);
    const place = module.allocate(bytes.length + 1);
    if (place === 0) {
        throw new Error("There is no memory.");
    }
    new Uint8Array(module.memory.buffer, place, bytes.length + 1).set([...bytes, 0]);
    try {
        return use(place);
    } finally {
        module.release(place);
    }
}

/** A client of the way at this place of the scene. */
export function openClient(pinhole, scene, place) {
    const way = scene.ways[place];
    const number = WAYS.indexOf(way.profile);
    if (number < 0) {
        throw new Error(`This page knows no way “${way.profile}”; load it again.`);
    }
    const module = pinhole.exports;
    module.way_terms(number, way.slots ?? scene.slot_capacity, way.payload_max ?? 1200, scene.tick_us, scene.show_delay_ms ?? 0);
    return withText(pinhole, scene.ground ?? "", ground =>
        pinhole.openClient(scene.schema, (schema, size) => module.open_way(schema, size, ground)));
}

/** Layers of the scene's ground at (x, y) in mm: their heights in mm, none where the scene has no ground. */
export function groundAt(pinhole, scene, points) {
    const module = pinhole.exports;
    return withText(pinhole, scene.ground ?? "", ground => points.map(([x, y]) => {
        const place = module.ground_layers(ground, x, y);
        const numbers = new Float64Array(module.memory.buffer, place, 9);
        return Array.from(numbers.subarray(1, 1 + numbers[0]));
    }));
}
