// A pair: its choices, its comment, saving them, and the way to the next pair.

import { DocumentPanel } from "./document.js";
import { bindKeys } from "./keys.js";
import { byId, fill, outbox, remember, remembered, store, texts, waitingText } from "./shared.js";
import { bindSuggestions } from "./suggesting.js";

const COMMENT_PAUSE_MS = 900;

const pair = JSON.parse(byId("pair").textContent);
const slot = `answer ${pair.id}`;
const draft = `draft ${pair.id}`;
const about = {
  query: byId("query-text").textContent,
  document: `${byId("title").textContent} (${pair.document})`,
};
const radios = [...document.querySelectorAll("#answer input[type=radio]")];
const comment = byId("comment");
const state = byId("save-state");
const here = document.querySelector(".strip [aria-current=step]");
const otherTabs = new BroadcastChannel(store);

// What the server has; `event` is its number in the history.
let saved = { choice: pair.choice, grade: pair.grade, comment: comment.value, event: pair.event };
let current = saved;
let destination = null; // where to go once everything is saved
let wantedToLeave = false; // while something waited
let commentTimer = 0;

// Time counts while the page can be seen.
const seen = {
  total: 0,
  since: document.hidden ? null : performance.now(),
  get seconds() {
    const now = this.since === null ? 0 : performance.now() - this.since;
    return Math.ceil((this.total + now) / 100) / 10;
  },
  follow() {
    if (document.hidden && this.since !== null) {
      this.total += performance.now() - this.since;
      this.since = null;
    } else if (!document.hidden && this.since === null) this.since = performance.now();
  },
};

function show(name, text) {
  state.dataset.state = name;
  state.textContent = text;
}

function showSaved() {
  if (current.choice === null) show("none", texts.state_none);
  else if (current.choice === "skipped") show("skipped", texts.was_skipped);
  else show("saved", texts.saved);
}

function valueOf({ choice, grade }) {
  return choice === "grade" ? String(grade) : choice;
}

function nameOf(answer) {
  return byId(`name-${valueOf(answer)}`)?.textContent ?? texts.was_skipped;
}

function showChoice() {
  const value = valueOf(current);
  for (const radio of radios) radio.checked = radio.value === value;
}

function save() {
  clearTimeout(commentTimer);
  show("saving", texts.saving);
  return outbox.put(slot, pair.answer_path, {
    choice: current.choice,
    grade: current.grade,
    comment: comment.value,
    seconds: seen.seconds,
    based_on: saved.event,
  }, { ...about, choice: nameOf(current) });
}

function choose(radio) {
  if (pair.closed) return;
  radio.checked = true;
  current = radio.value === "unknown"
    ? { choice: "unknown", grade: null }
    : { choice: "grade", grade: Number(radio.value) };
  if (byId("go-on").checked) destination = "next open";
  save();
}

// A pair that was judged stays judged: there, skipping only moves on.
function skip() {
  if (pair.closed) return;
  if (["grade", "unknown"].includes(current.choice)) {
    goTo(byId("next").getAttribute("href"));
    return;
  }
  current = { choice: "skipped", grade: null };
  showChoice();
  destination = "next open";
  save();
}

// What is typed is kept at once, sent a little later, and at the latest when the page is left.
function keepDraft() {
  const kept = { text: comment.value, event: saved.event };
  remember(draft, comment.value === saved.comment ? null : JSON.stringify(kept));
}

function saveComment() {
  clearTimeout(commentTimer);
  if (current.choice === null) {
    show("none", comment.value ? texts.draft_kept : texts.state_none);
  } else if (comment.value !== (outbox.waitingIn(slot) ?? { body: saved }).body.comment) save();
}

// The pair was answered in another place: what was typed here is in the list of what waits for a
// decision.
function takeOver(answer) {
  saved = answer;
  comment.value = answer.comment;
  keepDraft();
  here.className = answer.choice ?? "open";
}

// A comment that was saved elsewhere since is kept beside the draft.
function restoreDraft() {
  const kept = JSON.parse(remembered(draft));
  if (kept === null || pair.closed) return;
  const isBeside = kept.event !== saved.event && saved.comment && !outbox.waitingIn(slot);
  comment.value = isBeside ? `${saved.comment}\n${kept.text}` : kept.text;
  saveComment();
}

async function goTo(path) {
  if (!path) return;
  destination = path;
  const isFree = await outbox.flush();
  if (isFree && destination !== null) location.assign(path);
  destination = null;
}

