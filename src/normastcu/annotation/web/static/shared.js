// What all pages share: texts, the outbox, small settings of this browser, pages to go to.

import { Outbox } from "./outbox.js";

const shared = JSON.parse(document.getElementById("shared").textContent);
const token = document.querySelector("meta[name='csrf-token']").content;

export const texts = shared.texts;
export const store = shared.store; // of this person in this campaign
export const outbox = new Outbox(store, token);

export const byId = (id) => document.getElementById(id);

export function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, (gap, name) => values[name] ?? gap);
}

export function remembered(name) {
  try {
    return localStorage.getItem(`${store}.${name}`);
  } catch {
    return null;
  }
}

export function remember(name, value) {
  try {
    if (value) localStorage.setItem(`${store}.${name}`, value);
    else localStorage.removeItem(`${store}.${name}`);
  } catch {
    // A browser without storage forgets.
  }
}

// What to tell a person while something waits.
export function waitingText(reason, size) {
  if (reason === "signed-out") return texts.signed_out;
  if (reason === "stale") return texts.stale_page;
  if (reason === "closed") return texts.closed_kept;
  return size > 1 ? fill(texts.offline_many, { n: size }) : texts.offline;
}
