// The keyboard: single keys outside text fields, which a person can switch off.

import { byId, remember, remembered } from "./shared.js";

const TYPES = "textarea, input:not([type=radio]):not([type=checkbox]), select";
const PRESSES = "button, summary, a, [role=button], input[type=checkbox]";

const MOVES = /^Arrow(Up|Down)$/;

export function bindKeys(acts) {
  const help = byId("keys");
  const switchedOn = byId("keys-on");
  const showHelp = () => help.showModal();

  switchedOn.checked = remembered("no keys") === null;
  switchedOn.addEventListener("change", () => remember("no keys", switchedOn.checked ? null : "yes"));
  byId("show-keys").addEventListener("click", showHelp);

  const single = {
    d: () => acts.panel.toggle(),
    h: () => acts.panel.toggleHighlight(),
    c: acts.comment,
    s: acts.skip,
    u: acts.undo,
    g: acts.suggest,
    p: acts.home,
    "?": showHelp,
    ArrowLeft: acts.previous,
    ArrowRight: acts.next,
    ArrowUp: () => moveTo(acts.radios, -1),
    ArrowDown: () => moveTo(acts.radios, 1),
  };

  document.addEventListener("keydown", (event) => {
    if (help.open || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    const target = event.target;
    if (event.key === "Escape") return leave(target, acts.panel);
    if (target.matches(TYPES)) return;
    if (event.repeat && !MOVES.test(event.key)) return ignore(event, target);
    const act = actOf(event, target);
    if (!act || !(switchedOn.checked || target.name === "choice")) return;
    event.preventDefault();
    act();
  });

  // A key that is held acts once: each answer is one press.
  function ignore(event, target) {
    const presses = event.key === "Enter" && target.matches(PRESSES);
    if (presses || actOf(event, target)) event.preventDefault();
  }

  function actOf(event, target) {
    if (target.name === "choice" && (event.key === "Enter" || event.key === " ") && !target.checked) {
      return () => acts.choose(target);
    }
    if (target.closest("#suggest form") && event.key !== "?") return null;
    if (event.key === "Enter") return target.matches(PRESSES) ? null : acts.next;
    if (target.id === "document-content" && MOVES.test(event.key)) return null;
    const radio = acts.radios.find((one) => one.dataset.key && one.dataset.key === event.key);
    if (radio) return () => acts.choose(radio);
    return Object.hasOwn(single, event.key) ? single[event.key] : null;
  }
}

// Moving does not choose: every choice is saved at once.
function moveTo(radios, step) {
  const place = radios.indexOf(document.activeElement);
  const checked = radios.findIndex((radio) => radio.checked);
  const start = place >= 0 ? place + step : checked >= 0 ? checked : step > 0 ? 0 : radios.length - 1;
  radios[(start + radios.length) % radios.length].focus();
}

function leave(target, panel) {
  if (target.matches(TYPES)) target.blur();
  else if (panel.isOpen) panel.close();
}
