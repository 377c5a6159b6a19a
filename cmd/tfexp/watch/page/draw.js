"use strict";
// Pictures of a cell, as SVG elements. All text is set as text, never as markup.

// The colors of all pictures of tfexp (results/table).
const palette = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f"];

function make(name, attributes, ...children) {
  const svg = ["svg", "rect", "line", "polyline", "path", "text", "title"].includes(name);
  const e = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [k, v] of Object.entries(attributes)) {
    if (v === null || v === undefined) continue;
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v); else e.setAttribute(k, v);
  }
  for (const c of children) if (c !== null && c !== undefined) e.append(c);
  return e;
}

// The jobs of one block share a colour: "short-2" and "short-10". Blocks have colors in the order of their names, as in
// the report.
const kind = (job) => job.replace(/[-_.]?\d+$/, "") || job;

function colours(names) {
  const kinds = [...new Set(names.map(kind))].sort();
  return { kinds, of: (job) => palette[kinds.indexOf(kind(job)) % palette.length] };
}

const seconds = (s) => {
  if (s === null || s === undefined) return "";
  if (s < 10) return s.toFixed(s < 1 ? 2 : 1) + " s";
  if (s < 60) return Math.round(s) + " s";
  if (s < 3600) return Math.floor(s / 60) + " min " + String(Math.floor(s % 60)).padStart(2, "0") + " s";
  if (s >= 48 * 3600) return Math.floor(s / 86400) + " d " + String(Math.floor(s % 86400 / 3600)).padStart(2, "0") + " h";
  return Math.floor(s / 3600) + " h " + String(Math.floor(s % 3600 / 60)).padStart(2, "0") + " min";
};

// rough writes a prediction without more digits than it deserves.
const rough = (s) => {
  const step = s < 10 ? 1 : s < 60 ? 5 : s < 600 ? 10 : 60, r = Math.max(1, Math.round(s / step)) * step;
  return r < 60 ? r + " s" : r < 3600 ? Math.floor(r / 60) + " min" + (r % 60 ? ` ${r % 60} s` : "") : seconds(r);
};

const digits = (v) => v === null || v === undefined ? "" : Math.abs(v) >= 1000 || (v !== 0 && Math.abs(v) < 0.001) ? v.toExponential(2)
  : String(Number(v.toPrecision(4)));

// Instants at which an axis is marked: at most n of them, at round numbers.
function marks(low, high, n) {
  if (!(high > low)) return [low];
  const raw = (high - low) / n, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= raw);
  const out = [];
  for (let v = Math.ceil(low / step) * step; v <= high + step * 1e-9; v += step) out.push(Number(v.toPrecision(12)));
  return out;
}

// The unit in which instants up to t are written at an axis: its length in seconds, and its name.
const unitOf = (t) => [[86400, "d"], [3600, "h"], [60, "min"]].find(([long]) => t >= 3 * long) || [1, "s"];

const left = 62, right = 12, below = 20;

function axes(svg, width, height, t, low, high, label) {
  const x = (v) => left + (width - left - right) * (t > 0 ? v / t : 0);
  const y = (v) => height - below - (height - below - 8) * (high > low ? (v - low) / (high - low) : 0);
  const [long, unit] = unitOf(t);
  for (const m of marks(0, t / long, width < 500 ? 4 : 8)) {
    const at = x(m * long);
    svg.append(make("line", { class: "axis", x1: at, x2: at, y1: height - below, y2: height - below + 4 }));
    svg.append(make("text", { x: at, y: height - 4, "text-anchor": at > width - 2 * right ? "end" : "middle" }, m + " " + unit));
  }
  svg.append(make("line", { class: "axis", x1: left, x2: width - right, y1: height - below, y2: height - below }));
  if (label) for (const m of marks(low, high, 4)) {
    svg.append(make("line", { class: "axis", x1: left, x2: width - right, y1: y(m), y2: y(m) }));
    svg.append(make("text", { x: left - 6, y: y(m) + 4, "text-anchor": "end" }, label(m)));
  }
  return { x, y };
}

