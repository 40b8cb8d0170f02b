"use strict";
// All texts go through textContent and value: nothing that anybody wrote is ever read as HTML.
const token = location.pathname.split("/")[1];
const main = document.getElementById("main");
const notice = document.getElementById("notice");
const TEXTS = ["context", "unbiased", "biased", "target", "stereotype", "harm", "attested"];
let by = stored("by") || "";
let lang = stored("lang") || (navigator.language || "en").split("-")[0];
let strings = {}, words = {}, opening = {}, listed = {}, edit = null, timer = 0, chain = Promise.resolve();

function stored(name, value) {
  const key = "biasfw-" + token.slice(0, 8) + "-" + name;
  try {
    if (value === undefined) return localStorage.getItem(key);
    localStorage.setItem(key, value);
  } catch { /* no store: the pseudonym is asked for again */ }
  return null;
}
function make(name, text, more, ...inside) {
  const made = document.createElement(name);
  if (text !== undefined && text !== null) made.textContent = text;
  Object.assign(made, more || {});
  made.append(...inside);
  return made;
}
function button(id, text, act) {
  const made = make("button", text, { id: id, type: "button" });
  made.addEventListener("click", async () => {
    made.disabled = true;
    try { await act(); } finally { made.disabled = false; }
  });
  return made;
}
function say(text) { notice.textContent = text || ""; }

async function ask(path, body) {
  const headers = { "X-Biasfw-By": by };
  const options = { headers: headers, credentials: "omit", cache: "no-store" };
  if (body !== undefined) {
    headers["Content-Type"] = "application/json";
    headers["X-Biasfw-Token"] = token;
    Object.assign(options, { method: "POST", body: JSON.stringify(body) });
  }
  let answer;
  try { answer = await fetch("/" + token + "/api/" + path, options); } catch { return { http: 0, error: "…" }; }
  const found = await answer.json().catch(() => ({ error: String(answer.status) }));
  return Object.assign(found, { http: answer.status });
}
async function told(path, body) {
  const found = await ask(path, body);
  if (found.http !== 200) { say(found.error); return null; }
  say("");
  return found;
}

// Consent comes first: before a yes the server shows no draft, whatever this page asks.
function showConsent() {
  edit = null;
  const name = make("input", null, { type: "text", id: "have", value: by, placeholder: "a-…" });
  const group = make("input", null, { type: "text", id: "group", dir: "auto" });
  main.replaceChildren(
    make("h2", words.consent),
    make("p", opening.consent, { className: "text box", id: "consent", dir: "auto" }),
    make("label", words.group, {}, group),
    button("yes", words.yes, async () => {
      const groups = group.value.trim() ? [group.value.trim()] : [];
      const found = await told("join", { yes: true, by: name.value.trim() || null, groups: groups });
      if (!found) return;
      by = found.by;
      stored("by", by);
      await showList();
      say(words.remember + " " + by);
    }),
    button("no", words.no, async () => { if (await told("join", { yes: false })) say(words.no_said); }),
    make("label", words.have, {}, name),
    button("enter", "→", async () => { by = name.value.trim(); stored("by", by); await showList(); }),
  );
}

