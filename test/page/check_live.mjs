// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The page while a demo runs: it moves, each control changes what it says, an address gives the same view again, and a
// demo that goes away is waited for.

import {assert, Demo, drawn, run, test, until} from "./harness.mjs";

const LINK = ["--rtt", "40", "--jitter", "0", "--loss", "0"];

// The page's client shows the scene: all that a test needs before it changes something.
async function settled(page) {
    await until(page, () => window.pinholePage.state !== null && window.pinholePage.shown("pinhole").length > 10);
}

async function openLive(open, demo, address = "") {
    const page = await open(demo.address + "/" + address);
    await settled(page);
    return page;
}

// As a person would. A slider's value is what it says beside it at once, before the server does: the budget's goes by factors.
async function set(page, id, value) {
    const control = page.locator(`#${id}`);
    const kind = await control.evaluate(element => element.type);
    if (kind === "select-one") {
        await control.selectOption(value);
    } else if (kind === "checkbox") {
        await control.setChecked(value);
    } else if (kind === "range") {
        return control.evaluate((slider, value) => {
            slider.value = value;
            slider.dispatchEvent(new Event("input", {bubbles: true}));
            return parseFloat(document.querySelector(`output[for=${slider.id}]`).textContent);
        }, value);
    } else {
        await control.fill(String(value));
        await control.press("Tab");
    }
    return value;
}

// What the server says of it, the address, and the control itself.
async function has(page, key, value) {
    await until(page, ([key, value]) => window.pinholePage.state?.controls[key] === value, [key, value]);
    const text = `${key}=${value === true ? 1 : value === false ? 0 : value}`;
    await until(page, text => decodeURIComponent(location.hash).slice(1).split("&").includes(text), text);
    const control = page.locator(`#${key}`);
    const kind = await control.evaluate(element => element.type);
    if (kind === "checkbox") {
        assert.equal(await control.isChecked(), value, key);
    } else if (kind === "range") {
        assert.equal(parseFloat(await page.locator(`output[for=${key}]`).textContent()), value, key);
    } else {
        assert.equal(await control.inputValue(), String(value), key);
    }
}

async function change(page, key, value) {
    const said = await set(page, key, value);
    assert.ok(key === "kbps" || said === value, `${key} ${value} says ${said}`);
    await has(page, key, said);
    return said;
}

// ---- it moves

test("live: the map moves, and both clients show it", async ({open, demo}) => {
    const page = await openLive(open, await demo(...LINK));
    const canvas = page.locator("canvas[data-way=pinhole]");
    const before = await canvas.screenshot();
    const places = await page.evaluate(() => window.pinholePage.shown("pinhole"));
    const draws = await page.evaluate(() => window.pinholePage.draws);
    await until(page, draws => window.pinholePage.draws > draws + 30, draws);
    await until(page, places => {
        const now = new Map(window.pinholePage.shown("pinhole").map(one => [one.id, one]));
        return places.filter(one => now.has(one.id) && Math.abs(now.get(one.id).x_mm - one.x_mm) > 100).length > 5;
    }, places);
    assert.notDeepEqual(await canvas.screenshot(), before, "the pixels have changed");
    for (const way of ["classic", "pinhole"]) {
        await until(page, way => /^\d[\d.]*\s*(mm|m)$/.test(document.querySelector(`[data-pane=${way}] .big`).textContent), way);
        assert.match(await page.locator(`[data-figure=error_mm][data-way=${way}]`).textContent(), /\d/);
    }
    assert.deepEqual(await page.evaluate(() => window.pinholePage.errors), []);
});

// ---- controls

test("live: budget, latency, jitter and loss change what they say, and the address", async ({open, demo}) => {
    const page = await openLive(open, await demo(...LINK));
    const burst = await page.evaluate(() => window.pinholePage.state.ways[1].burst_bits);
    const kbps = await change(page, "kbps", 150);
    assert.ok(kbps > 40, `a budget of ${kbps}`);
    await until(page, burst => window.pinholePage.state?.ways[1]?.burst_bits > 2 * burst, burst);
    await change(page, "rtt", 600);
    await until(page, () => window.pinholePage.state?.ways.every(way => way.rtt_ms > 500));
    await change(page, "jitter", 100);
    await change(page, "loss", 60);
    await until(page, () => window.pinholePage.state?.ways.some(way => way.lost_pct > 20));
});

