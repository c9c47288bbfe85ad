// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

/**
 * The page of `pinhole cluster`: which sim each entity comes from and which front-end has each player, and what the parts
 * do. It is told everything five times a second (docs/wire_feed.md), and says nothing.
 */

import {readAddress} from "./address.js";
import {Camera} from "./camera.js";
import {ClusterMap} from "./cluster_map.js";
import {listenToMap, zoomStep} from "./gestures.js";
import {Live} from "./live.js";
import {Theme} from "./theme.js";
import {lengthText} from "./words.js";

const VERSION = 1;
const SIM_VALUES = [0, 1, 2, 4];
const FRONT_VALUES = [3, 6];
const COLUMNS = [
    ["name", "part"], ["state", "state"], ["regions", "regions"], ["entities", "entities"], ["players", "players"],
    ["kbps", "kbit/s"], ["gaps", "gaps"], ["fault", "last fault"], ["restarts", "restarts"],
];
const NUMBERS = new Set(["entities", "players", "kbps", "gaps", "restarts"]);
const ILL = new Set(["dead", "frozen", "silent"]);

const $ = id => document.getElementById(id);

function make(name, text = "", className = "") {
    const made = document.createElement(name);
    made.textContent = text;
    made.className = className;
    return made;
}

/** A frame, from text: entities with names in place of lists. */
export function readPicture(text) {
    const picture = JSON.parse(text);
    if (picture.version !== VERSION) {
        throw new Error(`The feed has version ${picture.version}, this page knows ${VERSION}: load the page again.`);
    }
    picture.entities = picture.entities.map(([key, x, y, region, epoch, sim, front]) =>
        ({key, x, y, region, epoch, sim, front}));
    picture.byKey = new Map(picture.entities.map(entity => [entity.key, entity]));
    return picture;
}

class Page {
    status = "loading";
    picture = null;
    former = null; // the one before
    selected = null;
    draws = 0;
    errors = [];
    #cameFirst = false;
    #came = 0;
    #gap = 200; // ms between the last two

    constructor() {
        this.camera = new Camera();
        this.map = new ClusterMap($("map"));
        this.theme = new Theme(() => this.#tellTheme());
        this.theme.set(readAddress().get("theme") ?? "auto");
        this.#listen();
        const url = new URL("feed", location.href.replace(/^http/, "ws"));
        url.hash = "";
        this.live = new Live(url.href, {
            frame: picture => this.#take(picture),
            gone: () => this.#setStatus("gone", "The demonstration does not answer"),
            password: () => {},
            error: error => this.#fail(error),
        }, {protocol: "pinhole-cluster-1", read: readPicture});
        requestAnimationFrame(() => this.#draw());
    }

    // ---- what comes

    #take(picture) {
        const now = performance.now();
        this.#gap = Math.max(50, Math.min(1000, now - this.#came));
        this.#came = now;
        this.former = this.picture;
        this.picture = picture;
        this.#setStatus("live", "Live");
        this.#tellSentence();
        this.#tellLegend();
        this.#tellParts();
        this.#tellEntity();
    }

    #fail(error) {
        this.errors.push(String(error));
        this.#setStatus("gone", error.message);
    }

