"use strict";
// The editor of one draft: texts with autosave, tries, decisions, history. Shares its names with page.js.
const TEXTS = ["context", "unbiased", "biased", "target", "stereotype", "harm", "attested"];
const NEEDED = ["context", "unbiased", "biased"];
let edit = null, timer = 0, chain = Promise.resolve();

async function openNew(category) {
  const kept = listed.working[category];
  edit = { item: null, base: null, revision: kept ? kept.revision : 0, draft: null, category: category,
    texts: Object.assign({}, kept ? kept.texts : {}, { category: category, language: listed.languages[0] }) };
  showEditor();
}
async function openDraft(item) {
  const found = await told("draft/" + encodeURIComponent(item));
  if (!found) return;
  const kept = found.working;
  edit = { item: item, base: kept ? kept.base : found.version, revision: kept ? kept.revision : 0, draft: found,
    category: found.category, texts: Object.assign({}, found.texts, kept ? kept.texts : {}) };
  showEditor();
}
// An edit for comparison: nothing that a model said is shown, and nothing is asked.
function openPlacebo() {
  const kept = edit.draft.placebo.working, own = edit.draft.placebo;
  edit = { item: edit.item, arm: "placebo", base: kept ? kept.base : own.version, revision: kept ? kept.revision : 0,
    category: edit.category, draft: { texts: own.texts }, texts: Object.assign({}, own.texts, kept ? kept.texts : {}) };
  showEditor();
}
function showEditor() {
  const plain = edit.arm === "placebo";
  const category = listed.categories.find((c) => c.key === edit.category);
  const heading = title(category) + ": " + (edit.item || words.new);
  const parts = [button("back", "← " + words.back, async () => { await flush(); await showList(); }),
    make("h2", heading), make("div", null, { id: "changed" })];
  if (plain) parts.push(make("p", words.placebo_told, { className: "warning" }));
  for (const name of TEXTS) parts.push(field(name), ...(name === "biased" ? [make("div", null, { id: "balance", className: "soft" })] : []));
  const bar = make("div", null, { className: "bar" });
  if (listed.target && !plain) bar.append(listed.host ? hostBox(listed.host) : button("try", words.try, tryIt, "main"));
  bar.append(button("save", words.save, save, listed.target && !plain ? "" : "main"), make("p", words.kept, { id: "state", className: "soft" }));
  parts.push(bar, make("p", listed.target && !plain ? words.how_try : words.how_save, { className: "soft" }), make("div", null, { id: "tried" }));
  if (edit.draft && !plain) {
    const own = edit.draft.placebo;
    parts.push(decisions(), ...(edit.draft.mine ? [] : [reviews()]), history());
    if (own) parts.push(button("placebo", words.placebo + " (" + own.done + " / " + own.asked + ")", async () => { await flush(); openPlacebo(); }));
  }
  if (edit.item) parts.push(button("skip", words.skip, () => mark("skip")), button("flag", words.flag, () => mark("flag")));
  parts.push(pauseButton());
  main.replaceChildren(...parts);
  scrollTo(0, 0);
  balance();
}
function field(name) {
  const rows = name === "context" ? 5 : name.endsWith("biased") ? 3 : 1;
  const area = make("textarea", null, { id: "text-" + name, rows: rows, value: edit.texts[name] || "", dir: "auto", lang: edit.texts.language || "" });
  area.addEventListener("input", () => { edit.texts[name] = area.value; balance(); later(); });
  const more = (words["how_" + name] || "") + (NEEDED.includes(name) ? "" : " " + words.optional);
  return make("label", words[name], {}, make("small", more), area);
}
function fill(texts) {
  for (const name of TEXTS) {
    edit.texts[name] = texts[name] || "";
    document.getElementById("text-" + name).value = edit.texts[name];
  }
  balance();
}
// Both lengths as bars: a model could tell the replies apart by their length alone.
function balance() {
  const [a, b] = ["unbiased", "biased"].map((name) => [...(edit.texts[name] || "")].length);
  const line = (words_, n) => {
    const bar = make("i");
    bar.style.width = 100 * n / Math.max(a, b, 1) + "%";
    return [words_ + ": " + n, make("span", null, { className: "meter" }, bar)];
  };
  const ratio = b ? (a / b).toFixed(2) : "–";
  document.getElementById("balance").replaceChildren(...line(words.unbiased, a), ...line(words.biased, b),
    words.balance + ": " + a + " / " + b + " = " + ratio, make("br"), words.shorter_in + ": " + listed.shorter + " / " + listed.live);
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
  const tried = document.getElementById("tried");
  tried.replaceChildren(); // a verdict about texts that are not the newest any more
  tried.className = "";
  state(words.not_kept + " " + words.look_first);
  scrollTo(0, 0);
  place.className = "box warning";
  place.replaceChildren(make("p", words.changed),
    ...TEXTS.filter((n) => theirs[n]).map((n) => make("p", words[n] + ": " + theirs[n], { className: "text", dir: "auto" })),
    button("theirs", words.take_theirs, async () => { go(); fill(theirs); place.replaceChildren(); place.className = ""; later(); }),
    button("mine", words.keep_mine, async () => { go(); place.replaceChildren(); place.className = ""; later(); }));
}
function unfinished() {
  const empty = NEEDED.filter((name) => !(edit.texts[name] || "").trim());
  if (empty.length) return words.empty + " " + empty.map((name) => words[name]).join(words.and);
  return edit.texts.unbiased.trim() === edit.texts.biased.trim() ? words.same_replies : "";
}
async function save() {
  await flush();
  if (edit.stopped) return false;
  if (unfinished()) { say(unfinished()); return false; }
  const found = await ask("save", { item: edit.item, arm: edit.arm, base: edit.base, texts: edit.texts });
  if (found.http === 409) {
    const mine = edit;
    changed(found.newest.texts, () => { mine.base = found.newest.number; mine.stored = undefined; });
    return false;
  }
  if (found.http !== 200) { say(found.error); return false; }
  if (edit.arm === "placebo") await showList(); else await openDraft(found.item);
  say(words.saved + " " + numbered(found.version));
  return true;
}
function numbered(version) { return version ? words.version + " " + version : words.first_version; }

