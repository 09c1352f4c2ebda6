// What a person chose, until the server has confirmed it. It is kept in the browser's storage, so
// that a reload, a lost network or a stopped server loses nothing; each entry carries an id by
// which the server takes it once only. What the server does not accept is kept beside it, until the
// person dismisses it.

import { KeptList } from "./kept.js";

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8000;
const PATIENCE_MS = 15000;
const MOST_REPLACED = 500;

export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// An answer is based on what the person saw; one that takes the place of a waiting one, on the same.
function basisAfter(replaced) {
  if (replaced?.based_on === undefined) return {};
  const replaces = [...(replaced.replaces ?? []), replaced.submission_id];
  return { based_on: replaced.based_on, replaces: replaces.slice(-MOST_REPLACED) };
}

export class Outbox extends EventTarget {
  #name;
  #token;
  #waiting;
  #closed = false;
  #wait = FIRST_WAIT_MS;
  #timer = 0;
  #sending = null;
  #wanted = false;

  constructor(name, token) {
    super();
    this.#name = name;
    this.#token = token;
    this.#waiting = new KeptList(`${name}.outbox`);
    this.refused = new KeptList(`${name}.not accepted`);
    addEventListener("online", () => this.flush());
    addEventListener("beforeunload", (event) => {
      if (this.#waiting.isFragile) event.preventDefault();
    });
  }

  get size() {
    return this.#waiting.entries.length;
  }

  // Whether a page should not be left: something waits that can be sent soon. What waits for a
  // campaign to be opened again can do so anywhere.
  get holds() {
    return this.size > 0 && !this.#closed;
  }

  waitingIn(slot) {
    return this.#waiting.entries.find((entry) => entry.slot === slot) ?? null;
  }

  // A later entry takes the place of an earlier one in the same slot: the last choice counts.
  // So does what the server may have of it already. `about` says in words what was chosen: query, document, choice.
  put(slot, path, body, about) {
    const basis = basisAfter(this.waitingIn(slot)?.body);
    const entry = { slot, path, about, body: { ...body, ...basis, submission_id: newId() } };
    this.#waiting.add(entry, (other) => other.slot === slot);
    return this.flush();
  }

  // What the person decided for, having seen what the server has.
  putAgain(entry) {
    const { slot, path, about, body, current } = entry;
    this.refused.remove(entry);
    this.#tell("again", { slot, body });
    return this.put(slot, path, { ...body, based_on: current.event, replaces: [] }, about);
  }

  // Resolves to whether the page may be left.
  async flush() {
    this.#wanted = true;
    this.#sending ??= this.#sendWhileWanted().finally(() => { this.#sending = null; });
    await this.#sending;
    return !this.holds;
  }

  // For a page that ends: the next one sends again what it does not know to be stored.
  sendAtOnce() {
    for (const entry of this.#waiting.entries) {
      this.#post(entry, { keepalive: true }).catch(() => {});
    }
  }

  // What is put in while a round of sending ends has a round of its own.
  async #sendWhileWanted() {
    while (this.#wanted) {
      this.#wanted = false;
      await this.#locked(() => this.#sendAll());
    }
  }

  // Tabs take turns where the browser can have them do so (elsewhere the ids keep entries single).
  #locked(send) {
    return navigator.locks ? navigator.locks.request(this.#name, send) : send();
  }

  async #sendAll() {
    clearTimeout(this.#timer);
    const first = () => this.#waiting.entries[0];
    for (let entry = first(); entry; entry = first()) {
      this.#tell("sending", { slot: entry.slot });
      const goesOn = await this.#send(entry);
      if (!goesOn) return;
      this.#wait = FIRST_WAIT_MS;
    }
  }

  async #send(entry) {
    let response, answer;
    try {
      response = await this.#post(entry, { signal: AbortSignal.timeout(PATIENCE_MS) });
      answer = await response.json();
    } catch {
      return this.#later();
    }
    if (response.ok && answer.saved) {
      this.#closed = false;
      this.#waiting.remove(entry);
      this.#tell("saved", { slot: entry.slot, body: entry.body, answer });
      return true;
    }
    if (response.status === 401) return this.#stop("signed-out");
    if (response.status === 403) return this.#stop("stale");
    if (response.status === 409) return this.#stop("closed");
    if (response.status >= 500 || response.status === 408 || response.status === 429) {
      return this.#later();
    }
    this.#refuse(entry, answer);
    return true;
  }

  #post(entry, options) {
    return fetch(entry.path, {
      method: "POST",
      redirect: "error",
      headers: {
        "Accept": "application/json",
        "Content-Type": "application/json",
        "X-CSRF-Token": this.#token,
      },
      body: JSON.stringify(entry.body),
      ...options,
    });
  }

  #later() {
    this.#tell("offline", { size: this.size });
    this.#timer = setTimeout(() => this.flush(), this.#wait);
    this.#wait = Math.min(2 * this.#wait, LONGEST_WAIT_MS);
    return false;
  }

  #stop(reason) {
    this.#closed = reason === "closed";
    this.#tell(reason, { size: this.size });
    return false;
  }

  // What a later choice has replaced meanwhile is no loss.
  #refuse(entry, { message, current }) {
    if (!this.#waiting.has(entry)) return;
    this.refused.add({ ...entry, message, current });
    this.#waiting.remove(entry);
    this.#tell("refused", { slot: entry.slot, message, current });
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
