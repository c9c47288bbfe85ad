// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What the page costs: bytes, and the time of a frame with 2,000 entities. Printed, for looking at; a busy machine proves
// nothing, so no time is asserted. One test at a time.

import {gzipSync} from "node:zlib";
import {assert, run, shoot, test, until} from "./harness.mjs";

const percentile = (values, share) => values.slice().sort((a, b) => a - b)[Math.floor(share * (values.length - 1))].toFixed(1);

test("weight: a frame with 2,000 entities", async ({open, demo}) => {
    const page = await open((await demo("scene:wander", "--entities", "2000")).address + "/#kbps=200");
    await until(page, () => window.pinholePage.truth().length >= 1990 && window.pinholePage.shown("pinhole").length > 200);
    await page.locator("#fit").click();
    const gaps = await page.evaluate(() => new Promise(resolve => {
        const times = [];
        const next = now => (times.push(now) > 200 ? resolve(times.slice(1).map((time, i) => time - times[i])) : requestAnimationFrame(next));
        requestAnimationFrame(next);
    }));
    const work = (await page.evaluate(() => window.pinholePage.frameTimes())).slice(-200);
    console.log(`     2,000 entities, two maps: a frame's work takes ${percentile(work, 0.5)} ms (p95 ${percentile(work, 0.95)}), ` +
        `one comes every ${percentile(gaps, 0.5)} ms (p95 ${percentile(gaps, 0.95)}); without a graphics card`);
    await shoot(page, "entities-2000");
}, {viewport: {width: 1440, height: 900}, isFast: true});

test("weight: what the page weighs", async ({open, demo, context}) => {
    const weights = [];
    context.on("response", response => weights.push(response.body().then(body => [new URL(response.url()).pathname, body])));
    await open((await demo()).address + "/");
    let size = 0, packed = 0;
    for (const [path, body] of await Promise.all(weights)) {
        size += body.length;
        packed += gzipSync(body, {level: 9}).length;
        console.log(`     ${path}: ${body.length} bytes, ${gzipSync(body, {level: 9}).length} by gzip`);
    }
    console.log(`     the page: ${size} bytes, ${packed} by gzip`);
    assert.ok(size > 10000);
});

await run({jobs: 1});