async function showList() {
  edit = null;
  const found = await ask("drafts");
  if (found.http === 403) { if (by) say(found.error); return showConsent(); }
  if (found.http !== 200) return say(found.error);
  listed = found;
  document.getElementById("who").textContent = by;
  const parts = [make("h2", words.drafts)];
  if (found.host) parts.push(hostBox(found.host));
  if (!found.target) parts.push(make("p", words.no_target, { className: "soft" }));
  parts.push(make("p", found.shorter + " / " + found.live + ": " + words.shorter_in, { className: "soft" }));
  for (const category of found.categories) {
    const own = found.drafts.filter((d) => d.category === category.key);
    const count = own.filter((d) => d.status === "accepted").length;
    const box = make("section", null, { className: "box" });
    box.dataset.category = category.key;
    box.append(make("h3", title(category) + " – " + own.length + ", " + count + " " + words.accepted));
    const row = make("div", null, { className: "row" });
    for (const d of own) {
      const verdict = d.verdict ? words[d.verdict] : words.not_tried;
      const text = d.item + ": " + words[d.status] + ", " + d.edits + " " + words.edits + ", " + verdict + (d.flags ? " ⚑" : "");
      row.append(button("open-" + d.item, text, () => openDraft(d.item)));
    }
    row.append(button("new-" + category.key, words.new, () => openNew(category.key)));
    box.append(row);
    parts.push(box);
  }
  parts.push(finalizeBox(), pauseButton(), withdrawButton());
  main.replaceChildren(...parts);
  say("");
}
function title(category) {
  const names = category.names[lang] || Object.values(category.names)[0];
  return names[0];
}
function hostBox(host) {
  return make("div", null, { className: "box warning" }, make("p", words.send + " " + host),
    button("agree", words.send_yes, async () => { if (await told("agree", { host: host })) await showList(); }));
}
function pauseButton() {
  return button("pause", words.pause, async () => {
    await flush();
    if (!await told("mark", { kind: "pause" })) return;
    main.replaceChildren(make("p", words.paused), button("resume", words.resume, showList));
  });
}
function withdrawButton() {
  return button("withdraw", words.withdraw, async () => {
    if (!confirm(words.withdraw_sure)) return;
    if (await told("withdraw", {})) { by = ""; stored("by", ""); showConsent(); say(words.withdrawn); }
  });
}
function finalizeBox() {
  const allow = make("input", null, { type: "text", id: "allow" });
  const place = make("div", null, { id: "final" });
  return make("section", null, { className: "box" }, make("label", words.allow, {}, allow),
    button("finalize", words.finalize, async () => {
      const found = await job(await told("finalize", { allow: allow.value.trim() || null }), place);
      if (!found) return;
      const lines = found.refused ? [words.refused, ...found.refused]
        : [words.finalized + ": " + found.folder + ", " + Object.keys(found.kept).length,
           ...Object.entries(found.left_out).map(([name, why]) => words.left_out + " " + name + ": " + why)];
      place.replaceChildren(...lines.map((line) => make("p", line)));
    }), place);
}

async function openNew(category) {
  const kept = listed.working;
  const texts = kept ? kept.texts : {};
  edit = { item: null, base: null, revision: kept ? kept.revision : 0, draft: null,
    texts: Object.assign({}, texts, { category: category, language: listed.languages[0] }) };
  showEditor();
}
async function openDraft(item) {
  const found = await told("draft/" + encodeURIComponent(item));
  if (!found) return;
  const kept = found.working;
  edit = { item: item, base: kept ? kept.base : found.version, revision: kept ? kept.revision : 0, draft: found,
    texts: Object.assign({}, found.texts, kept ? kept.texts : {}) };
  showEditor();
}
// An edit for comparison: nothing that a model said is shown, and nothing is asked.
function openPlacebo() {
  const kept = edit.draft.placebo.working, own = edit.draft.placebo;
  edit = { item: edit.item, arm: "placebo", base: kept ? kept.base : own.version, revision: kept ? kept.revision : 0,
    draft: { texts: own.texts }, texts: Object.assign({}, own.texts, kept ? kept.texts : {}) };
  showEditor();
}
function showEditor() {
  const plain = edit.arm === "placebo";
  const parts = [make("h2", edit.item || words.new), make("div", null, { id: "changed" })];
  if (plain) parts.push(make("p", words.placebo_told, { className: "warning" }));
  for (const name of TEXTS) {
    const area = make("textarea", null, { id: "text-" + name, rows: name === "context" ? 5 : name.endsWith("biased") ? 3 : 1,
      value: edit.texts[name] || "", dir: "auto", lang: edit.texts.language || "" });
    area.addEventListener("input", () => { edit.texts[name] = area.value; balance(); later(); });
    parts.push(make("label", words[name], {}, area));
    if (name === "biased") parts.push(make("p", "", { id: "balance", className: "soft" }));
  }
  parts.push(make("p", words.kept, { id: "state", className: "soft" }), button("save", words.save, save));
  if (listed.target && !plain) parts.push(button("try", words.try, tryIt));
  parts.push(make("div", null, { id: "tried" }));
  if (edit.draft && !plain) {
    const own = edit.draft.placebo;
    if (own) parts.push(button("placebo", words.placebo + " (" + own.done + " / " + own.asked + ")", async () => { await flush(); openPlacebo(); }));
    parts.push(decisions(), history());
  }
  parts.push(button("skip", words.skip, () => mark("skip")), button("flag", words.flag, () => mark("flag")),
    pauseButton(), button("back", words.back, async () => { await flush(); await showList(); }));
  main.replaceChildren(...parts);
  balance();
}
function fill(texts) {
  for (const name of TEXTS) {
    edit.texts[name] = texts[name] || "";
    document.getElementById("text-" + name).value = edit.texts[name];
  }
  balance();
}
function balance() {
  const [a, b] = ["unbiased", "biased"].map((name) => [...(edit.texts[name] || "")].length);
  const ratio = b ? (a / b).toFixed(2) : "–";
  document.getElementById("balance").textContent = words.balance + ": " + a + " / " + b + " = " + ratio + "; " +
    words.shorter_in + ": " + listed.shorter + " / " + listed.live;
}

