// Chooses runs and the baseline, and highlights one run everywhere. The page is complete without this, with A as the baseline.
(() => {
  const main = document.querySelector("main");
  const all = (selector) => [...main.querySelectorAll(selector)];
  const quantiles = main.dataset.quantiles.split(" ").map(Number);
  main.classList.add("scripted");

  // Lines of charts with all runs belong to runs, too.
  for (const figure of all("figure[data-runs]")) {
    figure.dataset.runs.split(" ").forEach((run, index) => {
      for (const part of figure.querySelectorAll("g.s" + index)) part.classList.add("run", "r" + run);
    });
  }

  const samples = {};
  for (const cell of all("td[data-sample]")) {
    const run = /\br(\d+)\b/.exec(cell.className)[1];
    const [count, mean, variance] = cell.dataset.sample.split(" ");
    const of = (samples[cell.dataset.figure] ??= {});
    of[run] = { count: +count, mean: +mean, ofMean: variance ? variance / count : null };
  }
  const less = new Set();
  for (const cell of all("td.n[data-figure]")) if (cell.dataset.better === "less") less.add(cell.dataset.figure);

  const signed = (percent) => {
    // Rounds halves away from zero, like the program.
    const rounded = (Math.sign(percent) * Math.round(Math.abs(percent) * 10)) / 10;
    return rounded === 0 ? "0.0" : (rounded > 0 ? "+" : "") + rounded.toLocaleString("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
  };
  const student = (degrees) => {
    const whole = Math.max(1, Math.floor(degrees + 1e-9));
    return quantiles[whole - 1] ?? (whole < 60 ? 2.042 : 2.0);
  };

  // Welch's interval of the difference, as in the program.
  const difference = (a, b, isLess) => {
    if (!a || !b || a.mean <= 0) return null;
    const found = b.mean - a.mean;
    const percent = (value) => (value / a.mean) * 100;
    if (a.ofMean === null || b.ofMean === null) {
      return { parts: [signed(percent(found)) + " %:", "spread unknown"], finding: "spread-unknown" };
    }
    const below = a.ofMean ** 2 / (a.count - 1) + b.ofMean ** 2 / (b.count - 1);
    const degrees = below > 0 ? (a.ofMean + b.ofMean) ** 2 / below : a.count + b.count - 2;
    const half = student(degrees) * Math.sqrt(a.ofMean + b.ofMean);
    const [low, high] = [found - half, found + half];
    const word = low <= 0 && high >= 0 ? "within noise" : low > 0 !== isLess ? "better" : "worse";
    const bounds = "(" + signed(percent(low)) + " to " + signed(percent(high)) + "):";
    return { parts: [signed(percent(found)) + " %", bounds, word], finding: word.replace(" ", "-") };
  };

  const rebase = (base) => {
    for (const name of all(".base")) name.textContent = letterOf[base];
    for (const cell of all("td.difference")) {
      const { run, ofFigure } = cell.dataset;
      const of = samples[ofFigure] ?? {};
      const found = run === base ? null : difference(of[base], of[run], less.has(ofFigure));
      const parts = run === base ? ["baseline"] : found ? found.parts : ["n/a"];
      const shown = "short" in cell.dataset ? [parts[0].replace(":", "")] : parts;
      cell.className = "difference " + (run === base ? "baseline" : (found?.finding ?? "none")) + " run r" + run;
      cell.replaceChildren();
      shown.forEach((part, index) => {
        const span = document.createElement("span");
        span.textContent = part;
        cell.append(...(index ? [" ", span] : [span]));
      });
    }
  };
  const show = (run, isShown) => {
    for (const part of all(".r" + run)) if (!part.closest("table.runs")) part.classList.toggle("off", !isShown);
  };

  const letterOf = {};
  for (const input of all("input[name=baseline]")) {
    letterOf[input.value] = input.closest("tr").querySelector("th").textContent.trim().split(" ")[0];
    input.addEventListener("change", () => rebase(input.value));
  }
  for (const input of all("input[name=run]")) input.addEventListener("change", () => show(input.value, input.checked));

  // A shared address may contain a selection: #baseline=1&hide=2,3.
  const chosen = new URLSearchParams(location.hash.slice(1));
  for (const run of (chosen.get("hide") ?? "").split(",")) {
    const input = main.querySelector('input[name=run][value="' + Number(run || NaN) + '"]');
    if (input) { input.checked = false; show(input.value, false); }
  }
  const base = main.querySelector('input[name=baseline][value="' + Number(chosen.get("baseline") ?? NaN) + '"]');
  if (base) { base.checked = true; rebase(base.value); }

  let lit = null;
  const light = (run) => {
    if (run === lit) return;
    for (const part of all(".run.lit")) part.classList.remove("lit");
    lit = run;
    main.classList.toggle("faded", run !== null);
    if (run !== null) for (const part of all(".r" + run)) part.classList.add("lit");
  };
  const runOf = (target) => /\br(\d+)\b/.exec(target.closest?.(".run")?.getAttribute("class") ?? "")?.[1] ?? null;
  main.addEventListener("mouseover", (event) => light(runOf(event.target)));
  main.addEventListener("mouseleave", () => light(null));
  main.addEventListener("focusin", (event) => light(runOf(event.target)));
})();
