// Optional: says which parts of the page continue outside a narrow window, unless the page says so itself.
(() => {
  const isHinted = (part) => part.previousElementSibling?.classList.contains("sideways");
  const hint = () => {
    for (const part of document.querySelectorAll("main :is(.scroller, .wide, figure)")) {
      if (part.scrollWidth <= part.clientWidth + 1 || isHinted(part)) continue;
      if (getComputedStyle(part).overflowX !== "auto") continue;
      const text = document.createElement("p");
      text.className = "remark sideways";
      text.textContent = "Scroll sideways to see all columns.";
      part.before(text);
    }
  };
  hint();
  addEventListener("resize", hint);
})();