// Autosave: one request after another, each from the revision that the last one gave.
function state(text) { const place = document.getElementById("state"); if (place) place.textContent = text; }
function later() {
  state(words.keeping);
  clearTimeout(timer);
  timer = setTimeout(flush, 300);
}
function flush() {
  clearTimeout(timer);
  const mine = edit;
  if (mine) chain = chain.then(() => keepNow(mine));
  return chain;
}
async function keepNow(mine) {
  const text = JSON.stringify(mine.texts);
  if (mine.stored === text || mine.stopped) return;
  if (mine.stored === undefined && mine.draft && same(mine.texts, mine.draft.texts) && !mine.revision) return state(words.kept);
  const body = { item: mine.item, arm: mine.arm, base: mine.base, revision: mine.revision, texts: mine.texts };
  const found = await ask("keep", body);
  if (found.http === 200) {
    mine.revision = found.revision;
    mine.stored = text;
    if (edit === mine) state(words.kept);
  } else if (found.http === 409) {
    mine.stopped = true; // nothing is overwritten until somebody has looked
    changed(found.kept.texts, () => { mine.revision = found.kept.revision; mine.base = found.kept.base; mine.stopped = false; });
  } else {
    state(words.not_kept + " " + found.error);
    if (edit === mine) { clearTimeout(timer); timer = setTimeout(flush, 2000); } // the server may come back
  }
}
function same(a, b) { return TEXTS.every((name) => (a[name] || "") === (b[name] || "")); }
function changed(theirs, go) {
  const place = document.getElementById("changed");
  if (!place) return;
  place.className = "box warning";
  place.replaceChildren(make("p", words.changed),
    ...TEXTS.filter((n) => theirs[n]).map((n) => make("p", words[n] + ": " + theirs[n], { className: "text", dir: "auto" })),
    button("theirs", words.take_theirs, async () => { go(); fill(theirs); place.replaceChildren(); place.className = ""; later(); }),
    button("mine", words.keep_mine, async () => { go(); place.replaceChildren(); place.className = ""; later(); }));
}
async function save() {
  await flush();
  if (edit.stopped) return false;
  const found = await ask("save", { item: edit.item, arm: edit.arm, base: edit.base, texts: edit.texts });
  if (found.http === 409) {
    const mine = edit;
    changed(found.newest.texts, () => { mine.base = found.newest.number; mine.stored = undefined; });
    return false;
  }
  if (found.http !== 200) { say(found.error); return false; }
  if (edit.arm === "placebo") await showList(); else await openDraft(found.item);
  say(words.saved + " " + found.version);
  return true;
}

