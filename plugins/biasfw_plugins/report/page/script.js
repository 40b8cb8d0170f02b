"use strict";
(() => {
  const PER_PAGE = 20;
  const $ = (id) => document.getElementById(id);
  const root = document.documentElement;

  // The theme: as the system has it, until somebody chooses.
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const theme = $("theme");
  const set = (name) => { root.dataset.theme = name; theme.textContent = name === "dark" ? "Light" : "Dark"; };
  set(dark.matches ? "dark" : "light");
  let chosen = false;
  dark.addEventListener("change", () => { if (!chosen) set(dark.matches ? "dark" : "light"); });
  theme.hidden = false;
  theme.addEventListener("click", () => { chosen = true; set(root.dataset.theme === "dark" ? "light" : "dark"); });
  addEventListener("beforeprint", () => {
    for (const each of document.querySelectorAll("details.numbers, details.way, details.fold")) each.open = true;
  });

  const unpack = async (text) => {
    const bytes = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  };
  // Everything that comes from a run goes in as text, never as markup.
  const make = (tag, name, text) => {
    const element = document.createElement(tag);
    if (name) element.className = name;
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const words = (name) => String(name).replaceAll("_", " ");

  const ready = new Promise((done) => {
    if (document.readyState === "loading") addEventListener("DOMContentLoaded", done, { once: true });
    else done();
  });
  const kept = new Map(); // the blocks opened last
  const block = async (number) => {
    if (!kept.has(number)) {
      let element = $("b" + number);
      if (!element) { await ready; element = $("b" + number); }
      const found = await unpack(element.textContent);
      if (kept.size > 12) kept.delete(kept.keys().next().value);
      kept.set(number, found);
    }
    return kept.get(number);
  };

  let names, rows, total, places, matches, page = 1, turn = 0;

  const label = (value) => names.labels[value] ?? value;
  const shown = (outcome, value) => (value ? label(value) : words(outcome));

  const begin = async () => {
    names = await unpack($("catalogue").textContent);
    rows = names.rows;
    total = (rows.run || []).length;
    places = new Int32Array(total); // of each row in its block
    for (let i = 1; i < total; i++) places[i] = rows.block[i] === rows.block[i - 1] ? places[i - 1] + 1 : 0;
    fill("run", names.runs.map((name, i) => [i, name]));
    fill("language", (names.languages || []).map((tag, i) => [i, names.tags[tag] ? `${names.tags[tag]} (${tag})` : tag]));
    fill("category", (names.categories || []).map((key, i) => [i, names.titles[key] ?? key]));
    fill("condition", (names.conditions || []).map((key, i) => [i, words(key)]));
    fill("outcome", (names.outcomes || []).map((key, i) => [i, words(key)]));
    const slots = [...new Set(names.slots.flat())];
    const values = (names.values || []).map((key, i) => [i, key]).filter(([, key]) => key);
    fill("value", slots.length > 1 && values.length * slots.length < 60
      ? slots.flatMap((slot, s) => values.map(([i, key]) => [`${s}:${i}`, `${words(slot)}: ${label(key)}`]))
      : values.map(([i, key]) => [`:${i}`, label(key)]));
    document.querySelector('[data-filter="differ"]').hidden = !(rows.differ || []).includes(1) && !names.judges.some((j) => j.length > 1);
    $("filters").hidden = false;
    await select();
  };

  const fill = (name, options) => {
    const element = $("f-" + name);
    element.append(new Option("all", ""));
    for (const [value, text] of options) element.append(new Option(text, value));
    element.closest("label").hidden = options.length < 2;
  };

  const filtered = () => {
    const is = (name) => $("f-" + name).value;
    const [run, language, category, condition, outcome, value] = ["run", "language", "category", "condition", "outcome", "value"].map(is);
    const differ = $("f-differ").checked;
    const most = Math.max(1, ...names.slots.map((s) => s.length));
    const [slot, wanted] = value ? value.split(":") : ["", ""];
    const found = [];
    for (let i = 0; i < total; i++) {
      if (run && rows.run[i] !== +run) continue;
      if (language && rows.language[i] !== +language) continue;
      if (category && rows.category[i] !== +category) continue;
      if (condition && rows.condition[i] !== +condition) continue;
      if (differ && !rows.differ[i]) continue;
      if (outcome && !some(most, (s) => rows["o" + s][i] === +outcome)) continue;
      if (value && !some(most, (s) => (slot === "" || s === +slot) && rows["v" + s][i] === +wanted)) continue;
      found.push(i);
    }
    return found;
  };
  const some = (n, test) => { for (let s = 0; s < n; s++) if (test(s)) return true; return false; };

  const select = async () => {
    const mine = ++turn;
    page = 1;
    const query = $("q").value.trim().normalize("NFC").toLowerCase();
    const candidates = filtered();
    if (!query) { matches = candidates; return show(mine, true); }
    matches = [];
    let at = 0, painted = 0;
    while (at < candidates.length) {
      const number = rows.block[candidates[at]];
      const data = await block(number);
      if (mine !== turn) return;
      const prompts = data.p.map((turns) => turns.map((t) => t[1]).join("\n").normalize("NFC").toLowerCase().includes(query));
      for (; at < candidates.length && rows.block[candidates[at]] === number; at++) {
        const place = places[candidates[at]], row = data.r[place], text = data.t[place];
        const own = [row[0], row[1], text[0] ?? "", text[2] ?? ""].join("\n").normalize("NFC").toLowerCase();
        if (prompts[row[4]] || own.includes(query)) matches.push(candidates[at]);
      }
      if (painted < PER_PAGE && matches.length > painted) { painted = Math.min(matches.length, PER_PAGE); await show(mine, false); }
      $("state").textContent = `searching: ${Math.round((100 * at) / candidates.length)} %, ${count(matches.length)} found`;
    }
    await show(mine, true);
  };
  const count = (n) => n.toLocaleString("en");

  const show = async (mine, whole) => {
    const pages = Math.max(1, Math.ceil(matches.length / PER_PAGE));
    page = Math.min(Math.max(1, page), pages);
    const part = matches.slice((page - 1) * PER_PAGE, page * PER_PAGE);
    const made = [];
    for (const i of part) {
      const data = await block(rows.block[i]);
      if (mine !== turn) return;
      made.push(item(i, data));
    }
    $("list").replaceChildren(...made);
    if (whole) $("state").textContent = matches.length === total ? `${count(total)} responses` : `${count(matches.length)} of ${count(total)} responses`;
    $("pager").hidden = pages < 2;
    $("page").value = page;
    $("page").max = pages;
    $("pages").textContent = count(pages);
    $("first").disabled = $("previous").disabled = page <= 1;
    $("next").disabled = $("last").disabled = page >= pages;
  };

  const item = (i, data) => {
    const row = data.r[places[i]], run = rows.run[i];
    const details = make("details", "item");
    const summary = make("summary");
    summary.append(make("code", "", row[0]));
    names.slots[run].forEach((slot, s) => {
      const outcome = names.outcomes[rows["o" + s][i]], value = names.values[rows["v" + s][i]];
      const verdict = make("span", "verdict");
      verdict.append(make("i", "dot k-" + (/^[a-z_]+$/.test(outcome) ? outcome : "error")));
      verdict.append((names.slots[run].length > 1 ? words(slot) + ": " : "") + shown(outcome, value));
      summary.append(verdict);
    });
    const category = names.categories[rows.category[i]];
    summary.append(make("span", "small", names.titles[category] ?? category));
    if (rows.differ[i]) summary.append(make("span", "differ", "judges disagree"));
    if (names.runs.length > 1) summary.append(make("span", "tag", names.runs[run]));
    details.append(summary);
    const open = () => { if (details.open && details.childElementCount === 1) details.append(inside(i, row, data, run)); };
    details.addEventListener("toggle", open);
    if ($("unfold").checked) { details.open = true; open(); }
    return details;
  };

  const text = (who, content, left, tag, said, where) => {
    const box = make("div", "turn");
    box.append(make("p", "who", who));
    const body = make("div", "text" + (said ? " said" : ""), content);
    body.dir = "auto";
    body.lang = tag;
    box.append(body);
    if (left) box.append(make("p", "left", `${count(left)} more characters; all of it: ${where}`));
    return box;
  };

  // What was asked stands after the answer, folded where there is a text to read; a system prompt, ever the same, always.
  const question = (turns, tag, key, open) => {
    const fold = (title, open) => {
      const made = make("details", "prompt");
      made.open = open;
      made.append(make("summary", "", title));
      return made;
    };
    const asked = fold("What was asked", open);
    for (const [role, content, left] of turns) {
      const shown = text(role, content, left, tag, false, `requests.jsonl, key ${key}`);
      if (role === "system") {
        const system = fold("system prompt", false);
        system.append(shown);
        asked.append(system);
      } else asked.append(shown);
    }
    return asked;
  };

  const inside = (i, row, data, run) => {
    const [, key, file, line, prompt, answered, error, scores, judges, order, gold] = row;
    const tag = names.languages[rows.language[i]];
    const box = make("div", "inside"), whole = `${file}, line ${count(line)}, key ${key}`;
    const said = data.t[places[i]];
    if (names.closed[run]) box.append(make("p", "left", "The texts of this set may not be passed on."));
    if (said.length > 2) box.append(text("reasoning", said[2], said[3], tag, true, whole));
    if (answered && answered[0] && said.length) box.append(text("response" + (answered[1] ? `, ended by ${words(answered[1])}` : ""), said[0] || "(empty)", said[1], tag, true, whole));
    if (error) box.append(text("error: " + words(error[0]), error[1], error[2], "en", true, whole));
    if (!answered) box.append(make("p", "left", "There is no response."));
    if (scores.length) box.append(table(["option", "sum of log-probs (nats)"], scores.map(([name, sum]) => [name.split("|").map(label).join(" / "), sum.toFixed(2)])));
    if (data.p[prompt].length) box.append(question(data.p[prompt], tag, key, !(answered && answered[0]) && !error));
    if (order.length) box.append(make("p", "where", `in this order: ${order.map(label).join(", ")}` + (gold ? `; right: ${label(gold)}` : "")));
    box.append(votes(run, judges));
    box.append(make("p", "where", `key ${key}` + (file ? ` · ${file} line ${count(line)}` : "")));
    return box;
  };

  const table = (heads, lines) => {
    const made = make("table", "votes"), head = make("tr"), body = make("tbody");
    for (const each of heads) head.append(make("th", "", each));
    const top = make("thead");
    top.append(head);
    for (const line of lines) {
      const tr = make("tr");
      for (const each of line) tr.append(make("td", "", each));
      body.append(tr);
    }
    made.append(top, body);
    return made;
  };

  const votes = (run, judges) => {
    const lines = [];
    const slots = names.slots[run];
    const read = (readings) => slots.map((slot) => {
      const found = readings[slot];
      return found ? (found[1] ? `${label(found[1])}${found[0] === "answered" ? "" : ` (${words(found[0])})`}` : words(found[0])) : "–";
    });
    judges.forEach((verdict, j) => {
      const judge = names.judges[run][j];
      if (!verdict) { lines.push([judge, ...slots.map(() => "not judged"), ""]); return; }
      const [readings, members, rationale, flags] = verdict;
      lines.push([judge, ...read(readings), [rationale, flags.map(words).join(", ")].filter(Boolean).join(" · ")]);
      for (const [member, votes] of Object.entries(members)) lines.push([`– ${member}`, ...read(votes), ""]);
    });
    return table(["judge", ...slots.map(words), "remarks"], lines);
  };

  const go = (to) => { page = to; show(++turn, true).then(() => $("items").scrollIntoView({ block: "start" })); };
  $("first").addEventListener("click", () => go(1));
  $("previous").addEventListener("click", () => go(page - 1));
  $("next").addEventListener("click", () => go(page + 1));
  $("last").addEventListener("click", () => go(Infinity));
  $("page").addEventListener("change", () => go(+$("page").value || 1));
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("filters").addEventListener("change", (event) => {
    if (event.target.id === "unfold") show(++turn, true);
    else if (event.target.id !== "q") select();
  });
  let wait;
  $("q").addEventListener("input", () => { clearTimeout(wait); wait = setTimeout(select, 250); });
  addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || event.ctrlKey || event.metaKey || event.altKey;
    if (event.key === "/" && !typing) { event.preventDefault(); $("q").focus(); }
  });
  begin().then(() => { root.dataset.ready = "yes"; }, (failure) => {
    $("state").textContent = "The responses cannot be unpacked in this browser: " + failure.message;
  });
})();
