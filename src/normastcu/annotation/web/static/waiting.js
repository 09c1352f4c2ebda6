// On every page: send what waits from earlier, say so while it can't be sent, don't leave the
// session before it is, and show what was not accepted.

import { showRefused } from "./refused.js";
import { byId, outbox, waitingText } from "./shared.js";

const notice = byId("waiting");
const leaving = document.querySelector("form[action='/leave']");
document.documentElement.classList.add("with-scripts");

for (const reason of ["offline", "signed-out", "stale", "closed"]) {
  outbox.addEventListener(reason, ({ detail }) => {
    notice.textContent = waitingText(reason, detail.size);
    notice.hidden = false;
  });
}
outbox.addEventListener("saved", () => { notice.hidden = outbox.size === 0 || notice.hidden; });

leaving.addEventListener("submit", async (event) => {
  if (!outbox.holds) return;
  event.preventDefault();
  if (await outbox.flush()) leaving.submit();
});

outbox.refused.onchange = showRefused;
showRefused();

if (outbox.size) outbox.flush();