async function job(begun, place) {
  if (!begun) return null;
  for (;;) {
    const found = await ask("job/" + begun.job);
    if (found.http !== 200 || found.error) { say(found.error); place.replaceChildren(); return null; }
    if (!found.running) return found;
    place.replaceChildren(make("p", words.trying + " " + found.done + " / " + found.total), make("progress", null, { max: found.total || 1, value: found.done }));
    await new Promise((go) => setTimeout(go, 300));
  }
}
async function tryIt() {
  document.getElementById("tried").replaceChildren(); // the last verdict was about other texts
  if (!edit.draft || !same(edit.texts, edit.draft.texts)) { if (!await save()) return; }
  const item = edit.item;
  const found = await job(await told("try", { item: item }), document.getElementById("tried"));
  if (!found) return;
  await openDraft(item);
  const tried = found.tried, place = document.getElementById("tried");
  const table = make("table", null, { className: "picks" });
  for (const row of tried.picks) {
    const margin = row.margin === null || row.margin === undefined ? "" : row.margin.toFixed(2);
    table.append(make("tr", null, {}, make("td", words.instruction + " " + row.instruction),
      make("td", words[row.order[0]] + " " + words.first), make("td", row.pick ? words[row.pick] : row.outcome), make("td", margin)));
  }
  place.className = "box";
  place.replaceChildren(make("h3", words[tried.verdict], { id: "verdict" }), table,
    make("p", words.chance + ": " + (100 * tried.over_tries).toFixed(1) + " % (" + tried.tries + ")", { className: "soft" }),
    ...tried.warnings.map((text) => make("p", words.warning + ": " + text, { className: "warning" })));
}

async function mark(kind) {
  await flush();
  const body = { kind: kind, item: edit.item };
  if (kind === "flag") body.reason = prompt(words.reason) || "";
  if (!edit.item && kind !== "pause") return showList();
  if (await told("mark", body)) await showList();
}
function decisions() {
  const draft = edit.draft, item = edit.item;
  const reason = make("input", null, { type: "text", id: "reason", dir: "auto" });
  const box = make("section", null, { className: "box" }, make("p", words[draft.status] + (draft.decision ? ": " + draft.decision.reason : "")));
  box.append(make("label", words.reason, {}, reason));
  for (const [name, accept] of [["accept", true], ["reject", false]]) {
    box.append(button(name, words[name], async () => {
      await flush();
      if (await told("decide", { item: item, version: draft.version, accept: accept, reason: reason.value })) await openDraft(item);
    }));
  }
  if (!draft.mine) {
    const member = make("input", null, { type: "checkbox", id: "member" });
    const ok = make("input", null, { type: "checkbox", id: "ok", checked: true });
    box.append(make("label", null, {}, member, " " + words.member), make("label", null, {}, ok, " " + words.keep_it),
      button("review", words.review, async () => {
        const body = { item: item, member: member.checked, ok: ok.checked, reason: reason.value };
        if (await told("review", body)) await openDraft(item);
      }));
  }
  return box;
}
function history() {
  const box = make("section", null, { className: "box", id: "history" }, make("h3", words.history));
  for (const version of [...edit.draft.history].reverse()) {
    box.append(make("p", words.version + " " + version.number + ", " + words.by + " " + version.by + ", " + version.day));
    for (const [name, parts] of Object.entries(version.diff)) {
      const line = make("p", words[name] + ": ", { className: "text", dir: "auto" });
      for (const [kind, text] of parts) line.append(make({ same: "span", gone: "del", new: "ins" }[kind], text));
      box.append(line);
    }
    for (const tried of version.tries) box.append(make("p", tried.model + ": " + words[tried.verdict], { className: "soft" }));
  }
  return box;
}

addEventListener("pagehide", () => {
  if (!edit || edit.stopped || edit.stored === JSON.stringify(edit.texts)) return;
  if (edit.draft && same(edit.texts, edit.draft.texts) && !edit.revision) return;
  fetch("/" + token + "/api/keep", { method: "POST", keepalive: true, credentials: "omit",
    headers: { "Content-Type": "application/json", "X-Biasfw-Token": token, "X-Biasfw-By": by },
    body: JSON.stringify({ item: edit.item, arm: edit.arm, base: edit.base, revision: edit.revision, texts: edit.texts }) });
});
function speak() {
  words = Object.assign({}, strings.en, strings[lang]);
  document.documentElement.lang = lang;
  document.getElementById("title").textContent = opening.title;
}
(async () => {
  opening = await ask("opening");
  strings = opening.strings;
  if (!strings[lang]) lang = "en";
  const menu = document.getElementById("lang");
  for (const [key, each] of Object.entries(strings)) menu.append(make("option", each.language, { value: key, selected: key === lang }));
  menu.addEventListener("change", async () => {
    await flush();
    lang = menu.value;
    stored("lang", lang);
    speak();
    await showList();
  });
  speak();
  await showList();
})();
