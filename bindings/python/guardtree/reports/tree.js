// The tree of one entry: rows that open and close, filtered by the search.

const STATES = {pass: "pass", fail: "fail", error: "error", unreached: "not run"};

function time(ns) {
  return ns === undefined ? "" : `${Number(ns).toFixed(1)} ns`;
}

function textOf(row) {
  const parts = [row.kind, row.path, row.python, row.note, row.found, row.error];
  return parts.filter(Boolean).join("\n").toLowerCase();
}

class Tree {
  constructor(box, details) {
    this.details = details;
    this.rows = [];
    this.visible = [];
    this.words = "";
    this.list = new List(box, 26, (i) => this.line(this.visible[i]), () => this.tell());
    box.addEventListener("keydown", (event) => this.key(event));
    box.addEventListener("click", (event) => {
      if (event.target.classList.contains("twisty")) this.toggle();
    });
  }

  // Shows the rows of an entry; `at`: the row to choose.
  show(rows, at) {
    this.rows = rows;
    this.closed = new Set();
    this.most = Math.max(1, ...rows.map((row) => row.ns || 0).slice(0, 50000));
    this.arrange(at);
  }

  opens(index) {
    const next = this.rows[index + 1];
    return next !== undefined && next.depth > this.rows[index].depth;
  }

  // Which rows are to be seen: not below closed ones; matches, and what they are below.
  arrange(at) {
    const {rows, words} = this;
    const keep = new Uint8Array(rows.length).fill(words ? 0 : 1);
    if (words) {
      const above = [];
      rows.forEach((row, i) => {
        above.length = row.depth;
        above[row.depth] = i;
        if (matches(row, words)) above.forEach((each) => { keep[each] = 1; });
      });
    }
    this.visible = [];
    let limit = Infinity;  // below a closed row: the depth at which rows show again
    rows.forEach((row, i) => {
      if (row.depth > limit) return;
      limit = this.closed.has(i) && !words ? row.depth : Infinity;
      if (keep[i]) this.visible.push(i);
    });
    this.list.show(this.visible.length, Math.max(0, this.visible.indexOf(at)));
    this.tell();
  }

  get row() { return this.visible[this.list.at]; }

  tell() { this.details(this.rows[this.row]); }

  toggle(open) {
    const {row} = this;
    if (row === undefined || !this.opens(row)) return false;
    const isClosed = this.closed.has(row);
    if (open === !isClosed) return false;
    if (isClosed) this.closed.delete(row);
    else this.closed.add(row);
    this.arrange(row);
    return true;
  }

  key(event) {
    const {row} = this;
    if (event.key === "ArrowRight" && !this.toggle(true) && this.opens(row)) {
      this.list.choose(this.list.at + 1);
    } else if (event.key === "ArrowLeft" && !this.toggle(false)) {
      const depth = this.rows[row] ? this.rows[row].depth : 0;
      let i = this.list.at;
      while (i > 0 && this.rows[this.visible[i]].depth >= depth) i--;
      if (depth) this.list.choose(i);
    } else if (event.key === "Enter" || event.key === " ") {
      this.toggle();
    } else if (event.key !== "ArrowRight" && event.key !== "ArrowLeft") {
      return;
    }
    event.preventDefault();
  }

  nextFailure() {
    const bad = (row) => row.state === "fail" || row.state === "error";
    const n = this.visible.length;
    for (let k = 1; k <= n; k++) {
      const i = (this.list.at + k) % n;
      if (bad(this.rows[this.visible[i]])) return this.list.choose(i);
    }
    return undefined;
  }

  line(index) {
    const row = this.rows[index];
    const made = element("div", "");
    made.setAttribute("role", "treeitem");
    made.setAttribute("aria-level", row.depth + 1);
    const twisty = element("span", "twisty", "");
    if (this.opens(index)) {
      const isOpen = !this.closed.has(index);
      twisty.textContent = isOpen ? "\u25be" : "\u25b8";
      made.setAttribute("aria-expanded", isOpen);
    }
    twisty.style.marginLeft = `${Math.min(row.depth, 40) * 16}px`;
    made.append(...rowParts(row, twisty, this.words));
    made.append(element("span", "grow"), ...costOf(row, this.most));
    return made;
  }
}

function matches(row, words) {
  if (row.searched === undefined) row.searched = textOf(row);
  return row.searched.includes(words);
}

// What a line says of a row, behind its mark.
function rowParts(row, twisty, words) {
  const state = row.state || "";
  const mark = element("span", `mark ${state}`, STATES[state] || "");
  const isStep = row.what === "step";
  const python = element("span", isStep ? "" : "check", isStep ? row.path : row.python);
  if (words && matches(row, words)) python.classList.add("match");
  const parts = [mark, ...(twisty ? [twisty] : [])];
  parts.push(element("span", isStep ? "quiet" : "kind", row.kind), python);
  if (row.found !== undefined) {
    parts.push(element("span", state, row.error || `found ${row.found}`));
  }
  if (row.note) parts.push(element("span", "note", `# ${row.note}`));
  return parts;
}

function costOf(row, most) {
  const bar = element("span", "bar");
  bar.style.setProperty("--part", `${Math.round(100 * (row.ns || 0) / most)}%`);
  return [bar, element("span", "number", time(row.ns))];
}
