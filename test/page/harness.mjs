// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What every test of the page needs: a browser, a demo, and a list of tests. A check_SUBJECT.mjs is
//
//     import {test, run} from "./harness.mjs";
//     test("the map moves", async ({open, demo}) => { ... });
//     await run();
//
// Each test gets a browser context of its own. It fails when it throws, and also when the page wrote an error or a
// warning to the console, threw, or asked for what cannot be loaded, unless the test said that it expects that.
// Waiting is always for a condition; the one limit, WAIT_MS, only ends tests that hang.

import {spawn} from "node:child_process";
import {strict as assert} from "node:assert";
import {mkdirSync, mkdtempSync, rmSync} from "node:fs";
import {createRequire} from "node:module";
import {tmpdir} from "node:os";
import {join} from "node:path";

const {chromium} = createRequire(join(process.env.PAGE_MODULES, "package.json"))("playwright-core");

export const PROGRAM = process.env.PINHOLE_PROGRAM;
export const SHOTS = process.env.PAGE_SHOTS;
export const WAIT_MS = Number(process.env.PAGE_WAIT_MS ?? 240000);

const BROWSER_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars"];

// ---- the demo --------------------------------------------------------------------------------------------------------

/** A program with a page, on a free port. `address` is its page. */
export class Demo {
    #child;
    #output = "";
    #ended;
    address = "";

    static async start(command, ...options) {
        const demo = new Demo();
        await demo.#spawn(command, options);
        return demo;
    }

    #spawn(command, options) {
        const usual = ["--seconds", "600", ...(options.includes("--port") ? [] : ["--port", "0"])];
        this.#child = spawn(PROGRAM, [command, ...options, ...usual], {stdio: ["ignore", "pipe", "pipe"]});
        this.#ended = new Promise(resolve => this.#child.on("exit", resolve));
        return new Promise((resolve, reject) => {
            const read = bytes => {
                this.#output += bytes;
                const found = /https?:\/\/[^\s/]+:(\d+)/.exec(this.#output);
                if (found !== null && this.address === "") {
                    this.address = found[0];
                    resolve();
                }
            };
            this.#child.stdout.on("data", read);
            this.#child.stderr.on("data", read);
            setTimeout(() => reject(new Error(`${command} says no address: ${this.#output}`)), WAIT_MS).unref();
            this.#ended.then(code => reject(new Error(`${command} ended with ${code}: ${this.#output}`)));
        });
    }

    get port() {
        return Number(new URL(this.address).port);
    }

    async stop() {
        this.#child.kill("SIGINT");
        await this.#ended;
    }
}

/** Runs the program to its end. @return What it wrote to standard output. */
export function pinhole(...words) {
    return new Promise((resolve, reject) => {
        const child = spawn(PROGRAM, words.map(String), {stdio: ["ignore", "pipe", "pipe"]});
        let output = "", errors = "";
        child.stdout.on("data", bytes => output += bytes);
        child.stderr.on("data", bytes => errors += bytes);
        child.on("exit", code => code === 0 ? resolve(output) : reject(new Error(`pinhole ${words.join(" ")}: ${errors}`)));
    });
}

// ---- the tests -------------------------------------------------------------------------------------------------------

const tests = [];

/** options: those of a browser context, as viewport or colorScheme; isFast: frames come as fast as the machine can. */
export function test(name, work, options = {}) {
    tests.push({name, work, options});
}

// What the page complains about goes into complaints, unless `expected` has a pattern for it.
function listen(page, complaints, expected) {
    const complain = text => expected.some(pattern => pattern.test(text)) || complaints.push(text);
    page.on("console", message => ["error", "warning"].includes(message.type()) && complain(`console: ${message.text()}`));
    page.on("pageerror", error => complain(`thrown: ${error.stack ?? error}`));
    page.on("requestfailed", request => complain(`cannot be loaded: ${request.url()} ${request.failure()?.errorText}`));
    page.on("response", response => response.status() >= 400 && complain(`${response.status()}: ${response.url()}`));
}

// One test, in a context of its own. @return An empty text, or what is wrong.
async function runOne(browser, {work, options: {isFast = false, ...options}}) {
    const complaints = [], expected = [], closing = [];
    const context = await browser.newContext({viewport: {width: 1000, height: 700}, reducedMotion: "no-preference", ...options});
    context.setDefaultTimeout(WAIT_MS);
    if (!isFast) {
        // Ten frames a second show the same and leave the processor to the other tests: there is no graphics card.
        await context.addInitScript(() => {
            window.requestAnimationFrame = work => setTimeout(() => work(performance.now()), 100);
        });
    }
    const start = async (...words) => {
        const demo = await Demo.start(...words);
        closing.push(() => demo.stop());
        return demo;
    };
    const tools = {
        context,
        expected,
        demo: (...words) => start("demo", ...words),
        cluster: (...words) => start("cluster", ...words),
        /** A page, listened to; with an address it is opened, and comes back once the first frame is drawn. */
        open: async (address, isReady = true) => {
            const page = await context.newPage();
            listen(page, complaints, expected);
            if (address !== undefined) {
                await page.goto(address);
                await (isReady ? drawn(page) : undefined);
            }
            return page;
        },
        folder: () => {
            const name = mkdtempSync(join(tmpdir(), "pinhole-page-"));
            closing.push(() => rmSync(name, {recursive: true}));
            return name;
        },
    };
    let fault = "";
    try {
        await work(tools);
    } catch (error) {
        fault = error.stack ?? String(error);
    }
    await context.close();
    for (const close of closing.reverse()) {
        await close();
    }
    return [fault, ...complaints].filter(text => text !== "").join("\n    ");
}

/** Runs all tests, PAGE_TIMES times, several at once, prints a line for each and their count, sets the exit code. */
export async function run({jobs = 3} = {}) {
    const home = mkdtempSync(join(tmpdir(), "pinhole-chromium-"));
    const browser = await chromium.launch({executablePath: process.env.PAGE_BROWSER, args: BROWSER_FLAGS,
        env: {...process.env, HOME: home}});
    const chosen = tests.filter(({name}) => name.includes(process.env.PAGE_ONLY ?? ""));
    const queue = Array.from({length: Number(process.env.PAGE_TIMES ?? 1)}, () => chosen).flat();
    const count = {passed: 0, failed: 0};
    const work = async () => {
        for (let one = queue.shift(); one !== undefined; one = queue.shift()) {
            const start = performance.now();
            const fault = await runOne(browser, one);
            ++count[fault === "" ? "passed" : "failed"];
            console.log(`${fault === "" ? "ok  " : "FAIL"} ${one.name}, ${((performance.now() - start) / 1000).toFixed(1)} s`);
            if (fault !== "") {
                console.log(`    ${fault}`);
            }
        }
    };
    await Promise.all(Array.from({length: jobs}, work));
    await browser.close();
    rmSync(home, {recursive: true, force: true});
    console.log(`${count.passed} passed, ${count.failed} failed`);
    process.exitCode = count.failed > 0 || count.passed === 0 ? 1 : 0;
}

// ---- asking the page -------------------------------------------------------------------------------------------------

/** Until the page has drawn a frame of its map. */
export async function drawn(page) {
    await page.waitForFunction(() => window.pinholePage?.draws > 0);
}

/** Waits until `ask`, a function in the page, gives something true, and returns that. */
export async function until(page, ask, argument) {
    return (await page.waitForFunction(ask, argument)).jsonValue();
}

export async function shoot(page, name, options = {}) {
    mkdirSync(SHOTS, {recursive: true});
    await page.screenshot({path: join(SHOTS, `${name}.png`), ...options});
}

export {assert};
