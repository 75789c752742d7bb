// The page: fills the parts of page.html from the report's data, and joins them.

const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const plural = (n, one, many) => `${n} ${n === 1 ? one : many || `${one}s`}`;
const failing = (entry) => entry.rows.filter(
  (row) => row.state === "fail" || row.state === "error");
const {entries, summary} = data;
let current = 0;

function pairs(list) {
  const made = element("dl");
  for (const [name, text] of list) {
    if (text === undefined || text === "") continue;
    made.append(element("dt", "", name), element("dd", "", String(text)));
  }
  return made;
}

const tree = new Tree(byId("tree"), (row) => {
  byId("details").replaceChildren(row ? pairs([
    ["Python", row.python], ["value", row.path], ["kind", row.kind],
    ["expected", row.expected], ["found", row.found], ["raised", row.error],
    ["note", row.note],
    ["cost", row.ns === undefined ? "" :
      `${time(row.ns)} a run, ${plural(row.runs, "run")}, ${row.failed} failed`],
  ]) : element("p", "quiet", "No guard matches the search."));
});

function entryLine(i) {
  const entry = entries[i];
  const made = element("div");
  const bad = failing(entry).length;
  const verdict = element("span", `mark ${entry.verdict || ""}`,
    entry.verdict ? (bad ? `${bad} fail` : entry.verdict) : "");
  made.append(element("span", "", `entry ${i}`));
  if (entry.verdict) made.append(verdict);
  made.append(element("span", "grow"));
  const count = tree.words ?
    plural(entry.rows.filter((row) => matches(row, tree.words)).length, "match", "matches")
    : entry.hits === undefined ? plural(entry.rows.length, "row")
      : plural(entry.hits, "hit");
  made.append(element("span", "quiet", count));
  return made;
}

const entryList = new List(byId("entry-list"), 30, entryLine, (i) => openEntry(i));

function openEntry(i, row) {
  current = i;
  const rows = entries[i] ? entries[i].rows : [];
  const bad = rows.findIndex((each) => each.state === "fail" || each.state === "error");
  tree.show(rows, row === undefined ? Math.max(0, bad) : row);
}

function go(i, row) {
  choose("guards");
  if (tree.words) search("");
  openEntry(i, row);
  entryList.show(entries.length, i);
  byId("tree").focus();
}

function card(title, answer, ...content) {
  const made = element("div", "card");
  made.append(element("h2", "", title), element("p", "answer", answer), ...content);
  byId("summary").append(made);
  return made;
}

function link(text, act, names) {
  const made = element("button", `code ${names || ""}`, text);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
}

function tellTheCall() {
  if (!entries.length) return card("The call", "There are no entries.");
  if (summary.nearest === undefined) {
    const what = "Give report() a call to see which guards pass.";
    return card("The call", "No call was given.", element("p", "quiet", what));
  }
  const i = summary.nearest;
  const bad = failing(entries[i]);
  if (!bad.length) return card("The call", entries.length === 1 ?
    "All guards pass." : `Entry ${i} serves it.`);
  const told = bad.slice(0, 6).map((row) => link(
    `${row.python}: ${row.error ? row.error : `found ${row.found}`}`,
    () => go(i, entries[i].rows.indexOf(row)), row.state));
  const guards = bad.length === 1 ? "1 guard does not pass" :
    `${bad.length} guards do not pass`;
  return card("The call", entries.length === 1 ? `It misses: ${guards}.` :
    `It misses. Entry ${i} is nearest: ${guards}.`, ...told);
}

function tellDifferences() {
  const facts = data.differences;
  if (!facts.length) {
    return card("Entries differ in", entries.length < 2 ?
      "There is nothing to compare." : "No single fact tells them apart.");
  }
  const told = facts.slice(0, 6).map(({fact, demands}) => link(
    `${fact}: ${demands.slice(0, 4).map((each) => each || "anything").join(", ")}` +
      (demands.length > 4 ? ", ..." : ""),
    () => choose("entries")));
  return card("Entries differ in", plural(facts.length, "fact"), ...told);
}

function tellCosts() {
  if (!summary.most_expensive) {
    return card("The most expensive guard", "Nothing was timed.");
  }
  const [i, j] = summary.most_expensive;
  const row = entries[i].rows[j];
  const part = Math.round(100 * row.ns / (entries[i].ns || row.ns));
  return card("The most expensive guard", `${time(row.ns)}, ${part} % of entry ${i}`,
    link(row.python, () => go(i, j)));
}

const FACTS = data.differences.slice(0, 12);

function entryCells(entry, i) {
  return [`entry ${i}`, String(entry.hits === undefined ? "" : entry.hits),
    time(entry.ns), entry.verdict || "", entry.runs || "",
    ...FACTS.map((each) => each.demands[i] || "anything")];
}

function cells(texts, isHead) {
  const made = element("div");
  texts.forEach((text, k) => {
    const cell = element("span", k === 1 || k === 2 ? "number" : "cell", text);
    if (k !== 1 && k !== 2) cell.style.width = k > 3 ? "200px" : "90px";
    if (k === 3) cell.style.marginLeft = "16px";
    if (k === 3 && text && !isHead) cell.classList.add(text);
    made.append(cell);
  });
  return made;
}

