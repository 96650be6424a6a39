// Follows a run: when records arrive, loads the part of the page that changes. Without this script, the page is
// complete as of the time it was loaded.
"use strict";
(() => {
  const id = document.body.dataset.follows;
  // An empty name: the page waits for a run to begin.
  if (id === "") { setTimeout(() => location.reload(), 1000); return; }
  const part = document.getElementById("live");
  if (!id || !part || !window.EventSource) return;
  const leastMs = 1000; // A simulated run writes many records in a second.
  let loaded = 0, waiting = null, source = null, last = Number(part.dataset.record);

  const load = async () => {
    waiting = null;
    loaded = Date.now();
    try {
      const response = await fetch(`/runs/${id}/live`, { credentials: "same-origin" });
      if (!response.ok) throw new Error(response.statusText);
      const text = await response.text();
      const open = [...part.querySelectorAll("details")].map((element) => element.open);
      const across = [...part.querySelectorAll(".scroll")].map((element) => element.scrollLeft);
      part.innerHTML = text;
      part.querySelectorAll("details").forEach((element, i) => { element.open = open[i] ?? element.open; });
      part.querySelectorAll(".scroll").forEach((element, i) => { element.scrollLeft = across[i] ?? 0; });
      document.body.classList.remove("stale");
    } catch {
      document.body.classList.add("stale");
    }
  };
  // The current second is not in the journal, so no event announces it.
  const second = async () => {
    if (document.hidden || waiting !== null) return;
    try {
      const response = await fetch(`/runs/${id}/second`, { credentials: "same-origin" });
      const place = document.getElementById("second");
      if (response.ok && place) place.innerHTML = await response.text();
    } catch { /* The stream of events reports a lost connection. */ }
  };
  const soon = () => {
    if (waiting === null) waiting = setTimeout(load, Math.max(0, loaded + leastMs - Date.now()));
  };
  const follow = () => {
    if (source) return;
    source = new EventSource(`/api/runs/${id}/events?after=${last}`);
    source.addEventListener("record", (event) => { last = Number(event.lastEventId); soon(); });
    source.addEventListener("end", () => { source.close(); location.reload(); });
    source.addEventListener("signed-out", () => { source.close(); location.reload(); });
    source.addEventListener("error", () => document.body.classList.add("stale"));
    source.addEventListener("open", () => document.body.classList.remove("stale"));
  };
  // Browsers allow six connections to a server, so a hidden tab gives its own back.
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) { follow(); soon(); return; }
    if (source) source.close();
    source = null;
  });
  if (!document.hidden) follow();
  // Ages and times left change without records.
  setInterval(() => { if (!document.hidden) soon(); }, 10000);
  setInterval(second, 1000);
})();
