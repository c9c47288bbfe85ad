// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Who may use the page: those who know the password where one is wanted, and no other site in the same browser.

import {createServer, request} from "node:http";
import {assert, run, test, until} from "./harness.mjs";

// A site of someone else, on this machine.
async function foreignSite(body) {
    const server = createServer((asked, answer) => {
        answer.setHeader("Content-Type", "text/html");
        answer.end(`<!DOCTYPE html><title>foreign</title><link rel="icon" href="data:,">${body}`);
    });
    await new Promise(resolve => server.listen(0, "127.0.0.1", resolve));
    return {address: `http://127.0.0.1:${server.address().port}`, close: () => server.close()};
}

// @return The status of an HTTP request with these headers; 101 when a WebSocket was let in, 0 when it was cut off.
function ask(demo, path, headers) {
    return new Promise(resolve => {
        const asked = request({host: "127.0.0.1", port: demo.port, path, headers});
        asked.on("response", answer => (answer.resume(), resolve(answer.statusCode)));
        asked.on("upgrade", (answer, socket) => (socket.destroy(), resolve(101)));
        asked.on("error", () => resolve(0));
        asked.end();
    });
}

function upgrade(demo, headers) {
    return ask(demo, "/feed", {Connection: "Upgrade", Upgrade: "websocket", "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": "pinhole-feed-1", ...headers});
}

test("safety: a wrong password is refused, the right one is taken", async ({open, demo, expected}) => {
    expected.push(/WebSocket connection to .* failed/);
    const running = await demo("--password", "let me in");
    const page = await open(running.address + "/", false);
    const password = page.locator("#password");
    await password.waitFor();
    await password.fill("let me out");
    await password.press("Enter");
    await until(page, () => document.querySelector("#password-told").textContent !== "" && window.pinholePage.status === "refused");
    assert.equal(await page.evaluate(() => window.pinholePage.scene), null, "nothing was told");
    await password.fill("let me in");
    await password.press("Enter");
    await until(page, () => window.pinholePage.status === "live" && window.pinholePage.draws > 0);
    assert.ok(!page.url().includes("let"), "the password is not in the address");
});

test("safety: another site in the same browser learns and changes nothing", async ({open, demo, expected}) => {
    expected.push(/./); // all that the browser says about what it refuses
    const running = await demo();
    const site = await foreignSite("<p>hello</p>");
    try {
        const page = await open(site.address, false);
        const told = await page.evaluate(async ({address, port}) => {
            const outcome = {};
            const socket = new WebSocket(`ws://127.0.0.1:${port}/feed`, "pinhole-feed-1");
            outcome.socket = await new Promise(resolve => {
                socket.onopen = () => resolve("open");
                socket.onmessage = () => resolve("message");
                socket.onerror = socket.onclose = () => resolve("refused");
            });
            outcome.fetched = await fetch(address + "/main.js").then(() => "read", () => "refused");
            outcome.framed = await new Promise(resolve => {
                const frame = document.createElement("iframe");
                frame.onload = () => resolve(frame.contentDocument === null ? "loaded" : "blank");
                frame.src = address + "/";
                document.body.append(frame);
            });
            return outcome;
        }, {address: running.address, port: running.port});
        assert.equal(told.socket, "refused");
        assert.equal(told.fetched, "refused");
    } finally {
        site.close();
    }
});

test("safety: origins and hosts are checked by the server itself", async ({demo}) => {
    const running = await demo();
    const host = `127.0.0.1:${running.port}`;
    assert.equal(await upgrade(running, {Host: host, Origin: `http://${host}`}), 101, "its own page");
    for (const origin of ["http://evil.example", `http://127.0.0.1:${running.port + 1}`, "null", `https://${host}`]) {
        assert.notEqual(await upgrade(running, {Host: host, Origin: origin}), 101, `origin ${origin}`);
    }
    assert.notEqual(await upgrade(running, {Host: host}), 101, "no origin");
    // A name of someone else that leads to this machine.
    assert.notEqual(await upgrade(running, {Host: "evil.example", Origin: "http://evil.example"}), 101, "another host");
    assert.ok(![200, 101].includes(await ask(running, "/", {Host: "evil.example"})), "another host, a file");
    assert.equal(await ask(running, "/", {Host: host}), 200);
    assert.ok(![200, 101].includes(await ask(running, "/../../etc/passwd", {Host: host})));
});

test("safety: the page's headers keep everything else out", async ({open, demo, context}) => {
    const running = await demo();
    const seen = [];
    context.on("response", response => seen.push(response));
    await open(running.address + "/");
    for (const response of seen) {
        const headers = response.headers();
        assert.match(headers["content-security-policy"], /default-src 'none'|default-src 'self'/, response.url());
        assert.match(headers["content-security-policy"], /frame-ancestors 'none'/, response.url());
        assert.equal(headers["x-content-type-options"], "nosniff", response.url());
    }
    assert.ok(seen.every(response => response.url().startsWith(running.address)), "nothing from elsewhere");
});

await run();