test("live: send rate and scheduler change what they say, and the address", async ({open, demo}) => {
    const page = await openLive(open, await demo(...LINK));
    await change(page, "hz", 2);
    const scene = await page.evaluate(() => window.pinholePage.scene.scene);
    await change(page, "scheduler", "buckets");
    await until(page, scene => window.pinholePage.scene.scene !== scene, scene);
    assert.equal(await page.evaluate(() => window.pinholePage.scene.controls.scheduler), "buckets");
});

test("live: source and number of entities are others for every page, the viewer for one", async ({open, demo}) => {
    const running = await demo(...LINK);
    const page = await openLive(open, running);
    const other = await openLive(open, running);
    await change(page, "source", "scene:wander");
    await until(other, () => window.pinholePage.scene.source === "scene:wander");
    await change(page, "entities", 40);
    for (const one of [page, other]) {
        await until(one, () => window.pinholePage.scene.entities === 40 && window.pinholePage.truth().length === 40);
    }
    await settled(page);
    const viewer = await page.evaluate(() => window.pinholePage.scene.viewer);
    const chosen = await page.evaluate(viewer => window.pinholePage.truth().map(one => one.id).find(id => id !== viewer), viewer);
    await change(page, "viewer", chosen);
    await until(page, chosen => window.pinholePage.scene.viewer === chosen, chosen);
    assert.notEqual(await other.evaluate(() => window.pinholePage.scene.viewer), chosen, "a viewer is of one page alone");
});

test("live: snapshots are a third pane", async ({open, demo}) => {
    const page = await openLive(open, await demo(...LINK));
    assert.deepEqual(await page.locator("[data-pane]").evaluateAll(all => all.filter(one => one.checkVisibility())
        .map(one => one.dataset.pane)), ["classic", "pinhole"]);
    await change(page, "snapshot", true);
    await page.locator("[data-pane=snapshot]").waitFor();
    await until(page, () => window.pinholePage.shown("snapshot").length > 10);
    await until(page, () => /\d/.test(document.querySelector("[data-figure=error_mm][data-way=snapshot]").textContent));
    await set(page, "snapshot", false);
    await until(page, () => !document.querySelector("[data-pane=snapshot]")?.checkVisibility());
});

test("live: pause stands still, a step is one tick", async ({open, demo}) => {
    const page = await openLive(open, await demo(...LINK));
    await page.locator("#pause").click();
    await until(page, () => window.pinholePage.state.is_paused);
    const tick = await page.evaluate(() => window.pinholePage.tick);
    const time = await page.evaluate(() => window.pinholePage.state.time_us);
    // Two more reports of the server, and the time in them is the same.
    const reports = await page.evaluate(() => window.pinholePage.states);
    await until(page, reports => window.pinholePage.states >= reports + 2, reports);
    assert.equal(await page.evaluate(() => window.pinholePage.state.time_us), time);
    assert.equal(await page.evaluate(() => window.pinholePage.tick), tick);
    await page.locator("#step").click();
    await until(page, tick => window.pinholePage.tick > tick, tick);
    const more = await page.evaluate(() => window.pinholePage.states);
    await until(page, more => window.pinholePage.states >= more + 2, more);
    assert.equal(await page.evaluate(() => window.pinholePage.tick), tick + 1, "one tick, and no more");
    await page.locator("#pause").click();
    await until(page, tick => window.pinholePage.tick > tick + 3, tick);
});

// ---- a view can be shared

