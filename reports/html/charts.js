// Charts of one workload. Each comes with a sentence for who cannot see it and with its numbers as a table.

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const policyColor = (index) => `--c${index % 8}`;
const policyDash = (index) => [[], [6, 3], [2, 3]][Math.floor(index / 8) % 3];
const policyMark = (index) => ["circle", "rectRot", "triangle", "rect", "star", "crossRot"][index % 6];

// Charts are drawn when they come into view, and again when the colours of the page change.
const drawings = new Map();  // canvas -> {make, chart}
let drawSeen = (canvas) => draw(canvas);

function draw(canvas) {
  const drawing = drawings.get(canvas);
  if (drawing.chart) drawing.chart.destroy();
  drawing.chart = new Chart(canvas, drawing.make());
  canvas.dataset.drawn = "yes";
}
function redraw(canvases) {
  for (const canvas of canvases) if (drawings.get(canvas).chart) draw(canvas);
}

// A canvas for a Chart.js configuration made by `make`; null where the page has no chart library.
function plot(label, make, tall) {
  if (typeof Chart === "undefined") return null;
  const canvas = element("canvas", { role: "img", "aria-label": label });
  drawings.set(canvas, { make, chart: null });
  drawSeen(canvas);
  return element("div", { class: tall ? "plot tall" : "plot" }, canvas);
}

function startDrawing() {
  if (typeof Chart === "undefined") return;
  Chart.defaults.animation = false;
  Chart.defaults.maintainAspectRatio = false;
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  Chart.defaults.plugins.legend.display = false;
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries.filter((e) => e.isIntersecting)) {
      seen.unobserve(entry.target);
      if (!drawings.get(entry.target).chart) draw(entry.target);
    }
  }, { rootMargin: "600px" });
  drawSeen = (canvas) => seen.observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraw(drawings.keys()));
  addEventListener("beforeprint", () => { for (const canvas of drawings.keys()) draw(canvas); });
  addEventListener("afterprint", () => redraw(drawings.keys()));
}

function axis(title, extra) {
  const { ticks, ...rest } = extra || {};
  return { title: { display: title !== "", text: title, color: color("--soft") }, grid: { color: color("--grid") },
           border: { color: color("--line") }, ticks: { color: color("--soft"), maxRotation: 0, ...ticks }, ...rest };
}
const powers = (text) => (value) => /^[125]/.test(value.toExponential()) && Number(value.toPrecision(1)) === value ? text(value) : "";
function spreadAxis(title, values, text) {
  const positive = values.filter((v) => v > 0);
  const wide = positive.length > 0 && Math.max(...positive) / Math.min(...positive) > 20;
  return axis(title, { type: wide ? "logarithmic" : "linear", beginAtZero: !wide, grace: wide ? 0 : "8%",
                       ticks: { callback: wide ? powers(text) : text, autoSkipPadding: 12 } });
}
const firstTitle = (what) => (items) => items.length ? what(items[0]) : "";

// The parts of one run's memory by kind of layer: all, global or sliding. Transient storage is known for all only.
function memoryParts(memory, layers) {
  const sum = (what) => layers === "all" ? memory[`${what}_global`].map((v, i) => v + memory[`${what}_sliding`][i])
                                         : memory[`${what}_${layers}`];
  const live = sum("live"), held = sum("held").map((v, i) => Math.max(v, live[i]));
  const most = layers === "all" ? memory.most.map((v, i) => Math.max(v, held[i])) : held;
  return { live, held, most };
}

// An axis of bytes with steps of powers of two.
function bytesAxis(title, most) {
  const step = 2 ** Math.max(0, Math.floor(Math.log2(Math.max(most, 4) / 3)));
  return axis(title, { type: "linear", min: 0, max: Math.ceil(most / step) * step || 1, ticks: { callback: bytes, stepSize: step } });
}

function memoryConfig(run, state) {
  const { memory } = run;
  const { live, held, most } = memoryParts(memory, state.layers);
  const points = (values) => values.map((y, i) => ({ x: memory.evaluation[i], y }));
  const peak = most.indexOf(Math.max(...most));
  const area = (values, name, fill) => ({ data: points(values), fill, stepped: "middle", pointRadius: 0, borderWidth: 0,
                                         backgroundColor: color(name), hoverRadius: 0 });
  return {
    type: "line",
    data: { datasets: [
      { data: [{ x: memory.evaluation[peak], y: most[peak] }], pointStyle: "triangle", pointRadius: 6, rotation: 180,
        borderColor: color("--card"), backgroundColor: color("--ink"), showLine: false, hoverRadius: 6, clip: false },
      area(live, "--live", "origin"), area(held, "--slack", "-1"), area(most, "--transient", "-1")] },
    options: {
      interaction: { mode: "nearest", axis: "x", intersect: false },
      scales: { x: axis("evaluation", { type: "linear", max: memory.evaluation.at(-1), ticks: { precision: 0 } }),
                y: bytesAxis("", state.sameScale ? state.max() : Math.max(...most)) },
      plugins: { tooltip: { filter: (item) => item.datasetIndex === 1, displayColors: false, callbacks: {
        title: firstTitle((item) => `evaluation ${memory.evaluation[item.dataIndex]}, ${grouped(memory.length[item.dataIndex])} tokens`),
        label: (item) => [`live ${bytes(live[item.dataIndex])}`, `slack ${bytes(held[item.dataIndex] - live[item.dataIndex])}`,
                          `transient ${bytes(most[item.dataIndex] - held[item.dataIndex])}`] } } } } };
}

