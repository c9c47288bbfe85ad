// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// How the page looks and whether everyone can use it: light and dark, wide and narrow, by keyboard, by screen readers.
// Screenshots of every view are kept for looking at; what they look like is not judged here.

import {assert, run, shoot, test, until} from "./harness.mjs";
import {findFaintText, findUnnamed, findUsable, findWide} from "./looks.mjs";

const WIDE = {width: 1440, height: 900};
const NARROW = {width: 360, height: 780};

async function settled(page, way = "pinhole") {
    await until(page, way => window.pinholePage.state !== null && window.pinholePage.shown(way).length > 10, way);
}

async function select(page) {
    await until(page, () => {
        const one = window.pinholePage.shown("pinhole").find(one => one.id !== window.pinholePage.scene.viewer);
        return one !== undefined && (window.pinholePage.select(one.id), true);
    });
    await page.locator("#entity").waitFor();
}

for (const colorScheme of ["light", "dark"]) {
    for (const [size, viewport] of [["wide", WIDE], ["narrow", NARROW]]) {
        test(`views, ${colorScheme}, ${size}: readable, named, no wider than the window`, async ({open, demo}) => {
            const page = await open((await demo("--entities", "80")).address + "/#snapshot=1");
            await settled(page, "snapshot");
            await until(page, () => window.pinholePage.frames >= 40);
            await shoot(page, `live-${colorScheme}-${size}`);
            await shoot(page, `live-${colorScheme}-${size}-whole`, {fullPage: true});
            await select(page);
            await shoot(page, `entity-${colorScheme}-${size}-whole`, {fullPage: true});
            for (const find of [findWide, findUnnamed, findFaintText]) {
                assert.deepEqual(await page.evaluate(find), [], find.name);
            }
        }, {colorScheme, viewport});
    }
}

test("views: everything can be reached by keyboard, and one sees where one is", async ({open, demo}) => {
    const page = await open((await demo()).address + "/");
    await settled(page);
    // Records of a packet are as many as it has, and change with it: one of them must be reached.
    const usable = await page.evaluate(findUsable);
    assert.ok(usable.length > 10, "there are controls");
    const reached = new Set();
    let hasRecord = false;
    for (let i = 0; i < usable.length + 5 || !hasRecord && i < 500; ++i) {
        await page.keyboard.press("Tab");
        const {number, isMarked, isRecord} = await page.evaluate(() => {
            const style = getComputedStyle(document.activeElement);
            return {
                number: document.activeElement.dataset.testNumber, isRecord: document.activeElement.matches("#packet [data-item]"),
                isMarked: style.outlineStyle !== "none" || style.boxShadow !== "none",
            };
        });
        hasRecord ||= isRecord;
        if (number !== undefined) {
            reached.add(Number(number));
            assert.ok(isMarked, `no focus mark: ${usable[Number(number)]}`);
        }
    }
    // Of radio buttons of one group one is reached by Tab, the others by arrows.
    const missed = usable.filter((text, index) => !reached.has(index) && !text.includes('type="radio"'));
    assert.deepEqual(missed, []);
    assert.ok(hasRecord, "records of packets can be read by keyboard");
});

test("views: nothing is animated for those who do not want it", async ({open, demo}) => {
    const page = await open((await demo()).address + "/");
    await settled(page);
    assert.deepEqual(await page.evaluate(() => document.getAnimations().map(one => String(one.animationName ?? one.transitionProperty))), []);
}, {reducedMotion: "reduce"});

await run();