test("live: an address gives the same view again", async ({open, demo}) => {
    const running = await demo(...LINK);
    const page = await openLive(open, running);
    const values = [];
    for (const [id, value] of [["kbps", 100], ["loss", 20], ["rtt", 200], ["snapshot", true]]) {
        values.push([id, await change(page, id, value)]);
    }
    await page.locator("#view-cells").check();
    await page.locator("#view-colour").selectOption("age");
    await until(page, () => location.hash.includes("cells=1") && location.hash.includes("colour=age"));
    const shared = await openLive(open, running, new URL(page.url()).hash);
    await page.reload();
    await drawn(page);
    for (const one of [shared, page]) {
        for (const [id, value] of values) {
            await has(one, id, value);
        }
        await until(one, () => window.pinholePage.shown("snapshot").length > 0);
        assert.ok(await one.locator("#view-cells").isChecked());
        assert.equal(await one.locator("#view-colour").inputValue(), "age");
    }
});

// ---- an entity, a packet

test("live: a click on an entity tells about it", async ({open, demo}) => {
    const page = await openLive(open, await demo(...LINK));
    await page.locator("#pause").click();
    await until(page, () => window.pinholePage.state.is_paused);
    await page.locator("canvas[data-way=pinhole]").scrollIntoViewIfNeeded();
    const {id, x, y} = await until(page, () => {
        const {scene, shown, screenOf} = window.pinholePage;
        const all = shown("pinhole").filter(one => one.id !== scene.viewer).map(one => ({id: one.id, ...screenOf("pinhole", one.id)}));
        const box = document.querySelector("canvas[data-way=pinhole]").getBoundingClientRect();
        // Drawing goes on for a moment after the pause: until nothing moves any more.
        const places = JSON.stringify(all);
        const isStill = places === window.testPlaces;
        window.testPlaces = places;
        const isAlone = one => all.every(other => other === one || Math.hypot(other.x - one.x, other.y - one.y) > 30);
        return isStill && all.find(one => one.x > box.left + 20 && one.x < box.right - 20 && one.y > box.top + 20 && one.y < Math.min(box.bottom, innerHeight) - 20 &&
            isAlone(one));
    });
    await page.mouse.click(x, y);
    await until(page, id => window.pinholePage.selected === id, id);
    const entity = page.locator("#entity");
    await entity.waitFor();
    await page.locator("#pause").click();
    // Its properties by name, what its turn is made of, and when it was last served.
    await until(page, id => document.querySelector("#entity").textContent.includes(String(id)), id);
    for (const word of ["health", "priority", "last sent"]) {
        await until(page, word => document.querySelector("#entity").textContent.toLowerCase().includes(word), word);
    }
    await page.keyboard.press("Escape");
    await until(page, () => window.pinholePage.selected === null);
});

test("live: the newest packet is drawn by meaning, with its records as text", async ({open, demo}) => {
    const page = await openLive(open, await demo(...LINK));
    await page.locator("#packet").waitFor();
    await until(page, () => document.querySelectorAll("#packet [data-item]").length > 2);
    const first = await until(page, () => document.querySelector("#packet").textContent);
    await until(page, first => document.querySelector("#packet").textContent !== first, first);
});

test("live: what classic would need is said, measured by a sweep", async ({open, demo}) => {
    const page = await openLive(open, await demo(...LINK));
    await until(page, () => /classic needs .*kbit\/s/.test(document.querySelector("#need").textContent));
});

// ---- a demo that goes away

test("live: the page says that the demo is gone, and comes back with it", async ({open, expected}) => {
    expected.push(/WebSocket connection to .* failed/, /ERR_CONNECTION_REFUSED/); // said by the browser itself
    const first = await Demo.start("demo", ...LINK);
    let second = null;
    try {
        const page = await openLive(open, first);
        await change(page, "loss", 20);
        await first.stop();
        await until(page, () => window.pinholePage.status === "gone");
        assert.match(await page.locator("#status").textContent(), /gone|away|stopped|again/i);
        second = await Demo.start("demo", ...LINK, "--port", String(first.port));
        await until(page, () => window.pinholePage.status === "live");
        await settled(page);
        await has(page, "loss", 20); // the view is the one that it was
        const draws = await page.evaluate(() => window.pinholePage.draws);
        await until(page, draws => window.pinholePage.draws > draws + 10, draws);
    } finally {
        await first.stop();
        await second?.stop();
    }
});

await run();
