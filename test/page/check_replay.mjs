// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A run as one file (pinhole sim ... --page FILE.html): opened from disk, without a server and without any request.

import {readFileSync, statSync} from "node:fs";
import {join} from "node:path";
import {pathToFileURL} from "node:url";
import {assert, pinhole, run, test, until} from "./harness.mjs";

// @return {file, told}: the page and what --json said about the same run.
async function record(folder, ...options) {
    const file = join(folder, "run.html");
    const told = await pinhole("sim", "scene:town", "--viewers", 1, "--seconds", 12, "--page", file, "--json", ...options);
    return {file: pathToFileURL(file).href, path: file, told: JSON.parse(told)};
}

// Figures of --json that the page has, too: the judge of the page has no properties, so no stale_ms.
const SPREADS = ["error_mm", "error_mrad", "heading_deg"];
const NUMBERS = ["missing_pct", "ghost_pct", "jolts_per_min", "datagrams", "payload_bytes"];

// To the last digit that --json prints: kit/json.c has ten. C rounds a number that lies just between two of them to the
// even one, JavaScript to the larger one.
function printed(number) {
    const [digits, power = ""] = number.toPrecision(11).split(/(?=e)/);
    const isBetween = digits.endsWith("5") && Number(digits + power) === number;
    const lower = digits.slice(0, -1);
    return isBetween && "02468".includes(lower.at(-1)) ? Number(lower + power) : Number(number.toPrecision(10));
}

function assertEqualFigures(shown, told, way) {
    for (const key of SPREADS) {
        for (const part of ["mean", "p50", "p95", "p99"]) {
            assert.equal(printed(shown[key][part]), told[key][part], `${way}: ${key}.${part}`);
        }
    }
    for (const key of NUMBERS) {
        assert.equal(printed(shown[key]), told[key], `${way}: ${key}`);
    }
}

for (const [name, options] of [["calm", ["--seed", 2]], ["a fifth lost, jitter", ["--loss", 20, "--jitter", 80, "--kbps", 8]]]) {
    test(`replay, ${name}: the module's figures are those of the native client, to the last digit`, async ({open, folder}) => {
        const {file, told} = await record(folder(), "--compare", "all", ...options);
        const page = await open(file);
        const shown = await page.evaluate(() => window.pinholePage.finish());
        assert.deepEqual(Object.keys(shown).sort(), ["classic", "pinhole", "snapshot"]);
        for (const way of Object.keys(shown)) {
            assertEqualFigures(shown[way], told[way], way);
        }
        assert.ok(told.classic.error_mm.mean > 0 && told.classic.datagrams > 10, "there is something to compare");
    });
}

test("replay: the file asks for nothing, and has all panes", async ({open, folder, context}) => {
    const {file, path} = await record(folder(), "--compare", "all");
    const asked = [];
    context.on("request", request => asked.push(request.url()));
    const page = await open(file);
    assert.equal(await page.evaluate(() => window.pinholePage.status), "replay");
    for (const way of ["classic", "pinhole", "snapshot"]) {
        await page.locator(`[data-pane="${way}"]`).waitFor();
    }
    assert.deepEqual(asked.filter(url => !/^(data|blob):/.test(url)), [file], "nothing but the file itself");
    assert.doesNotMatch(readFileSync(path, "latin1").replace(/<script type="(application|text)\/[^>]*>[^<]*<\/script>/g, ""),
        /(src|href)="https?:/, "nothing from elsewhere");
    console.log(`     12 s of the town, three ways: ${(statSync(path).size / 1024).toFixed(0)} KB`);
});

test("replay: it plays, stops, goes back and on, and tells of an entity and of a packet", async ({open, folder}) => {
    const {file} = await record(folder(), "--compare");
    const page = await open(file);
    const timeOf = () => page.locator("#time-told").textContent();
    const start = await timeOf();
    await until(page, start => document.querySelector("#time-told").textContent !== start, start);
    await page.locator("#play").click();
    const seek = value => page.locator("#time").evaluate((slider, value) => {
        slider.value = value;
        slider.dispatchEvent(new Event("input", {bubbles: true}));
    }, value);
    // Of what is shown the ids: how far a correction has come depends on when it was drawn.
    const places = () => JSON.stringify([window.pinholePage.truth(), window.pinholePage.shown("pinhole").map(({id}) => id)]);
    const placesAt = async value => {
        await seek(value);
        const before = await page.evaluate(() => window.pinholePage.draws);
        await until(page, before => window.pinholePage.draws > before + 3, before);
        return page.evaluate(places);
    };
    const [low, high] = await page.locator("#time").evaluate(slider => [Number(slider.min), Number(slider.max)]);
    const at = share => low + share * (high - low);
    const late = await placesAt(at(0.8));
    const early = await placesAt(at(0.4));
    assert.ok(early.length > 100 && late !== early, "another time, other places");
    assert.equal(await placesAt(at(0.8)), late, "the same time, the same places");
    await page.evaluate(() => window.pinholePage.select(window.pinholePage.shown("pinhole").find(one => one.id !== window.pinholePage.scene.viewer).id));
    await until(page, () => document.querySelector("#entity").textContent.includes("health"));
    await until(page, () => document.querySelectorAll("#packet [data-item]").length > 2);
});

await run();
