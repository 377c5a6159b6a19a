"use strict";
// The page shows what the stream tells, and nothing else. Its place is the part of the address after "#":
// "#/", "#/EXPERIMENT", "#/EXPERIMENT/CELL" and "#/EXPERIMENT/CELL/JOB".

const main = document.getElementById("main"), link = document.getElementById("link"), placeText = document.getElementById("place");
const state = { experiments: null, experiment: null, cell: null, trouble: "" };
let source = null, log = null, drawn = false;

const place = () => location.hash.replace(/^#\/?/, "").split("/").filter(Boolean).map(decodeURIComponent);
const to = (...parts) => "#/" + parts.map(encodeURIComponent).join("/");

function connect() {
  if (source) source.close();
  if (log) { clearTimeout(log.timer); log = null; }
  const [name, cell, job] = place();
  Object.assign(state, { experiment: null, cell: null, trouble: "" });
  if (job) follow(name, cell, job);
  const query = new URLSearchParams();
  if (name) query.set("name", name);
  if (cell && cell !== "samples") query.set("cell", cell);
  source = new EventSource("api/stream?" + query);
  source.onopen = () => { link.textContent = "live"; };
  source.onerror = () => { link.textContent = "tfexp serve does not answer: trying again …"; };
  for (const event of ["experiments", "experiment", "cell", "trouble"]) {
    source.addEventListener(event, (e) => { state[event] = JSON.parse(e.data); soon(); });
  }
  soon();
}

// soon draws once for all that comes together.
function soon() {
  if (drawn) return;
  drawn = true;
  requestAnimationFrame(() => { drawn = false; show(); });
}

function count(n, one, many) { return n + " " + (n === 1 ? one : many); }

function summary(x) {
  let t = `${x.finished} of ${count(x.cells, "cell", "cells")} finished`;
  if (x.failed) t += `, ${x.failed} failed`;
  if (x.left) t += `, ${x.left} left`;
  return t;
}

function timing(x) {
  const parts = [];
  if (x.doing) parts.push(x.doing);
  if (x.elapsed_s) parts.push((x.state === "running" ? "for " : "took ") + seconds(x.elapsed_s));
  if (x.time_left_s !== null) {
    const [least, most] = (x.time_left_range_s || [0, 0]).map(rough);
    parts.push("about " + rough(x.time_left_s) + " left" + (least === most ? "" : " (" + least + " to " + most + ")"));
  }
  return parts.join(" · ");
}

function card(x) {
  return make("a", { class: "card", href: to(x.name) },
    make("strong", {}, x.name), " ", make("span", { class: "state " + x.state }, x.state),
    x.answer && x.answer.sentence ? make("p", {}, x.answer.sentence) : null,
    make("p", {}, summary(x)), bar(x), ...warnings(x), timing(x) ? make("p", { class: "faint" }, timing(x)) : null,
    x.description ? make("p", { class: "faint" }, x.description) : null);
}

// bar shows the finished cells, and the finished parts of those that run.
const bar = (x) => make("progress", { max: Math.max(1, x.cells), "aria-label": summary(x),
  value: x.finished + x.failed + (x.standings || []).reduce((sum, s) => sum + (s.share || 0), 0) });

function show() {
  const [name, cell, job] = place();
  placeText.replaceChildren(...crumbs(name, cell, job));
  document.title = ["tfexp", name, cell, job].filter(Boolean).join(" · ");
  const parts = [];
  if (state.trouble) parts.push(make("p", { class: "trouble", role: "alert" }, state.trouble));
  if (!name) parts.push(...overview());
  else if (job) parts.push(...logView(name, cell, job));
  else parts.push(...experimentView(name, cell));
  const opened = [...main.querySelectorAll("details")].map((d) => d.open);
  main.replaceChildren(...parts);
  main.querySelectorAll("details").forEach((d, i) => { if (i in opened) d.open = opened[i]; });
}

function crumbs(name, cell, job) {
  const out = [];
  if (name) out.push(" / ", make("a", { href: to(name) }, name));
  if (cell) out.push(" / ", make("a", { href: to(name, cell) }, cell));
  if (job) out.push(" / ", job);
  return out;
}

function overview() {
  if (!state.experiments) return [make("p", { class: "faint" }, "…")];
  if (!state.experiments.length) return [make("p", {}, "No experiments here yet. \"tfexp run experiment.hcl\" starts one; this page shows it at once.")];
  if (state.experiments.length === 1) location.replace(to(state.experiments[0].name));
  const order = (x) => x.state === "running" ? 0 : 1;
  return [...state.experiments].sort((a, b) => order(a) - order(b)).map(card);
}

function experimentView(name, cell) {
  const x = state.experiment, out = [];
  if (!x) {
    const there = (state.experiments || []).some((e) => e.name === name);
    return [make("p", { class: "faint" }, state.experiments && !there ? `There is no experiment "${name}" here.` : "…")];
  }
  if (!cell) {
    const files = make("nav", { "aria-label": "results" });
    const file = (path, title) => make("a", { href: `results/${encodeURIComponent(name)}/${path}`, target: "_blank", rel: "noopener" }, title);
    if (x.report) files.append(file("report.html", "report"), file("metrics.csv", "metrics.csv"), file("jobs.csv", "jobs.csv"));
    files.append(file("experiment.hcl", "experiment.hcl"),
      make("a", { href: to(name, "samples") }, "samples"));
    out.push(make("p", {}, make("span", { class: "state " + x.state }, x.state), " · " + summary(x)), bar(x),
      make("p", { class: "faint" }, timing(x) || "", x.holder ? " · by " + x.holder : ""), files);
    if (x.description) out.push(make("p", {}, x.description));
    if (x.answer && x.answer.sentence) out.push(...answer(x.answer));
    out.push(...warnings(x));
  }
  if (cell === "samples") out.push(...samples(name));
  else out.push(...cellView(name, cell));
  if (!cell) out.push(cells(name, x), journal(x));
  return out;
}

// answer shows what the results so far say.
function answer(a) {
  const out = [make("p", { id: "answer" }, a.sentence)];
  if (a.rows && a.rows.length) out.push(table(a.columns.map((title, i) => ({ title, n: i > 0 })), a.rows, "means"));
  if (a.note) out.push(make("p", { class: "faint" }, a.note));
  return out;
}

function cellView(name, asked) {
  const c = state.cell;
  if (!c || (asked && c.cell !== asked)) return asked ? [make("p", { class: "faint" }, "There is nothing of this cell yet.")] : [];
  const title = asked ? c.cell : (c.state === "running" ? "Running now: " : "The last cell: ");
  const out = [make("h2", {}, title, asked ? null : make("a", { href: to(name, c.cell) }, c.cell), " ",
    asked || c.state !== "running" ? make("span", { class: "state " + c.state }, c.state) : null)];
  const all = c.jobs_total ? count(c.jobs_total, "job", "jobs") : count(c.names.length, "job that has arrived", "jobs that have arrived");
  const total = `${c.jobs_done} of ${all} done, ${c.jobs_running} running, ${c.jobs_waiting} waiting` +
    (c.jobs_failed ? `, ${c.jobs_failed} failed` : "");
  out.push(make("p", { id: "counts" }, `${seconds(c.t_s)} · ${total} · ${c.held_cores} of ${count(c.cores, "core", "cores")}` +
    (c.gpus ? `, ${c.held_gpus} of ${count(c.gpus, "GPU", "GPUs")}` : "") + " in use" +
    (c.state === "interrupted" ? ", when it was interrupted" : "")));
  if (c.simulated && c.state === "running") {
    out.push(make("p", { class: "faint" }, "A simulated cell: its schedule is whole when it has ended."));
  }
  if (!c.names.length && !c.use.length) return out;
  const width = Math.max(320, main.clientWidth);
  const half = width > 760 ? Math.floor((width - 24) / 2) : width;
  if (c.names.length) out.push(make("figure", { id: "gantt" }, gantt(c, width), legend(c.names),
    c.cut ? make("figcaption", {}, "There is more than is drawn here.") : null));
  const charts = make("div", { class: "charts" });
  const add = (id, svg, caption) => { if (svg) charts.append(make("figure", { id }, svg, make("figcaption", {}, caption))); };
  const loss = curves(c, "loss", half);
  add("loss", loss, "training loss of each job" + scale(loss));
  add("accuracy", curves(c, "accuracy", half), "accuracy of each job");
  add("cores", inUse(c, "cores", half), "cores in use; dashed: waiting jobs");
  add("gpus", inUse(c, "gpus", half), "GPUs in use");
  out.push(charts);
  if (c.devices) out.push(devices(c));
  if (c.jobs && c.jobs.length) out.push(jobs(name, c));
  return out;
}

// scale says that a chart has a logarithmic axis.
const scale = (svg) => svg && svg.dataset.log ? ", on a logarithmic axis" : "";

function table(heads, rows, id) {
  const head = make("tr", {}, ...heads.map((h) => make("th", { class: h.n ? "n" : null, scope: "col" }, h.title)));
  return make("div", { class: "wide", id }, make("table", {}, make("thead", {}, head),
    make("tbody", {}, ...rows.map((r) => make("tr", {}, ...r.map((v, i) => make("td", { class: heads[i].n ? "n" : heads[i].class || null }, v)))))));
}

// trained is how far a training is: "17 of 50" epochs, or steps where it counts these.
function trained(j) {
  const [done, of] = j.steps || !j.epoch ? [j.step, j.steps] : [j.epoch, j.epochs];
  return !done ? "" : of ? `${done} of ${of}` : done;
}

function jobs(name, c) {
  const known = (v) => v !== null && v !== undefined;
  const trains = c.jobs.some((j) => j.epoch || j.step || known(j.loss) || known(j.accuracy));
  const waits = c.jobs.some((j) => j.waits), cpu = c.jobs.some((j) => j.cpu_pct !== undefined);
  const heads = [{ title: "job" }, { title: "state" }, { title: "cores", n: 1 }];
  if (c.gpus) heads.push({ title: "GPUs", n: 1 });
  if (trains) heads.push({ title: "epoch", n: 1 }, { title: "loss", n: 1 }, { title: "accuracy", n: 1 });
  if (cpu) heads.push({ title: "CPU %", n: 1 });
  heads.push({ title: "since", n: 1 });
  if (waits) heads.push({ title: "why it waits", class: "why" });
  const rows = c.jobs.map((j) => {
    const row = [c.simulated ? j.name : make("a", { href: to(name, c.cell, j.name) }, j.name), make("span", { class: "state " + j.state }, j.state), j.cores || ""];
    if (c.gpus) row.push(j.gpus || "");
    if (trains) row.push(trained(j), digits(j.loss), digits(j.accuracy));
    if (cpu) row.push(digits(j.cpu_pct));
    row.push(["running", "queued", "paused"].includes(j.state) ? "for " + seconds(Math.max(0, c.t_s - j.since_s)) : "at " + seconds(j.since_s));
    if (waits) row.push(j.waits || "");
    return row.map((v) => v instanceof Node ? v : String(v));
  });
  const box = make("section", {}, make("h3", {}, "Jobs"), table(heads, rows, "jobs"));
  if (c.more) box.append(make("p", { class: "faint" }, `and ${c.more} more`));
  return box;
}

function devices(c) {
  const heads = [{ title: "GPU" }, { title: "busy %", n: 1 }, { title: "memory", n: 1 }, { title: "power", n: 1 }];
  return make("section", {}, make("h3", {}, "GPUs of this machine"), table(heads, c.devices.map((d) => [String(d.gpu), digits(d.utilization_pct),
    d.memory_bytes === null ? "" : (d.memory_bytes / 2 ** 30).toFixed(1) + " GiB", d.power_w === null ? "" : digits(d.power_w) + " W"]), "devices"));
}

function cells(name, x) {
  const heads = [{ title: "cell" }, { title: "state" }, { title: "took", n: 1 }, { title: "mean JCT", n: 1 }, { title: "makespan", n: 1 }];
  const rows = x.list.map((r) => [make("a", { href: to(name, r.cell) }, r.cell),
    make("span", { class: "state " + r.state, title: r.error || null }, r.state), r.seconds ? seconds(r.seconds) : "", seconds(r.mean_jct_s), seconds(r.makespan_s)]);
  const box = make("details", { open: "" }, make("summary", {}, count(x.cells, "cell", "cells")), table(heads, rows, "cells"));
  if (x.more) box.append(make("p", { class: "faint" }, `and ${x.more} more`));
  return box;
}

function journal(x) {
  const line = (e) => [e.time.slice(11, 19), e.event.replaceAll("_", " "), [e.unit, e.state, e.seconds ? "in " + seconds(e.seconds) : "", e.text].filter(Boolean).join(" · ")];
  return make("details", {}, make("summary", {}, "journal (UTC)"),
    table([{ title: "time" }, { title: "event" }, { title: "" }], [...(x.journal || [])].reverse().map(line), "journal"));
}

function warnings(x) {
  const all = (x.warnings || []).map((w) => make("p", { class: "warning" }, "warning: " + w));
  return all.length < 4 ? all : [...all.slice(0, 2), make("details", {}, make("summary", {}, `${all.length - 2} more warnings`), ...all.slice(2))];
}

function samples(name) {
  return [make("h2", {}, "Samples"), make("p", {}, "The logs of the short runs that jobs were profiled by are listed by ",
    make("code", {}, "tfexp logs samples"), "; what they measured: ",
    make("a", { href: `results/${encodeURIComponent(name)}/samples.csv`, target: "_blank", rel: "noopener" }, "samples.csv"), ".")];
}

// follow reads a log as it grows, once a second.
function follow(name, cell, job) {
  const own = log = { from: -1, text: "", trouble: "", timer: 0 };
  const read = async () => {
    try {
      const query = new URLSearchParams({ cell, job, from: own.from });
      const r = await fetch(`api/experiments/${encodeURIComponent(name)}/log?${query}`);
      if (r.ok) {
        const start = Number(r.headers.get("X-From")), size = Number(r.headers.get("X-Size"));
        const raw = await r.arrayBuffer();
        if (size < own.from) Object.assign(own, { from: -1, text: "" });
        else {
          own.cut = own.cut || (own.from < 0 && start > 0);
          own.from = start + raw.byteLength;
          own.text = (own.text + new TextDecoder().decode(raw)).slice(-(1 << 20));
        }
        own.trouble = "";
      } else own.trouble = r.status === 404 ? "There is no log of this job yet." : await r.text();
    } catch { own.trouble = "tfexp serve does not answer: trying again …"; }
    if (log !== own) return;
    soon();
    own.timer = setTimeout(read, 1000);
  };
  read();
}

function logView(name, cell, job) {
  if (!log) return [];
  const clean = log.text.replace(/\x1b\[[0-9;?]*[A-Za-z]/g, "").replace(/[^\P{Cc}\n\t]/gu, "");
  const old = main.querySelector("pre"), below = !old || old.scrollTop + old.clientHeight > old.scrollHeight - 30;
  const pre = make("pre", { id: "log", tabindex: "0" }, clean);
  if (below) requestAnimationFrame(() => { pre.scrollTop = pre.scrollHeight; });
  else { const at = old.scrollTop; requestAnimationFrame(() => { pre.scrollTop = at; }); }
  const c = state.cell && state.cell.cell === cell && state.cell.curves ? { ...state.cell, curves: state.cell.curves.filter((k) => k.job === job) } : null;
  const charts = make("div", { class: "charts" }), width = Math.max(320, main.clientWidth);
  for (const what of c && c.curves.length ? ["loss", "accuracy"] : []) {
    const svg = curves(c, what, width > 760 ? Math.floor((width - 24) / 2) : width);
    if (svg) charts.append(make("figure", { id: what }, svg, make("figcaption", {}, what + scale(svg))));
  }
  return [make("h2", {}, `What ${job} wrote`), charts.childElementCount ? charts : null, log.cut ? make("p", { class: "faint" }, "The end of a longer log.") : null,
    log.trouble ? make("p", { class: "faint" }, log.trouble) : null, pre].filter(Boolean);
}

addEventListener("hashchange", connect);
addEventListener("resize", soon);
connect();
