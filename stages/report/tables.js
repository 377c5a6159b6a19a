"use strict";
// Tables: a click on a column's head sorts by it, and long tables have a field that filters their rows. Folded parts are
// opened for printing.
{
  const mostPlain = 8; // rows up to which a table needs no filter

  // number reads the first number of a text: "12,345 ± 3" is 12345, "–" is NaN.
  const number = (text) => {
    const found = text.replace(/[\u2212]/g, "-").replace(/(\d),(?=\d{3})/g, "$1").match(/-?\d+(\.\d+)?(e[-+]?\d+)?/i);
    return found ? Number(found[0]) : NaN;
  };
  // numeric reports whether a text is a number, an interval, or unknown.
  const numeric = (text) => /^\s*(<\s*)?[-\u2212+]?\d/.test(text) || /^\s*[–-]?\s*$/.test(text);

  const textOf = (row, column) => row.cells[column] ? row.cells[column].textContent.trim() : "";

  const compare = (column, numbers) => (a, b) => {
    const x = textOf(a, column), y = textOf(b, column);
    if (!numbers) return x.localeCompare(y, "en", { numeric: true });
    const p = number(x), q = number(y);
    if (isNaN(p) || isNaN(q)) return isNaN(p) - isNaN(q); // what is unknown comes last
    return p - q;
  };

  const sortable = (table) => {
    const body = table.tBodies[0], original = [...body.rows], heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const now = head.getAttribute("aria-sort");
        const next = now === "ascending" ? "descending" : now === "descending" ? null : "ascending";
        heads.forEach((h) => h.removeAttribute("aria-sort"));
        let rows = original.slice();
        if (next) {
          head.setAttribute("aria-sort", next);
          const numbers = original.every((r) => numeric(textOf(r, column)));
          const by = compare(column, numbers);
          rows.sort((a, b) => {
            const unknown = numbers && (isNaN(number(textOf(a, column))) || isNaN(number(textOf(b, column))));
            return next === "descending" && !unknown ? -by(a, b) : by(a, b);
          });
        }
        body.append(...rows);
      });
    });
  };

  const filtered = (table, scroll) => {
    const rows = [...table.tBodies[0].rows];
    if (rows.length <= mostPlain) return;
    const label = document.createElement("label"), field = document.createElement("input");
    const count = document.createElement("output");
    label.className = "filter";
    field.type = "search";
    field.placeholder = "Filter rows…";
    label.append("Filter ", field, " ", count);
    field.addEventListener("input", () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      let left = 0;
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((w) => text.includes(w));
        left += row.hidden ? 0 : 1;
      }
      count.textContent = words.length ? `${left} of ${rows.length} rows` : "";
    });
    scroll.before(label);
  };

  for (const scroll of document.querySelectorAll(".scroll")) {
    const table = scroll.querySelector("table");
    sortable(table);
    filtered(table, scroll);
  }

  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open], .alike)")];
    opened.forEach((d) => { d.open = true; });
  });
  addEventListener("afterprint", () => { opened.forEach((d) => { d.open = false; }); });
}
