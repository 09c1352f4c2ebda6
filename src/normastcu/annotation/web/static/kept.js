// A list in the browser's storage; an entry is known by the id of its submission. What the storage
// does not take, because it is full or switched off, is kept in memory beside it.

const idOf = (entry) => entry.body.submission_id;

export class KeptList {
  #name;
  #inMemory = [];
  #gone = new Set(); // ids of what left the list, for a storage that can be read only

  constructor(name) {
    this.#name = name;
    // Other tabs change the list too.
    addEventListener("storage", ({ key }) => {
      if (key === name || key === null) this.onchange?.();
    });
  }

  get entries() {
    const stays = (entry) => !this.#gone.has(idOf(entry));
    return [...this.#stored().filter(stays), ...this.#inMemory];
  }

  // Whether something would be lost with the page.
  get isFragile() {
    return this.#inMemory.length > 0;
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
    const kept = new Set(entries.map(idOf));
    for (const id of this.entries.map(idOf)) if (!kept.has(id)) this.#gone.add(id);
    if (this.#store(entries)) this.#inMemory = [];
    else {
      const stored = new Set(this.#stored().map(idOf));
      this.#inMemory = entries.filter((entry) => !stored.has(idOf(entry)));
      this.#store(entries.filter((entry) => stored.has(idOf(entry))));
    }
    this.onchange?.();
  }

  #stored() {
    try {
      return JSON.parse(localStorage.getItem(this.#name) ?? "[]");
    } catch {
      return [];
    }
  }

  #store(entries) {
    try {
      if (entries.length) localStorage.setItem(this.#name, JSON.stringify(entries));
      else localStorage.removeItem(this.#name);
      return true;
    } catch {
      return false;
    }
  }
}
