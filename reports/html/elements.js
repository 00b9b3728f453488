"use strict";
// Elements of the page. Every name and number enters as text, never as markup.

const page = JSON.parse(document.getElementById("data").textContent);
const causes = { rewind: "rewind", overflow: "overflow", window_passed: "window passed",
                 sequence_switch: "sequence switch", policy: "policy" };

// element("td", {class: "number"}, "12", child, ...)
function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children) {
    if (child !== null && child !== undefined) made.append(child);
  }
  return made;
}

const grouped = (count) => String(count).replace(/\B(?=(\d{3})+(?!\d))/g, ",");

// Three digits and a unit, as the tables of the other reports.
function scaled(value, step, units) {
  let unit = 0;
  for (; value >= step - 0.5 && unit + 1 < units.length; ++unit) value /= step;
  if (unit === 0) return `${grouped(Math.round(value))} ${units[0]}`;
  return `${value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0)} ${units[unit]}`;
}
const bytes = (count) => count === null ? "-" : scaled(count, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]);
const time = (ns) => ns === null ? "-" : scaled(ns, 1000, ["ns", "us", "ms", "s"]);

// A cell of a table: its text, and whether it is the best, a warning or a failure.
function markedCell([text, emphasis], number) {
  const best = emphasis === "best", kind = [number ? "number" : "", emphasis].join(" ").trim();
  return element("td", { class: kind || null }, best ? element("strong", {}, text) : text,
                 best ? element("span", { class: "hidden" }, " best") : null);
}

// Stays in view while its table is scrolled sideways.
const captionOf = (text) => element("caption", {}, element("span", {}, text));

// A table with a caption. columns: [{title, number}], rows: lists of texts; the first column heads its row.
function table(caption, columns, rows) {
  const cell = (text, i) => i === 0 ? element("th", { scope: "row", class: columns[0].number ? "number" : null }, text)
                                    : element("td", { class: columns[i].number ? "number" : null }, text);
  const head = columns.map((c) => element("th", { scope: "col", class: c.number ? "number" : null }, c.title));
  return element("table", {}, captionOf(caption), element("thead", {}, element("tr", {}, ...head)),
                 element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map(cell)))));
}

// A part that may be wider than the page: scrolled by itself, by keyboard too.
const scrolled = (label, content, extra) =>
  element("div", { class: `scroll ${extra || ""}`, role: "region", tabindex: "0", "aria-label": label }, content);

// Folded; its table is built when it is first opened.
function foldedTable(summary, build) {
  const details = element("details", {}, element("summary", {}, summary));
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length === 1) details.append(scrolled(summary, build(), "numbers"));
  });
  return details;
}

const swatch = (color) => element("span", { class: "swatch", style: `--swatch: var(${color})`, "aria-hidden": "true" });

function legendOf(entries) {
  return element("ul", { class: "legend" }, ...entries.map(([name, color, title]) =>
    element("li", { title }, swatch(color), element("span", { class: "name" }, name))));
}

function card(title, ...content) {
  return element("section", { class: "card" }, element("h3", {}, title), ...content);
}
