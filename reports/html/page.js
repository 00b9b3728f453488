// Puts the page together: verdict, all workloads at a glance, then each one's tables and charts, then settings.

const titleColumn = (workload, title) => workload.columns.findIndex((column) => column.title === title);

// The best of a column in one box: who, and how much.
function bestOf(workload, title) {
  const column = titleColumn(workload, title);
  const usable = column < 0 ? [] : workload.rows.filter((row, i) => workload.runs[i].comparable);
  const best = usable.filter((row) => row[column][1] === "best");
  const shown = best.length ? best : usable;
  if (!shown.length) return null;
  const who = best.length || usable.length === 1 ? shown.map((row) => row[0][0]).join(", ") : "all policies alike";
  return { who, value: shown[0][column][0] };
}

function statistic(workload, title, heading) {
  const best = bestOf(workload, title);
  return best && element("div", { class: "stat" }, element("span", { class: "soft" }, heading), element("b", {}, best.value),
                         element("span", { class: "who" }, best.who));
}

function verdictSentence() {
  const [workload] = page.workloads, parts = [];
  const add = (title, words) => { const best = bestOf(workload, title); if (best) parts.push(`${words}: ${best.who} (${best.value})`); };
  if (page.workloads.length === 1 && workload.runs.length > 1) {
    add("evaluated", "Fewest tokens evaluated");
    add("peak", "least memory");
    add("total", "fastest");
  }
  return `${page.verdict.text}. ${parts.length ? `${parts.join("; ")}.` : ""}`;
}

// Columns worth their room: the outcome only where a run did not complete.
function shownColumns(workload) {
  const outcome = titleColumn(workload, "outcome");
  const dull = workload.rows.every((row) => row[outcome][0] === "completed");
  return workload.columns.map((column, i) => i).filter((i) => i !== outcome || !dull);
}

function keyTable(workload) {
  const shown = shownColumns(workload);
  const head = shown.map((i) => workload.columns[i]).map((column) =>
    element("th", { scope: "col", class: column.number ? "number" : null, title: column.meaning || null }, column.title));
  const rows = workload.rows.map((row, r) => element("tr", {}, ...shown.map((i) => i > 0 ? markedCell(row[i], workload.columns[i].number)
    : element("th", { scope: "row", title: workload.runs[r].full_name }, row[0][0]))));
  const floor = workload.floor === null ? "" : ` The floor of one sequence is ${grouped(workload.floor)} tokens.`;
  const built = element("table", {}, captionOf(`Policies and key numbers; the best in bold.${floor}`),
                        element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows));
  return element("section", { class: "card key" }, element("h3", {}, "Policies"), scrolled("Policies and key numbers", built),
    workload.notes.length ? element("ul", { class: "notes" }, ...workload.notes.map((note) => element("li", {}, note))) : null);
}

function memoryFigure(run, state, events) {
  const { live, held, most } = memoryParts(run.memory, "all"), peak = most.indexOf(Math.max(...most));
  const at = run.memory.evaluation[peak];
  const label = `Memory of ${run.name} over ${grouped(run.evaluations || most.length)} evaluations: most ${bytes(most[peak])} at ` +
                `evaluation ${at}, of which ${bytes(live[peak])} live; ${bytes(held[held.length - 1])} at the end`;
  const area = plot(label, () => memoryConfig(run, state));
  const jump = element("button", { type: "button", class: "peak", title: "Show the peak and what happened there" },
                       `peak ${bytes(most[peak])} at ${at}`);
  jump.addEventListener("click", () => {
    const canvas = area && area.firstChild, chart = canvas && drawings.get(canvas).chart;
    if (chart) {
      const marked = chart.data.datasets[0].data[0];
      chart.tooltip.setActiveElements([{ datasetIndex: 1, index: chart.data.datasets[1].data.findIndex((p) => p.x === marked.x) }], { x: 0, y: 0 });
      chart.update();
    }
    events.show(run.name, at);
  });
  const rows = () => run.memory.evaluation.map((evaluation, i) => [evaluation, run.memory.length[i], live[i], held[i] - live[i],
    most[i] - held[i], most[i]].map((value, k) => k < 2 ? grouped(value) : bytes(value)));
  const columns = ["evaluation", "tokens", "live", "slack", "transient", "most"].map((title) => ({ title, number: true }));
  return element("figure", {}, element("figcaption", {}, element("span", { class: "name", title: run.full_name }, run.name), jump), area,
                 foldedTable("Numbers", () => table(`Memory of ${run.name}, all layers`, columns, rows())));
}

