// The side panel with the whole document.

import { byId, remember, remembered, texts } from "./shared.js";

export class DocumentPanel {
  #pair;
  #panel = byId("document");
  #content = byId("document-content");
  #opener = byId("open-document");
  #highlight = byId("highlight");
  #shown = null;
  #cameFrom = null; // where the focus goes back to

  constructor(pair) {
    this.#pair = pair;
    this.#opener.setAttribute("role", "button");
    this.#opener.addEventListener("click", (event) => {
      event.preventDefault();
      this.toggle();
    });
    this.#opener.addEventListener("keydown", (event) => {
      if (event.key === " ") { event.preventDefault(); this.toggle(); }
    });
    byId("close-document").addEventListener("click", () => this.close());
    this.#highlight.checked = remembered("highlight") !== null;
    this.#highlight.addEventListener("change", () => this.#rememberHighlight());
    if (remembered("document open") !== null) this.#open();
  }

  get isOpen() {
    return !this.#panel.hidden;
  }

  toggle() {
    if (this.isOpen) this.close();
    else {
      this.#cameFrom = document.activeElement;
      this.#open();
      this.#content.focus({ preventScroll: true });
    }
  }

  close() {
    const hadFocus = this.#panel.contains(document.activeElement);
    this.#panel.hidden = true;
    this.#follow();
    if (hadFocus || document.activeElement === document.body) {
      // Not to the button for whoever came by a key: there, Enter would open the document again.
      const back = this.#cameFrom?.matches("a, button, input") ? this.#cameFrom : byId("main");
      back.focus({ preventScroll: true });
    }
  }

  toggleHighlight() {
    if (!this.isOpen) this.#open();
    this.#highlight.checked = !this.#highlight.checked;
    this.#rememberHighlight();
  }

  #open() {
    this.#panel.hidden = false;
    this.#follow();
    this.#load();
  }

  #follow() {
    remember("document open", this.isOpen ? "yes" : null);
    document.body.classList.toggle("with-document", this.isOpen);
    this.#opener.setAttribute("aria-expanded", String(this.isOpen));
    this.#opener.querySelector("span").textContent =
      this.isOpen ? texts.close_document : texts.open_document;
  }

  #rememberHighlight() {
    remember("highlight", this.#highlight.checked ? "yes" : null);
    this.#load();
  }

  #showFirstMark() {
    const mark = this.#content.querySelector("mark");
    const above = this.#content.clientHeight / 3;
    this.#content.scrollTop = mark ? mark.offsetTop - this.#content.offsetTop - above : 0;
  }

  async #load() {
    const marks = this.#highlight.checked ? `?highlight=${this.#pair.id}` : "";
    const path = this.#pair.document_path + marks;
    if (this.#shown === path) return;
    if (this.#shown === null) this.#content.textContent = texts.loading;
    this.#shown = path;
    try {
      const response = await fetch(path);
      if (!response.ok) throw new Error(String(response.status));
      const html = await response.text();
      if (this.#shown !== path) return;
      this.#content.innerHTML = html; // sanitised by the server; the page's policy lets nothing run
      if (marks) this.#showFirstMark();
    } catch {
      this.#shown = null;
      this.#content.textContent = texts.document_failed;
    }
  }
}
