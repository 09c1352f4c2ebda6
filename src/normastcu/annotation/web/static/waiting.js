// On every page: send what waits from earlier, say so while it can't be sent, and don't leave
// the session before it is.

import { byId, outbox, waitingText } from "./shared.js";

const notice = byId("waiting");
const leaving = document.querySelector("form[action='/leave']");
document.documentElement.classList.add("with-scripts");

for (const reason of ["offline", "signed-out", "stale"]) {
  outbox.addEventListener(reason, ({ detail }) => {
    notice.textContent = waitingText(reason, detail.size);
    notice.hidden = false;
  });
}
outbox.addEventListener("saved", () => { notice.hidden = outbox.size === 0 || notice.hidden; });

leaving.addEventListener("submit", async (event) => {
  if (outbox.size === 0) return;
  event.preventDefault();
  if (await outbox.flush()) leaving.submit();
});

if (outbox.size) outbox.flush();
