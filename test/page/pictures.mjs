// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The pictures of the page in the documents: page_light.png and page_dark.png, into the folder PAGE_PICTURES. Run by
// tools/page --pictures. A recorded run at a fixed moment, so that a busy machine gives the same picture.

import {join} from "node:path";
import {pathToFileURL} from "node:url";
import {pinhole, run, test, until} from "./harness.mjs";

const RUN = ["sim", "scene:town", "--compare", "all", "--viewers", 1, "--seconds", 40, "--loss", 5];
const SHARE = 0.7; // of the run

for (const colorScheme of ["light", "dark"]) {
    test(`picture, ${colorScheme}`, async ({open, folder}) => {
        const file = join(folder(), "town.html");
        await pinhole(...RUN, "--page", file);
        const page = await open(pathToFileURL(file).href);
        await page.locator("#play").click();
        await page.evaluate(() => window.pinholePage.finish());
        await page.locator("#zoom-in").click();
        await page.locator("#time").evaluate((slider, share) => {
            slider.value = Number(slider.min) + share * (Number(slider.max) - Number(slider.min));
            slider.dispatchEvent(new Event("input", {bubbles: true}));
        }, SHARE);
        const draws = await page.evaluate(() => window.pinholePage.draws);
        await until(page, draws => window.pinholePage.draws > draws + 30, draws);
        await page.mouse.move(0, 0);
        await page.evaluate(() => (document.activeElement.blur(), scrollTo(0, 0)));
        await page.screenshot({path: join(process.env.PAGE_PICTURES, `page_${colorScheme}.png`)});
    }, {colorScheme, viewport: {width: 1280, height: 800}});
}

await run();