function chart(width, height, label) {
  return make("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
}

// rowNames says what stands at the rows of a chart: the nodes, where there are several, else cores and GPUs.
function rowNames(cell) {
  const out = [];
  if (cell.nodes && cell.nodes.length > 1) {
    for (const gpu of [false, true]) {
      let first = 0;
      for (const n of cell.nodes) {
        const rows = (gpu ? n.gpus : n.cores) || 0, name = gpu ? n.name + " GPU" : n.name;
        if (rows) out.push({ first, rows, gpu, text: name.length > 10 ? name.slice(0, 9) + "…" : name, border: first > 0 });
        first += rows;
      }
    }
  } else {
    for (let i = 0; i < cell.cores; i++) out.push({ first: i, rows: 1, gpu: false, text: "core " + i });
    for (let i = 0; i < (cell.gpus || 0); i++) out.push({ first: i, rows: 1, gpu: true, text: "GPU " + i });
  }
  return out;
}

// gantt draws which job held which cores and GPUs, a row for each while they fit. A job that shares the GPUs of another
// has the upper half of their rows.
function gantt(cell, width) {
  const rows = cell.cores + (cell.gpus || 0);
  const tall = Math.max(2, Math.min(26, Math.floor(420 / rows)));
  const height = 8 + rows * tall + below + (cell.gpus ? 6 : 0);
  const t = Math.max(cell.t_s, 0.001);
  const svg = chart(width, height, `Gantt chart of ${cell.cell}: which job holds which cores`);
  const top = (core, gpu) => 4 + (gpu ? (cell.cores + core) * tall + 6 : core * tall);
  for (let i = 0; i < rows && tall > 4; i++) {
    const gpu = i >= cell.cores, n = gpu ? i - cell.cores : i;
    svg.append(make("rect", { class: "row", x: left, width: width - left - right, y: top(n, gpu) + 1, height: tall - 2 }));
  }
  if (tall <= 4) svg.append(make("rect", { class: "row", x: left, width: width - left - right, y: 4, height: rows * tall }));
  let free = -Infinity; // the names above end here
  for (const r of rowNames(cell)) {
    const y = top(r.first, r.gpu), middle = y + r.rows * tall / 2;
    if (middle - 6 >= free) {
      svg.append(make("text", { x: left - 6, y: middle + 4, "text-anchor": "end" }, r.text));
      free = middle + 8;
    }
    if (r.border) svg.append(make("line", { class: "border", x1: left, x2: width - right, y1: y, y2: y }));
  }
  const { x } = axes(svg, width, height, t, 0, 1, null);
  const paint = colours(cell.names);
  const guests = cell.spans.filter((s) => s.guest).flatMap((s) =>
    Array.from({ length: Math.min(s.high, (cell.gpus || 0) - 1) - s.low + 1 }, (_, i) => ({ ...s, low: s.low + i, high: s.low + i })));
  for (const s of guests.length ? [...cell.spans.filter((s) => !s.guest), ...guests] : cell.spans) {
    const to = s.to === null ? t : s.to, name = cell.names[s.job];
    const wide = Math.max(x(to) - x(s.from), 0.6), y = top(s.low, s.gpu), high = (s.high - s.low + 1) * (s.guest ? tall / 2 : tall);
    const gap = tall > 4 ? 1 : 0;
    const what = `${name}: ${seconds(s.from)} to ${s.to === null ? "now" : seconds(s.to)}, ${s.gpu ? "GPU" : "core"} ` +
      (s.low === s.high ? s.low : `${s.low}–${s.high}`) + (s.guest ? ", which another job has as well" : "");
    svg.append(make("rect", { class: s.to === null ? "span open" : "span", x: x(s.from), y: y + gap, width: wide, height: high - 2 * gap,
      fill: paint.of(name), rx: gap }, make("title", {}, what)));
    if (wide > 8 * name.length && high >= 14) {
      const text = make("text", { x: x(s.from) + 4, y: y + high / 2 + 4 }, name);
      text.style.fill = "#fff";
      text.style.pointerEvents = "none";
      svg.append(text);
    }
  }
  if (cell.state === "running") svg.append(make("line", { class: "nowline", x1: x(t), x2: x(t), y1: 2, y2: height - below }));
  return svg;
}

function legend(names) {
  const paint = colours(names);
  if (paint.kinds.length < 2) return null;
  const list = make("ul", { class: "legend" });
  paint.kinds.slice(0, 24).forEach((k, i) => { // a kind may end in a number, as the names of its jobs do
    list.append(make("li", {}, make("svg", { viewBox: "0 0 10 10", "aria-hidden": "true" },
      make("rect", { width: 10, height: 10, fill: palette[i % palette.length] })), k));
  });
  return list;
}

// curves draws one field of all reports against time; null where nobody reported it. Losses that fall to a small part
// have a logarithmic axis.
function curves(cell, field, width) {
  const all = (cell.curves || []).map((c) => ({ job: c.job, points: c.points.filter((p) => p[field] !== null) })).filter((c) => c.points.length);
  if (!all.length) return null;
  const values = all.flatMap((c) => c.points.map((p) => p[field]));
  let low = Math.min(...values), high = Math.max(...values);
  const log = field === "loss" && low > 0 && high > 30 * low, of = log ? Math.log10 : (v) => v;
  if (log) [low, high] = [of(low), of(high)];
  else if (field === "loss" && low > 0) low = 0;
  if (field === "accuracy" && low >= 0 && high <= 1) high = 1;
  if (!(high > low)) { low -= 0.5; high += 0.5; }
  const height = 190, svg = chart(width, height, `${field} of the jobs of ${cell.cell}`);
  const { x, y } = axes(svg, width, height, Math.max(cell.t_s, 0.001), low, high,
    log ? (v) => Number.isInteger(v) ? digits(10 ** v) : "" : digits);
  if (log) svg.dataset.log = "1";
  const paint = colours(cell.names.length ? cell.names : all.map((c) => c.job));
  for (const c of all) {
    const points = c.points.map((p) => `${x(p.t).toFixed(1)},${y(of(p[field])).toFixed(1)}`).join(" ");
    svg.append(make("polyline", { class: "curve", points, stroke: paint.of(c.job) },
      make("title", {}, `${c.job}: ${field} ${digits(c.points.at(-1)[field])} after epoch ${c.points.at(-1).epoch}`)));
  }
  return svg;
}

// inUse draws how many cores (or GPUs) were held, and how many jobs waited.
function inUse(cell, field, width) {
  const most = cell[field];
  if (!most || !cell.use.length) return null;
  const queue = Math.max(...cell.use.map((u) => u.waiting)), high = Math.max(most, field === "cores" ? queue : 0);
  const height = 150, t = Math.max(cell.t_s, 0.001);
  const svg = chart(width, height, `${field} in use in ${cell.cell}`);
  const { x, y } = axes(svg, width, height, t, 0, high, (v) => Number.isInteger(v) ? v : "");
  const steps = (of) => {
    let d = `M${x(0)},${y(0)}`, before = 0;
    for (const u of cell.use) { d += `L${x(u.t).toFixed(1)},${y(before)}L${x(u.t).toFixed(1)},${y(of(u))}`; before = of(u); }
    return d + `L${x(t)},${y(before)}`;
  };
  const held = steps((u) => u[field]);
  svg.append(make("path", { class: "area", d: held + `L${x(t)},${y(0)}Z` }), make("path", { class: "edge", d: held }));
  if (field === "cores" && queue) svg.append(make("path", { class: "queue", d: steps((u) => u.waiting) }));
  return svg;
}
