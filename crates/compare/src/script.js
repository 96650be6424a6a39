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
    const isDoubtful = cell.classList.contains("doubtful");
    of[run] = { count: +count, mean: +mean, ofMean: variance ? variance / count : null, isDoubtful };
  }
  const less = new Set();
  for (const cell of all("td.n[data-figure]")) if (cell.dataset.better === "less") less.add(cell.dataset.figure);

  const signed = (percent, decimals) => {
    // Rounds halves away from zero, like the program.
    const factor = 10 ** decimals;
    const rounded = (Math.sign(percent) * Math.round(Math.abs(percent) * factor)) / factor;
    const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
    return (rounded > 0 ? "+" : "") + (rounded || 0).toLocaleString("en-US", digits);
  };
  const student = (degrees) => {
    const whole = Math.max(1, Math.floor(degrees + 1e-9));
    return quantiles[whole - 1] ?? (whole < 60 ? 2.042 : 2.0);
  };

  // Welch's interval of the logarithm of the ratio, as in the program.
  const ratio = (a, b) => {
    const va = a.ofMean / a.mean ** 2;
    if (b.mean <= 0) return b.mean === 0 && b.ofMean === 0 && student(a.count - 1) * Math.sqrt(va) < 1 ? [0, 0] : null;
    const vb = b.ofMean / b.mean ** 2;
    const below = va ** 2 / (a.count - 1) + vb ** 2 / (b.count - 1);
    const degrees = below > 0 ? (va + vb) ** 2 / below : a.count + b.count - 2;
    const half = student(degrees) * Math.sqrt(va + vb);
    return [(b.mean / a.mean) * Math.exp(-half), (b.mean / a.mean) * Math.exp(half)];
  };
  const difference = (a, b, isLess) => {
    if (!a || !b || a.mean <= 0) return null;
    const percent = (value) => (value - 1) * 100;
    const found = percent(b.mean / a.mean);
    const bounds = a.ofMean === null || b.ofMean === null ? null : ratio(a, b);
    if (!bounds) return { parts: [signed(found, 1) + " %:", "spread unknown"], finding: "spread-unknown" };
    const [low, high] = bounds.map(percent);
    const isNoise = low < 0.0005 && high > -0.0005;
    const word = isNoise ? "within noise" : low > 0 !== isLess ? "better" : "worse";
    // More decimals if a bound other than zero would be printed as zero.
    const nearest = Math.min(Math.abs(low), Math.abs(high));
    const decimals = isNoise ? 1 : [1, 2, 3].find((count) => Math.round(nearest * 10 ** count) > 0) ?? 3;
    const [least, most] = [low, high].map((bound) => signed(bound, decimals));
    const parts = [signed(found, decimals) + " %", "(" + least + " to " + most + "):", word];
    return { parts, finding: word.replace(" ", "-") };
  };

  const rebase = (base) => {
    for (const name of all(".base")) name.textContent = letterOf[base];
    for (const cell of all("td.difference")) {
      const { run, ofFigure } = cell.dataset;
      const of = samples[ofFigure] ?? {};
      const found = run === base ? null : difference(of[base], of[run], less.has(ofFigure));
      const parts = run === base ? ["baseline"] : found ? found.parts : ["n/a"];
      const shown = "short" in cell.dataset ? [parts[0].replace(":", "")] : parts;
      const doubtful = found && (of[base].isDoubtful || of[run].isDoubtful) ? " doubtful" : "";
      cell.className = "difference " + (run === base ? "baseline" : (found?.finding ?? "none")) + doubtful + " run r" + run;
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