function memoryCard(workload, events) {
  const runs = workload.runs.filter((run) => run.memory.evaluation.length > 0);
  if (!runs.length) return null;
  const state = { layers: "all", sameScale: true };
  state.max = () => Math.max(...runs.map((run) => Math.max(...memoryParts(run.memory, state.layers).most)));
  const figures = element("div", { class: "multiples" }, ...runs.map((run) => memoryFigure(run, state, events)));
  const change = () => redraw(figures.querySelectorAll("canvas"));
  const layers = element("select", { "aria-label": "Layers" }, ...["all", "global", "sliding"].map((kind) => element("option", { value: kind }, `${kind} layers`)));
  layers.addEventListener("change", () => { state.layers = layers.value; change(); });
  const same = element("input", { type: "checkbox", checked: true });
  same.addEventListener("change", () => { state.sameScale = same.checked; change(); });
  const thinned = runs.some((run) => run.memory.evaluation.length < (run.evaluations || 0));
  return card("Memory over evaluations",
    element("div", { class: "head" },
      legendOf([["live", "--live", "rows in use"], ["slack", "--slack", "held, not used"], ["transient", "--transient", "old and new storage at the same time"]]),
      typeof Chart === "undefined" ? null : element("div", { class: "controls" }, layers, element("label", {}, same, " same scale"))),
    element("p", { class: "soft" }, "Live: rows in use. Slack: held, not used. Transient: old and new storage at the same time, known for all layers together. " +
      "The triangle marks the most ever held." + (thinned ? " Long runs are thinned; each stretch shows the evaluation that held the most." : "")), figures);
}

function tokensCard(workload) {
  const kinds = Object.keys(workload.runs[0].tokens);
  const total = (run) => kinds.reduce((sum, kind) => sum + run.tokens[kind], 0);
  const label = "Tokens evaluated by policy: " + workload.runs.map((run) => `${run.name} ${grouped(total(run))}, of these ` +
    `${grouped(total(run) - run.tokens.first)} again`).join("; ");
  const columns = [{ title: "policy" }, ...kinds.map((kind) => ({ title: causes[kind] || "first time", number: true })), { title: "all", number: true }];
  const area = plot(label, () => tokensConfig(workload));
  if (area) area.style.height = `${workload.runs.length * 2.1 + 4.5}rem`;
  return card("Tokens evaluated, and why again",
    legendOf([["first time", "--first"], ["rewind", "--rewind"], ["overflow", "--overflow"], ["window passed", "--window"],
              ["sequence switch", "--switch"], ["policy", "--policy"]]), area,
    foldedTable("Numbers", () => table("Tokens evaluated, by cause where they had been evaluated before", columns,
      workload.runs.map((run) => [run.name, ...kinds.map((kind) => grouped(run.tokens[kind])), grouped(total(run))]))));
}

function policySwitches(workload, state, change) {
  return element("ul", { class: "legend" }, ...workload.runs.map((run, i) => {
    const box = element("input", { type: "checkbox", checked: true });
    box.addEventListener("change", () => { state.hidden[box.checked ? "delete" : "add"](i); change(); });
    return element("li", { title: run.full_name }, element("label", {}, box, swatch(policyColor(i)), element("span", { class: "name" }, run.name)));
  }));
}

function chartCard(workload, title, label, config, note, numbers, tall) {
  const state = { hidden: new Set() }, area = plot(label, () => config(workload, state), tall);
  return card(title, element("p", { class: "soft" }, note),
              area && policySwitches(workload, state, () => redraw([area.firstChild])), area, foldedTable("Numbers", numbers));
}

