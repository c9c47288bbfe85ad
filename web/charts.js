// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

/**
 * Where the bits go and what they buy, second by second: error and budget as lines, bits by reason and property as stacks.
 * Pointing at a second, or moving there by the arrow keys, tells its values below.
 */

import {colourOf, watchSize} from "./theme.js";
import {clock, digits, kbps, lengthText} from "./words.js";

const LEFT = 62;
const RIGHT = 10;
const TOP = 10;
const BOTTOM = 22;
const WINDOW_SECONDS = 60;

function niceStep(most) {
    const power = 10 ** Math.floor(Math.log10(most || 1));
    return [0.2, 0.5, 1, 2].map(n => n * power).find(step => most / step <= 5) ?? 2 * power;
}

/** One canvas with axes, a cursor and a caption. */
class Chart {
    constructor(canvas, caption) {
        this.canvas = canvas;
        this.caption = caption;
        this.size = watchSize(canvas);
        this.cursor = null; // place in the seconds that are drawn
        this.count = 0;
        canvas.tabIndex = 0;
        canvas.addEventListener("pointermove", event => this.#point(event));
        canvas.addEventListener("pointerleave", () => this.#move(null));
        canvas.addEventListener("blur", () => this.#move(null));
        canvas.addEventListener("keydown", event => {
            const steps = {ArrowLeft: -1, ArrowRight: 1};
            if (steps[event.key] !== undefined) {
                event.preventDefault();
                this.#move(Math.min(this.count - 1, Math.max(0, (this.cursor ?? this.count) + steps[event.key])));
            }
        });
    }

    #point(event) {
        const box = this.canvas.getBoundingClientRect();
        const share = (event.clientX - box.left - LEFT) / (box.width - LEFT - RIGHT);
        this.#move(Math.min(this.count - 1, Math.max(0, Math.round(share * (this.span - 1)) - this.offset)));
    }

    #move(cursor) {
        this.cursor = cursor;
        this.redraw?.();
    }

    /** Clears it and draws the axes. @returns what places are needed for */
    begin(colours, {span, count, most, first, unit, isWhole}) {
        const ratio = Math.min(2, window.devicePixelRatio || 1);
        const {width, height} = this.size;
        if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
            this.canvas.width = Math.round(width * ratio);
            this.canvas.height = Math.round(height * ratio);
        }
        const context = this.canvas.getContext("2d");
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.clearRect(0, 0, width, height);
        this.span = span;
        this.count = count;
        const step = niceStep(most);
        const top = Math.max(step, Math.ceil(most / step) * step);
        // A window that moves on fills from the right, a whole run from the left.
        this.offset = isWhole ? 0 : span - count;
        const x = i => LEFT + (span > 1 ? (i + this.offset) / (span - 1) : 1) * (width - LEFT - RIGHT);
        const y = value => height - BOTTOM - value / top * (height - TOP - BOTTOM);
        context.font = "11px system-ui, sans-serif";
        context.lineWidth = 1;
        context.textAlign = "right";
        for (let value = 0; value <= top * 1.0001; value += step) {
            context.strokeStyle = colours.line;
            context.beginPath();
            context.moveTo(LEFT, Math.round(y(value)) + 0.5);
            context.lineTo(width - RIGHT, Math.round(y(value)) + 0.5);
            context.stroke();
            context.fillStyle = colours.faint;
            context.fillText(unit(value), LEFT - 8, y(value) + 4);
        }
        context.textAlign = "center";
        for (let i = 0; i < count; ++i) {
            if ((first + i) % Math.max(10, Math.ceil(span / 60) * 10) === 0 && x(i) < width - 22) {
                context.fillText(clock(first + i), x(i), height - 6);
            }
        }
        context.textAlign = "left";
        return {context, x, y, width, height};
    }

    drawCursor({context, x, height}, colours) {
        if (this.cursor !== null) {
            context.strokeStyle = colours.ink;
            context.globalAlpha = 0.5;
            context.beginPath();
            context.moveTo(x(this.cursor), TOP);
            context.lineTo(x(this.cursor), height - BOTTOM);
            context.stroke();
            context.globalAlpha = 1;
        }
    }

    tell(text) {
        if (this.caption.textContent !== text) {
            this.caption.textContent = text;
        }
    }
}

function line(plot, values, colour, {width = 2, dash = []} = {}) {
    const {context, x, y} = plot;
    // Where there is no value, there is no line.
    context.beginPath();
    values.forEach((value, i) => (i === 0 || Number.isNaN(values[i - 1]) ? context.moveTo(x(i), y(value)) : context.lineTo(x(i), y(value))));
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.lineJoin = "round";
    context.setLineDash(dash);
    context.stroke();
    context.setLineDash([]);
    context.lineWidth = 1;
}

