// Optional: zoom and panning of curves. Lines keep their width, markers their size, and the axes get new ticks.
(() => {
  const MOST = 200;
  const HINT = "Ctrl and wheel, + or -: zoom · drag or arrow keys: pan · double click or 0: whole chart";
  const charts = new WeakMap();
  let clips = 0;

  const add = (parent, name, attributes, text) => {
    const element = document.createElementNS(parent.namespaceURI, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  };

  const axis = (text) => {
    const [kind, low, high] = text.split(" ");
    const curved = kind === "log" || kind === "nines";
    const bend = curved ? Math.log : (value) => value;
    const back = curved ? Math.exp : (value) => value;
    const [from, to] = [bend(Number(low)), bend(Number(high))];
    return {
      kind,
      value: (share) => back(from + (to - from) * share),
      share: (value) => (bend(value) - from) / (to - from),
    };
  };

  const printed = (value, digits) => {
    const size = Math.abs(value);
    const [unit, suffix] = size >= 1e6 ? [1e6, "M"] : size >= 1e4 ? [1e3, "k"] : [1, ""];
    return (value / unit).toLocaleString("en-US", { maximumFractionDigits: digits }) + suffix;
  };

  // Values of the ticks between `low` and `high`.
  const ticks = (kind, low, high, count) => {
    if (kind !== "linear" && kind !== "whole" && high / low > 8) {
      const all = [];
      for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) {
        for (const factor of high / low > 1e4 ? [1] : [1, 2, 5]) all.push(factor * 10 ** power);
      }
      return all.filter((value) => value >= low && value <= high);
    }
    const rough = (high - low) / count;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((value) => value >= rough * 0.999);
    const even = kind === "whole" ? Math.max(1, Math.ceil(step)) : step;
    const all = [];
    for (let value = Math.ceil(low / even) * even; value <= high * (1 + 1e-9); value += even) all.push(value);
    return all;
  };

  const label = (kind, value, low, high) => {
    if (kind === "nines") return printed(100 - 100 / value, 6);
    const unit = Math.abs(value) >= 1e6 ? 1e6 : Math.abs(value) >= 1e4 ? 1e3 : 1;
    const digits = Math.max(0, Math.ceil(1.3 - Math.log10(Math.max((high - low) / unit, 1e-9))));
    return printed(value, Math.min(kind === "log" ? Math.max(digits, 3) : digits, 9));
  };

  const chartOf = (svg) => {
    const plot = svg.querySelector("g.plot");
    if (!plot) return null;
    if (!charts.has(svg)) {
      const [left, top, right, bottom] = plot.dataset.box.split(" ").map(Number);
      charts.set(svg, {
        svg, plot, left, top, right, bottom,
        axes: { x: axis(plot.dataset.x), y: axis(plot.dataset.y) },
        seen: { x: [0, 1], y: [0, 1] },
      });
    }
    return charts.get(svg);
  };

  const isWhole = (chart) => ["x", "y"].every((name) => chart.seen[name][0] <= 0 && chart.seen[name][1] >= 1);

  const reset = (chart) => {
    chart.seen = { x: [0, 1], y: [0, 1] };
    redraw(chart);
  };

  // Keeps the visible part inside the chart.
  const limited = ([from, to]) => {
    const extent = Math.min(1, Math.max(1 / MOST, to - from));
    const start = Math.min(Math.max(0, from), 1 - extent);
    return [start, start + extent];
  };

  const zoom = (chart, factor, across = 0.5, up = 0.5) => {
    for (const [name, place] of [["x", across], ["y", up]]) {
      const [from, to] = chart.seen[name];
      const centre = from + (to - from) * place;
      chart.seen[name] = limited([centre - (centre - from) * factor, centre + (to - centre) * factor]);
    }
    redraw(chart);
  };

  const pan = (chart, across, up) => {
    for (const [name, share] of [["x", across], ["y", up]]) {
      const [from, to] = chart.seen[name];
      chart.seen[name] = limited([from + (to - from) * share, to + (to - from) * share]);
    }
    redraw(chart);
  };

  const redraw = (chart) => {
    const { svg, plot, left, top, right, bottom, seen } = chart;
    const [width, height] = [right - left, bottom - top];
    const whole = isWhole(chart);
    const scale = { x: 1 / (seen.x[1] - seen.x[0]), y: 1 / (seen.y[1] - seen.y[0]) };
    const shift = {
      x: left - (left + seen.x[0] * width) * scale.x,
      y: bottom - (bottom - seen.y[0] * height) * scale.y,
    };
    svg.querySelectorAll("g.redrawn, clipPath.redrawn").forEach((element) => element.remove());
    for (const old of svg.querySelectorAll("g.grid, g.ticks")) old.style.display = whole ? "" : "none";
    plot.removeAttribute("clip-path");
    for (const shape of plot.querySelectorAll("polyline, line, rect, text")) {
      if (shape.closest("g.dot, g.grid")) continue;
      if (whole) { shape.removeAttribute("transform"); continue; }
      if (shape.tagName === "text") continue;
      shape.setAttribute("vector-effect", "non-scaling-stroke");
      shape.setAttribute("transform", `matrix(${scale.x} 0 0 ${scale.y} ${shift.x} ${shift.y})`);
    }
    for (const dot of plot.querySelectorAll("g.dot")) {
      const [x, y] = dot.dataset.at.split(" ").map(Number);
      if (whole) dot.removeAttribute("transform");
      else dot.setAttribute("transform", `translate(${x * scale.x + shift.x - x} ${y * scale.y + shift.y - y})`);
    }
    svg.style.cursor = whole ? "" : "grab";
    if (whole) return;
    const id = `clip-${clips += 1}`;
    const clip = add(svg, "clipPath", { id, class: "redrawn" });
    add(clip, "rect", { x: left, y: top, width, height });
    plot.setAttribute("clip-path", `url(#${id})`);
    const grid = add(svg, "g", { class: "redrawn", stroke: "#e3e7ec" });
    svg.insertBefore(grid, plot);
    const marks = add(svg, "g", { class: "redrawn", "font-size": 12, fill: "#55606e" });
    for (const name of ["x", "y"]) {
      const { kind, value, share } = chart.axes[name];
      const [low, high] = seen[name].map(value);
      for (const tick of ticks(kind, low, high, name === "x" ? width / 90 : height / 52)) {
        const place = (share(tick) - seen[name][0]) * scale[name];
        const text = label(kind, tick, low, high);
        if (name === "x") {
          const x = left + place * width;
          add(grid, "line", { x1: x, x2: x, y1: top, y2: bottom });
          add(marks, "text", { x, y: bottom + 19, "text-anchor": "middle" }, text);
        } else {
          const y = bottom - place * height;
          add(grid, "line", { x1: left, x2: right, y1: y, y2: y });
          add(marks, "text", { x: left - 9, y: y + 4.2, "text-anchor": "end" }, text);
        }
      }
    }
  };

  // The position of the pointer in the plot, as fractions from the left and from the bottom.
  const placeOf = (chart, event) => {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(chart.svg.getScreenCTM().inverse());
    return [(at.x - chart.left) / (chart.right - chart.left), (chart.bottom - at.y) / (chart.bottom - chart.top)];
  };

  const prepare = (figure) => {
    // A figure may have one picture for wide and one for narrow screens.
    const current = () => {
      const all = [...figure.querySelectorAll(":scope > svg")];
      const svg = all.find((one) => one.getBoundingClientRect().height > 0) ?? all[0];
      return svg && chartOf(svg);
    };
    if (!current()) return;
    figure.addEventListener("wheel", (event) => {
      const chart = current();
      if (!event.ctrlKey || !chart) return;
      event.preventDefault();
      zoom(chart, event.deltaY < 0 ? 0.8 : 1.25, ...placeOf(chart, event));
    }, { passive: false });
    figure.addEventListener("dblclick", (event) => { if (!event.target.closest("button, g.key")) reset(current()); });
    let held = null;
    figure.addEventListener("pointerdown", (event) => {
      if (!event.target.closest("svg") || event.target.closest("g.key") || isWhole(current())) return;
      held = placeOf(current(), event);
      figure.setPointerCapture(event.pointerId);
    });
    figure.addEventListener("pointermove", (event) => {
      if (!held) return;
      const place = placeOf(current(), event);
      pan(current(), held[0] - place[0], held[1] - place[1]);
      held = place;
    });
    for (const end of ["pointerup", "pointercancel"]) figure.addEventListener(end, () => { held = null; });

    const bar = document.createElement("div");
    bar.className = "zoom";
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", "Zoom of the chart: " + HINT);
    const actions = {
      "+": () => zoom(current(), 0.7),
      "-": () => zoom(current(), 1 / 0.7),
      0: () => reset(current()),
      ArrowLeft: () => pan(current(), -0.1, 0),
      ArrowRight: () => pan(current(), 0.1, 0),
      ArrowDown: () => pan(current(), 0, -0.1),
      ArrowUp: () => pan(current(), 0, 0.1),
    };
    for (const [key, text, name] of [["+", "+", "zoom in"], ["-", "−", "zoom out"], ["0", "Whole", "whole chart"]]) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = text;
      button.title = HINT;
      button.setAttribute("aria-label", name);
      button.addEventListener("click", actions[key]);
      bar.append(button);
    }
    bar.addEventListener("keydown", (event) => {
      const action = actions[event.key === "=" ? "+" : event.key];
      if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      action();
    });
    figure.append(bar);
  };

  document.querySelectorAll("figure").forEach(prepare);
})();
