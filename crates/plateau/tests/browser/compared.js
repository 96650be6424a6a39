// Inspects a comparison in frames of several widths, and records everything that a reader could not see or read.
onload = () => {
  const found = {};
  for (const frame of document.querySelectorAll("iframe")) {
    const faults = [];
    try {
      const page = frame.contentDocument;
      const look = frame.contentWindow;
      const box = (node) => node.getBoundingClientRect();
      if (page.documentElement.scrollWidth > frame.clientWidth) faults.push("the page is wider than its window");
      // Each window shows either the wide or the narrow picture of a chart.
      const charts = [...page.querySelectorAll("figure svg")].filter((chart) => box(chart).height > 0);
      for (const chart of charts) {
        const letters = (box(chart).width / chart.viewBox.baseVal.width) * 11;
        if (letters < 8) faults.push(`letters of ${letters.toFixed(1)} pixels in a chart`);
      }
      const differences = [...page.querySelectorAll("tr.r1 td.difference")];
      for (const difference of differences) {
        // The matrix has a column for each figure; it scrolls in its own element.
        const scroller = difference.closest("table.matrix")?.closest(".wide");
        const scrolls = scroller && look.getComputedStyle(scroller).overflowX === "auto";
        const { left, right } = box(scrolls ? scroller : difference);
        if (left < 0 || right > frame.clientWidth) faults.push(`outside: ${difference.textContent}`);
      }
      const turned = look.getComputedStyle(page.querySelector("main")).filter;
      const around = look.getComputedStyle(page.body).backgroundColor;
      found[frame.width] = { charts: charts.length, differences: differences.length, turned, around, faults };
    } catch (error) {
      found[frame.width] = { faults: [String(error)] };
    }
  }
  document.getElementById("result").textContent = JSON.stringify(found);
};
