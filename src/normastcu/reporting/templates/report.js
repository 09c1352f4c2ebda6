"use strict";

// A folded table has to be on paper too; afterwards it is as folded as it was.
(() => {
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const details of folded) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of folded) details.open = false;
  });

  // Whoever follows a link to a folded table wants to see it.
  function unfold() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const details = target?.querySelector("details") ?? target?.closest("details");
    if (details) details.open = true;
  }
  addEventListener("hashchange", unfold);
  unfold();
})();
