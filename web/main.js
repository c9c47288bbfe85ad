// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

/**
 * The page of `pinhole demo` and `pinhole sim --page`: puts the parts together. Frames of a feed go to the judge, which has
 * the figures, and to the show, which is drawn.
 *
 *     live.js, replay.js ──▶ frames ──┬──▶ judge.js ──▶ figures, timeline ──▶ panes.js, charts.js
 *                                     └──▶ show.js  ──▶ poses, packets    ──▶ panes.js, packet.js, inspector.js
 */

import {CONTROL_KEYS, readAddress, viewOf, viewPairs, wishesOf, wordOf, writeAddress} from "./address.js";
import {Charts} from "./charts.js";
import {Controls} from "./controls.js";
import {Kind} from "./feed.js";
import {Headline} from "./headline.js";
import {Inspector} from "./inspector.js";
import {Judge} from "./judge.js";
import {Live, LiveClock} from "./live.js";
import {Packets} from "./packet.js";
import {Panes, VIEW_CHOICES, VIEW_DEFAULTS} from "./panes.js";
import {Pinhole} from "./pinhole.js";
import {Player} from "./player.js";
import {Replay, bytesOfBase64} from "./replay.js";
import {Show} from "./show.js";
import {Theme} from "./theme.js";
import {digits, lengthText} from "./words.js";

const KEPT_SECONDS = 180;
const SLOW_MS = 250; // figures and charts are told so often
const PACKET_MS = 1000;
const KEPT_FRAMES = 600;

const $ = id => document.getElementById(id);

class Page {
    status = "loading";
    scene = null;
    state = null;
    errors = [];
    draws = 0;
    states = 0; // frames STATE so far
    frames = 0; // frames TRUTH since the SCENE
    tick = null; // of the newest TRUTH
    #frameTimes = [];
    #pinhole = null;
    #judge = null;
    #show = null;
    #clock = null;
    #live = null;
    #replay = null;
    #player = null;
    #controls = null;
    #lastFrame = 0;
    #tasks = [];
    #isAddressDue = false;
    #sentControls = false;
    #asked = new Map(); // controls of the address that the next scene is asked for

