// Optional: says which parts of the page continue outside a narrow window, unless the page says so itself.
(() => {
  const hints = new Map();
  const hint = () => {
    for (const part of document.querySelectorAll("main :is(.scroller, .wide, figure)")) {
      const scrolls = part.scrollWidth > part.clientWidth + 1 && getComputedStyle(part).overflowX === "auto";
      if (scrolls && !hints.has(part) && !part.previousElementSibling?.classList.contains("sideways")) {
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
