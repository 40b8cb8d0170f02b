"use strict";
// All texts go through textContent and value: nothing that anybody wrote is ever read as HTML.
const token = location.pathname.split("/")[1];
const main = document.getElementById("main");
const notice = document.getElementById("notice");
let by = stored("by") || "";
let lang = stored("lang") || (navigator.language || "en").split("-")[0];
let strings = {}, words = {}, opening = {}, listed = {};

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
function button(id, text, act, className) {
  const made = make("button", text, { id: id, type: "button", className: className || "" });
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
  try { answer = await fetch("/" + token + "/api/" + path, options); } catch { return { http: 0, error: words.no_server || "…" }; }
  const found = await answer.json().catch(() => ({ error: String(answer.status) }));
  return Object.assign(found, { http: answer.status });
}
async function told(path, body) {
  const found = await ask(path, body);
  if (found.http !== 200) { say(words[found.code] || found.error); return null; }
  say("");
  return found;
}

// Headings, rules and bold of a Markdown text. Lines that were only wrapped are joined, without a space in CJK text.
function marked(text) {
  const place = make("div", null, { dir: "auto" });
  for (const raw of text.split(/\n\s*\n/)) {
    const block = raw.trim();
    const wide = /[\u2e80-\u9fff\uff00-\uffef]/;
    const joined = block.replace(/\s*\n\s*/g, (found, at) => wide.test(block[at - 1]) ? "" : " ");
    const head = /^#+\s+(.*)$/.exec(joined);
    if (!block || /^-{3,}$/.test(block)) continue;
    const part = make(head ? "h2" : "p");
    (head ? head[1] : joined).split("**").forEach((piece, n) => part.append(n % 2 ? make("strong", piece) : piece));
    place.append(part);
  }
  return place;
}
// CONSENT.md holds a part per language, each after a line <!-- tag -->: the reader's own stands open, the others below.
function consentParts() {
  const pieces = opening.consent.split(/^<!--\s*([A-Za-z-]+)\s*-->\s*$/m);
  if (pieces.length < 3) return [marked(opening.consent)];
  const found = [];
  for (let n = 1; n < pieces.length; n += 2) found.push([pieces[n], marked(pieces[n + 1])]);
  const own = found.find(([tag]) => tag === lang) || found[0];
  const name = (tag) => (strings[tag] || {}).language || tag;
  return [own[1], ...found.filter((each) => each !== own).map(([tag, part]) => make("details", null, {}, make("summary", name(tag)), part))];
}

// Consent comes first: before a yes the server shows no draft, whatever this page asks.
function showConsent() {
  edit = null;
  document.getElementById("who").textContent = "";
  const name = make("input", null, { type: "text", id: "have", value: by, placeholder: "a-…", autocomplete: "off" });
  const group = make("input", null, { type: "text", id: "group", dir: "auto" });
  const enter = async () => { by = name.value.trim(); stored("by", by); await showList(); };
  main.replaceChildren(
    make("details", null, { open: !!by }, make("summary", words.have), make("label", words.your_name, {}, name), button("enter", words.enter, enter)),
    make("div", null, { className: "box", id: "consent" }, ...consentParts()),
    make("label", words.group, {}, make("small", words.how_group), group),
    button("yes", words.yes, async () => {
      const groups = group.value.trim() ? [group.value.trim()] : [];
      const found = await told("join", { yes: true, by: name.value.trim() || null, groups: groups });
      if (!found) return;
      by = found.by;
      stored("by", by);
      await showList();
      say(words.remember + " " + by);
    }, "main"),
    button("no", words.no, async () => { if (await told("join", { yes: false })) { main.replaceChildren(); say(words.no_said); } }),
  );
}