function tokensConfig(workload) {
  const kinds = [["first", "--first"], ["rewind", "--rewind"], ["overflow", "--overflow"], ["window_passed", "--window"],
                 ["sequence_switch", "--switch"], ["policy", "--policy"]];
  const room = innerWidth < 600 ? 14 : 24;
  const short = (name) => name.length > room ? `${name.slice(0, room - 1)}\u2026` : name;
  return {
    type: "bar",
    data: { labels: workload.runs.map((run) => short(run.name)), datasets: kinds.map(([kind, name]) => ({
      label: causes[kind] || "first time", data: workload.runs.map((run) => run.tokens[kind]), backgroundColor: color(name),
      maxBarThickness: 28 })) },
    options: { indexAxis: "y", scales: { x: axis("tokens evaluated", { stacked: true, ticks: { callback: grouped } }),
                                         y: axis("", { stacked: true, grid: { display: false }, ticks: { autoSkip: false } }) },
               plugins: { tooltip: { callbacks: { title: firstTitle((item) => workload.runs[item.dataIndex].name),
                                                  label: (item) => `${item.dataset.label}: ${grouped(item.raw)}` } } } } };
}

// One line or cloud per policy. series(run): [{x, y}] or null.
function policyLines(workload, series, state, line) {
  return workload.runs.map((run, i) => ({ label: run.name, data: series(run) || [], hidden: state.hidden.has(i), ...line,
    borderColor: color(policyColor(i)), backgroundColor: color(policyColor(i)), borderDash: policyDash(i), pointStyle: policyMark(i) }));
}

function latencyConfig(workload, state) {
  const series = (run) => run.latency && run.latency.evaluation.map((x, i) => ({ x, y: run.latency.ns[i] }));
  const all = workload.runs.flatMap((run) => run.latency ? run.latency.ns : []);
  return { type: "line", data: { datasets: policyLines(workload, series, state, { borderWidth: 1.5, pointRadius: 0, hoverRadius: 4 }) },
           options: { interaction: { mode: "nearest", axis: "x", intersect: false },
                      scales: { x: axis("evaluation", { type: "linear", ticks: { precision: 0 } }), y: spreadAxis("time", all, time) },
                      plugins: { tooltip: { callbacks: { title: firstTitle((item) => `evaluation ${item.parsed.x}`),
                                                         label: (item) => `${item.dataset.label}: ${time(item.parsed.y)}` } } } } };
}

function distributionConfig(workload, state) {
  const series = (run) => run.quantiles && run.quantiles.map((x, y) => ({ x, y }));
  const all = workload.runs.flatMap((run) => run.quantiles || []);
  return { type: "line", data: { datasets: policyLines(workload, series, state, { borderWidth: 2, pointRadius: 0, hoverRadius: 4, stepped: true }) },
           options: { interaction: { mode: "nearest", axis: "y", intersect: false },
                      scales: { x: spreadAxis("time of an evaluation", all, time),
                                y: axis("share of evaluations at or below", { min: 0, max: 100, ticks: { callback: (v) => `${v} %` } }) },
                      plugins: { tooltip: { callbacks: { title: firstTitle((item) => `${item.parsed.y} % of the evaluations took at most`),
                                                         label: (item) => `${item.dataset.label}: ${time(item.parsed.x)}` } } } } };
}

// What a run costs on the other axis: its time where every run was timed, else its tokens.
function costOf(workload) {
  const timed = workload.runs.every((run) => run.total_ns !== null || !run.completed);
  return timed ? { title: "total time", value: (run) => run.total_ns, text: time }
               : { title: "tokens evaluated", value: (run) => run.evaluated, text: (v) => grouped(Math.round(v)) };
}
// Completed runs that no other one beats in both.
function paretoRuns(workload) {
  const cost = costOf(workload), runs = workload.runs.filter((run) => run.comparable);
  const beats = (a, b) => a.peak_bytes <= b.peak_bytes && cost.value(a) <= cost.value(b) &&
                          (a.peak_bytes < b.peak_bytes || cost.value(a) < cost.value(b));
  return runs.filter((run) => !runs.some((other) => beats(other, run))).sort((a, b) => a.peak_bytes - b.peak_bytes);
}

function paretoConfig(workload, state) {
  const cost = costOf(workload), point = (run) => ({ x: run.peak_bytes, y: cost.value(run) });
  const front = { label: "front", data: paretoRuns(workload).map(point), borderColor: color("--soft"), borderDash: [4, 4], borderWidth: 1.5,
                  pointRadius: 0, hoverRadius: 0, hitRadius: 0, stepped: true };
  const marks = policyLines(workload, (run) => run.completed ? [point(run)] : null, state, { showLine: false, pointRadius: 8, hoverRadius: 10, borderWidth: 2 });
  return { type: "line", data: { datasets: [...marks, front] },
           options: { interaction: { mode: "point" }, clip: false,
                      scales: { x: bytesAxis("most bytes held at once", Math.max(...workload.runs.map((run) => run.completed ? run.peak_bytes : 0)) * 1.02),
                                y: spreadAxis(cost.title, workload.runs.filter((run) => run.completed).map(cost.value), cost.text) },
                      plugins: { tooltip: { filter: (item) => item.dataset.label !== "front", callbacks: { title: () => "",
                        label: (item) => `${item.dataset.label}: ${bytes(item.parsed.x)}, ${cost.text(item.parsed.y)}` } } } } };
}
