// Runs axe-core on the page in each frame, and records its findings by width.
onload = async () => {
  const found = {};
  for (const frame of document.querySelectorAll("iframe")) {
    try {
      const { violations, passes } = await frame.contentWindow.axe.run(frame.contentDocument);
      const place = ({ id, impact, nodes }) => `${impact} ${id}: ${nodes.length} times, first ${nodes[0].target} ${nodes[0].html.slice(0, 160)}`;
      const counts = ({ id, impact }) => ["serious", "critical"].includes(impact) || id === "heading-order";
      found[frame.width] = { passes: passes.length, violations: violations.filter(counts).map(place) };
    } catch (error) {
      found[frame.width] = { passes: 0, violations: [String(error)] };
    }
  }
  document.getElementById("result").textContent = JSON.stringify(found);
};