/** All charts of the page. */
export class Charts {
    #error;
    #budget;
    #stackRoot;
    #stackLegend;
    #stacks = [];
    #last = null;
    unit = "mm";

    constructor(root) {
        this.#error = new Chart(root.querySelector("#chart-error canvas"), root.querySelector("#chart-error figcaption"));
        this.#budget = new Chart(root.querySelector("#chart-budget canvas"), root.querySelector("#chart-budget figcaption"));
        this.#stackRoot = root.querySelector("#stacks");
        this.#stackLegend = root.querySelector("#bits-legend");
        this.#error.redraw = () => this.#drawError();
        this.#budget.redraw = () => this.#drawBudget();
    }

    begin(scene) {
        this.#last = null;
        this.#stacks = scene.ways.map(way => {
            const figure = document.createElement("figure");
            figure.innerHTML = "<h3></h3><canvas></canvas><figcaption></figcaption>";
            figure.querySelector("h3").textContent = way.name;
            figure.style.setProperty("--way", `var(--${way.name})`);
            figure.className = "chart stack";
            figure.dataset.way = way.name;
            const chart = new Chart(figure.querySelector("canvas"), figure.querySelector("figcaption"));
            chart.canvas.setAttribute("aria-label", `Bits by reason and property over time, ${way.name}`);
            chart.canvas.setAttribute("role", "img");
            chart.redraw = () => this.#drawStacks();
            return {figure, chart};
        });
        this.#stackRoot.replaceChildren(...this.#stacks.map(({figure}) => figure));
    }

    /**
     * What is drawn: {scene, colours, names (of properties), timelines (by way), startTime, kbps, until (time; seconds after
     * it are not drawn), isWhole (a recorded run)}
     */
    set(of) {
        this.#last = of;
    }

    /** One part of them at a time, so that no frame has to wait for all. */
    get parts() {
        return [() => this.#drawError(), () => this.#drawBudget(), () => this.#drawStacks()];
    }

    // The part of the timeline that is drawn: a window that moves on, or the whole of a recorded run.
    #window(seconds) {
        const until = this.#last.until ?? Infinity;
        const shown = seconds.filter(second => second.time <= until);
        return this.#last.isWhole ? shown : shown.slice(-WINDOW_SECONDS);
    }

    #frame() {
        const {timelines, startTime, isWhole} = this.#last;
        const windows = timelines.map(seconds => this.#window(seconds));
        const count = Math.max(0, ...windows.map(seconds => seconds.length));
        const span = isWhole ? Math.max(2, timelines[0].length) : WINDOW_SECONDS;
        const first = count > 0 ? Math.round((windows[0][0].time - startTime) / 1e6) : 0;
        return {windows, count, span, first: Math.max(0, first), isWhole};
    }

    #drawError() {
        if (this.#last === null) {
            return;
        }
        const {scene, colours} = this.#last;
        const {windows, count, span, first, isWhole} = this.#frame();
        const key = this.unit === "mm" ? "error_mm" : "error_mrad";
        const text = value => (this.unit === "mm" ? lengthText(value) : `${digits(value)} mrad`);
        const means = windows.map(seconds => seconds.map(({figures, samples}) => (samples > 0 ? figures[key].mean : NaN)));
        const p95s = windows.map(seconds => seconds.map(({figures, samples}) => (samples > 0 ? figures[key].p95 : NaN)));
        // A few seconds at the start, when little is shown yet, must not flatten the rest.
        const sorted = p95s.flat().filter(value => !Number.isNaN(value)).sort((a, b) => a - b);
        const most = Math.max(1e-3, (sorted[Math.floor(sorted.length * 0.97)] ?? 1) * 1.1);
        const axis = value => (value === 0 ? "0" : text(value).replace(/(\.\d*?)0+(?= )/, "$1").replace(/\.(?= )/, ""));
        const plot = this.#error.begin(colours, {span, count, most, first, unit: axis, isWhole});
        plot.context.save();
        plot.context.beginPath();
        plot.context.rect(LEFT, 2, plot.width - LEFT, plot.height - BOTTOM);
        plot.context.clip();
        scene.ways.forEach(({name}, i) => {
            line(plot, p95s[i], colours.ways[name], {width: 1.25, dash: [3, 3]});
            line(plot, means[i], colours.ways[name], {width: 2.25});
        });
        plot.context.restore();
        this.#error.drawCursor(plot, colours);
        const at = this.#error.cursor ?? count - 1;
        this.#error.tell(count === 0 ? "Nothing is measured yet." : `${clock(first + at)}  ${scene.ways.map(({name}, i) =>
            (Number.isNaN(means[i][at] ?? NaN) ? `${name} –` : `${name} ${text(means[i][at])}, p95 ${text(p95s[i][at])}`)).join("; ")}`);
    }

    #drawBudget() {
        if (this.#last === null) {
            return;
        }
        const {scene, colours, kbps: budget} = this.#last;
        const {windows, count, span, first, isWhole} = this.#frame();
        const used = windows.map(seconds => seconds.map(({bits}) => bits.wire / 1000));
        const most = Math.max(1, budget ?? 0, ...used.flat()) * 1.05;
        const plot = this.#budget.begin(colours, {span, count, most, first, unit: value => digits(value).replace(/\.?0+$/, "") || "0", isWhole});
        if (budget > 0) {
            plot.context.strokeStyle = colours.ink;
            plot.context.setLineDash([6, 4]);
            plot.context.beginPath();
            plot.context.moveTo(LEFT, plot.y(budget));
            plot.context.lineTo(plot.width - RIGHT, plot.y(budget));
            plot.context.stroke();
            plot.context.setLineDash([]);
        }
        scene.ways.forEach(({name}, i) => line(plot, used[i], colours.ways[name]));
        this.#budget.drawCursor(plot, colours);
        const at = this.#budget.cursor ?? count - 1;
        this.#budget.tell(count === 0 ? "Nothing was sent yet." : `${clock(first + at)}  ${scene.ways.map(({name}, i) =>
            `${name} ${kbps(used[i][at] ?? 0)} kbit/s${budget > 0 ? `, ${Math.round(100 * (used[i][at] ?? 0) / budget)} %` : ""}`).join("; ")}`);
    }

    #drawStacks() {
        if (this.#last === null) {
            return;
        }
        const {scene, colours, names} = this.#last;
        const {windows, count, span, first, isWhole} = this.#frame();
        const keys = keysOf(windows.flat());
        const most = Math.max(1, ...windows.flat().map(({bits}) => bits.wire / 1000)) * 1.05;
        this.#stacks.forEach(({chart}, place) => {
            const plot = chart.begin(colours, {span, count, most, first, unit: value => digits(value).replace(/\.?0+$/, "") || "0", isWhole});
            drawStack(plot, windows[place], keys, colours);
            chart.drawCursor(plot, colours);
            const at = chart.cursor ?? count - 1;
            const second = windows[place][at];
            chart.tell(second === undefined ? "Nothing was sent yet." : `${clock(first + at)}  ${topOf(second.bits, names)}`);
        });
        this.#tellLegend(keys, colours, names, scene);
    }

    #tellLegend(keys, colours, names) {
        const text = keys.join();
        if (this.#stackLegend.dataset.keys === text && this.#stackLegend.dataset.theme === colours.ink) {
            return;
        }
        this.#stackLegend.dataset.keys = text;
        this.#stackLegend.dataset.theme = colours.ink;
        this.#stackLegend.replaceChildren(...keys.map(key => {
            const item = document.createElement("span");
            item.style.setProperty("--swatch", colourOf(colours, key));
            item.textContent = keyName(key, names);
            return item;
        }));
    }
}

const REASON_ORDER = ["overhead", "header", "hello", "eye", "padding", "reserved", "leave", "enter", "slot", "mask"];

/** What bits were for, in the order of stacks: what every packet has at the bottom, values on top. */
function keysOf(seconds) {
    const found = new Set(seconds.flatMap(({bits}) => [...bits.by.keys()].filter(key => bits.by.get(key) > 0)));
    const rank = key => (REASON_ORDER.includes(key) ? REASON_ORDER.indexOf(key) : 100 + Number(key.split(":")[1]));
    return [...found].sort((a, b) => rank(a) - rank(b));
}

/** "property:3" by its name. */
export function keyName(key, names) {
    const [reason, property] = key.split(":");
    return property === undefined ? reason : names[Number(property)] ?? `property ${property}`;
}

function drawStack({context, x, y}, seconds, keys, colours) {
    const base = seconds.map(() => 0);
    for (const key of keys) {
        const top = seconds.map(({bits}, i) => base[i] + (bits.by.get(key) ?? 0) / 1000);
        context.beginPath();
        top.forEach((value, i) => (i === 0 ? context.moveTo(x(i), y(value)) : context.lineTo(x(i), y(value))));
        for (let i = base.length - 1; i >= 0; --i) {
            context.lineTo(x(i), y(base[i]));
        }
        context.closePath();
        context.fillStyle = colourOf(colours, key);
        context.fill();
        top.forEach((value, i) => {
            base[i] = value;
        });
    }
}

function topOf(bits, names) {
    const parts = [...bits.by.entries()].sort(([, a], [, b]) => b - a).slice(0, 4)
        .map(([key, count]) => `${keyName(key, names)} ${Math.round(100 * count / bits.wire)} %`);
    return `${kbps(bits.wire / 1000)} kbit/s in ${bits.datagrams} datagrams: ${parts.join(", ")}`;
}