outbox.addEventListener("sending", ({ detail }) => {
  if (detail.slot === slot) show("saving", texts.saving);
});
outbox.addEventListener("saved", ({ detail }) => {
  if (detail.answer.event) byId("last-change").value = detail.answer.event;
  if (detail.slot !== slot) return;
  const { choice, grade, comment: text } = detail.body;
  saved = { choice, grade, comment: text, event: detail.answer.event };
  keepDraft();
  if (outbox.waitingIn(slot)) return;
  wantedToLeave = false;
  otherTabs.postMessage({ slot, saved });
  here.className = current.choice;
  showSaved();
  if (destination !== null && outbox.size === 0) {
    location.assign(destination === "next open" ? detail.answer.next : destination);
    destination = null;
  }
});
for (const reason of ["offline", "signed-out", "stale", "closed"]) {
  outbox.addEventListener(reason, ({ detail }) => {
    if (!outbox.waitingIn(slot)) return;
    wantedToLeave ||= destination !== null;
    const stays = reason === "offline" && wantedToLeave;
    show(reason, stays ? texts.offline_stay : waitingText(reason, detail.size));
    byId("waiting").hidden = true;
    if (reason !== "closed" || destination === "next open") destination = null;
  });
}
outbox.addEventListener("refused", ({ detail }) => {
  if (detail.slot !== slot || outbox.waitingIn(slot)) return;
  destination = null;
  if (detail.current) takeOver(detail.current);
  current = saved;
  showChoice();
  const isAsked = detail.current !== undefined;
  show("refused", isAsked ? detail.message : fill(texts.refused, { reason: detail.message }));
  byId("refused").scrollIntoView({ block: "nearest" });
});
outbox.addEventListener("again", ({ detail }) => {
  if (detail.slot !== slot) return;
  current = { choice: detail.body.choice, grade: detail.body.grade };
  comment.value = detail.body.comment;
  showChoice();
});
otherTabs.addEventListener("message", ({ data }) => {
  byId("last-change").value = data.saved.event;
  if (data.slot !== slot) return;
  if (comment.value === saved.comment) comment.value = data.saved.comment;
  saved = data.saved;
  current = saved;
  here.className = current.choice;
  showChoice();
  showSaved();
});

for (const radio of radios) radio.addEventListener("change", () => choose(radio));
comment.addEventListener("input", () => {
  keepDraft();
  clearTimeout(commentTimer);
  commentTimer = setTimeout(saveComment, COMMENT_PAUSE_MS);
});
comment.addEventListener("change", saveComment);
byId("skip").addEventListener("click", skip);
document.addEventListener("visibilitychange", () => {
  seen.follow();
  if (document.hidden) saveComment();
});
addEventListener("pagehide", () => {
  saveComment();
  outbox.sendAtOnce();
});

const goOn = byId("go-on");
goOn.checked = remembered("go on") !== null;
goOn.addEventListener("change", () => remember("go on", goOn.checked ? "yes" : null));

// A page is left only when nothing waits: an error page in its place would help nobody.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='/']");
  if (!link || link.id === "open-document" || !outbox.holds) return;
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  goTo(link.getAttribute("href"));
});
for (const form of document.querySelectorAll("#undo-form, .languages")) {
  form.addEventListener("submit", async (event) => {
    if (!outbox.holds) return;
    event.preventDefault();
    if (await outbox.flush()) form.requestSubmit(event.submitter);
    else show("offline", texts.offline_stay);
  });
}

const waiting = outbox.waitingIn(slot);
if (waiting) {
  current = { choice: waiting.body.choice, grade: waiting.body.grade };
  comment.value = waiting.body.comment;
  showChoice();
  show("saving", texts.saving);
} else {
  showChoice();
  showSaved();
}
restoreDraft();
if (comment.value) byId("comment-box").open = true;

const panel = new DocumentPanel(pair);
const suggestions = bindSuggestions(pair);
bindKeys({
  radios,
  choose,
  skip,
  panel,
  next: () => goTo(byId("next").getAttribute("href")),
  previous: () => goTo(byId("previous")?.getAttribute("href")),
  home: () => goTo("/"),
  undo: () => byId("undo-form").requestSubmit(byId("undo")),
  comment: () => { byId("comment-box").open = true; comment.focus(); },
  suggest: () => suggestions.open(),
});
