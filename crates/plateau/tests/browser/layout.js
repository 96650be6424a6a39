// Inspects a report in frames of several widths, and records everything that a reader could not see or read.
// Texts of charts that overlap or are cut off, and numbers that lines break from their units.
const textFaults = (page) => {
  const faults = [];
  const box = (node) => node.getBoundingClientRect();
  for (const chart of page.querySelectorAll("figure svg")) {
    const edges = box(chart);
    if (!edges.height || chart.parentNode.closest("svg")) continue;
    const name = `${chart.closest(".sheet, section")?.id} ${chart.getAttribute("aria-label")}`;
    const texts = [...chart.querySelectorAll("text")].map((node) => [node.textContent, box(node)]);
    for (const [text, { left, right }] of texts) {
      if (left < edges.left - 2 || right > edges.right + 2) faults.push(`${name}: '${text}' is cut off`);
    }
    texts.forEach(([text, a], index) => {
      for (const [other, b] of texts.slice(index + 1)) {
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        // The box of a text is taller than its letters.
        if (across > 2 && down > Math.min(a.height, b.height) / 2) faults.push(`${name}: '${text}' overlaps '${other}'`);
      }
    });
  }
  const range = page.createRange();
  for (const part of page.querySelectorAll("figcaption, .sentence")) {
    for (const text of [...part.childNodes, ...[...part.children].flatMap((child) => [...child.childNodes])]) {
      if (text.nodeType !== Node.TEXT_NODE) continue;
      for (const found of text.nodeValue.matchAll(/\d\s(?:%|ms|KiB|MB|GB|MB\/s|IOPS)(?![\w/])/g)) {
        range.setStart(text, found.index);
        range.setEnd(text, found.index + found[0].length);
        const lines = [...range.getClientRects()].filter((line) => line.width > 0).map((line) => line.top);
        if (Math.max(...lines) - Math.min(...lines) > 3) faults.push(`'${found[0]}' is on two lines: ${text.nodeValue}`);
      }
    }
  }
  return faults;
};

onload = () => {
  const found = {};
  for (const frame of document.querySelectorAll("iframe")) {
    const faults = [];
    try {
      const page = frame.contentDocument;
      const sheets = [...page.querySelectorAll(".sheet")];
      const box = (node) => node.getBoundingClientRect();
      faults.push(...textFaults(page));
      const name = (node) => `${node.closest(".sheet").id} ${node.className || node.tagName}`;
      for (const sheet of sheets) {
        const parts = [...sheet.children].filter((part) => box(part).height > 0);
        parts.slice(1).forEach((part, i) => {
          if (box(part).top < box(parts[i]).bottom - 1) faults.push(`${name(part)} overlaps the part above it`);
        });
      }
      for (const part of page.querySelectorAll(".exhibits")) {
        // The scroll height is not suitable, because the rotated watermark extends beyond the part.
        const outside = [...part.children].some((child) => box(child).bottom > box(part).bottom + 1);
        if (outside) faults.push(`${name(part)} is too small for its content`);
      }
      // A figure has one picture for wide and one for narrow windows. A picture may consist of several.
      const charts = [...page.querySelectorAll("figure svg")].filter((chart) => box(chart).height > 0);
      for (const chart of charts) {
        const { height, width } = box(chart);
        const figure = box(chart.parentNode);
        const letters = (box(chart).width / chart.viewBox.baseVal.width) * 12;
        if (letters < 7) faults.push(`${name(chart.parentNode)}: letters of ${letters.toFixed(1)} pixels`);
        if (chart.parentNode.tagName !== "FIGURE") continue;
        if (frame.width < 640 && width < figure.width - 2) faults.push(`${name(chart.parentNode)}: ${Math.round(width)} of ${Math.round(figure.width)} pixels wide`);
        if (height < 150) faults.push(`${name(chart.parentNode)}: a chart of ${Math.round(height)} pixels`);
      }
      for (const sheet of sheets) {
        if (sheet.scrollWidth > sheet.clientWidth + 1) faults.push(`${sheet.id} is too narrow for its content`);
      }
      for (const value of page.querySelectorAll("dd")) {
        if (value.closest("details:not([open])")) continue;
        if (box(value).width < 60) faults.push(`${name(value)}: a value in ${Math.round(box(value).width)} pixels`);
      }
      if (page.documentElement.scrollWidth > frame.clientWidth) faults.push("the page is wider than its window");
      found[frame.width] = { sheets: sheets.length, charts: charts.length, faults };
    } catch (error) {
      found[frame.width] = { faults: [String(error)] };
    }
  }
  document.getElementById("result").textContent = JSON.stringify(found);
};
