// Every workload against every policy: the way to the workloads, by the number that matters.

const linkName = (workload) => {
  const isAlone = page.workloads.filter((other) => other.label === workload.label).length === 1;
  return isAlone ? workload.label : `${workload.label}, depth ${workload.depth}`;
};

function glanceTable(policies, { title, meaning }) {
  const cell = (workload, policy) => {
    const row = workload.rows.find((other) => other[0][0] === policy), column = titleColumn(workload, title);
    return markedCell(row && column >= 0 ? row[column] : ["-", ""], true);
  };
  const head = element("tr", {}, element("th", { scope: "col" }, "workload"),
                       ...policies.map((policy) => element("th", { scope: "col", class: "number" }, policy)));
  const rows = page.workloads.map((workload, i) => element("tr", {},
    element("th", { scope: "row" }, element("a", { href: `#workload-${i}`, title: workload.setting }, linkName(workload))),
    ...policies.map((policy) => cell(workload, policy))));
  return element("table", {}, captionOf(`${title}${meaning ? `: ${meaning}` : ""}; the best of a workload in bold.`),
                 element("thead", {}, head), element("tbody", {}, ...rows));
}

function glanceCard() {
  if (page.workloads.length < 2) return null;
  const policies = [...new Set(page.workloads.flatMap((workload) => workload.rows.map((row) => row[0][0])))];
  const numbers = page.workloads.flatMap((workload) => workload.columns).filter((column) => column.number);
  const columns = [...new Map(numbers.map((column) => [column.title, column])).values()];
  const first = columns.findIndex((column) => column.title === "x floor");
  const choice = element("select", { "aria-label": "Number" }, ...columns.map((column, i) =>
    element("option", { value: i, selected: i === first }, column.title)));
  const shown = scrolled("Workloads and policies", glanceTable(policies, columns[first]));
  choice.addEventListener("change", () => shown.replaceChildren(glanceTable(policies, columns[choice.value])));
  return element("nav", { class: "card glance", "aria-label": "Workloads" },
    element("div", { class: "head" }, element("h2", {}, "All workloads"), element("div", { class: "controls" }, choice)), shown);
}
