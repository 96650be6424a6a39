// Follows a run: when records arrive, loads the part of the page that changes. Without this script, the page is
// complete as of the time it was loaded.
"use strict";
(() => {
  const body = document.body, id = body.dataset.follows;
  // What the reader has just used is not overtaken: a form always leads to another page, however long the server takes.
  // A link does so soon, unless it is a download.
  const leavesWithinMs = 5000;
  let isSubmitted = false, left = -Infinity;
  addEventListener("submit", () => { isSubmitted = true; });
  addEventListener("beforeunload", () => { left = Date.now(); });
  const move = (address) => {
    const remainsMs = left + leavesWithinMs - Date.now();
    if (isSubmitted) return;
    if (remainsMs > 0) setTimeout(move, remainsMs, address);
    else location.replace(address);
  };
  // Loads the page again; reload() would submit a form again.
  const again = () => move(location.href);
  // Text is not changed while it is selected.
  const isSelected = (node) => {
    const selection = getSelection();
    return selection !== null && !selection.isCollapsed && selection.containsNode(node, true);
  };
  const key = (node) => node.id || node.getAttribute?.("aria-label") || node.querySelector?.(":scope > h2")?.textContent || "";
  const isSame = (a, b) => a.nodeName === b.nodeName && key(a) === key(b);
  // Changes only what differs: whatever has the focus, is selected, scrolled or open, stays so.
  const update = (old, next) => {
    if (old.nodeType !== Node.ELEMENT_NODE) {
      if (old.nodeValue !== next.nodeValue && !isSelected(old)) old.nodeValue = next.nodeValue;
      return;
    }
    // The reader opens and closes details.
    const isKept = (name) => name === "open" && old.nodeName === "DETAILS";
    for (const { name } of [...old.attributes]) if (!isKept(name) && !next.hasAttribute(name)) old.removeAttribute(name);
    for (const { name, value } of [...next.attributes]) {
      if (!isKept(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
    }
    updateChildren(old, next);
  };
  const updateChildren = (old, next) => {
    let place = old.firstChild;
    for (const child of [...next.childNodes]) {
      let found = place;
      while (found && !isSame(found, child)) found = found.nextSibling;
      if (!found) { old.insertBefore(child, place); continue; }
      while (place !== found) { const gone = place; place = place.nextSibling; gone.remove(); }
      place = found.nextSibling;
      update(found, child);
    }
    while (place) { const gone = place; place = place.nextSibling; gone.remove(); }
  };
  const parsed = (text) => {
    const template = document.createElement("template");
    template.innerHTML = text;
    return template.content;
  };
  const get = (path) => fetch(path, { credentials: "same-origin" });
  // The session has ended, or the run no longer exists; the page explains this.
  const isOver = (response) => response.status === 401 || response.status === 404;
  let loadFailed = false, streamFailed = false;
  const mark = () => body.classList.toggle("stale", loadFailed || streamFailed);

  // The page of a plan that waits: a new stage has other buttons, everything else changes in place.
  const awaitRun = (state) => {
    const look = async () => {
      if (document.hidden) return;
      try {
        const response = await get(location.href);
        if (response.redirected) { move(response.url); return; }
        if (isOver(response)) { again(); return; }
        if (!response.ok) throw new Error(response.statusText);
        const next = new DOMParser().parseFromString(await response.text(), "text/html").getElementById("state");
        if (next?.dataset.stage !== state.dataset.stage) { again(); return; }
        updateChildren(state, next);
        loadFailed = false;
      } catch {
        loadFailed = true;
      }
      mark();
    };
    const repeat = async () => { await look(); setTimeout(repeat, 1000); };
    setTimeout(repeat, 1000);
  };

  const state = document.getElementById("state");
  if (state) { awaitRun(state); return; }
  const part = document.getElementById("live");
  if (!id || !part || !window.EventSource) return;
  const leastMs = 1000; // A simulated run writes many records in a second.
  // As in the style of the pages. A part has only the charts for the window as it is now.
  const narrow = matchMedia("(max-width: 40rem)");
  let loaded = 0, waiting = null, source = null, last = Number(part.dataset.record);

  const load = async () => {
    waiting = null;
    loaded = Date.now();
    try {
      const response = await get(`/runs/${id}/live?width=${narrow.matches ? "narrow" : "wide"}`);
      if (isOver(response)) { again(); return; }
      if (!response.ok) throw new Error(response.statusText);
      const next = parsed(await response.text());
      // A page without a stream learns of the end here.
      if (!next.querySelector(".badge.running")) { end(); return; }
      updateChildren(part, next);
      loadFailed = false;
    } catch {
      loadFailed = true;
    }
    mark();
  };
  // The current second is not in the journal, so no event announces it.
  const second = async () => {
    if (document.hidden || waiting !== null) return;
    try {
      const response = await get(`/runs/${id}/second`);
      const place = document.getElementById("second");
      if (response.ok && place) updateChildren(place, parsed(await response.text()));
    } catch { /* The stream of events reports a lost connection. */ }
  };
  const soon = () => {
    if (waiting === null) waiting = setTimeout(load, Math.max(0, loaded + leastMs - Date.now()));
  };
  narrow.addEventListener("change", soon);
  // Browsers open at most six connections to a server. Pages that are visible at the same time therefore tell each other
  // who has a stream: the first few keep theirs, and the others ask for news every other second.
  const mostStreams = 3, own = Math.random(), others = new Set();
  const channel = window.BroadcastChannel ? new BroadcastChannel("plateau-streams") : null;
  const announce = (state) => channel?.postMessage({ page: own, state });
  const isOneTooMany = () => [...others].filter((page) => page < own).length >= mostStreams;
  const release = () => {
    if (!source) return;
    source.close();
    source = null;
    streamFailed = false;
    announce("closed");
  };
  const end = () => { release(); again(); };
  channel?.addEventListener("message", ({ data: { page, state } }) => {
    if (state === "closed") { others.delete(page); return; }
    const isNew = !others.has(page);
    others.add(page);
    if (!source) return;
    if (isOneTooMany()) release(); else if (isNew) announce("open");
  });
  addEventListener("pagehide", release);
  const follow = () => {
    if (source || document.hidden || isOneTooMany()) return;
    announce("open");
    source = new EventSource(`/api/runs/${id}/events?after=${last}`);
    source.addEventListener("record", (event) => { last = Number(event.lastEventId); soon(); });
    source.addEventListener("end", end);
    source.addEventListener("signed-out", end);
    source.addEventListener("open", () => { streamFailed = false; mark(); });
    source.addEventListener("error", () => {
      streamFailed = true;
      mark();
      // The browser itself reconnects after a lost connection, but not after an answer with an error.
      if (source?.readyState !== EventSource.CLOSED) return;
      release();
      streamFailed = true;
      mark();
      soon();
    });
  };
  // Browsers allow six connections to a server, so a hidden tab gives its own back.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) { release(); return; }
    follow();
    soon();
  });
  follow();
  // Another page may have closed its stream, and a server that failed may answer again.
  setInterval(() => {
    if (source || document.hidden) return;
    follow();
    soon();
  }, 2000);
  // Ages and times left change without records.
  setInterval(() => { if (!document.hidden) soon(); }, 10000);
  setInterval(second, 1000);
})();
