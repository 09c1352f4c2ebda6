// Suggesting further documents: search, pick, grade, reason.

import { byId, fill, outbox, texts } from "./shared.js";

export function bindSuggestions(pair) {
  const box = byId("suggest");
  const search = byId("search");
  const form = byId("suggestion");
  const hits = byId("hits");
  const fields = byId("suggestion-fields");
  const reason = byId("reason");
  const state = byId("suggestion-state");
  const slotStart = `suggestion ${pair.query} `;

  const picked = (name) => form.querySelector(`input[name=${name}]:checked`);

  const textBeside = (input, what) => input.parentElement.querySelector(what).textContent;

  search.addEventListener("submit", async (event) => {
    event.preventDefault();
    const words = new URLSearchParams({ q: byId("search-text").value, query: pair.query });
    try {
      const response = await fetch(`/search?${words}`);
      if (!response.ok) throw new Error(String(response.status));
      hits.innerHTML = await response.text(); // texts are escaped by the server's template
      state.textContent = "";
      if (search.contains(document.activeElement)) hits.querySelector("input:enabled")?.focus();
    } catch {
      hits.textContent = texts.search_failed;
    }
    fields.hidden = true;
  });

  hits.addEventListener("change", () => { fields.hidden = false; });

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const document_ = picked("doc_id");
    const grade = picked("grade");
    if (!document_ || !grade || !reason.value.trim()) {
      state.textContent = texts.suggestion_incomplete;
      return;
    }
    outbox.put(slotStart + document_.value, pair.suggest_path, {
      doc_id: document_.value,
      grade: Number(grade.value),
      reason: reason.value,
    }, {
      query: byId("query-text").textContent,
      document: `${textBeside(document_, ".hit-title")} (${document_.value})`,
      choice: textBeside(grade, "span"),
    });
  });

  const isOurs = (slot) => slot?.startsWith(slotStart);
  outbox.addEventListener("sending", ({ detail }) => {
    if (isOurs(detail.slot)) state.textContent = texts.saving;
  });
  outbox.addEventListener("saved", async ({ detail }) => {
    if (!isOurs(detail.slot)) return;
    state.textContent = texts.suggestion_saved;
    form.reset();
    hits.replaceChildren();
    fields.hidden = true;
    await showSuggestions();
  });
  outbox.addEventListener("offline", () => {
    if (state.textContent === texts.saving) state.textContent = texts.suggestion_kept;
  });
  outbox.addEventListener("refused", ({ detail }) => {
    if (isOurs(detail.slot)) state.textContent = fill(texts.refused, { reason: detail.message });
  });

  async function showSuggestions() {
    const response = await fetch(pair.suggestions_path).catch(() => null);
    if (!response?.ok) return;
    const list = byId("suggestions");
    list.innerHTML = await response.text();
    byId("suggestion-count").textContent = list.querySelectorAll("li").length || "";
  }

  return {
    open() {
      box.open = true;
      byId("search-text").focus();
    },
  };
}