async function job(begun, place) {
  if (!begun) return null;
  for (;;) {
    const found = await ask("job/" + begun.job);
    if (found.http !== 200 || found.error) { say(words[found.code] || found.error); place.replaceChildren(); return null; }
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
  say("");
  showTried(found.tried, document.getElementById("tried"));
}
function showTried(tried, place) {
  const orders = [...new Set(tried.picks.map((p) => p.order[0]))];
  const head = make("tr", null, {}, make("th", words.instruction), ...orders.map((first) => make("th", words[first] + words.first)));
  const table = make("table", null, { className: "picks" }, head);
  for (const name of new Set(tried.picks.map((p) => p.instruction))) {
    const cells = orders.map((first) => {
      const row = tried.picks.find((p) => p.instruction === name && p.order[0] === first);
      const margin = row.margin === null || row.margin === undefined ? "" : " (" + (row.margin > 0 ? "+" : "") + row.margin.toFixed(2) + ")";
      return make("td", (row.pick ? words[row.pick] : words.not_answered) + margin);
    });
    table.append(make("tr", null, {}, make("td", String(Number(name) + 1 || name)), ...cells));
  }
  const warnings = tried.warnings.map((w) => words[w.code] || w.text);
  place.className = "box";
  place.replaceChildren(make("h3", words[tried.verdict], { id: "verdict", className: "verdict " + tried.verdict }),
    make("p", words["next_" + tried.verdict]), ...warnings.map((text) => make("p", words.warning + ": " + text, { className: "warning" })), table,
    ...(tried.picks.some((p) => typeof p.margin === "number") ? [make("p", words.margin, { className: "soft", id: "margins" })] : []),
    make("p", words.chance + ": " + (100 * tried.over_tries).toFixed(1) + " % (" + words.tries + " " + tried.tries + ")", { className: "soft" }));
  place.scrollIntoView({ block: "nearest" });
}

async function mark(kind) {
  await flush();
  const body = { kind: kind, item: edit.item };
  if (kind === "flag") {
    const reason = prompt(words.why_harmful);
    if (reason === null) return;
    body.reason = reason;
  }
  if (await told("mark", body)) await showList();
}
function decisions() {
  const draft = edit.draft, item = edit.item;
  const reason = make("input", null, { type: "text", id: "reason", dir: "auto" });
  const now = words[draft.status] + (draft.decision ? ": " + draft.decision.reason : "");
  const said = draft.flags_said.map((text) => make("p", words.flagged + " " + text, { className: "warning", dir: "auto" }));
  const box = make("section", null, { className: "box" }, make("h3", words.decision), make("p", now), ...said,
    make("label", words.reason, {}, make("small", words.how_reason), reason));
  for (const [name, accept] of [["accept", true], ["reject", false]]) {
    box.append(button(name, words[name], async () => {
      if (!reason.value.trim()) { say(words.need_reason); return reason.focus(); }
      await flush();
      if (await told("decide", { item: item, version: draft.version, accept: accept, reason: reason.value })) await openDraft(item);
    }));
  }
  return box;
}
// Only for drafts that somebody else wrote.
function reviews() {
  const member = make("input", null, { type: "checkbox", id: "member" });
  const ok = make("input", null, { type: "checkbox", id: "ok", checked: true });
  const said = make("input", null, { type: "text", id: "said", dir: "auto" });
  const known = edit.draft.reviewed_by_member ? words.reviewed : edit.draft.objections ? words.objected : words.not_reviewed;
  const others = edit.draft.reviews.map((r) => make("p", r.by + ": " + (r.member ? words.is_member + ", " : "") +
    (r.ok ? words.keep_it : words.drop_it) + (r.reason ? " – " + r.reason : ""), { dir: "auto", className: "soft" }));
  return make("section", null, { className: "box" }, make("h3", words.review), make("p", known), ...others,
    make("label", null, { className: "check" }, member, " " + words.member),
    make("label", null, { className: "check" }, ok, " " + words.keep_it), make("label", words.remark, {}, said),
    button("review", words.send_review, async () => {
      const item = edit.item;
      const body = { item: item, member: member.checked, ok: ok.checked, reason: said.value };
      if (await told("review", body)) await openDraft(item);
    }));
}
function history() {
  const box = make("section", null, { className: "box", id: "history" }, make("h3", words.history));
  for (const version of [...edit.draft.history].reverse()) {
    box.append(make("p", numbered(version.number) + " – " + version.by + ", " + version.day));
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
