// The list of what the server did not accept, on every page until the person dismisses it.

import { byId, fill, outbox, texts } from "./shared.js";

const section = byId("refused");
const list = section.querySelector("ul");

export function showRefused() {
  const { entries } = outbox.refused;
  list.replaceChildren(...entries.map(itemOf));
  section.hidden = entries.length === 0;
}

function itemOf(entry) {
  const { about, body, message } = entry;
  const item = document.createElement("li");
  item.append(
    line(`${about.choice} · ${about.document} · ${about.query}`),
    line(body.comment ?? body.reason),
    line(fill(texts.refused, { reason: message })),
    button(texts.dismiss, () => outbox.refused.remove(entry)),
  );
  return item;
}

function line(text) {
  const paragraph = document.createElement("p");
  paragraph.textContent = text;
  paragraph.hidden = !text;
  return paragraph;
}

function button(text, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  made.addEventListener("click", act);
  return made;
}