async function showList() {
  edit = null;
  const found = await ask("drafts");
  if (found.http === 403) { if (by) say(words.no_yes); return showConsent(); }
  if (found.http !== 200) return say(found.error);
  listed = found;
  document.getElementById("who").textContent = by;
  const parts = [make("h2", words.drafts)];
  parts.push(make("p", found.target ? words.how : words.no_target));
  parts.push(make("p", words.shorter_in + ": " + found.shorter + " / " + found.live + ". " + words.how_shorter, { className: "soft" }));
  for (const category of found.categories) parts.push(categoryBox(category));
  parts.push(pauseButton(), finalizeBox(), withdrawBox());
  main.replaceChildren(...parts);
  say("");
}
function categoryBox(category) {
  const own = listed.drafts.filter((d) => d.category === category.key);
  const count = own.filter((d) => d.status === "accepted").length;
  const box = make("section", null, { className: "box" });
  box.dataset.category = category.key;
  box.append(make("h3", title(category) + " – " + words.drafts + " " + own.length + ", " + words.accepted + " " + count));
  const cards = make("div", null, { className: "cards" });
  for (const d of own) {
    const card = button("open-" + d.item, null, () => openDraft(d.item), "card " + d.status);
    const verdict = d.verdict ? words[d.verdict] : words.not_tried;
    card.append(make("strong", d.item + (d.flags ? " ⚑" : "")), make("span", d.excerpt, { className: "excerpt", dir: "auto" }),
      make("span", words[d.status] + " · " + words.edits + " " + d.edits + " · " + verdict, { className: "soft" }));
    cards.append(card);
  }
  const begun = listed.working[category.key] ? " (" + words.begun + ")" : "";
  cards.append(button("new-" + category.key, "+ " + words.new + begun, () => openNew(category.key), "card new"));
  box.append(cards);
  return box;
}
function title(category) {
  const names = category.names[lang] || Object.values(category.names)[0];
  return names[0];
}
function hostBox(host) {
  return make("div", null, { className: "box warning" }, make("p", words.send), make("p", host, { className: "text" }), make("p", words.send_who),
    button("agree", words.send_yes, async () => {
      if (!await told("agree", { host: host })) return;
      listed.host = null;
      if (edit) showEditor(); else await showList();
    }));
}
function pauseButton() {
  return button("pause", words.pause, async () => {
    await flush();
    if (!await told("mark", { kind: "pause" })) return;
    main.replaceChildren(make("p", words.paused), button("resume", words.resume, showList, "main"));
  });
}
function withdrawBox() {
  const erase = make("input", null, { type: "checkbox", id: "erase" });
  return make("details", null, { id: "leave" }, make("summary", words.withdraw), make("p", words.how_withdraw),
    make("label", null, { className: "check" }, erase, " " + words.erase),
    button("withdraw", words.withdraw, async () => {
      if (!confirm(words.withdraw_sure)) return;
      const found = await told("withdraw", { erase: erase.checked });
      if (!found) return;
      by = "";
      stored("by", "");
      showConsent();
      say(words.withdrawn + (found.runs ? " " + words.runs_left : ""));
    }));
}
function finalizeBox() {
  const allow = make("input", null, { type: "text", id: "allow" });
  const despite = make("input", null, { type: "text", id: "allow-objections" });
  const place = make("div", null, { id: "final" });
  return make("details", null, { id: "editor" }, make("summary", words.finalize), make("p", words.how_finalize),
    make("label", words.allow, {}, make("small", words.how_allow), allow),
    make("label", words.allow_objections, {}, make("small", words.how_allow_objections), despite),
    ...(listed.host ? [hostBox(listed.host)] : []),
    button("finalize", words.finalize, async () => {
      const found = await job(await told("finalize", { allow: allow.value.trim() || null, allow_objections: despite.value.trim() || null }), place);
      if (!found) return;
      const survived = found.kept && Object.values(found.kept).filter(Boolean).length;
      const lines = found.refused ? [words.refused, ...found.refused]
        : [words.finalized + ": " + found.folder + ", " + Object.keys(found.kept).length, words.survived + " " + survived,
           ...Object.entries(found.left_out).map(([name, why]) => words.left_out + " " + name + ": " + why)];
      place.replaceChildren(...lines.map((line) => make("p", line)));
    }, "main"), place);
}
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
    if (edit) showEditor(); else await showList();
  });
  speak();
  await showList();
})();
