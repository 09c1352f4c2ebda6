"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const [controls, form, table, count, pages] =
    ["controls", "filters", "replies", "count", "pages"].map(byId);
  const [search, strong, sort, direction, pageSize] =
    ["search", "strong", "sort", "direction", "page-size"].map(byId);
  const [previous, next] = [byId("previous"), byId("next")];
  const language = document.documentElement.lang;
  const collator = new Intl.Collator(language, { numeric: true });
  const headers = [...table.tHead.rows[0].cells];
  const columns = headers.map((header) => header.dataset.column);
  const kinds = headers.map((header) => header.dataset.kind);
  const filters = [...form.querySelectorAll("select[data-column]")];

  const searched = ["query", "document", "reason"].map((column) => columns.indexOf(column));
  const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const records = [...table.tBodies[0].rows].map((row) => ({
    row,
    values: [...row.cells].map((cell) => cell.dataset.value ?? cell.textContent),
    text: fold(searched.map((column) => row.cells[column].textContent).join("\n")),
  }));
  let matching = records;
  let page = 0;

  const isMissing = (value, kind) => value === "" || (kind === "number" && isNaN(value));

  // Missing values stand last in both directions.
  function order(column, sign) {
    const kind = kinds[column];
    const compare = kind === "number" ? (a, b) => a - b : collator.compare;
    return (one, other) => {
      const [a, b] = [one.values[column], other.values[column]];
      const missing = isMissing(a, kind) - isMissing(b, kind);
      return missing || (isMissing(a, kind) ? 0 : sign * compare(a, b));
    };
  }

  function matches(record, chosen, words) {
    return chosen.every(([column, value]) => record.values[column] === value)
      && words.every((word) => record.text.includes(word))
      && (!strong.checked || record.row.classList.contains("strong"));
  }

  function select() {
    const chosen = filters
      .filter((filter) => filter.value)
      .map((filter) => [columns.indexOf(filter.dataset.column), filter.value]);
    const words = fold(search.value).split(/\s+/).filter(Boolean);
    matching = records.filter((record) => matches(record, chosen, words));
    if (sort.value) {
      const sign = direction.value === "descending" ? -1 : 1;
      matching.sort(order(columns.indexOf(sort.value), sign));
    }
    for (const header of headers) {
      const isSorted = header.dataset.column === sort.value;
      header.ariaSort = isSorted ? direction.value : "none";
    }
    direction.disabled = !sort.value;
    page = 0;
    show();
  }

  function show() {
    const size = pageSize.value === "all" ? Math.max(matching.length, 1) : Number(pageSize.value);
    const [first, last] = [page * size, Math.min((page + 1) * size, matching.length)];
    table.tBodies[0].replaceChildren(...matching.slice(first, last).map(({ row }) => row));
    previous.disabled = page === 0;
    next.disabled = last === matching.length;
    pages.hidden = previous.disabled && next.disabled;
    count.textContent = sentence(first + 1, last);
  }

  function sentence(first, last) {
    const { shown, shownFiltered, noneShown } = count.dataset;
    const some = matching.length < records.length ? shownFiltered : shown;
    const numbers = { first, last, matching: matching.length, all: records.length };
    return (matching.length ? some : noneShown)
      .replace(/\{(\w+)\}/g, (_, name) => numbers[name].toLocaleString(language));
  }

  function turn(step) {
    page += step;
    show();
    const [pressed, other] = step > 0 ? [next, previous] : [previous, next];
    // A disabled button would lose the keyboard's place.
    if (pressed.disabled) other.focus();
    table.scrollIntoView();
  }

  function sortBy(column) {
    const again = sort.value === column && direction.value === "ascending";
    sort.value = column;
    direction.value = again ? "descending" : "ascending";
    select();
  }

  for (const header of headers) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...header.childNodes);
    button.addEventListener("click", () => sortBy(header.dataset.column));
    header.append(button);
  }
  form.addEventListener("input", select);
  form.addEventListener("submit", (event) => event.preventDefault());
  // The fields have their first values again only after this event.
  form.addEventListener("reset", () => setTimeout(select));
  previous.addEventListener("click", () => turn(-1));
  next.addEventListener("click", () => turn(1));
  controls.hidden = false;
  controls.open = !matchMedia("(max-width: 32rem)").matches;
  select();
})();
