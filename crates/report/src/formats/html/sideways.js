// Optional: says which parts of the page continue outside a narrow window, and hides what the page itself says of
// those that fit.
(() => {
  const hints = new Map();
  const hint = () => {
    for (const part of document.querySelectorAll("main :is(.scroller, .wide, figure)")) {
      const scrolls = part.scrollWidth > part.clientWidth + 1 && getComputedStyle(part).overflowX === "auto";
      const own = part.previousElementSibling;
      if (own?.classList.contains("sideways")) hints.set(part, own);
      if (scrolls && !hints.has(part)) {
        const text = document.createElement("p");
        text.className = "remark sideways added";
        text.textContent = "Scroll sideways to see all columns.";
        part.before(text);
        hints.set(part, text);
      }
      if (hints.has(part)) hints.get(part).hidden = !scrolls;
    }
  };
  hint();
  addEventListener("resize", hint);
})();