    constructor() {
        const address = readAddress();
        this.theme = new Theme(() => this.#tellTheme());
        this.headline = new Headline($("need"), $("need-more"), $("spoken"));
        this.panes = new Panes($("panes"), $("legend"), {
            onSelect: id => this.select(id),
            onView: () => this.#tellView(),
        });
        this.panes.options = viewOf(address, VIEW_DEFAULTS, VIEW_CHOICES);
        this.charts = new Charts($("charts"));
        this.packets = new Packets($("packet"));
        this.inspector = new Inspector($("entity"), () => this.select(null));
        this.#tasks = this.#makeTasks();
        this.theme.set(address.get("theme") ?? "auto");
        this.#listenToolbar();
        this.#listenKeys();
        window.addEventListener("hashchange", () => this.#readAddress());
    }

    // Another address was put into the open page.
    #readAddress() {
        const address = readAddress();
        this.panes.options = viewOf(address, VIEW_DEFAULTS, VIEW_CHOICES);
        this.theme.set(address.get("theme") ?? "auto");
        this.#tellToolbar();
        this.#sentControls = false;
        if (this.#live !== null && this.scene !== null) {
            this.#sendControls();
        }
    }

    // ---- beginning

    async start() {
        const module = $("pinhole-module");
        const feed = $("pinhole-feed");
        this.#pinhole = await Pinhole.load(module === null ? "demo.wasm" : bytesOfBase64(module.textContent));
        if (feed !== null) {
            await this.#startReplay(bytesOfBase64(feed.textContent));
        } else {
            this.#startLive();
        }
        requestAnimationFrame(now => this.#draw(now));
    }

    #startLive() {
        const url = new URL("feed", location.href);
        url.protocol = url.protocol.replace("http", "ws");
        url.hash = "";
        this.#controls = new Controls($("controls"), command => this.#live.send(command), () => this.#tellView());
        $("password-form").addEventListener("submit", event => {
            event.preventDefault();
            $("password-told").textContent = "";
            this.#live.setPassword($("password").value);
        });
        this.#live = new Live(url, {
            frame: frame => this.#take(frame),
            gone: reason => this.#lose(reason),
            password: reason => this.#askPassword(reason),
            error: error => this.fail(error),
        });
    }

    // Controls of the address are said again to a server that is new.
    #lose(reason) {
        this.#sentControls = false;
        this.#setStatus("gone", reason === "" ? "The server is away; waiting for it" : `Closed: ${reason}; trying again`);
    }

    #askPassword(reason) {
        this.#setStatus("refused", "A password is wanted");
        $("password-form").hidden = false;
        $("password-told").textContent = reason;
        $("password").focus();
    }

    async #startReplay(packed) {
        this.#replay = await Replay.open(packed);
        this.#player = new Player($("player"), this.#replay);
        this.#begin(this.#replay.scene);
        this.#setStatus("replay", "A recorded run");
        await this.#measureAll();
        this.headline.need = this.#replay.need;
    }

    // The judge takes the whole run at once, in pieces that leave the page alive.
    async #measureAll() {
        let pause = performance.now() + 12;
        for (const frame of this.#replay.frames) {
            this.#judge.take(frame);
            if (performance.now() > pause) {
                await new Promise(done => setTimeout(done));
                pause = performance.now() + 12;
            }
        }
        this.isMeasured = true;
        $("whole").textContent = `The whole run: ${this.scene.ways.map(({name}, place) => {
            const figures = this.#judge.whole(place);
            return `${name} ${lengthText(figures.error_mm.mean)}, ${digits(figures.error_mrad.mean)} mrad`;
        }).join("; ")}`;
    }

    // ---- frames

    #end() {
        this.#judge?.close();
        this.#show?.close();
        this.#judge = null;
        this.#show = null;
    }

    // Where it fails there is nothing to take frames and nothing to draw, until the next scene.
    #begin(scene) {
        this.#end();
        this.scene = scene;
        this.frames = 0;
        const kept = this.#replay === null ? {keptSeconds: KEPT_SECONDS} : {ids: this.#replay.ids};
        this.#judge = new Judge(this.#pinhole, scene, kept);
        this.#newShow();
        this.#clock = new LiveClock(scene.tick_us);
        this.charts.begin(scene);
        this.packets.begin(scene);
        this.headline.begin(scene);
        $("layers").hidden = !this.panes.hasLayers;
        $("controls").hidden = this.#controls === null;
        $("player").hidden = this.#player === null;
        this.#controls?.begin(scene);
        this.#tellAbout();
        this.#tellToolbar();
        if (this.panes.selected !== null) {
            this.select(this.panes.selected);
        }
    }

    #newShow() {
        this.#show = new Show(this.#pinhole, this.scene);
        this.#replay?.frames.forEach(frame => this.#show.push(frame));
        this.panes.begin(this.#pinhole, this.#show);
    }

    // What comes before the first scene belongs to none; a note is for the person.
    #take(frame) {
        if (this.#judge === null && frame.kind !== Kind.scene && frame.kind !== Kind.note) {
            return;
        }
        switch (frame.kind) {
        case Kind.scene:
            this.state = null;
            this.#begin(frame.scene);
            $("password-form").hidden = true;
            this.#setStatus("live", "Live");
            this.#sendControls();
            break;
        case Kind.state:
            this.state = frame.state;
            ++this.states;
            if (this.#controls.take(frame.state.controls ?? {}, frame.state.is_paused)) {
                this.#isAddressDue = true;
            }
            this.#tellAbout();
            this.#tellPlayers(frame.state.players ?? []);
            break;
        case Kind.explain:
            this.inspector.explain = frame.explain;
            break;
        case Kind.need:
            this.headline.need = frame.need;
            break;
        case Kind.note:
            this.note(frame.note.text);
            break;
        default:
            this.#takeMoment(frame);
        }
    }

    #takeMoment(frame) {
        this.#judge.take(frame).forEach(ack => this.#live.sendAck(ack));
        this.#show.push(frame);
        if (frame.kind === Kind.truth) {
            ++this.frames;
            this.tick = frame.tick;
            this.#clock.take(frame.time, performance.now());
            this.#show.keepUp();
        }
    }

    // What the address asks for, once per connection.
    #sendControls() {
        const wanted = this.#sentControls ? this.#asked : readAddress();
        const {now, later} = wishesOf(wanted, this.state?.controls ?? this.scene.controls ?? {}, this.scene.source);
        this.#sentControls = true;
        this.#asked = later;
        now.forEach(([key, value]) => this.#controls.ask(key, value));
    }

    // ---- drawing

    #draw(now) {
        requestAnimationFrame(next => this.#draw(next));
        const elapsed = Math.min(250, this.#lastFrame === 0 ? 0 : now - this.#lastFrame);
        this.#lastFrame = now;
        if (this.#show === null) {
            return;
        }
        const begun = performance.now();
        try {
            this.#advance(now, elapsed);
            this.panes.draw(this.theme.colours);
            this.#drawSlow(now);
        } catch (error) {
            this.fail(error);
        }
        ++this.draws;
        this.#frameTimes.push(performance.now() - begun);
        if (this.#frameTimes.length > KEPT_FRAMES) {
            this.#frameTimes.shift();
        }
    }

    #advance(now, elapsed) {
        if (this.#replay === null) {
            this.#show.advance(this.#clock.advance(now, elapsed));
            return;
        }
        this.#replay.advance(elapsed);
        if (this.#replay.time < this.#show.time) {
            this.#show.close();
            this.#newShow();
        }
        this.#show.advance(this.#replay.time);
        this.#player.tell();
    }

    #timelines() {
        const until = this.#replay === null ? Infinity : this.#replay.time;
        return this.scene.ways.map((_, place) => this.#judge.seconds(place).filter(second => second.time <= until));
    }

    // What changes some times a second: one task in a frame, so that no frame takes long.
    #drawSlow(now) {
        const due = this.#tasks.findIndex(task => now - task.last > task.period);
        if (due >= 0) {
            const [task] = this.#tasks.splice(due, 1);
            task.last = now;
            task.run();
            this.#tasks.push(task);
        }
    }

    #makeTasks() {
        const task = (period, run) => ({period, run, last: 0});
        return [
            task(SLOW_MS, () => this.#drawFigures()),
            ...this.charts.parts.map(part => task(SLOW_MS, part)),
            task(PACKET_MS, () => this.packets.draw(this.#show, this.#propertyNames(), this.theme.colours)),
            task(SLOW_MS, () => this.panes.selected !== null && this.inspector.tell(this.#show, this.panes.selected)),
            task(SLOW_MS, () => this.#isAddressDue && this.#writeAddress()),
        ];
    }

    #drawAllSoon() {
        this.#tasks.forEach(task => {
            task.last = 0;
        });
    }

    // By place in a class: of several classes all that stand there.
    #propertyNames() {
        const {classes} = this.#show.ways[0].client;
        const count = Math.max(0, ...classes.map(({properties}) => properties.length));
        return Array.from({length: count}, (_, place) =>
            [...new Set(classes.map(({properties}) => properties[place]))]
                .filter(name => name !== undefined).join(", "));
    }

    #drawFigures() {
        const timelines = this.#timelines();
        this.panes.tell(timelines);
        this.headline.tell(timelines, this.#kbps());
        this.charts.set({
            scene: this.scene, colours: this.theme.colours, names: this.#propertyNames(), kbps: this.#kbps(),
            timelines: this.scene.ways.map((_, place) => this.#judge.seconds(place)), startTime: this.#judge.startTime,
            until: this.#replay?.time, isWhole: this.#replay !== null,
        });
    }

    #kbps() {
        return this.state?.controls?.kbps ?? this.scene.controls?.kbps ?? this.headline.need?.kbps ?? null;
    }

    // ---- words

    #setStatus(status, text) {
        this.status = status;
        document.body.dataset.status = status;
        if ($("status").textContent !== text) {
            $("status").textContent = text;
        }
    }

    note(text) {
        const note = document.createElement("p");
        const close = Object.assign(document.createElement("button"), {type: "button", textContent: "×", className: "quiet"});
        close.setAttribute("aria-label", "Close this note");
        close.addEventListener("click", () => note.remove());
        note.append(text, close);
        $("notes").append(note);
        while ($("notes").children.length > 3) {
            $("notes").firstChild.remove();
        }
        setTimeout(() => note.remove(), 12000);
    }

    /** What went wrong is shown, once for each sentence. */
    fail(error) {
        const text = error instanceof Error ? error.message : String(error);
        if (!this.errors.includes(text)) {
            this.errors.push(text);
            console.error(error);
            this.note(text);
        }
    }

    #tellAbout() {
        const {scene} = this;
        const controls = this.state?.controls ?? scene.controls ?? {};
        const parts = [
            scene.source.replace(/^scene:/, ""), `${scene.entities} entities`, `seen by entity ${scene.viewer}`,
            controls.kbps === undefined ? "" : `${controls.kbps} kbit/s`,
            controls.loss === undefined ? "" : `${controls.loss} % lost`,
            controls.rtt === undefined ? "" : `${controls.rtt} ms`,
        ];
        $("about").textContent = parts.filter(part => part !== "").join(" · ");
        document.title = `Pinhole: ${parts[0]}`;
    }

    #tellPlayers(players) {
        const told = players.map(player => `${player.way} ${Number(player.error_mrad ?? NaN).toFixed(2)} mrad at ${
            Number(player.wire_kbps ?? NaN).toFixed(1)} kbit/s`);
        $("players").textContent = told.length === 0 ? "" : `Native players over UDP: ${told.join(", ")}.`;
    }

    #tellTheme() {
        $("theme").textContent = {auto: "Auto", light: "Light", dark: "Dark"}[this.theme?.name ?? "auto"];
        if (this.theme !== undefined) {
            this.panes?.tellLegend(this.theme.colours);
            this.#drawAllSoon();
        }
    }

    // ---- what is chosen

    select(id) {
        this.panes.select(id);
        this.inspector.open(id);
        this.#live?.send(`select ${id ?? "none"}`);
        this.#drawAllSoon();
        this.#isAddressDue = true;
    }

    #listenToolbar() {
        for (const key of ["colour", "magnify", "layer"]) {
            $(`view-${key}`).addEventListener("change", event => {
                this.panes.options[key] = key === "magnify" ? Number(event.target.value) : event.target.value;
                this.#tellView();
            });
        }
        for (const key of ["truth", "lines", "vision", "cells", "slots", "equipment"]) {
            $(`view-${key}`).addEventListener("change", event => {
                this.panes.options[key] = event.target.checked;
                this.#tellView();
            });
        }
        $("zoom-in").addEventListener("click", () => this.panes.zoom(1));
        $("zoom-out").addEventListener("click", () => this.panes.zoom(-1));
        $("fit").addEventListener("click", () => this.panes.fit());
        $("follow").addEventListener("click", () => this.panes.follow(!this.panes.camera.isFollowing));
        $("theme").addEventListener("click", () => this.#turnTheme());
        $("keys").addEventListener("click", () => $("help").showModal());
        for (const unit of ["mm", "mrad"]) {
            $(`error-${unit}`).addEventListener("click", () => {
                this.charts.unit = unit;
                $("error-mm").setAttribute("aria-pressed", String(unit === "mm"));
                $("error-mrad").setAttribute("aria-pressed", String(unit === "mrad"));
                this.#drawAllSoon();
            });
        }
        this.#tellToolbar();
    }

    #turnTheme() {
        this.theme.turn();
        this.#tellView();
    }

    #tellToolbar() {
        for (const [key, value] of Object.entries(this.panes.options)) {
            const input = $(`view-${key}`);
            if (input.type === "checkbox") {
                input.checked = value;
            } else {
                input.value = String(value);
            }
        }
        $("follow").setAttribute("aria-pressed", String(this.panes.camera.isFollowing));
        this.panes.tellLegend(this.theme.colours);
    }

    #tellView() {
        this.#tellToolbar();
        this.#isAddressDue = true;
    }

    #writeAddress() {
        this.#isAddressDue = false;
        const pairs = [];
        for (const key of CONTROL_KEYS) {
            const value = this.#controls?.values[key];
            if (value !== undefined && value !== "") {
                pairs.push([key, wordOf(value)]);
            }
        }
        pairs.push(...viewPairs(this.panes.options, VIEW_DEFAULTS));
        if (this.theme.name !== "auto") {
            pairs.push(["theme", this.theme.name]);
        }
        // Browsers limit how often this may be done.
        const address = writeAddress(pairs);
        if (location.hash !== address) {
            history.replaceState(null, "", address);
        }
    }

    #listenKeys() {
        document.addEventListener("keydown", event => {
            const isTyping = event.target.closest("input:not([type=checkbox]):not([type=range]), select, dialog, textarea") !== null;
            if (isTyping || event.ctrlKey || event.metaKey || event.altKey) {
                return;
            }
            const isButton = event.target.closest("button, input, a") !== null;
            const actions = {
                " ": isButton ? undefined : () => this.#togglePlay(),
                ".": () => this.#step(),
                c: () => this.#turnColour(),
                t: () => this.#turnTheme(),
                "?": () => $("help").showModal(),
                Escape: () => this.select(null),
            };
            const action = actions[event.key] ?? actions[event.key.toLowerCase()];
            if (action !== undefined) {
                event.preventDefault();
                action();
            }
        });
    }

    #togglePlay() {
        if (this.#player !== null) {
            this.#player.toggle();
        } else {
            this.#controls?.pause(!this.#controls.isPaused);
        }
    }

    #step() {
        if (this.#player !== null) {
            this.#player.step(this.scene.tick_us);
        } else {
            this.#controls?.step();
        }
    }

    #turnColour() {
        this.panes.options.colour = this.panes.options.colour === "error" ? "age" : "error";
        this.#tellView();
    }

    // ---- for tests and for the curious

    frameTimes() {
        return [...this.#frameTimes];
    }

    figures() {
        return Object.fromEntries(this.scene.ways.map(({name}, place) => [name, this.#judge.whole(place)]));
    }

    shown(name) {
        return this.#show.ways[this.scene.ways.findIndex(way => way.name === name)]?.list() ?? [];
    }

    truth() {
        return this.#show.truth.list();
    }

    async finish() {
        while (!this.isMeasured) {
            await new Promise(done => setTimeout(done, 10));
        }
        this.#replay.seek(this.#replay.endTime);
        return this.figures();
    }
}

const page = new Page();

/**
 * For tests and for the curious; nothing of the page uses it.
 *   status: "loading", "live", "replay", "gone" (the server is away) or "refused" (a password is wanted)
 *   scene, state: the newest SCENE and STATE; errors: sentences, none when all is well
 *   tick, frames, states: tick of the newest TRUTH, TRUTH frames since the SCENE, STATE frames since the beginning
 *   draws: frames drawn so far; frameTimes(): ms of the work for each of the last 600
 *   figures(): of the whole run so far, by way and by the keys of `pinhole sim --json`, at full precision
 *   shown(way), truth(): [{id, x_mm, y_mm, z_mm, heading_deg}]
 *   screenOf(way, id): {x, y} in pixels of the viewport, or null; selected: id or null; select(id)
 *   finish(): in a replay, a promise of figures() at the end of the run
 */
window.pinholePage = Object.freeze({
    get status() { return page.status; },
    get scene() { return page.scene; },
    get state() { return page.state; },
    get errors() { return [...page.errors]; },
    get draws() { return page.draws; },
    get tick() { return page.tick; },
    get frames() { return page.frames; },
    get states() { return page.states; },
    get selected() { return page.panes.selected; },
    frameTimes: () => page.frameTimes(),
    figures: () => page.figures(),
    shown: way => page.shown(way),
    truth: () => page.truth(),
    screenOf: (way, id) => page.panes.screenOf(way, id),
    select: id => page.select(id),
    finish: () => page.finish(),
});

try {
    await page.start();
} catch (error) {
    page.fail(error);
}