function fillEntries() {
  const head = cells(["entry", "hits", "time", "the call", "runs",
    ...FACTS.map((each) => each.fact)], true);
  byId("entry-head").append(...head.childNodes);
  const table = new List(byId("entry-table"), 26,
    (i) => cells(entryCells(entries[i], i)), null);
  table.show(entries.length, 0);
  byId("entry-table").addEventListener("dblclick", () => go(table.at));
  byId("entry-table").addEventListener("keydown", (event) => {
    if (event.key === "Enter") go(table.at);
  });
  byId("entry-table").addEventListener("scroll", (event) => {
    byId("entry-head").style.transform = `translateX(${-event.target.scrollLeft}px)`;
  });
}

function fillCosts() {
  const all = [];
  entries.forEach((entry, i) => entry.rows.forEach((row, j) => {
    if (row.ns !== undefined) all.push([row.ns, i, j]);
  }));
  all.sort((a, b) => b[0] - a[0]);
  byId("cost-note").textContent = all.length ?
    "The mean time of one run, without the clock's own. Enter shows the guard in its tree."
    : "Nothing was timed: give report() a call, and a repeat above 0.";
  const most = all.length ? all[0][0] : 1;
  const list = new List(byId("cost-list"), 26, (k) => {
    const [, i, j] = all[k];
    const made = element("div");
    made.append(...costOf(entries[i].rows[j], most), element("span", "quiet", `entry ${i}`),
      ...rowParts(entries[i].rows[j]).slice(1));
    return made;
  }, null);
  list.show(all.length, 0);
  const open = () => { if (all[list.at]) go(all[list.at][1], all[list.at][2]); };
  byId("cost-list").addEventListener("dblclick", open);
  byId("cost-list").addEventListener("keydown", (event) => {
    if (event.key === "Enter") open();
  });
}

function table(title, head, rows) {
  const made = element("table");
  const line = element("tr");
  head.forEach((each) => line.append(element("th", "", each)));
  made.append(line);
  for (const row of rows) {
    const each = element("tr");
    row.forEach((text) => each.append(element("td", "", String(text))));
    made.append(each);
  }
  return [element("h2", "", title), made];
}

function fillHistory() {
  const to = byId("history");
  if (data.history.length) {
    to.append(...table("What happened", ["seconds", "what", ""], data.history.map(
      (each) => [each.seconds.toFixed(3), each.what, each.text])));
  }
  if (data.removed.length) {
    to.append(...table("Entries that are gone, the newest last", ["hits", "reason"],
      data.removed));
  }
  const counts = Object.entries(data.stats);
  if (counts.length) to.append(...table("Counters", ["", ""], counts));
  const policy = Object.entries(data.policy || {});
  if (policy.length) to.append(...table("Policy", ["", ""], policy));
  const subject = Object.entries(data.subject || {});
  if (subject.length) to.append(...table("The call", ["name", "value"], subject));
  if (!to.children.length) {
    to.append(element("p", "quiet", "Nothing was recorded. Run the calls inside " +
      "guardtree.record_history(), and give report() what it recorded."));
  }
}

const VIEWS = ["guards", "entries", "costs", "history"];

function choose(view) {
  for (const each of VIEWS) {
    byId(each).hidden = each !== view;
    byId(`tab-${each}`).setAttribute("aria-selected", each === view);
    byId(`tab-${each}`).tabIndex = each === view ? 0 : -1;
  }
}

function search(text) {
  const row = tree.row;
  byId("search").value = text;
  tree.words = text.trim().toLowerCase();
  const has = (entry) => entry && entry.rows.some((each) => matches(each, tree.words));
  if (tree.words && !has(entries[current]) && entries.some(has)) {
    openEntry(entries.findIndex(has));
  } else {
    tree.arrange(row);
  }
  entryList.show(entries.length, current);
}

function isDark() {
  const set = document.documentElement.style.colorScheme;
  return set ? set === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function nameTheme() { byId("theme").textContent = isDark() ? "Light" : "Dark"; }

byId("theme").addEventListener("click", () => {
  document.documentElement.style.colorScheme = isDark() ? "light" : "dark";
  nameTheme();
});
byId("search").addEventListener("input", (event) => {
  choose("guards");
  search(event.target.value);
});
byId("search").addEventListener("keydown", (event) => {
  if (event.key === "Escape") search("");
  if (event.key === "Enter") byId("tree").focus();
});
VIEWS.forEach((view, k) => {
  byId(`tab-${view}`).addEventListener("click", () => choose(view));
  byId(`tab-${view}`).addEventListener("keydown", (event) => {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (!step) return;
    const next = VIEWS[(k + step + VIEWS.length) % VIEWS.length];
    choose(next);
    byId(`tab-${next}`).focus();
  });
});
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.tagName === "INPUT") return;
  if (event.key === "/") {
    event.preventDefault();
    byId("search").focus();
  } else if (event.key === "f" || event.key === "F") {
    choose("guards");
    tree.nextFailure();
  } else if (event.key >= "1" && event.key <= "4") {
    choose(VIEWS[Number(event.key) - 1]);
  }
});

byId("name").textContent = data.name;
const counters = ["hits", "misses", "errors"].filter((each) => data.stats[each] !== undefined);
byId("facts").textContent = [
  plural(entries.length, "entry", "entries"),
  ...counters.map((each) => `${data.stats[each]} ${each}`),
  `guardtree ${data.version}`, ...(data.python ? [`CPython ${data.python}`] : []),
].join(", ");
tellTheCall();
tellDifferences();
tellCosts();
choose("guards");
openEntry(summary.nearest || 0);
entryList.show(entries.length, summary.nearest || 0);
fillEntries();
fillCosts();
fillHistory();
nameTheme();
