// What a person chose, until the server has confirmed it. It is kept in the browser's storage, so
// that a reload, a lost network or a stopped server loses nothing; each entry carries an id by
// which the server takes it once only.

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8000;
const PATIENCE_MS = 15000;

export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class Outbox extends EventTarget {
  #name;
  #token;
  #inMemory = [];
  #wait = FIRST_WAIT_MS;
  #timer = 0;
  #sending = null;
  #wanted = false;

  constructor(name, token) {
    super();
    this.#name = name;
    this.#token = token;
    addEventListener("online", () => this.flush());
  }

  get size() {
    return this.#entries().length;
  }

  waitingIn(slot) {
    return this.#entries().find((entry) => entry.slot === slot) ?? null;
  }

  // A later entry takes the place of an earlier one in the same slot: the last choice counts.
  put(slot, path, body) {
    const entry = { slot, path, body: { ...body, submission_id: newId() } };
    this.#keep([...this.#entries().filter((other) => other.slot !== slot), entry]);
    return this.flush();
  }

  // Resolves to whether nothing waits any more.
  async flush() {
    this.#wanted = true;
    this.#sending ??= this.#sendWhileWanted().finally(() => { this.#sending = null; });
    await this.#sending;
    return this.size === 0;
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
    for (let entry = this.#entries()[0]; entry; entry = this.#entries()[0]) {
      this.#tell("sending", { slot: entry.slot });
      const goesOn = await this.#send(entry);
      if (!goesOn) return;
      this.#wait = FIRST_WAIT_MS;
    }
  }

  async #send(entry) {
    let response, answer;
    try {
      response = await fetch(entry.path, {
        method: "POST",
        redirect: "error",
        signal: AbortSignal.timeout(PATIENCE_MS),
        headers: {
          "Accept": "application/json",
          "Content-Type": "application/json",
          "X-CSRF-Token": this.#token,
        },
        body: JSON.stringify(entry.body),
      });
      answer = await response.json();
    } catch {
      return this.#later();
    }
    if (response.ok && answer.saved) {
      this.#drop(entry);
      this.#tell("saved", { slot: entry.slot, body: entry.body, answer });
      return true;
    }
    if (response.status === 401) return this.#stop("signed-out");
    if (response.status === 403) return this.#stop("stale");
    if (response.status >= 500 || response.status === 408 || response.status === 429) {
      return this.#later();
    }
    this.#drop(entry);
    this.#tell("refused", { slot: entry.slot, message: answer.message });
    return true;
  }

  #later() {
    this.#tell("offline", { size: this.size });
    this.#timer = setTimeout(() => this.flush(), this.#wait);
    this.#wait = Math.min(2 * this.#wait, LONGEST_WAIT_MS);
    return false;
  }

  #stop(reason) {
    this.#tell(reason, { size: this.size });
    return false;
  }

  #drop(sent) {
    const isSent = (entry) => entry.body.submission_id === sent.body.submission_id;
    this.#keep(this.#entries().filter((entry) => !isSent(entry)));
  }

  #entries() {
    try {
      return JSON.parse(localStorage.getItem(this.#name) ?? "[]");
    } catch {
      return this.#inMemory;
    }
  }

  #keep(entries) {
    this.#inMemory = entries;
    try {
      if (entries.length) localStorage.setItem(this.#name, JSON.stringify(entries));
      else localStorage.removeItem(this.#name);
    } catch {
      // Without storage the entries live as long as the page.
    }
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
