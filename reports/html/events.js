// The table of rewinds and reallocations: filtered by policy, kind and words, sorted by any column, shown in portions.

const portion = 40;
const eventColumns = [
  { key: "policy", title: "policy" }, { key: "evaluation", title: "evaluation", number: true },
  { key: "line", title: "line", number: true }, { key: "sequence", title: "sequence" }, { key: "action", title: "action" },
  { key: "cause", title: "why" }, { key: "length", title: "length", number: true },
  { key: "held", title: "held", number: true }, { key: "asked", title: "to keep", number: true },
  { key: "served", title: "served" }, { key: "fed", title: "fed", number: true },
  { key: "recomputed", title: "recomputed", number: true }, { key: "new_storage", title: "new storage" },
  { key: "copied", title: "copied", number: true, text: bytes }, { key: "zeroed", title: "zeroed", number: true, text: bytes },
  { key: "most", title: "most held", number: true, text: bytes }];
const eventKinds = {
  "everything": () => true, "rewinds": (e) => e.served !== "", "rewinds not served": (e) => e.served === "no",
  "reallocations": (e) => e.new_storage === "yes", "recomputed tokens": (e) => e.recomputed > 0 };

function eventsOf(workload) {
  return workload.runs.flatMap((run) => run.events.rows.map((row) => {
    const event = { policy: run.name };
    run.events.columns.forEach((column, i) => { event[column] = row[i]; });
    if (event.cause) event.cause = causes[event.cause] || event.cause;
    return event;
  }));
}

function eventCell(event, column, i) {
  const value = event[column.key], text = column.text ? column.text(value) : column.number ? grouped(value) : value;
  return element(i === 0 ? "th" : "td", { scope: i === 0 ? "row" : null, class: column.number ? "number" : null }, text);
}

// The card, with show(policy, evaluation) that brings a row into view and says whether there is one.
function eventsCard(workload) {
  const events = eventsOf(workload), state = { policy: "", kind: "everything", words: "", sort: null, up: true, shown: portion };
  const status = element("p", { class: "soft", role: "status" });
  const body = element("tbody"), more = element("button", { type: "button", class: "more" }, "Show more");
  const marked = (event) => state.mark && event.policy === state.mark[0] && event.evaluation === state.mark[1];
  const heads = eventColumns.map((column) => {
    const button = element("button", { type: "button" }, column.title);
    const head = element("th", { scope: "col", class: column.number ? "number" : null }, button);
    button.addEventListener("click", () => {
      state.up = state.sort === column ? !state.up : !column.number;
      state.sort = column;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", state.up ? "ascending" : "descending");
      fill();
    });
    return head;
  });
  const chosen = () => {
    const words = state.words.toLowerCase();
    const found = events.filter((e) => (!state.policy || e.policy === state.policy) && eventKinds[state.kind](e) &&
      (!words || [e.policy, e.sequence, e.action, e.cause].some((text) => text.toLowerCase().includes(words))));
    if (!state.sort) return found;
    const { key } = state.sort, sign = state.up ? 1 : -1;
    return found.sort((a, b) => a[key] < b[key] ? -sign : a[key] > b[key] ? sign : 0);
  };
  function fill() {
    const rows = chosen();
    body.replaceChildren(...rows.slice(0, state.shown).map((event) =>
      element("tr", { class: marked(event) ? "marked" : null }, ...eventColumns.map((column, i) => eventCell(event, column, i)))));
    status.textContent = `${grouped(Math.min(rows.length, state.shown))} of ${grouped(rows.length)} rows shown`;
    more.hidden = rows.length <= state.shown;
  }
  const change = (what) => (e) => { state[what] = e.target.value; state.shown = portion; fill(); };
  const choice = (label, what, options) => {
    const select = element("select", { "aria-label": label }, ...options.map(([value, text]) => element("option", { value }, text)));
    select.addEventListener("change", change(what));
    return select;
  };
  more.addEventListener("click", () => { state.shown += 10 * portion; fill(); });
  const policies = choice("Policy", "policy", [["", "all policies"], ...workload.runs.map((run) => [run.name, run.name])]);
  const kinds = choice("Kind", "kind", Object.keys(eventKinds).map((kind) => [kind, kind]));
  const words = element("input", { type: "search", placeholder: "filter", "aria-label": "Filter by words" });
  words.addEventListener("input", change("words"));
  const title = "Rewinds and reallocations";
  const leftOut = workload.runs.reduce((sum, run) => sum + run.events.left_out, 0);
  const caption = "Evaluations that went back, replaced storage or recomputed tokens, among those the timeline keeps. Held: tokens in the cache before; " +
                  "to keep: of these, what a perfect cut leaves; served: whether a rewind was" +
                  (leftOut ? `; ${grouped(leftOut)} cheaper ones are left out` : "");
  const content = element("table", {}, captionOf(caption), element("thead", {}, element("tr", {}, ...heads)), body);
  const section = element("section", { class: "card events" }, element("div", { class: "head" }, element("h3", {}, title),
    element("div", { class: "controls" }, policies, kinds, words)), status, scrolled(title, content), more);
  fill();
  return { section, show(policy, evaluation) {
    if (!events.some((e) => e.policy === policy && e.evaluation === evaluation)) return false;
    Object.assign(state, { policy, kind: "everything", words: "", mark: [policy, evaluation], shown: Infinity });
    policies.value = policy; kinds.value = "everything"; words.value = "";
    fill();
    body.querySelector(".marked").scrollIntoView({ block: "center" });
    return true;
  } };
}
