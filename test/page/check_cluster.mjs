// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The page of pinhole cluster: which sim an entity comes from and which front-end has its player, also after either has died.

import {accessSync, constants} from "node:fs";
import {request} from "node:http";
import {join} from "node:path";
import {assert, run, shoot, test, until} from "./harness.mjs";
import {findFaintText, findUnnamed, findWide} from "./looks.mjs";

const BOTS = 12;

function hasNats() {
    return process.env.PATH.split(":").some(folder => {
        try {
            accessSync(join(folder, "nats-server"), constants.X_OK);
            return true;
        } catch {
            return false;
        }
    });
}

async function openCluster(open, cluster) {
    const running = await cluster("--bots", BOTS);
    const page = await open(running.address + "/");
    await until(page, bots => {
        const {picture} = window.pinholePage;
        return picture.complete && picture.entities.length > bots && picture.bots.connected === bots &&
            picture.entities.filter(one => one.front !== "").length === bots && picture.entities.every(one => one.sim !== "");
    }, BOTS);
    return {page, running};
}

const picture = page => page.evaluate(() => ({...window.pinholePage.picture, byKey: null}));

// The colours that the map has where an entity is drawn: in its middle, and from there to beyond its ring.
function coloursAt(page, key) {
    return page.evaluate(key => {
        const {map} = window.pinholePage;
        const {x, y} = map.find(key);
        const ratio = map.canvas.width / map.size.width;
        const {data} = map.context.getImageData(Math.round(x * ratio), Math.round(y * ratio), Math.ceil(11 * ratio), 1);
        return Array.from({length: data.length / 4}, (_, i) => [...data.slice(4 * i, 4 * i + 4)].join());
    }, key);
}

// Of its legend or table.
function swatchOf(page, name) {
    return page.evaluate(name => {
        const {colours} = window.pinholePage;
        const context = document.createElement("canvas").getContext("2d");
        context.fillStyle = colours.sims.includes(name) ? colours.sim(name) : colours.front(name);
        context.fillRect(0, 0, 1, 1);
        return [...context.getImageData(0, 0, 1, 1).data].join();
    }, name);
}

// A player's that no other is near to on the map, so that its pixels are its own; and that stays there for a look.
async function choosePlayer(page) {
    const key = await until(page, () => {
        const {map, picture} = window.pinholePage;
        const isWanted = one => one.front !== "";
        const marks = map.marks.filter(({px, py}) => px > 30 && py > 60 && px < map.size.width - 30 && py < map.size.height - 40);
        const found = marks.find(({entity, px, py}) => isWanted(picture.byKey.get(entity.key) ?? entity) &&
            map.marks.every(other => other.entity.key === entity.key || Math.hypot(other.px - px, other.py - py) > 26));
        return found?.entity.key;
    });
    return key;
}

const fact = (page, name) => page.locator(`#entity [data-fact="${name}"]`).textContent();

test("cluster: every entity says its sim, every player its front-end, and the map shows both", async ({open, cluster}) => {
    const {page} = await openCluster(open, cluster);
    const {entities, regions, parts, border_mm} = await picture(page);
    assert.equal(new Set(entities.map(one => one.sim)).size, 2, "two sims own the world");
    for (const one of entities) {
        assert.equal(one.sim, regions[one.region].owner);
        assert.equal(one.epoch, regions[one.region].epoch);
    }
    // One that is just walking over the border may still be of the other side.
    const far = entities.filter(one => Math.abs(one.x - border_mm) > 10000);
    assert.ok(far.length > 10 && far.every(one => one.region === (one.x < border_mm ? 0 : 1)), "regions lie where they are drawn");
    for (const {name, players} of parts.filter(part => part.kind === "front")) {
        assert.equal(entities.filter(one => one.front === name).length, Number(players), name);
    }
    const scale = await page.evaluate(() => window.pinholePage.camera.scale);
    await page.locator("#zoom-in").click();
    assert.ok(await page.evaluate(() => window.pinholePage.camera.scale) > scale);
    await page.locator("#fit").click();
    assert.equal(await page.evaluate(() => window.pinholePage.camera.scale), scale);
    const key = await choosePlayer(page);
    const {sim, front} = await page.evaluate(key => window.pinholePage.picture.byKey.get(key), key);
    const owner = await swatchOf(page, sim);
    const ring = await swatchOf(page, front);
    const [middle, ...others] = await coloursAt(page, key);
    assert.equal(middle, owner);
    assert.ok(others.includes(ring) && ring !== owner, `${ring} is in ${others}`);
    await shoot(page, "cluster");
});

