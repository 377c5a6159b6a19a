// Schedules: which job holds each core and GPU, and below it a lane for each job, drawn from the cell's data. The job
// under the pointer is described; a stretch of time that is dragged over is shown larger.
{
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const mostLanes = 400, left = 84, right = 10, axis = 30, gap = 12;

  const spans = (text) => (text || "").split(/[ ,]+/).filter(Boolean).map((part) => {
    const [low, high] = part.split("-").map(Number);
    return [low, (high === undefined ? low : high) + 1];
  });
  // halves are the upper halves of rows: what a guest has of GPUs that it shares.
  const halves = (rows) => rows.flatMap(([low, high]) => Array.from({ length: high - low }, (_, i) => [low + i, low + i + 0.5]));
  const unitOf = (until) => until >= 3 * 86400 ? [86400, "d"] : until >= 3 * 3600 ? [3600, "h"] : until >= 600 ? [60, "min"] :
    until > 0 && until < 0.5 ? [0.001, "ms"] : [1, "s"];
  const mix = (color, other, share) => "#" + [1, 3, 5].map((i) => {
    const a = parseInt(color.slice(i, i + 2), 16), b = parseInt(other.slice(i, i + 2), 16);
    return Math.round(a + (b - a) * share).toString(16).padStart(2, "0");
  }).join("");
  const digits = (v) => Number(v.toPrecision(4)).toLocaleString("en");
  // time writes an instant or a length of a schedule in its unit.
  const time = (seconds, [per, unit]) => `${digits(seconds / per)} ${unit}`;

  class Schedule {
    constructor(sheet, data) {
      Object.assign(this, { sheet, data, from: data.from, until: data.until, hidden: new Set(), chosen: null });
      this.unit = unitOf(data.until);
      this.least = Math.max((data.until - data.from) / 1e5, 1e-6);
      const shades = [0, 0.3, 0.15, 0.45], seen = data.classes.map(() => 0);
      this.jobs = data.jobs.map((j) => ({
        ...j, shade: shades[seen[j.class]++ % 4],
        held: (j.held || []).map((h) => {
          const gpus = spans(h.gpus);
          return { ...h, guest: !!h.guest, cores: spans(h.cores), gpus, gpuRows: h.guest ? halves(gpus) : gpus };
        }), waits: j.waits || [],
      }));
      this.build();
      // Drawing changes the height of the frame: within the notice of a change that would be another change.
      new ResizeObserver(() => requestAnimationFrame(() => this.draw())).observe(this.frame);
      dark.addEventListener("change", () => this.draw());
    }

    build() {
      this.frame = document.createElement("div");
      this.canvas = document.createElement("canvas");
      this.told = document.createElement("output");
      this.frame.className = "schedule";
      this.canvas.tabIndex = 0;
      this.canvas.setAttribute("role", "img");
      this.canvas.setAttribute("aria-label", this.sheet.querySelector("img").alt +
        ". Arrow keys: jobs and time; plus and minus: zoom; Escape: all of it.");
      this.told.className = "told";
      const bar = document.createElement("div"), title = document.createElement("h3");
      title.textContent = this.sheet.querySelector("img").alt;
      bar.className = "switches";
      const button = (text, label, act) => {
        const b = document.createElement("button");
        b.type = "button";
        b.textContent = text;
        if (label) b.setAttribute("aria-label", label);
        b.addEventListener("click", () => act(b));
        bar.append(b);
        return b;
      };
      button("+", "zoom in", () => this.zoom(0.5));
      button("−", "zoom out", () => this.zoom(2));
      button("all", "show all of the time", () => this.reset());
      this.data.classes.forEach((name, i) => {
        const b = button(name, "", () => {
          if (!this.hidden.delete(i)) this.hidden.add(i);
          b.setAttribute("aria-pressed", String(!this.hidden.has(i)));
          this.draw();
        });
        b.setAttribute("aria-pressed", "true");
        b.style.borderLeft = `.6rem solid ${this.data.colors[i]}`;
      });
      this.frame.append(this.canvas, this.told);
      this.sheet.prepend(this.frame);
      this.sheet.before(title, bar);
      this.sheet.classList.add("live");
      this.listen();
    }

    listen() {
      const c = this.canvas;
      let start = null;
      c.addEventListener("pointerdown", (e) => {
        start = e.offsetX;
        if (e.isTrusted) c.setPointerCapture(e.pointerId); // a pointer that there is
      });
      c.addEventListener("pointermove", (e) => {
        if (start !== null && Math.abs(e.offsetX - start) > 4) {
          this.draw();
          this.mark(start, e.offsetX);
        } else {
          this.tell(this.at(e.offsetX, e.offsetY));
        }
      });
      c.addEventListener("pointerup", (e) => {
        if (start !== null && Math.abs(e.offsetX - start) > 4) {
          const a = this.timeAt(Math.min(start, e.offsetX)), b = this.timeAt(Math.max(start, e.offsetX));
          this.show(a, b);
        } else {
          this.tell(this.at(e.offsetX, e.offsetY));
        }
        start = null;
      });
      c.addEventListener("pointercancel", () => { start = null; this.draw(); });
      c.addEventListener("pointerleave", () => { if (start === null) this.tell(null); });
      c.addEventListener("dblclick", () => this.reset());
      c.addEventListener("keydown", (e) => {
        const step = (this.until - this.from) / 4;
        const act = {
          "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2), Escape: () => this.reset(),
          ArrowLeft: () => this.show(this.from - step, this.until - step),
          ArrowRight: () => this.show(this.from + step, this.until + step),
          ArrowUp: () => this.next(-1), ArrowDown: () => this.next(1),
        }[e.key];
        if (!act) return;
        e.preventDefault();
        act();
      });
    }

    // show shows the time from a to b, within that of the schedule.
    show(a, b) {
      const all = this.data.until - this.data.from, wide = Math.min(Math.max(b - a, this.least), all);
      this.from = Math.min(Math.max(a, this.data.from), this.data.until - wide);
      this.until = this.from + wide;
      this.draw();
    }

    zoom(factor) {
      const middle = (this.from + this.until) / 2, half = (this.until - this.from) / 2 * factor;
      this.show(middle - half, middle + half);
    }

    reset() { this.show(this.data.from, this.data.until); }

    // next tells about the job that comes so many after the chosen one.
    next(by) {
      const shown = this.jobs.filter((j) => !this.hidden.has(j.class));
      const i = shown.indexOf(this.chosen && this.chosen.job);
      const job = shown[Math.min(Math.max(i + by, 0), shown.length - 1)];
      if (job) this.tell({ job });
    }

    x(t) { return left + (t - this.from) / (this.until - this.from) * (this.width - left - right); }

    timeAt(x) { return this.from + (x - left) / (this.width - left - right) * (this.until - this.from); }

    // lay works out how high everything is.
    lay() {
      const d = this.data, rows = d.cores + (d.gpus || 0);
      this.row = Math.min(26, Math.max(240, Math.min(rows, 512)) / rows);
      this.lanes = this.jobs.length <= mostLanes;
      this.lane = this.lanes ? Math.min(16, Math.max(1, 280 / this.jobs.length)) : 0;
      this.gpusAt = 6 + d.cores * this.row + (d.gpus ? 8 : 0);
      this.lanesAt = this.gpusAt + (d.gpus || 0) * this.row + gap;
      this.height = this.lanesAt + this.lane * this.jobs.length + axis;
    }

    draw() {
      this.width = Math.max(this.frame.clientWidth, 300);
      this.lay();
      const density = devicePixelRatio || 1, c = this.canvas, g = c.getContext("2d");
      c.width = Math.round(this.width * density);
      c.height = Math.round(this.height * density);
      c.style.width = `${this.width}px`;
      c.style.height = `${this.height}px`;
      g.setTransform(density, 0, 0, density, 0, 0);
      const look = getComputedStyle(document.documentElement), color = (name) => look.getPropertyValue(name).trim();
      this.paper = color("--paper");
      this.ink = color("--ink");
      this.rule = color("--rule");
      this.quiet = color("--quiet");
      g.font = "12px system-ui, sans-serif";
      g.textBaseline = "middle";
      this.grid(g);
      g.save();
      g.beginPath();
      g.rect(left, 0, this.width - left - right, this.height);
      g.clip();
      for (const guest of [false, true]) this.jobs.forEach((j, i) => this.job(g, j, i, guest));
      g.restore();
      this.nodes(g);
    }

    grid(g) {
      const d = this.data, bottom = this.height - axis, [per, unit] = this.unit;
      g.strokeStyle = this.rule;
      g.fillStyle = this.quiet;
      g.lineWidth = 1;
      const line = (x0, y0, x1, y1) => { g.beginPath(); g.moveTo(x0, y0); g.lineTo(x1, y1); g.stroke(); };
      if (this.row >= 5) for (let i = 0; i <= d.cores; i++) line(left, 6 + i * this.row, this.width - right, 6 + i * this.row);
      const most = Math.max(2, Math.floor((this.width - left) / 90)), range = (this.until - this.from) / per;
      const least = 10 ** Math.floor(Math.log10(range / most));
      const step = [1, 2, 5, 10].map((m) => m * least).find((s) => range / s <= most) || 10 * least;
      const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
      g.textAlign = "center";
      for (let k = Math.ceil(this.from / per / step - 1e-9); k * step <= this.until / per * (1 + 1e-9); k++) {
        const x = this.x(k * step * per);
        line(x, 6, x, bottom);
        g.fillText((k * step).toFixed(decimals), x, bottom + 9);
      }
      g.fillText(`time since the cell's start (${unit})`, (left + this.width - right) / 2, bottom + 22);
      g.textAlign = "right";
      if (!d.nodes) this.ticks(g, "core", d.cores, 6);
      if (d.gpus && !d.nodes) this.ticks(g, "GPU", d.gpus, this.gpusAt);
      if (this.lane >= 11) this.jobs.forEach((j, i) => {
        g.fillStyle = this.hidden.has(j.class) ? this.rule : this.quiet;
        g.fillText(j.name.length > 12 ? j.name.slice(0, 11) + "…" : j.name, left - 6, this.lanesAt + (i + 0.5) * this.lane);
      });
    }

    // ticks name cores or GPUs, as many as have room.
    ticks(g, name, n, top) {
      let step = 1;
      while (step * this.row < 13) step *= 2;
      for (let i = 0; i < n; i += step) g.fillText(`${name} ${i}`, left - 6, top + (i + 0.5) * this.row);
    }

    // nodes draws borders between nodes, and their names.
    nodes(g) {
      let core = 0, gpu = 0, last = -20;
      g.strokeStyle = (this.data.nodes || []).length > 8 ? this.rule : this.quiet; // of many, borders would outweigh jobs
      g.fillStyle = this.ink;
      g.textAlign = "right";
      for (const n of this.data.nodes || []) {
        for (const [top, from, count] of [[6, core, n.cores], [this.gpusAt, gpu, n.gpus || 0]]) {
          if (!count || top === this.gpusAt && !this.data.gpus) continue;
          const y = top + from * this.row, middle = y + count * this.row / 2;
          g.strokeRect(left - 2, y, this.width - right - left + 4, count * this.row);
          if (Math.abs(middle - last) < 12) continue;
          last = middle;
          g.fillText(n.name.length > 13 ? n.name.slice(0, 12) + "…" : n.name, left - 6, middle);
        }
        core += n.cores;
        gpu += n.gpus || 0;
      }
    }

    job(g, j, i, guest) {
      if (this.hidden.has(j.class)) return;
      const chosen = this.chosen && this.chosen.job === j, base = mix(this.data.colors[j.class], "#ffffff", j.shade);
      const pale = mix(base, /^#[0-9a-f]{6}$/i.test(this.paper) ? this.paper : "#ffffff", 0.65);
      const bar = (from, to, y, height) => {
        const x0 = this.x(from), x1 = Math.max(this.x(to), x0 + 0.5);
        if (x1 < left || x0 > this.width) return;
        g.fillRect(x0, y, x1 - x0, height);
        if (chosen) g.strokeRect(x0, y, x1 - x0, height);
      };
      g.strokeStyle = this.ink;
      g.lineWidth = 1.5;
      g.fillStyle = base;
      for (const h of j.held) {
        if (h.guest !== guest) continue;
        for (const [rows, top] of [[h.cores, 6], [h.gpuRows, this.gpusAt]]) {
          for (const [low, high] of rows) {
            bar(h.from, h.to, top + low * this.row + 0.5, Math.max((high - low) * this.row - 1, 0.5));
            this.label(g, j, h, top + (low + high) / 2 * this.row, (high - low) * this.row, base);
          }
        }
      }
      if (!this.lane || guest) return;
      const y = this.lanesAt + i * this.lane, high = Math.max(this.lane * 0.8, 0.7);
      g.fillStyle = pale;
      for (const w of j.waits) bar(w.from, w.to, y + high * 0.2, high * 0.6);
      g.fillStyle = base;
      for (const h of j.held) bar(h.from, h.to, y, high);
    }

    // label names a job in a bar that has room for it.
    label(g, j, h, y, height, on) {
      const x0 = Math.max(this.x(h.from), left), x1 = Math.min(this.x(h.to), this.width - right);
      if (height < 13 || x1 - x0 < 7 * j.name.length + 4) return;
      const [r, gr, b] = [1, 3, 5].map((i) => parseInt(on.slice(i, i + 2), 16));
      g.save();
      g.fillStyle = 0.2126 * r + 0.7152 * gr + 0.0722 * b > 140 ? "#222222" : "#ffffff";
      g.textAlign = "center";
      g.fillText(j.name, (x0 + x1) / 2, y);
      g.restore();
    }

    // mark shows the stretch of time that is dragged over.
    mark(a, b) {
      const g = this.canvas.getContext("2d");
      g.fillStyle = "rgba(127,127,127,.3)";
      g.fillRect(Math.min(a, b), 6, Math.abs(b - a), this.height - axis - 6);
    }

    // at finds the job at a place, and its stretch of running or waiting.
    at(x, y) {
      const t = this.timeAt(x), near = 2 * (this.until - this.from) / (this.width - left - right);
      const within = (s) => s.from - near <= t && t <= s.to + near;
      const shown = (j) => !this.hidden.has(j.class);
      if (x < left - 80 || y < 6 || y > this.height - axis) return null;
      if (this.lane && y >= this.lanesAt) {
        const job = this.jobs[Math.floor((y - this.lanesAt) / this.lane)];
        if (!job || !shown(job)) return null;
        return { job, wait: job.waits.find(within), held: job.held.find(within) };
      }
      const onGPUs = this.data.gpus && y >= this.gpusAt, row = (y - (onGPUs ? this.gpusAt : 6)) / this.row;
      const there = ([low, high]) => low <= row && row < high;
      let found = null; // a guest lies over the job that was there before
      for (const job of this.jobs.filter(shown)) {
        for (const held of job.held) {
          if (!within(held) || !held[onGPUs ? "gpuRows" : "cores"].some(there)) continue;
          if (held.guest) return { job, held };
          found = found || { job, held };
        }
      }
      return found;
    }

    // tell describes a job, and what it does at a place.
    tell(found) {
      const before = this.chosen && this.chosen.job, after = found && found.job;
      this.chosen = found;
      if (before !== after) this.draw();
      this.told.replaceChildren();
      if (!found) return;
      for (const text of this.words(found)) {
        const line = document.createElement("span");
        line.textContent = text;
        this.told.append(line);
      }
    }

    // words say who the job is, its times, and why it waited.
    words({ job: j, wait, held }) {
      const t = (s) => time(s, this.unit), over = j.state === "finished" ? "finished" : "ended";
      const size = [[j.threads, "core"], [j.gpus || 0, "GPU"]].filter(([n]) => n > 0)
        .map(([n, what]) => `${n} ${what}${n === 1 ? "" : "s"}`).join(" and ");
      const lines = [`${j.name} (${this.data.classes[j.class]}, ${j.state})${size ? `, asks for ${size}` : ""}`];
      lines.push(`arrived ${t(j.arrival)}${j.start === undefined ? ", never started" : `, first start ${t(j.start)}`}, ${over} ${t(j.end)}` +
        `${j.waiting === undefined ? "" : `; waited ${t(j.waiting)}`}${j.service === undefined ? "" : `, ran ${t(j.service)}`}`);
      if (held && !wait) {
        const n = (rows) => rows.reduce((sum, [low, high]) => sum + high - low, 0);
        const holds = [[n(held.cores), "core"], [n(held.gpus), "GPU"]].filter(([k]) => k > 0)
          .map(([k, what]) => `${k} ${what}${k === 1 ? "" : "s"}`).join(" and ");
        if (holds) lines.push(`held ${holds} from ${t(held.from)} to ${t(held.to)}`);
      }
      const waits = wait ? [wait] : held ? [] : j.waits.slice(0, 3);
      for (const w of waits) lines.push(this.reason(w));
      if (!wait && !held && j.waits.length > 3) lines.push(`and ${j.waits.length - 3} more times of waiting`);
      return lines;
    }

    reason(w) {
      const t = (s) => time(s, this.unit), parts = [];
      if (w.why) parts.push(w.why);
      if (w.holders && w.holders.length) parts.push(`${w.holders.join(", ")} ran when it began`);
      if (w.others > 0) parts.push(`${w.others} other job${w.others === 1 ? "" : "s"} waited`);
      return `waited from ${t(w.from)} to ${t(w.to)}${parts.length ? `: ${parts.join("; ")}` : ""}`;
    }
  }

  for (const block of document.querySelectorAll("script.chart")) {
    const sheet = block.parentElement.querySelector(".sheet");
    if (sheet) new Schedule(sheet, JSON.parse(block.textContent));
  }
}
