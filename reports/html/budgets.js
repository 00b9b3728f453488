// Bounds a suite sets: the broken ones in sight, the others folded.

function budgetsCard() {
  const { summary, rows } = page.budgets;
  if (!rows.length) return null;
  const words = { passed: "kept", broken: "broken", not_judged: "not judged" };
  const columns = ["budget", "workload", "policy", "quantity", "found", "where"].map((title) => ({ title }));
  const texts = (wanted) => rows.filter((row) => (row[0] === "broken") === wanted).map(([verdict, ...rest]) => [words[verdict], ...rest]);
  const broken = texts(true), others = texts(false);
  return element("section", { class: "card", "aria-label": "Budgets" }, element("h2", {}, "Budgets"), element("p", {}, `${summary}.`),
    broken.length ? scrolled("Broken budgets", table("Broken budgets", columns, broken)) : null,
    others.length ? foldedTable("Budgets that are kept or not judged", () => table("Budgets that are kept or not judged", columns, others)) : null);
}
