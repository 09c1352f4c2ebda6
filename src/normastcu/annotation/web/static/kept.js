// A list in the browser's storage; an entry is known by the id of its submission.

const idOf = (entry) => entry.body.submission_id;

export class KeptList {
  #name;
  #inMemory = [];

  constructor(name) {
    this.#name = name;
    // Other tabs change the list too.
    addEventListener("storage", ({ key }) => {
      if (key === name || key === null) this.onchange?.();
    });
  }

  get entries() {
    try {
      return JSON.parse(localStorage.getItem(this.#name) ?? "[]");
    } catch {
      return this.#inMemory;
    }
  }

  has(entry) {
    return this.entries.some((other) => idOf(other) === idOf(entry));
  }

  // The entry takes the place of what `isReplaced` tells.
  add(entry, isReplaced = () => false) {
    this.#keep([...this.entries.filter((other) => !isReplaced(other)), entry]);
  }

  remove(entry) {
    this.#keep(this.entries.filter((other) => idOf(other) !== idOf(entry)));
  }

  #keep(entries) {
    this.#inMemory = entries;
    try {
      if (entries.length) localStorage.setItem(this.#name, JSON.stringify(entries));
      else localStorage.removeItem(this.#name);
    } catch {
      // Without storage the entries live as long as the page.
    }
    this.onchange?.();
  }
}
