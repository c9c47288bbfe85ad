// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What makes a page usable by everyone, as far as a program can tell: each function runs in the page and returns a list of
// complaints.

/** Controls and pictures have a name for screen readers, ids are unique, headings go down by one. */
export function findUnnamed() {
    const complaints = [];
    const isSeen = element => element.checkVisibility({checkVisibilityCSS: true}) && element.closest("[aria-hidden=true]") === null;
    const nameOf = element => {
        const by = (element.getAttribute("aria-labelledby") ?? "").split(/\s+/).map(id => document.getElementById(id)?.textContent ?? "");
        const labels = [...(element.labels ?? [])].map(label => label.textContent);
        const inside = ["INPUT", "SELECT", "TEXTAREA"].includes(element.tagName) ? "" : element.textContent;
        return [element.getAttribute("aria-label") ?? "", ...by, ...labels, inside, element.title ?? "", element.alt ?? ""].join(" ").trim();
    };
    const short = element => element.outerHTML.slice(0, 90);
    for (const element of document.querySelectorAll("button, input, select, textarea, a, summary, canvas, img, svg[role], [role=slider]")) {
        if (isSeen(element) && nameOf(element) === "") {
            complaints.push(`has no name: ${short(element)}`);
        }
    }
    const ids = [...document.querySelectorAll("[id]")].map(element => element.id);
    for (const id of new Set(ids.filter((id, index) => ids.indexOf(id) !== index))) {
        complaints.push(`two elements have the id ${id}`);
    }
    for (const attribute of ["for", "aria-labelledby", "aria-describedby", "aria-controls"]) {
        for (const element of document.querySelectorAll(`[${attribute}]`)) {
            for (const id of element.getAttribute(attribute).split(/\s+/)) {
                if (document.getElementById(id) === null) {
                    complaints.push(`${attribute}="${id}" names nothing: ${short(element)}`);
                }
            }
        }
    }
    let level = 0;
    for (const heading of [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].filter(isSeen)) {
        const own = Number(heading.tagName[1]);
        if (own > level + 1) {
            complaints.push(`a heading skips a level: ${short(heading)}`);
        }
        level = own;
    }
    if (document.querySelectorAll("h1").length !== 1 || document.querySelectorAll("main").length !== 1) {
        complaints.push("there must be one h1 and one main");
    }
    if (document.documentElement.lang === "" || document.title === "") {
        complaints.push("the page has no language or no title");
    }
    return complaints;
}

/** Text against what is behind it: 4.5 to 1, large text 3 to 1 (WCAG 2.2, 1.4.3). Text on pictures is not judged. */
export function findFaintText() {
    const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
    // Any CSS colour as [r, g, b, a]; the browser itself converts it.
    const parse = colour => {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
        return [r, g, b, a / 255];
    };
    const over = (top, under) => [0, 1, 2].map(i => top[i] * top[3] + under[i] * (1 - top[3]));
    const behind = element => {
        const layers = [];
        for (let at = element; at !== null; at = at.parentElement) {
            const colour = parse(getComputedStyle(at).backgroundColor);
            layers.push(colour);
            if (colour[3] === 1) {
                break;
            }
        }
        const canvasColour = parse(getComputedStyle(document.documentElement).backgroundColor);
        let result = canvasColour[3] === 1 ? canvasColour : matchMedia("(prefers-color-scheme: dark)").matches ? [0, 0, 0] : [255, 255, 255];
        for (const layer of layers.reverse()) {
            result = over(layer, result);
        }
        return result;
    };
    const light = colour => colour.slice(0, 3).map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const complaints = new Map();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const element = walker.currentNode.parentElement;
        const text = walker.currentNode.textContent.trim();
        if (text === "" || !element.checkVisibility({checkVisibilityCSS: true, checkOpacity: true}) || element.matches(":disabled, :disabled *, script, style, option")) {
            continue;
        }
        const style = getComputedStyle(element);
        const size = parseFloat(style.fontSize);
        const isSvg = element.closest("svg") !== null;
        const paper = behind(isSvg ? element.closest("svg").parentElement : element);
        const ink = over(parse(isSvg ? style.fill : style.color), paper);
        const [high, low] = [light(ink), light(paper)].sort((a, b) => b - a);
        const ratio = (high + 0.05) / (low + 0.05);
        const least = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
        if (ratio < least - 0.005) {
            complaints.set(`${style.color} on ${paper.map(Math.round)}`, `${ratio.toFixed(2)} to 1, ${style.color} on rgb(${paper.map(Math.round)}): "${text.slice(0, 40)}"`);
        }
    }
    return [...complaints.values()];
}

/** Elements that stick out of the page to the right. */
export function findWide() {
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width) {
        return [];
    }
    return [...document.querySelectorAll("body *")].filter(element => element.getBoundingClientRect().right > width + 1)
        .map(element => `wider than ${width} px: ${element.outerHTML.slice(0, 90)}`).slice(0, 8);
}

/** Everything that a pointer can use. */
export function findUsable() {
    const all = document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]");
    const isOwn = element => element.matches("a, button, input, select, textarea, summary");
    return [...all].filter(element => !element.matches("[data-item]") && element.checkVisibility({checkVisibilityCSS: true}) && !element.disabled && (element.tabIndex >= 0 || isOwn(element)))
        .map((element, index) => (element.dataset.testNumber = String(index), element.outerHTML.slice(0, 80)));
}
