"use strict";
(() => {
  const results = JSON.parse(document.getElementById("results").textContent);
  // 97.5 % quantiles of Student's t, as in statistics.py.
  const T = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11, 2.101, 2.093,
    2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042];
  const SHOWN = new Set(["placed", "pending", "nodesUsed", "utilization", "fragmentation", "zoneSkew", "victims", "waiting"]);
  const columns = results.columns.map((column) => ({ ...column, part: column.key.slice(column.measure.length + 1) }));
  if (results.moves) {
    columns.push({ key: "moves", measure: "moves", part: "", title: "Pods on another node than in the baseline", unit: "pods", better: "" });
  }
  const measures = [...new Set(columns.map((column) => column.measure))];
  const rows = new Map(results.variants.map((variant) => [variant.name, results.trials.filter((row) => row.variant === variant.name)]));
  const state = {
    baseline: results.baseline,
    shown: new Set(measures.filter((name) => SHOWN.has(name)).concat(measures.length <= 4 ? measures : [])),
    sort: null,
    descending: false,
    highlighted: null,
  };

  const element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else if (value !== false && value !== null) made.setAttribute(key, value === true ? "" : value);
    }
    made.append(...children);
    return made;
  };
  const drawn = (name, attributes, ...children) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };

  const interval = (numbers) => {
    if (!numbers.length) return null;
    const mean = numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
    if (numbers.length === 1) return { mean, margin: null, count: 1 };
    const variance = numbers.reduce((sum, each) => sum + (each - mean) ** 2, 0) / (numbers.length - 1);
    const freedom = numbers.length - 1, z = 1.959964;
    const t = T[freedom - 1] ?? z + (z ** 3 + z) / (4 * freedom) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * freedom ** 2);
    return { mean, margin: t * Math.sqrt(variance / numbers.length), count: numbers.length };
  };
  const moves = (a, b) => {
    const order = results.moves.variants;
    return results.moves.counts[order.indexOf(a)][order.indexOf(b)];
  };
  const valueOf = (variant, column) => {
    if (column.key === "moves") {
      const count = moves(variant, state.baseline);
      return count === null ? null : { mean: count, margin: null, count: 1 };
    }
    return interval(rows.get(variant).map((row) => row.values[column.key]).filter((value) => value !== undefined));
  };
  const differenceOf = (variant, column) => {
    if (variant === state.baseline || column.key === "moves") return null;
    const others = new Map(rows.get(state.baseline).map((row) => [row.seed, row.values[column.key]]));
    const pairs = rows.get(variant).map((row) => row.values[column.key] - (others.get(row.seed) ?? NaN));
    return interval(pairs.filter((each) => !Number.isNaN(each)));
  };

  const format = (value, unit) => {
    if (unit === "share") return `${(100 * value).toFixed(1)} %`;
    const digits = unit === "seconds" ? { maximumSignificantDigits: 3 } : { maximumFractionDigits: Number.isInteger(value) ? 0 : 1 };
    return value.toLocaleString("en", digits) + (unit === "seconds" ? " s" : "");
  };
  const signed = (difference, unit) => {
    const sign = difference.mean >= 0 ? "+" : "−";
    if (unit === "share") {
      const points = difference.margin === null ? "" : ` ± ${(100 * difference.margin).toFixed(1)}`;
      return `${sign}${(100 * Math.abs(difference.mean)).toFixed(1)}${points} pp`;
    }
    const margin = difference.margin === null ? "" : ` ± ${format(difference.margin, unit)}`;
    return sign + format(Math.abs(difference.mean), unit) + margin;
  };
  const verdict = (difference, better) => {
    const sure = difference.margin === null ? difference.mean !== 0 : Math.abs(difference.mean) > difference.margin;
    if (!better || !sure || difference.mean === 0) return "";
    return difference.mean > 0 === (better === "higher") ? "good" : "bad";
  };
  const words = (name) => name.replace(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
  const titleOf = (column) => (column.part ? `${words(column.measure)} · ${column.part}` : words(column.measure));

  function controls() {
    const pick = element("select", { onchange: (event) => { state.baseline = event.target.value; render(); } },
      ...results.variants.map((variant) => element("option", { value: variant.name, selected: variant.name === state.baseline }, variant.name)));
    const boxes = measures.map((name) => element("label", { title: columns.find((column) => column.measure === name).title },
      element("input", {
        type: "checkbox", checked: state.shown.has(name),
        onchange: (event) => { if (event.target.checked) state.shown.add(name); else state.shown.delete(name); renderTable(); },
      }), words(name)));
    document.getElementById("controls").replaceChildren(
      element("label", {}, "Baseline", pick),
      element("details", { class: "chooser" }, element("summary", {}, "Measures"), element("div", {}, ...boxes)));
  }

  function sorted() {
    if (!state.sort) return results.variants;
    const keyed = results.variants.map((variant) => [valueOf(variant.name, state.sort)?.mean ?? null, variant]);
    const direction = state.descending ? -1 : 1;
    keyed.sort((a, b) => (a[0] === null) - (b[0] === null) || direction * (a[0] - b[0]));
    return keyed.map((each) => each[1]);
  }

  function renderTable() {
    const shown = columns.filter((column) => state.shown.has(column.measure));
    const sortBy = (column) => {
      state.descending = state.sort === column ? !state.descending : column?.better === "higher";
      state.sort = column;
      renderTable();
    };
    const heads = shown.map((column) => element("th", {
      scope: "col", title: column.title, "aria-sort": state.sort === column ? (state.descending ? "descending" : "ascending") : "none",
    }, element("button", { onclick: () => sortBy(column) }, titleOf(column) + (state.sort === column ? (state.descending ? " ↓" : " ↑") : "")),
    element("span", { class: "unit" }, column.better ? `${column.better} is better` : " ")));
    const lines = sorted().map((variant) => {
      const isBaseline = variant.name === state.baseline;
      const pin = isBaseline ? element("span", { class: "note" }, "baseline")
        : element("button", { class: "pin", title: "Compare with this variant", onclick: () => { state.baseline = variant.name; render(); } }, "pin");
      const cells = shown.map((column) => {
        const value = valueOf(variant.name, column);
        if (value === null) return element("td", { class: variant.failed ? "failed" : "" }, variant.failed ? "failed" : "–");
        const difference = differenceOf(variant.name, column);
        const cell = element("td", {}, format(value.mean, column.unit));
        if (difference && (difference.mean !== 0 || difference.margin)) {
          cell.append(element("span", { class: `difference ${verdict(difference, column.better)}` }, signed(difference, column.unit)));
        }
        return cell;
      });
      const name = element("th", { scope: "row" }, variant.name, pin);
      if (variant.note) name.append(element("span", { class: "note" }, variant.note));
      return element("tr", { class: [isBaseline ? "baseline" : "", state.highlighted === variant.name ? "highlighted" : ""].join(" ") }, name, ...cells);
    });
    const first = element("th", { scope: "col" }, element("button", { onclick: () => sortBy(null) }, "variant"));
    document.getElementById("table").replaceChildren(element("table", {},
      element("thead", {}, element("tr", {}, first, ...heads)), element("tbody", {}, ...lines)));
  }

  // The scatter plot.
  const has = (key) => columns.find((column) => column.key === key);
  const axes = { x: has("nodesUsed") ?? columns[0], y: has("placed") ?? columns[1] ?? columns[0] };

  function front(points) {
    const { x, y } = axes;
    if (!x.better || !y.better || x === y) return [];
    const cost = (value, column) => (column.better === "lower" ? value : -value);
    const dominated = (a) => points.some((b) => cost(b.x.mean, x) <= cost(a.x.mean, x) && cost(b.y.mean, y) <= cost(a.y.mean, y)
      && (b.x.mean !== a.x.mean || b.y.mean !== a.y.mean));
    return points.filter((point) => !dominated(point)).sort((a, b) => a.x.mean - b.x.mean);
  }

  function scale(values, from, to) {
    let low = Math.min(...values), high = Math.max(...values);
    const pad = (high - low || Math.abs(high) || 1) * 0.08;
    low -= pad; high += pad;
    const step = 10 ** Math.floor(Math.log10((high - low) / 5));
    const nice = [1, 2, 5, 10].map((each) => each * step).find((each) => (high - low) / each <= 7);
    const ticks = [];
    for (let tick = Math.ceil(low / nice) * nice; tick <= high; tick += nice) ticks.push(Number(tick.toPrecision(12)));
    return { at: (value) => from + ((value - low) / (high - low)) * (to - from), ticks };
  }

  function renderPlot() {
    const WIDTH = 1000, HEIGHT = 460, LEFT = 80, BOTTOM = 50;
    const choose = (axis) => element("select", {
      onchange: (event) => { axes[axis] = columns.find((column) => column.key === event.target.value); renderPlot(); },
    }, ...columns.map((column) => element("option", { value: column.key, selected: column === axes[axis] }, titleOf(column))));
    const points = results.variants.map((variant, index) => ({
      variant, index, x: valueOf(variant.name, axes.x), y: valueOf(variant.name, axes.y),
    })).filter((point) => point.x && point.y);
    const where = document.getElementById("plot");
    const pickers = element("div", { class: "axes" }, element("label", {}, "Across", choose("x")), element("label", {}, "Up", choose("y")));
    const heading = element("h2", {}, "Two measures");
    if (!points.length) {
      where.replaceChildren(heading, pickers, element("p", { class: "quiet" }, "No variant has both measures."));
      return;
    }
    const seeds = points.flatMap((point) => rows.get(point.variant.name).map((row) => ({
      index: point.index, x: row.values[axes.x.key], y: row.values[axes.y.key],
    }))).filter((seed) => seed.x !== undefined && seed.y !== undefined);
    const ends = (each) => [each.mean - (each.margin ?? 0), each.mean + (each.margin ?? 0)];
    const across = scale([...points.flatMap((p) => ends(p.x)), ...seeds.map((s) => s.x)], LEFT, WIDTH - 30);
    const up = scale([...points.flatMap((p) => ends(p.y)), ...seeds.map((s) => s.y)], HEIGHT - BOTTOM, 20);
    const parts = [];
    for (const tick of across.ticks) {
      parts.push(drawn("line", { class: "grid", x1: across.at(tick), x2: across.at(tick), y1: 20, y2: HEIGHT - BOTTOM }),
        drawn("text", { x: across.at(tick), y: HEIGHT - BOTTOM + 18, "text-anchor": "middle" }, format(tick, axes.x.unit)));
    }
    for (const tick of up.ticks) {
      parts.push(drawn("line", { class: "grid", x1: LEFT, x2: WIDTH - 30, y1: up.at(tick), y2: up.at(tick) }),
        drawn("text", { x: LEFT - 8, y: up.at(tick) + 4, "text-anchor": "end" }, format(tick, axes.y.unit)));
    }
    const axisLabel = (column) => titleOf(column) + (column.better ? ` (${column.better} is better)` : "");
    parts.push(drawn("text", { x: (LEFT + WIDTH) / 2, y: HEIGHT - 8, "text-anchor": "middle" }, axisLabel(axes.x)),
      drawn("text", { x: -(HEIGHT - BOTTOM) / 2, y: 16, transform: "rotate(-90)", "text-anchor": "middle" }, axisLabel(axes.y)));
    const best = front(points);
    if (best.length > 1) {
      parts.push(drawn("polyline", { class: "front", points: best.map((p) => `${across.at(p.x.mean)},${up.at(p.y.mean)}`).join(" ") }));
    }
    const colour = (index) => `var(--series-${index % 5})`;
    for (const seed of seeds.length > points.length ? seeds : []) {
      parts.push(drawn("circle", { cx: across.at(seed.x), cy: up.at(seed.y), r: 2.5, fill: colour(seed.index), opacity: 0.45 }));
    }
    const taken = [];
    for (const { variant, index, x, y } of points) {
      const cx = across.at(x.mean), cy = up.at(y.mean);
      const group = drawn("g", { class: "point", style: `color:${colour(index)}` });
      if (x.margin) group.append(drawn("line", { class: "whisker", x1: across.at(x.mean - x.margin), x2: across.at(x.mean + x.margin), y1: cy, y2: cy }));
      if (y.margin) group.append(drawn("line", { class: "whisker", x1: cx, x2: cx, y1: up.at(y.mean - y.margin), y2: up.at(y.mean + y.margin) }));
      const isFront = best.some((each) => each.variant === variant);
      group.append(drawn("circle", { cx, cy, r: state.highlighted === variant.name ? 9 : 6.5, fill: isFront || !best.length ? "currentColor" : "var(--paper)",
        stroke: "currentColor", "stroke-width": 2 }),
      drawn("title", {}, `${variant.name}\n${titleOf(axes.x)}: ${format(x.mean, axes.x.unit)}\n${titleOf(axes.y)}: ${format(y.mean, axes.y.unit)}`));
      group.addEventListener("click", () => { state.highlighted = state.highlighted === variant.name ? null : variant.name; renderTable(); renderPlot(); });
      parts.push(group);
      let top = cy - 12;
      while (taken.some((each) => Math.abs(each.x - cx) < 140 && Math.abs(each.y - top) < 15)) top -= 15;
      if (points.length <= 24 || state.highlighted === variant.name) {
        taken.push({ x: cx, y: top });
        const anchor = cx > WIDTH - 180 ? "end" : cx < LEFT + 100 ? "start" : "middle";
        parts.push(drawn("text", { class: "name", x: cx, y: Math.max(top, 14), "text-anchor": anchor }, variant.name));
      }
    }
    const svg = drawn("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${titleOf(axes.y)} against ${titleOf(axes.x)}` }, ...parts);
    const legend = best.length
      ? `On the Pareto front (filled, dashed line): ${best.map((each) => each.variant.name).join("; ")}. For every other variant one of these is better in one of the two measures and not worse in the other.`
      : "A Pareto front needs two different measures of which one direction is better.";
    where.replaceChildren(heading, pickers, svg, element("p", { class: "quiet" },
      `${legend} ${seeds.length > points.length ? "Small dots are single seeds, and lines are 95 % intervals of the mean." : ""}`));
  }

  function render() {
    controls();
    renderTable();
    renderPlot();
  }
  render();
})();
