// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

/** A map by hand: dragging and arrow keys pan it, wheel, pinch, plus and minus zoom it, a click is told. */

const PAN_PX = 60;
const ZOOM = 1.25;
const CLICK_PX = 5;

/** One step of zoom: in, or out when direction is below 0. */
export function zoomStep(camera, direction) {
    camera.zoom(direction > 0 ? ZOOM : 1 / ZOOM);
}

function zoomAt(camera, factor, canvas, clientX, clientY) {
    const box = canvas.getBoundingClientRect();
    camera.zoom(factor, clientX - box.left, clientY - box.top);
}

function listenToPointers(canvas, camera, {onView, onClick}) {
    const pointers = new Map();
    let moved = 0;
    let apart = 0;
    canvas.addEventListener("pointerdown", event => {
        canvas.setPointerCapture(event.pointerId);
        pointers.set(event.pointerId, event);
        moved = 0;
        apart = 0;
    });
    canvas.addEventListener("pointermove", event => {
        const before = pointers.get(event.pointerId);
        if (before === undefined) {
            return;
        }
        pointers.set(event.pointerId, event);
        if (pointers.size === 1) {
            moved += Math.abs(event.clientX - before.clientX) + Math.abs(event.clientY - before.clientY);
            if (moved > CLICK_PX) {
                camera.pan(event.clientX - before.clientX, event.clientY - before.clientY);
                onView();
            }
            return;
        }
        const [a, b] = [...pointers.values()];
        const now = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
        if (apart > 0) {
            zoomAt(camera, now / apart, canvas, (a.clientX + b.clientX) / 2, (a.clientY + b.clientY) / 2);
            onView();
        }
        apart = now;
        moved = CLICK_PX + 1;
    });
    const end = event => {
        if (pointers.delete(event.pointerId) && moved <= CLICK_PX && event.type === "pointerup") {
            const box = canvas.getBoundingClientRect();
            onClick(event.clientX - box.left, event.clientY - box.top);
        }
    };
    canvas.addEventListener("pointerup", end);
    canvas.addEventListener("pointercancel", end);
}

/** @param on {onView, onClick, keys}: keys has what else a key of the map does, by its name in small letters */
export function listenToMap(canvas, camera, on) {
    const keys = {
        ArrowLeft: () => camera.pan(PAN_PX, 0),
        ArrowRight: () => camera.pan(-PAN_PX, 0),
        ArrowUp: () => camera.pan(0, PAN_PX),
        ArrowDown: () => camera.pan(0, -PAN_PX),
        "+": () => zoomStep(camera, 1),
        "=": () => zoomStep(camera, 1),
        "-": () => zoomStep(camera, -1),
        ...on.keys,
    };
    listenToPointers(canvas, camera, on);
    canvas.addEventListener("wheel", event => {
        event.preventDefault();
        zoomAt(camera, Math.exp(-event.deltaY * 0.0015), canvas, event.clientX, event.clientY);
        on.onView();
    }, {passive: false});
    canvas.addEventListener("keydown", event => {
        const action = keys[event.key] ?? keys[event.key.toLowerCase()];
        if (action !== undefined && !event.ctrlKey && !event.metaKey && !event.altKey) {
            event.preventDefault();
            action();
            on.onView();
        }
    });
}