    #setStatus(status, text) {
        this.status = status;
        document.body.dataset.status = status;
        setText($("status"), text);
    }

    // ---- colours

    /** By the names of parts, in the order of the table. */
    get colours() {
        const {values, ink, truth} = this.theme.colours;
        const namesOf = kind => (this.picture?.parts ?? []).filter(part => part.kind === kind).map(part => part.name);
        const sims = namesOf("sim");
        const fronts = namesOf("front");
        const table = [...FRONT_VALUES.map(i => values[i]), ink];
        return {
            sims, fronts,
            sim: name => (sims.includes(name) ? values[SIM_VALUES[sims.indexOf(name) % SIM_VALUES.length]] : truth),
            front: name => (fronts.includes(name) ? table[fronts.indexOf(name) % table.length] : truth),
        };
    }

    #swatch(name) {
        const {sims, fronts, sim, front} = this.colours;
        if (!sims.includes(name) && !fronts.includes(name)) {
            return [];
        }
        const swatch = make("span", "", fronts.includes(name) ? "ring" : "");
        swatch.style.setProperty("--swatch", fronts.includes(name) ? front(name) : sim(name));
        return [swatch];
    }

    // ---- words

    #tellSentence() {
        const {bots, regions, source, parts, entities} = this.picture;
        const owners = new Set(regions.map(({owner}) => owner).filter(owner => owner !== ""));
        const orphans = regions.filter(({owner}) => owner === "").map(({number}) => number);
        const fronts = new Set(entities.map(({front}) => front).filter(front => front !== ""));
        const ill = parts.filter(({state}) => ILL.has(state)).map(({name, state}) => `${name} is ${state}`);
        setText($("about"), `${source} on ${parts.length} processes`);
        setText($("sentence"), capital(`${counted(owners.size, "sim owns", "sims own")} the world, ${
            counted(fronts.size, "front-end has", "front-ends have")} ${bots.connected} of ${bots.wanted} players.`));
        const faults = [...ill, ...orphans.map(number => `region ${number} has no owner`)].join(", ");
        const moves = bots.moves === 0 ? "No player had to go to another front-end"
            : `Players went ${bots.moves === 1 ? "once" : `${bots.moves} times`} to another front-end`;
        setText($("need-more"), `${faults === "" ? "" : `${capital(faults)}. `}${moves}; ${
            bots.ended} connections ended, ${bots.wrong} of ${bots.sent} messages were wrong.`);
        setText($("spoken"), faults);
    }

    #tellLegend() {
        const {sims, fronts, sim, front} = this.colours;
        const key = JSON.stringify([sims, fronts, sims.map(sim), fronts.map(front)]);
        if (key === this.legendKey) {
            return;
        }
        this.legendKey = key;
        const one = (name, colour, className) => {
            const made = make("span", name, className);
            made.style.setProperty("--swatch", colour);
            return made;
        };
        $("legend").replaceChildren("Owned by", ...sims.map(name => one(name, sim(name), "")),
            "Ring: a player of", ...fronts.map(name => one(name, front(name), "ring")));
    }

    #tellParts() {
        const table = make("table");
        const head = table.createTHead().insertRow();
        COLUMNS.forEach(([key, title]) => head.append(Object.assign(make("th", title, NUMBERS.has(key) ? "number" : ""), {scope: "col"})));
        const body = table.createTBody();
        for (const part of this.picture.parts) {
            const row = body.insertRow();
            row.dataset.part = part.name;
            for (const [key] of COLUMNS) {
                const className = [NUMBERS.has(key) ? "number" : "", key === "state" && ILL.has(part.state) ? "ill" : ""].join(" ").trim();
                const cell = make(key === "name" ? "th" : "td", key === "name" ? "" : String(part[key]), className);
                if (key === "name") {
                    cell.scope = "row";
                    cell.append(...this.#swatch(part.name), part.name);
                }
                row.append(cell);
            }
        }
        $("parts").replaceChildren(table);
    }

    #tellEntity() {
        const aside = $("entity");
        aside.hidden = this.selected === null;
        document.body.classList.toggle("has-entity", !aside.hidden);
        if (this.selected === null) {
            return;
        }
        const entity = this.picture.byKey.get(this.selected);
        setText(aside.querySelector("h2"), `Entity ${this.selected}`);
        const rows = entity === undefined ? [["it", ["is no longer in the world"]]] : [
            ["key", [entity.key]],
            ["sim", [...this.#swatch(entity.sim), entity.sim === "" ? "not known" : entity.sim]],
            ["region", [entity.region < 0 ? "none" : String(entity.region)]],
            ["epoch", [String(entity.epoch)]],
            ["front-end", [...this.#swatch(entity.front), entity.front === "" ? "none: no player has it" : entity.front]],
            ["place", [`${lengthText(Math.abs(entity.x))} ${entity.x < 0 ? "west" : "east"}, ${
                lengthText(Math.abs(entity.y))} ${entity.y < 0 ? "south" : "north"}`]],
        ];
        const table = make("table");
        for (const [title, content] of rows) {
            const row = table.insertRow();
            row.append(Object.assign(make("th", title), {scope: "row"}));
            const cell = make("td");
            cell.dataset.fact = title;
            cell.append(...content);
            row.append(cell);
        }
        aside.querySelector(".body").replaceChildren(table);
    }

    #tellTheme() {
        setText($("theme"), {auto: "Auto", light: "Light", dark: "Dark"}[this.theme?.name ?? "auto"]);
        if (this.picture !== null && this.theme !== undefined) {
            this.#tellLegend();
            this.#tellParts();
            this.#tellEntity();
        }
    }

    // ---- by hand

    #listen() {
        const view = () => {};
        listenToMap($("map"), this.camera, {
            onView: view,
            onClick: (x, y) => this.select(this.map.hit(x, y)),
            keys: {0: () => this.fit(), n: () => this.#choose(1), p: () => this.#choose(-1), Escape: () => this.select(null)},
        });
        $("fit").addEventListener("click", () => this.fit());
        $("zoom-in").addEventListener("click", () => zoomStep(this.camera, 1));
        $("zoom-out").addEventListener("click", () => zoomStep(this.camera, -1));
        $("entity").querySelector("button").addEventListener("click", () => this.select(null));
        $("theme").addEventListener("click", () => this.theme.turn());
    }

    fit() {
        if (this.picture !== null) {
            this.camera.fit(this.picture.bounds_mm);
        }
    }

    select(key) {
        this.selected = key;
        if (this.picture !== null) {
            this.#tellEntity();
        }
    }

    // The next or former one from west to east, of those that are drawn.
    #choose(direction) {
        const order = [...(this.picture?.entities ?? [])].sort((a, b) => a.x - b.x).map(({key}) => key);
        const at = order.indexOf(this.selected);
        const next = at < 0 ? (direction > 0 ? 0 : order.length - 1) : (at + direction + order.length) % order.length;
        this.select(order[next] ?? null);
    }

    /** Where an entity is drawn, in pixels of the viewport, or null. */
    screenOf(key) {
        const found = this.map.find(key);
        const box = $("map").getBoundingClientRect();
        return found === null ? null : {x: box.left + found.x, y: box.top + found.y};
    }

    // ---- drawing

    #draw() {
        requestAnimationFrame(() => this.#draw());
        if (this.picture === null || document.hidden) {
            return;
        }
        if (!this.#cameFirst && this.map.resize(this.camera)) {
            this.#cameFirst = true;
            this.fit();
        }
        this.map.draw({
            picture: this.picture, former: this.former, share: Math.min(1, (performance.now() - this.#came) / this.#gap),
            camera: this.camera, theme: this.theme.colours, colours: this.colours, selected: this.selected,
        });
        ++this.draws;
    }
}

function counted(count, one, many) {
    const words = ["no", "one", "two", "three", "four"];
    return `${words[count] ?? count} ${count === 1 ? one : many}`;
}

function capital(text) {
    return text.charAt(0).toUpperCase() + text.slice(1);
}

function setText(element, text) {
    if (element.textContent !== text) {
        element.textContent = text;
    }
}

/** For tests: status, picture (byKey), draws, errors, select(key), screenOf(key). */
window.pinholePage = new Page();
