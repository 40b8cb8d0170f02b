"use strict";
// Every text goes through textContent: nothing in the data is ever read as HTML.
const data = JSON.parse(document.getElementById("data").textContent);
const words = data.words;
const key = "biasfw-" + data.annotator + "-" + data.tasks[0].task;
let answers = {};
try { answers = JSON.parse(localStorage.getItem(key)) || {}; } catch { answers = {}; }

function element(name, text, more) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  return Object.assign(made, more || {});
}
function keep() {
  try { localStorage.setItem(key, JSON.stringify(answers)); } catch { /* a full or closed store: the file is left */ }
  const full = data.tasks.filter((t) => answers[t.task] && answers[t.task].suitable && answers[t.task].unbiased).length;
  document.getElementById("count").textContent = full + " " + words.of + " " + data.tasks.length + " " + words.done;
}
function answer(task, name, value) {
  const own = answers[task] || (answers[task] = {});
  if (value === "" || value === false) delete own[name]; else own[name] = value;
  keep();
}
function question(task, name) {
  const box = element("fieldset");
  box.append(element("legend", words[name]));
  for (const [value, word] of [["a", words.first], ["b", words.second], ["skip", words.skip]]) {
    const label = element("label");
    const input = element("input", undefined, { type: "radio", name: name + "-" + task.task, value: value });
    input.checked = (answers[task.task] || {})[name] === value;
    input.addEventListener("change", () => answer(task.task, name, value));
    label.append(input, " " + word);
    box.append(label);
  }
  return box;
}
function show() {
  const place = document.getElementById("tasks");
  place.replaceChildren();
  data.tasks.forEach((task, n) => {
    const box = element("section", undefined, { className: "task" });
    box.dataset.task = task.task;
    box.append(element("h2", String(n + 1)));
    for (const [title, text] of [["", task.context], [words.first, task.a], [words.second, task.b]]) {
      if (title) box.append(element("h3", title));
      box.append(element("p", text, { className: "text", lang: task.language, dir: "auto" }));
    }
    box.append(question(task, "suitable"), question(task, "unbiased"));
    const label = element("label");
    const harmful = element("input", undefined, { type: "checkbox", checked: !!(answers[task.task] || {}).harmful });
    harmful.addEventListener("change", () => answer(task.task, "harmful", harmful.checked));
    label.append(harmful, " " + words.harmful);
    const comment = element("textarea", undefined, { rows: 2, placeholder: words.comment, dir: "auto" });
    comment.value = (answers[task.task] || {}).comment || "";
    comment.addEventListener("input", () => answer(task.task, "comment", comment.value));
    box.append(label, comment);
    place.append(box);
  });
  keep();
}
document.getElementById("save").addEventListener("click", () => {
  const rows = data.tasks.filter((t) => answers[t.task]).map((t) => Object.assign({ task: t.task }, answers[t.task]));
  const text = JSON.stringify({ annotator: data.annotator, answers: rows }, null, 1);
  const link = element("a", undefined, { download: "answers-" + data.annotator + ".json" });
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.click();
});
document.getElementById("load").addEventListener("change", async (event) => {
  const found = JSON.parse(await event.target.files[0].text());
  for (const row of found.answers) { const { task, ...rest } = row; answers[task] = rest; }
  show();
});
show();
