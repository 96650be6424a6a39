// Uses the report as a reader would, and records the results. `on` has scripts, `off` has none.
onload = () => {
  const found = {};
  const check = (name, is) => { found[name] = is; };
  try {
    const [on, off] = ["on", "off"].map((id) => document.getElementById(id).contentDocument);
    const view = document.getElementById("on").contentWindow;
    const cells = (page) => [...page.querySelectorAll("th, td, dd, .figures strong, svg text")].map((c) => c.textContent);
    const [with_script, without] = [cells(on), cells(off)];
    check("without scripts no word is missing", with_script.join("|") === without.join("|"));
    check("without scripts there are no elements that need scripts", !off.querySelector("button, .tip, [data-tip]"));
    check("without scripts the values at points are titles", off.querySelectorAll("svg g > title").length > 20);
    found.words = without.length;

    const click = (node) => node.dispatchEvent(new view.MouseEvent("click", { bubbles: true }));
    const press = (node, key = "Enter") => node.dispatchEvent(new view.KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    const rests = (node, type) => node.dispatchEvent(new view.PointerEvent(type, { bubbles: true, clientX: 300, clientY: 200 }));

    const tip = on.querySelector(".tip");
    const point = on.querySelector("g.series [data-tip]");
    check("no value is shown before a pointer rests", tip.hidden);
    rests(point.firstElementChild, "pointermove");
    check("a value is shown under the pointer", !tip.hidden && tip.textContent === point.dataset.tip && /\d/.test(tip.textContent));
    const svg = point.closest("svg");
    svg.dispatchEvent(new view.PointerEvent("pointerleave"));
    check("the value disappears when the pointer leaves", tip.hidden);

    const key = on.querySelector("g.key.s0");
    const series = key.closest("svg").querySelector("g.series.s0");
    const shown = () => view.getComputedStyle(series).display !== "none";
    check("a series is shown at first", shown() && key.getAttribute("aria-pressed") === "true");
    click(key);
    check("a click in the legend hides it", !shown() && key.getAttribute("aria-pressed") === "false");
    press(key);
    check("the enter key shows it again", shown());
    press(key, " ");
    check("the space key hides it", !shown());
    press(key, " ");
    const area = key.querySelector("rect").getBoundingClientRect();
    const text = key.querySelector("text").getBoundingClientRect();
    check("the whole entry can be clicked", area.width > text.width && area.left < text.left && area.right >= text.right);
    check("no image contains buttons", !on.querySelector("[role=img] [role=button]"));

    const button = on.querySelector("button.scale");
    const figure = button.parentNode;
    const ticks = () => [...figure.querySelectorAll("svg text")].map((t) => t.textContent).join(" ");
    const [before, named] = [ticks(), button.textContent];
    click(button);
    check("the other scale has other ticks", ticks() !== before && button.textContent !== named);
    rests(figure.querySelector("svg g.series [data-tip]").firstElementChild, "pointermove");
    check("values are shown on the other scale", !tip.hidden);
    click(button);
    check("the first scale is restored", ticks() === before && button.textContent === named);

    const is_zoomed = () => Boolean(svg.querySelector("g.redrawn"));
    const wheel = new view.WheelEvent("wheel", { deltaY: -1, ctrlKey: true, bubbles: true, cancelable: true });
    svg.dispatchEvent(wheel);
    const zoomed = is_zoomed() && wheel.defaultPrevented;
    svg.dispatchEvent(new view.MouseEvent("dblclick", { bubbles: true }));
    check("ctrl and the wheel zoom, a double click undoes it", zoomed && !is_zoomed());

    const table = [...on.querySelectorAll("table.numbers")].find((t) => t.tBodies[0].rows.length > 4);
    const head = table.tHead.rows[table.tHead.rows.length - 1].cells[0];
    const column = () => [...table.tBodies[0].rows].map((row) => parseFloat(row.cells[1].textContent.replace(/,/g, "")));
    const known = column().filter(Number.isFinite);
    const is_sorted = (way) => column().filter(Number.isFinite).every((v, i, all) => i === 0 || way * (all[i - 1] - v) <= 0);
    check("a table is not sorted at first", !is_sorted(1) || !is_sorted(-1));
    click(head);
    check("a click on a heading sorts down", is_sorted(-1) && head.getAttribute("aria-sort") === "descending");
    press(head);
    check("the enter key sorts up", is_sorted(1) && head.getAttribute("aria-sort") === "ascending");
    check("sorting loses no row", column().filter(Number.isFinite).length === known.length && known.length > 4);

    const theme = [...on.querySelectorAll("nav button")].find((b) => b.textContent === "Light / dark");
    click(theme);
    const dark = on.documentElement.dataset.theme;
    const filter = view.getComputedStyle(on.querySelector("main")).filter;
    click(theme);
    check("the theme changes to dark and back", dark === "dark" && filter.startsWith("invert") && on.documentElement.dataset.theme === "light");
  } catch (error) {
    found.error = String(error);
  }
  document.getElementById("result").textContent = JSON.stringify(found);
};