test("cluster: a click says key, sim, front-end and epoch, and they change when sim and front-end die", async ({open, cluster}) => {
    const {page} = await openCluster(open, cluster);
    const key = await choosePlayer(page);
    const place = await page.evaluate(key => window.pinholePage.screenOf(key), key);
    await page.mouse.click(place.x, place.y);
    await page.locator("#entity").waitFor();
    const chosen = await page.evaluate(() => window.pinholePage.selected);
    const before = await page.evaluate(key => window.pinholePage.picture.byKey.get(key), chosen);
    assert.equal(await fact(page, "key"), chosen);
    assert.equal(await fact(page, "sim"), before.sim);
    assert.equal(await fact(page, "epoch"), String(before.epoch));
    assert.equal(await fact(page, "region"), String(before.region));
    assert.equal(await fact(page, "front-end"), before.front === "" ? "none: no player has it" : before.front);
    const player = before.front !== "" ? chosen : key;
    await page.evaluate(player => window.pinholePage.select(player), player);
    const {sim, epoch, front, region} = await page.evaluate(player => window.pinholePage.picture.byKey.get(player), player);
    const pidOf = name => page.evaluate(name => window.pinholePage.picture.parts.find(part => part.name === name).pid, name);

    process.kill(await pidOf(sim), "SIGKILL");
    await until(page, ([region, sim]) => window.pinholePage.picture.entities.filter(one => one.region === region)
        .every(one => one.sim !== sim && one.sim !== ""), [region, sim]);
    await until(page, ([region, epoch]) => window.pinholePage.picture.regions[region].epoch > epoch, [region, epoch]);
    await until(page, sim => document.querySelector("#entity [data-fact=sim]").textContent !== sim, sim);
    assert.ok(Number(await fact(page, "epoch")) > 0);

    process.kill(await pidOf(front), "SIGKILL");
    await until(page, front => !["", front].includes(window.pinholePage.picture.byKey.get(window.pinholePage.selected)?.front), front);
    await until(page, front => ![front, "none: no player has it"].includes(
        document.querySelector("#entity [data-fact=front-end]").textContent), front);
    await page.locator("#map").focus();
    await page.keyboard.press("n");
    assert.notEqual(await page.evaluate(() => window.pinholePage.selected), player);
    await page.keyboard.press("Escape");
    assert.ok(await page.locator("#entity").isHidden());
});

function ask(running, path, headers) {
    return new Promise(resolve => {
        const asked = request({host: "127.0.0.1", port: running.port, path, headers});
        asked.on("response", answer => (answer.resume(), resolve(answer.statusCode)));
        asked.on("upgrade", (answer, socket) => (socket.destroy(), resolve(101)));
        asked.on("error", () => resolve(0));
        asked.end();
    });
}

test("cluster: looks in light, dark and on a phone; other sites learn nothing; its end is told", async ({open, cluster, expected}) => {
    expected.push(/WebSocket connection to .* failed/);
    const {page, running} = await openCluster(open, cluster);
    const complaints = [];
    for (const [name, width, theme] of [["light", 1280, "light"], ["dark", 1280, "dark"], ["phone", 360, "light"], ["phone-dark", 360, "dark"]]) {
        await page.setViewportSize({width, height: 800});
        await page.emulateMedia({colorScheme: theme, reducedMotion: "reduce"}); // colours change at once then
        const draws = await page.evaluate(() => window.pinholePage.draws);
        await until(page, draws => window.pinholePage.draws > draws + 2, draws);
        await page.evaluate(() => (window.pinholePage.fit(), window.pinholePage.select(null)));
        complaints.push(...(await page.evaluate(findUnnamed)), ...(await page.evaluate(findFaintText)), ...(await page.evaluate(findWide)));
        await shoot(page, `cluster-${name}`, {fullPage: true});
        await page.evaluate(() => window.pinholePage.select(window.pinholePage.picture.entities.find(one => one.front !== "").key));
        complaints.push(...(await page.evaluate(findFaintText)), ...(await page.evaluate(findWide)));
        await shoot(page, `cluster-${name}-entity`);
    }
    assert.deepEqual(complaints, []);

    const socket = {Connection: "Upgrade", Upgrade: "websocket", "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": "pinhole-cluster-1"};
    const host = `127.0.0.1:${running.port}`;
    assert.equal(await ask(running, "/feed", {...socket, Origin: `http://${host}`}), 101);
    assert.equal(await ask(running, "/feed", {...socket, Origin: "http://elsewhere.example"}), 403);
    assert.equal(await ask(running, "/feed", socket), 403);
    assert.equal(await ask(running, "/feed", {...socket, Origin: `http://${host}`, "Sec-WebSocket-Protocol": "pinhole-feed-1"}), 400);
    assert.equal(await ask(running, "/", {Host: "elsewhere.example"}), 403);
    assert.equal(await ask(running, "/", {Host: host}), 200);

    await running.stop();
    await until(page, () => window.pinholePage.status === "gone");
    assert.match(await page.locator("#status").textContent(), /does not answer/);
    assert.deepEqual(await page.evaluate(() => window.pinholePage.errors), []);
});

if (hasNats()) {
    await run({jobs: 2});
} else {
    console.log("skipped: there is no nats-server here (Debian: nats-server)");
}
