// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

/**
 * The live controls. Each sends its command at once; what the server then says it is, is what the control shows, unless it
 * is in someone's hand. Ids and names are the words of the commands.
 */

const SLIDERS = ["loss", "rtt", "jitter", "hz"];
const HOLD_MS = 1200; // after a change, until the server's word counts again

// The budget's slider goes by factors: 2, 5, 13 and 200 are as far apart as people see them.
const LOG_STEPS = 200;

/** Where the budget's slider stands for a value, and the other way. */
export function sliderOf(value, [low, high]) {
    return Math.round(LOG_STEPS * Math.log(value / low) / Math.log(high / low));
}

export function valueOf(position, [low, high]) {
    const value = low * (high / low) ** (position / LOG_STEPS);
    return value < 20 ? Math.round(value * 2) / 2 : Math.round(value);
}

function wordsOf(key, value) {
    switch (key) {
    case "loss": return `${value} %`;
    case "hz": return value === 0 ? "its own" : `${value} Hz`;
    default: return `${value} ms`;
    }
}

export class Controls {
    #root;
    #send;
    #ranges = {};
    #heldUntil = new Map();
    #isPaused = false;

    /** @param send (command) => void @param onChange () => void: the address is due */
    constructor(root, send, onChange) {
        this.#root = root;
        this.#send = send;
        this.onChange = onChange;
        this.values = {};
        SLIDERS.forEach(key => this.#listenSlider(key));
        this.#listenBudget();
        for (const key of ["source", "scheduler"]) {
            this.#input(key).addEventListener("change", event => this.#say(key, event.target.value));
        }
        for (const key of ["entities", "viewer"]) {
            this.#input(key).addEventListener("change", ({target}) => {
                // An empty field is no wish: it shows again what there is.
                if (Number.isNaN(target.valueAsNumber)) {
                    target.value = this.values[key] ?? "";
                } else {
                    this.#say(key, String(Math.round(target.valueAsNumber)));
                }
            });
        }
        this.#input("snapshot").addEventListener("change", event => this.#say("snapshot", event.target.checked ? "1" : "0"));
        this.#input("pause").addEventListener("click", () => this.pause(!this.#isPaused));
        this.#input("step").addEventListener("click", () => this.step());
    }

    #input(key) {
        return this.#root.querySelector(`#${key}`);
    }

    #listenSlider(key) {
        const slider = this.#input(key);
        slider.addEventListener("input", () => {
            this.#tell(key, slider.valueAsNumber);
            this.#say(key, slider.value);
        });
    }

    // By number or by slider. What is typed counts as soon as it is within the range.
    #listenBudget() {
        const typed = this.#input("kbps");
        const slider = this.#input("kbps-slider");
        slider.addEventListener("input", () => {
            const value = valueOf(slider.valueAsNumber, this.#ranges.kbps);
            this.#tell("kbps", value);
            this.#say("kbps", String(value));
        });
        typed.addEventListener("input", () => {
            if (typed.validity.valid && typed.value !== "") {
                slider.value = sliderOf(typed.valueAsNumber, this.#ranges.kbps);
                this.#say("kbps", typed.value);
            }
        });
    }

    #say(key, value) {
        this.#heldUntil.set(key, performance.now() + HOLD_MS);
        this.values[key] = key === "source" || key === "scheduler" ? value : key === "snapshot" ? value === "1" : Number(value);
        this.#send(value === "" ? key : `${key} ${value}`);
        this.onChange();
    }

    /** The same as if it were set by hand: what the address asks for. */
    ask(key, value) {
        if (this.#input(key) !== null) {
            this.#say(key, value);
            this.#tell(key, key === "snapshot" ? value === "1" : this.values[key]);
        }
    }

    pause(is) {
        this.#send(`pause ${is ? 1 : 0}`);
        this.#tellPause(is);
    }

    step() {
        if (!this.#isPaused) {
            this.#send("pause 1"); // only then a step is one
        }
        this.#send("step");
        this.#tellPause(true);
    }

    get isPaused() {
        return this.#isPaused;
    }

    #tellPause(is) {
        this.#isPaused = is;
        this.#input("pause").textContent = is ? "Go on" : "Pause";
        this.#input("pause").setAttribute("aria-pressed", String(is));
    }

    #tell(key, value) {
        const input = this.#input(key);
        if (key === "kbps") {
            input.value = value;
            this.#input("kbps-slider").value = sliderOf(value, this.#ranges.kbps);
            this.#input("kbps-slider").setAttribute("aria-valuetext", `${value} kbit/s`);
        } else if (SLIDERS.includes(key)) {
            input.value = value;
            input.setAttribute("aria-valuetext", wordsOf(key, value));
            this.#root.querySelector(`output[for="${key}"]`).textContent = wordsOf(key, value);
        } else if (key === "snapshot") {
            input.checked = Boolean(value);
        } else {
            input.value = value;
        }
    }

    /** A scene begins: what there is to choose from. */
    begin(scene) {
        this.#ranges = {kbps: [2, 200], loss: [0, 90], rtt: [0, 1000], jitter: [0, 500], hz: [0, 60], entities: [2, 2000], ...scene.ranges};
        for (const key of SLIDERS) {
            const [low, high] = this.#ranges[key];
            const slider = this.#input(key);
            slider.min = low;
            slider.max = high;
            slider.step = key === "rtt" || key === "jitter" ? 5 : 1;
        }
        this.#input("kbps-slider").max = LOG_STEPS;
        [this.#input("kbps").min, this.#input("kbps").max] = this.#ranges.kbps;
        [this.#input("entities").min, this.#input("entities").max] = this.#ranges.entities;
        fill(this.#input("source"), scene.sources ?? [scene.source], name => name.replace(/^scene:/, ""));
        fill(this.#input("scheduler"), ["", ...(scene.schedulers ?? []).filter(name => name !== "")],
            name => (name === "" ? "each profile’s own" : name));
        this.take(scene.controls ?? {}, false);
    }

    /** What the server says they are. @returns {boolean} whether one of them is another than before */
    take(controls, isPaused) {
        let isOther = false;
        for (const [key, value] of Object.entries(controls)) {
            const input = this.#input(key);
            if (input === null || (this.#heldUntil.get(key) ?? 0) > performance.now()) {
                continue;
            }
            isOther ||= this.values[key] !== value;
            this.values[key] = value;
            if (document.activeElement !== input || input.type === "range") {
                this.#tell(key, value);
            }
        }
        if (isPaused !== this.#isPaused) {
            this.#tellPause(isPaused);
        }
        return isOther;
    }
}

function fill(select, values, name) {
    const text = values.join("\n");
    if (select.dataset.values !== text) {
        select.dataset.values = text;
        select.replaceChildren(...values.map(value => new Option(name(value), value)));
    }
}
