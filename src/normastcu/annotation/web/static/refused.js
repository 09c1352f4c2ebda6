// The list of what the server did not accept, on every page until the person dismisses it. Where
// the pair was answered in another place meanwhile, the person says which answer counts.

import { byId, fill, outbox, texts } from "./shared.js";

const section = byId("refused");
const list = section.querySelector("ul");

export function showRefused() {
  const { entries } = outbox.refused;
  list.replaceChildren(...entries.map(itemOf));
  section.hidden = entries.length === 0;
}

function itemOf(entry) {
  const { about, current } = entry;
  const item = document.createElement("li");
  item.append(
    line(`${about.choice} · ${about.document} · ${about.query}`),
    ...(current ? questionOf(entry) : refusalOf(entry)),
  );
  return item;
}

function refusalOf(entry) {
  return [
    line(entry.body.comment ?? entry.body.reason),
    line(fill(texts.refused, { reason: entry.message })),
    button(texts.dismiss, () => outbox.refused.remove(entry)),
  ];
}

function questionOf(entry) {
  const { about, body, current, message } = entry;
  const said = (name, comment) => (comment ? `${name}: ${comment}` : name);
  return [
    line(message),
    line(fill(texts.chosen_here, { answer: said(about.choice, body.comment) })),
    line(fill(texts.saved_there, { answer: said(current.name, current.comment) })),
    button(texts.use_chosen, () => outbox.putAgain(entry)),
    button(texts.keep_saved, () => outbox.refused.remove(entry)),
  ];
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
