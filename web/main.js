// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

/** The page: loads the module and says that it is there. */

import {Pinhole} from "./pinhole.js";

function bytesOf(element) {
    return Uint8Array.from(atob(element.textContent), letter => letter.charCodeAt(0));
}

const inside = document.getElementById("pinhole-module");
await Pinhole.load(inside === null ? "demo.wasm" : bytesOf(inside));
document.getElementById("status").textContent = "The client is loaded.";
