// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

/** Numbers as people read them. */

/** Three digits at most, and no more than the number is worth. */
export function digits(number) {
    if (!Number.isFinite(number)) {
        return "–";
    }
    const size = Math.abs(number);
    const places = size >= 100 || size === 0 ? 0 : size >= 10 ? 1 : 2;
    return number.toFixed(places);
}

/** Millimetres, as {value, unit}: 32 mm, 1.24 m. */
export function length(mm) {
    return mm < 999.5 ? {value: mm < 9.95 ? digits(mm) : mm.toFixed(0), unit: "mm"} : {value: digits(mm / 1000), unit: "m"};
}

export function lengthText(mm) {
    const {value, unit} = length(mm);
    return `${value} ${unit}`;
}

/** Kilobits per second: 13, 51.2. */
export function kbps(number) {
    return Number.isInteger(number) || number >= 100 ? number.toFixed(0) : number.toFixed(1);
}

/** Milliseconds: 80 ms, 2.4 s. */
export function duration(ms) {
    return ms < 999.5 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(ms < 9950 ? 1 : 0)} s`;
}

/** Seconds as 1:05. */
export function clock(seconds) {
    const whole = Math.max(0, Math.floor(seconds));
    return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/** A value of a property. */
export function valueText(value) {
    if (value === undefined) {
        return "–";
    }
    if (value === null) {
        return "none";
    }
    if (typeof value === "number") {
        return Number.isInteger(value) ? String(value) : value.toFixed(2);
    }
    if (Array.isArray(value)) {
        return value.map(valueText).join(", ");
    }
    if (value instanceof Uint8Array) {
        return Array.from(value, byte => byte.toString(16).padStart(2, "0")).join(" ");
    }
    return typeof value === "object" ? `#${value.index}` : `“${value}”`;
}