function latencyCards(workload) {
  const timed = workload.runs.filter((run) => run.percentiles);
  if (!timed.length) return null;
  const names = ["n", "min", "p50", "p90", "p99", "max"];
  const columns = [{ title: "policy" }, ...names.map((title) => ({ title, number: true }))];
  const numbers = () => table("Time of an evaluation, nearest-rank percentiles over n evaluations", columns,
    timed.map((run) => [run.name, ...names.map((name) => name === "n" ? grouped(run.percentiles.n) : time(run.percentiles[name]))]));
  const spoken = timed.map((run) => `${run.name} median ${time(run.percentiles.p50)}, slowest ${time(run.percentiles.max)}`).join("; ");
  const repetitions = Math.max(...timed.map((run) => run.repetitions));
  const note = (repetitions > 1 ? `Median of ${repetitions} repetitions. ` : "One repetition. ") + "Long runs show the slowest of each stretch.";
  const each = () => table("Time of each evaluation", [{ title: "evaluation", number: true }, { title: "policy" }, { title: "time", number: true }],
    timed.flatMap((run) => (run.latency ? run.latency.evaluation : []).map((e, i) => [grouped(e), run.name, time(run.latency.ns[i])])));
  return element("div", { class: "pair" },
    chartCard(workload, "Latency of each evaluation", `Time of each evaluation: ${spoken}`, latencyConfig, note, each, true),
    timed.some((run) => run.quantiles)
      ? chartCard(workload, "Distribution of latency", `Distribution of the time of an evaluation: ${spoken}`, distributionConfig,
                  "All repetitions; further left is faster. n = " + [...new Set(timed.map((run) => grouped(run.percentiles.n)))].join(", ") + ".", numbers, true)
      : card("Distribution of latency", element("p", { class: "soft" }, "Too long to keep single times; percentiles of the first repetition."),
             scrolled("Distribution of latency", numbers())));
}

function paretoCard(workload) {
  if (workload.runs.filter((run) => run.completed).length < 2 || workload.runs.some((run) => run.peak_bytes === null || run.evaluated === null)) return null;
  const cost = costOf(workload), front = paretoRuns(workload).map((run) => run.name);
  const note = `Completed runs; lower and further left is better. ${front.length ? `Not beaten in both: ${front.join(", ")}.` : ""}`;
  const columns = [{ title: "policy" }, { title: "most bytes held", number: true }, { title: cost.title, number: true }, { title: "beaten in both" }];
  return chartCard(workload, `Memory against ${cost.title === "total time" ? "time" : "tokens"}`, `Most bytes held against ${cost.title}. ${note}`, paretoConfig, note,
    () => table(`Most bytes held and ${cost.title}, completed runs`, columns, workload.runs.filter((run) => run.completed).map((run) => [run.name, bytes(run.peak_bytes),
      cost.text(cost.value(run)), front.includes(run.name) ? "no" : run.comparable ? "yes" : "not compared"])), true);
}

function workloadSection(workload, index) {
  const events = eventsCard(workload), id = `workload-${index}`;
  const section = element("section", { class: "workload", id, "aria-labelledby": `${id}-title` },
    element("h2", { id: `${id}-title` }, workload.label), workload.title ? element("p", {}, workload.title) : null,
    element("p", { class: "soft" }, `${workload.setting}. ${workload.path}`),
    element("div", { class: "stats" }, statistic(workload, "evaluated", "Fewest tokens evaluated"), statistic(workload, "peak", "Least memory at the worst moment"),
            statistic(workload, "realloc", "Fewest reallocations"), statistic(workload, "total", "Fastest in total")));
  section.append(...[keyTable(workload), memoryCard(workload, events), tokensCard(workload), latencyCards(workload), paretoCard(workload),
                     events.section].filter(Boolean));
  return section;
}

startDrawing();
const verdict = document.getElementById("verdict");
verdict.textContent = verdictSentence();
verdict.classList.add(page.verdict.emphasis || "best");
document.getElementById("workloads").append(...[budgetsCard(), glanceCard()].filter(Boolean), ...page.workloads.map(workloadSection));
const meanings = new Map(page.workloads.flatMap((w) => w.columns).filter((c) => c.meaning).map((c) => [c.title, c.meaning]));
document.getElementById("legend").append(...[...meanings].flatMap(([title, meaning]) => [element("dt", {}, title), element("dd", {}, meaning)]));
document.getElementById("provenance").append(element("dl", {}, ...[...page.settings, ...page.provenance]
  .flatMap(([key, value]) => [element("dt", {}, key), element("dd", {}, value)])));
document.documentElement.dataset.ready = "yes";
