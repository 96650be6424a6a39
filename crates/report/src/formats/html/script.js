// Optional: values under the pointer, zoom, hidden series, sortable tables, dark mode.
(() => {
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);

  // Enter and Space, as for a button; Space would scroll the page.
  const onPress = (node, act) => node.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    act();
  });

  const prepare = (svg) => {
    // Otherwise the browser's tooltip appears beside this one.
    for (const title of svg.querySelectorAll("g > title")) {
      title.parentNode.dataset.tip = title.textContent;
      title.remove();
    }
    svg.addEventListener("pointermove", (event) => {
      const target = event.target.closest("[data-tip]");
      tip.hidden = !target;
      if (!target) return;
      tip.textContent = target.dataset.tip;
      tip.style.left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8) + "px";
      tip.style.top = event.clientY + 14 + "px";
    });
    svg.addEventListener("pointerleave", () => { tip.hidden = true; });

    const whole = svg.getAttribute("viewBox");
    svg.addEventListener("wheel", (event) => {
      // Curves have their own zoom, which redraws the axes.
      if (!event.ctrlKey || svg.querySelector("g.plot")) return;
      event.preventDefault();
      const [x, y, width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
      const [, , most] = whole.split(" ").map(Number);
      const factor = event.deltaY < 0 ? 0.8 : 1.25;
      if (width * factor >= most) return svg.setAttribute("viewBox", whole);
      const box = svg.getBoundingClientRect();
      const across = (event.clientX - box.left) / box.width;
      const down = (event.clientY - box.top) / box.height;
      const left = x + width * (1 - factor) * across;
      const top = y + height * (1 - factor) * down;
      svg.setAttribute("viewBox", [left, top, width * factor, height * factor].join(" "));
    }, { passive: false });
    svg.addEventListener("dblclick", () => svg.setAttribute("viewBox", whole));

    // An image must not contain buttons.
    if (svg.querySelector("g.key")) svg.setAttribute("role", "group");
    for (const key of svg.querySelectorAll("g.key")) {
      const name = key.querySelector("[data-tip]")?.dataset.tip ?? key.textContent.trim();
      key.setAttribute("aria-label", name);
      key.setAttribute("tabindex", "0");
      key.setAttribute("role", "button");
      key.setAttribute("aria-pressed", "true");
      const toggle = () => {
        const off = key.classList.toggle("off");
        key.setAttribute("aria-pressed", String(!off));
        const name = key.getAttribute("class").match(/s\d+/)[0];
        for (const series of svg.querySelectorAll("g.series." + name)) series.classList.toggle("off", off);
      };
      key.addEventListener("click", toggle);
      onPress(key, toggle);
    }
  };

  document.querySelectorAll("figure > svg").forEach(prepare);

  for (const template of document.querySelectorAll("figure > template[data-scale]")) {
    const figure = template.parentNode;
    const scales = [figure.querySelector("svg"), template.content.querySelector("svg")];
    const names = [template.dataset.scale === "linear" ? "logarithmic" : "linear", template.dataset.scale];
    prepare(scales[1]);
    let shown = 0;
    const switcher = document.createElement("button");
    switcher.type = "button";
    switcher.className = "scale";
    const update = () => {
      switcher.textContent = names[1 - shown];
      switcher.setAttribute("aria-label", "switch to a " + names[1 - shown] + " vertical axis");
    };
    switcher.addEventListener("click", () => {
      scales[shown].replaceWith(scales[1 - shown]);
      shown = 1 - shown;
      update();
    });
    update();
    figure.append(switcher);
  }

  for (const table of document.querySelectorAll("table.numbers, table.percentiles")) {
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
    const shift = body.rows[0] ? body.rows[0].cells.length - heads.length : 0;
    heads.forEach((head, index) => {
      head.tabIndex = 0;
      head.title = "sort";
      const sort = () => {
        const down = head.getAttribute("aria-sort") !== "descending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const value = (row) => parseFloat(row.cells[index + shift].textContent.replace(/,/g, ""));
        const rows = [...body.rows].sort((a, b) => {
          const [left, right] = [value(a), value(b)];
          const [no, nor] = [!Number.isFinite(left), !Number.isFinite(right)];
          if (no || nor) return no - nor;
          return down ? right - left : left - right;
        });
        body.append(...rows);
      };
      head.addEventListener("click", sort);
      onPress(head, sort);
    });
  }

  // Narrow screens fold the parts that every page repeats; printed pages never do. Paper is narrow before the browser
  // knows its size, and parts that fold after it has counted the pages leave blank ones at the end.
  const narrow = matchMedia("screen and (max-width: 900px)");
  const fold = (closed) => document.querySelectorAll("details.more").forEach((part) => { part.open = !closed; });
  fold(narrow.matches);
  narrow.addEventListener("change", () => fold(narrow.matches));
  addEventListener("beforeprint", () => fold(false));
  addEventListener("afterprint", () => fold(narrow.matches));

  // The contents are a sidebar where there is room for one.
  if (matchMedia("(min-width: 1401px)").matches) document.querySelector("nav details").open = true;

  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Light / dark";
  button.addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
  document.querySelector("nav").append(button);
})();
