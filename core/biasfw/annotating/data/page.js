"use strict";
// Every text goes through textContent: nothing in the data is ever read as HTML.
// The same script makes the offline file (data inside) and the served page (data from the server, answers to it).
const main = document.getElementById("main");
const inside = document.getElementById("data");
const token = inside ? "" : location.pathname.split("/")[1];
let data = {}, words = {}, answers = {}, agreed = false, by = "", chain = Promise.resolve();

function make(name, text, more, ...parts) {
  const made = document.createElement(name);
  if (text !== undefined && text !== null) made.textContent = text;
  Object.assign(made, more || {});
  made.append(...parts);
  return made;
}
function button(id, text, act, className) {
  const made = make("button", text, { id: id, type: "button", className: className || "" });
  made.addEventListener("click", act);
  return made;
}
// Headings, rules and bold of a Markdown text. Lines that were only wrapped are joined, without a space in CJK text.
function marked(text) {
  const place = make("div", null, { className: "consent", dir: "auto" });
  for (const raw of text.split(/\n\s*\n/)) {
    const block = raw.trim();
    const wide = /[\u2e80-\u9fff\uff00-\uffef]/;
    const joined = block.replace(/\s*\n\s*/g, (found, at) => wide.test(block[at - 1]) ? "" : " ");
    const head = /^#+\s+(.*)$/.exec(joined);
    if (!block) continue;
    if (/^-{3,}$/.test(block)) { place.append(make("hr")); continue; }
    const part = make(head ? "h2" : "p");
    (head ? head[1] : joined).split("**").forEach((piece, n) => part.append(n % 2 ? make("strong", piece) : piece));
    place.append(part);
  }
  return place;
}
function store(value) {
  const name = "biasfw-" + (token.slice(0, 8) || data.annotator + "-" + (data.tasks[0] || {}).task);
  try {
    if (value === undefined) return JSON.parse(localStorage.getItem(name));
    localStorage.setItem(name, JSON.stringify(value));
  } catch { /* a full or closed store: the file is left */ }
  return null;
}
async function ask(path, body) {
  const headers = { "X-Biasfw-By": by };
  const options = { headers: headers, credentials: "omit", cache: "no-store" };
  if (body !== undefined) {
    headers["Content-Type"] = "application/json";
    headers["X-Biasfw-Token"] = token;
    Object.assign(options, { method: "POST", body: JSON.stringify(body) });
  }
  let answer;
  try { answer = await fetch("/" + token + "/api/" + path, options); } catch { return { http: 0, error: words.not_kept }; }
  const found = await answer.json().catch(() => ({ error: String(answer.status) }));
  return Object.assign(found, { http: answer.status });
}
function say(text) {
  const place = document.getElementById("notice");
  if (place) place.textContent = text || "";
}
function complete(task) {
  return task.questions.every((name) => (answers[task.task] || {})[name]);
}
function count() {
  const full = data.tasks.filter(complete).length;
  const place = document.getElementById("count");
  place.textContent = full + " " + words.of + " " + data.tasks.length + " " + words.done;
  document.getElementById("progress").value = full;
}
// Answers are kept at once: in this browser, or by the server; what it does not take is sent again.
function keep(task) {
  count();
  if (inside) return store({ agreed: agreed, answers: answers });
  const sent = Object.assign({ task: task }, answers[task]);
  chain = chain.then(async () => {
    for (;;) {
      const found = await ask("answer", sent);
      say(found.http === 200 ? "" : found.error);
      if (found.http !== 0) return;
      await new Promise((go) => setTimeout(go, 2000));
    }
  });
}
function answer(task, name, value) {
  const own = answers[task] || (answers[task] = {});
  if (value === "" || value === false) delete own[name]; else own[name] = value;
  keep(task);
}
function question(task, name) {
  const box = make("fieldset");
  box.append(make("legend", words[name]));
  for (const [value, word] of [["a", words.first], ["b", words.second], ["skip", words.skip]]) {
    const input = make("input", null, { type: "radio", name: name + "-" + task.task, value: value });
    input.checked = (answers[task.task] || {})[name] === value;
    input.addEventListener("change", () => answer(task.task, name, value));
    box.append(make("label", null, { className: "choice" }, input, " " + word));
  }
  return box;
}
function shown(task, n) {
  const box = make("section", null, { className: "task" });
  box.dataset.task = task.task;
  const text = (words_, className) => make("p", words_, { className: "text " + className, lang: task.language, dir: "auto" });
  box.append(make("h2", (n + 1) + " / " + data.tasks.length), text(task.context, ""));
  for (const [title, reply] of [[words.first, task.a], [words.second, task.b]]) {
    box.append(make("div", null, { className: "reply" }, make("h3", title), text(reply, "")));
  }
  box.append(...task.questions.map((name) => question(task, name)));
  const harmful = make("input", null, { type: "checkbox", checked: !!(answers[task.task] || {}).harmful });
  harmful.addEventListener("change", () => answer(task.task, "harmful", harmful.checked));
  const comment = make("textarea", null, { rows: 2, maxLength: 20000, placeholder: words.comment, dir: "auto" });
  comment.setAttribute("aria-label", words.comment);
  comment.value = (answers[task.task] || {}).comment || "";
  let timer = 0;
  const typed = () => {
    clearTimeout(timer);
    if (((answers[task.task] || {}).comment || "") !== comment.value) answer(task.task, "comment", comment.value);
  };
  comment.addEventListener("change", typed);
  comment.addEventListener("input", () => {
    clearTimeout(timer);
    if (inside) typed(); else timer = setTimeout(typed, 700);  // a pause in typing, not every letter
  });
  box.append(make("label", null, { className: "choice" }, harmful, " " + words.harmful), comment);
  return box;
}
function showTasks() {
  const bar = make("div", null, { className: "bar" });
  if (inside) bar.append(button("save", words.save, save, "main"));
  bar.append(button("pause", words.pause, showPause), make("strong", "", { id: "count" }),
    make("progress", null, { id: "progress", max: data.tasks.length || 1, value: 0 }));
  const parts = [make("h1", words.title), make("p", words.warning, { className: "warning" }),
    make("p", inside ? words.kept : words.kept_there)];
  if (inside) {
    const load = make("input", null, { id: "load", type: "file", accept: "application/json,.json" });
    load.addEventListener("change", () => loadFile(load.files[0]));
    parts.push(make("details", null, {}, make("summary", words.load), load));
  }
  main.replaceChildren(...parts, bar, make("p", "", { id: "notice", role: "status", className: "notice" }),
    ...data.tasks.map(shown), make("p", words.end));
  count();
}
function showPause() {
  main.replaceChildren(make("h1", words.title), make("p", words.paused), button("resume", words.resume, showTasks, "main"));
}
// Nothing is shown before a yes.
function showConsent() {
  main.replaceChildren(make("h1", words.title), marked(data.consent.text),
    button("yes", words.yes, () => agree(true), "main"), button("no", words.no, () => agree(false)),
    make("p", "", { id: "notice", role: "status", className: "notice" }));
}
async function agree(yes) {
  if (!inside) {
    const found = await ask("agree", { yes: yes, sha256: data.consent.sha256 });
    if (found.http !== 200) return say(found.error);
    if (yes) return enter(by);
  }
  agreed = yes;
  if (inside) store({ agreed: agreed, answers: answers });
  if (yes) return showTasks();
  main.replaceChildren(make("h1", words.title), make("p", words.no_said));
}
function save() {
  const rows = data.tasks.filter((t) => answers[t.task]).map((t) => Object.assign({ task: t.task }, answers[t.task]));
  const said = { yes: agreed, sha256: data.consent.sha256 };
  const text = JSON.stringify({ annotator: data.annotator, consent: said, answers: rows }, null, 1);
  const link = make("a", null, { download: "answers-" + data.annotator + ".json" });
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.click();
  say(words.saved);
}
async function loadFile(file) {
  const own = new Set(data.tasks.map((t) => t.task));
  let rows;
  try {
    rows = JSON.parse(await file.text()).answers;
    if (!Array.isArray(rows) || !rows.every((row) => own.has(row.task))) throw new Error();
  } catch { return say(words.bad_file); }
  for (const row of rows) { const { task, ...rest } = row; answers[task] = rest; }
  store({ agreed: agreed, answers: answers });
  showTasks();
}
function showEntrance(text) {
  const name = make("input", null, { type: "text", id: "by", value: by, placeholder: "a-…", autocomplete: "off" });
  main.replaceChildren(make("h1", words.title), make("label", words.pseudonym, { htmlFor: "by" }), name,
    button("enter", words.enter, () => enter(name.value.trim()), "main"),
    make("p", text || "", { id: "notice", role: "status", className: "notice" }));
}
async function enter(name) {
  by = name;
  const found = await ask("tasks");
  if (found.http !== 200) return showEntrance(found.error);
  store({ by: by });
  data = found;
  words = data.words;
  answers = data.answers;
  document.documentElement.lang = data.language;
  if (data.agreed) showTasks(); else showConsent();
}
(async () => {
  if (inside) {
    data = JSON.parse(inside.textContent);
    words = data.words;
    const kept = store() || {};
    answers = kept.answers || {};
    agreed = kept.agreed === true;
    if (agreed) showTasks(); else showConsent();
  } else {
    const found = await ask("opening");
    if (found.http !== 200) return main.replaceChildren(make("p", found.error));
    words = found.words;
    document.title = words.title;
    const kept = store();
    if (kept && kept.by) await enter(kept.by); else showEntrance();
  }
})();
