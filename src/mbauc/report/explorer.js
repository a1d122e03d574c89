"use strict";
(() => {
  const element = (id) => document.getElementById(id);
  const table = JSON.parse(element("thresholds").textContent);
  const STEPS = 50; // of a slider, for a factor of ten

  // -- which row of the table: the rules of mbauc.report.positions.explore -------------------------------------

  // rows in use that one positive and one negative row stand for
  let inUse = [1, 1];

  function alarmsOf(row) {
    return inUse[0] * table.found[row] + inUse[1] * table.false_alarms[row];
  }

  function rowWithAlarms(most) {
    let row = table.threshold.length - 1;
    while (alarmsOf(row) > most) row -= 1;
    return row;
  }

  function rowWithin(limit) {
    let row = table.threshold.length - 1;
    while (table.false_alarms[row] / table.negatives > limit) row -= 1;
    return row;
  }

  function costOf(row, ratio) {
    return ratio * (inUse[0] * (table.positives - table.found[row])) + inUse[1] * table.false_alarms[row];
  }

  function rowOfLeastCost(ratio) {
    let best = 0;
    for (let row = 1; row < table.threshold.length; row += 1) {
      if (costOf(row, ratio) < costOf(best, ratio)) best = row;
    }
    return best;
  }

  function rowNextTo(score) {
    let best = 0;
    for (let row = 1; row < table.threshold.length - 1; row += 1) {
      if (Math.abs(table.threshold[row] - score) < Math.abs(table.threshold[best] - score)) best = row;
    }
    return best;
  }

  // -- numbers as text: those of mbauc.report.text --------------------------------------------------------------

  function count(value) {
    if (Number.isInteger(value)) return value.toLocaleString("en");
    const [whole, fraction] = value.toFixed(2).split(".");
    return `${Number(whole).toLocaleString("en")}.${fraction}`;
  }

  function percent(value) {
    if (value === null) return "–";
    if (value === 0 || value === 1) return `${100 * value}%`;
    if (value < 1e-8) return "about 0%";
    const hundredfold = 100 * value;
    let digits = 1;
    for (let edge = 10, half = 0.05; (hundredfold < edge || 100 - hundredfold < half) && digits < 10; digits += 1) {
      edge /= 10;
      half /= 10;
    }
    return `${hundredfold.toFixed(digits)}%`;
  }

  // -- what is shown --------------------------------------------------------------------------------------------

  function put(name, value, text) {
    const place = element(`at-${name}`);
    place.value = value === null ? "" : String(value);
    place.textContent = text;
  }

  function putRate(name, hits, trials, row) {
    const value = trials ? hits / trials : null;
    put(name, value, percent(value));
    table[name].forEach((ends, k) => put(`${name}-${k ? "high" : "low"}`, ends[row], percent(ends[row])));
    return value;
  }

  function place(value, axis) {
    const [low, high, start, stop, log] = axis.split(" ").map(Number);
    const scale = (v) => (log ? Math.log10(v) : v);
    const inside = Math.min(Math.max(value, low), high);
    return start + ((stop - start) * (scale(inside) - scale(low))) / (scale(high) - scale(low));
  }

  function move(points) {
    for (const mark of document.querySelectorAll("[data-mark]")) {
      const [x, y] = points[mark.dataset.mark];
      mark.setAttribute("transform", `translate(${place(x, mark.dataset.x).toFixed(1)} 0)`);
      const ring = mark.querySelector("circle");
      if (ring) ring.setAttribute("cy", place(y, mark.dataset.y).toFixed(1));
    }
  }

  function show(row, cost) {
    const found = table.found[row];
    const alarms = table.false_alarms[row];
    const threshold = table.threshold[row];
    put("threshold", threshold, threshold === null ? "below all scores" : String(Number(threshold.toPrecision(6))));
    put("found", found, count(found));
    put("missed", table.positives - found, count(table.positives - found));
    put("false-alarms", alarms, count(alarms));
    put("quiet", table.negatives - alarms, count(table.negatives - alarms));
    const detection = putRate("detection", found, table.positives, row);
    const rate = putRate("false_alarm", alarms, table.negatives, row);
    const precision = putRate("precision", found, found + alarms, row);
    put("promise", table.promise[row], percent(table.promise[row]));
    put("cost", cost, cost === null ? "–" : count(cost));
    const raised = alarmsOf(row);
    put("alarms", raised, count(raised));
    const right = raised ? (inUse[0] * found) / raised : null;
    put("alarms-precision", right, percent(right));
    sayRule(threshold);
    element("saying").textContent =
      `Finds ${count(found)} of ${count(table.positives)} positives, ` +
      `with ${count(alarms)} false alarm${alarms === 1 ? "" : "s"} among ${count(table.negatives)} negatives.`;
    move({ rates: [rate, detection], precision: [detection, precision ?? 0], score: [threshold ?? -Infinity, 0] });
  }

  // The option of mbauc threshold that chooses like this mode; null if none does, and the score has to be given.
  function optionOf(mode) {
    const total = table.positives + table.negatives;
    const value = settings[mode];
    if (mode === "limit") return value > 0 && value < 1 ? `--false-alarm ${value}` : null;
    if (inUse[0] !== inUse[1]) return null;
    if (mode === "alarms" && inUse[0] === 1) return value >= 1 ? `--top ${Math.floor(value)}` : null;
    if (mode === "alarms") return `--alarms-per-10000 ${Number(((1e4 * value) / (inUse[0] * total)).toPrecision(6))}`;
    if (mode === "rate") return value > 0 ? `--alarms-per-10000 ${value}` : null;
    return mode === "cost" && value > 0 ? `--cost ${value}` : null;
  }

  function sayRule(threshold) {
    const mode = chosen();
    element("command-part").hidden = threshold === null || mode === "own";
    const plain = element("command-at");
    if (plain) plain.textContent = String(threshold);
    if (plain) return;
    const option = optionOf(mode);
    element("command-data").hidden = option === null;
    element("command-option").textContent = option ?? `--at=${threshold}`;
  }

  // -- controls -------------------------------------------------------------------------------------------------

  const settings = {};
  const chosen = () => document.querySelector("input[name=mode]:checked").value;

  function update() {
    const mode = chosen();
    for (const part of document.querySelectorAll("[data-mode]")) part.hidden = part.dataset.mode !== mode;
    if (mode === "own") show(table.chosen, null);
    if (mode === "limit") show(rowWithin(settings.limit), null);
    if (mode === "alarms") show(rowWithAlarms(settings.alarms), null);
    if (mode === "rate") {
      const total = inUse[0] * table.positives + inUse[1] * table.negatives;
      show(rowWithAlarms((settings.rate * total) / 1e4), null);
    }
    if (mode === "hand") show(settings.hand, null);
    if (mode === "cost") {
      const row = rowOfLeastCost(settings.cost);
      show(row, costOf(row, settings.cost));
    }
  }

  // A number or a percentage that somebody typed, null if it is neither or too large; the entry is marked then.
  function read(entry, most, whenEmpty, least = 0) {
    const text = entry.value.trim();
    const value = text.endsWith("%") ? Number(text.slice(0, -1)) / 100 : Number(text);
    const number = text === "" ? whenEmpty : value >= least && value <= most ? value : null;
    if (number === null) entry.setAttribute("aria-invalid", "true");
    else entry.removeAttribute("aria-invalid");
    return number;
  }

  function connect(mode, says, most, atLeft, rounded) {
    const slider = element(`${mode}-slider`);
    const entry = element(`${mode}-number`);
    settings[mode] = Number(entry.value);
    const say = () => slider.setAttribute("aria-valuetext", says(settings[mode]));
    slider.addEventListener("input", () => {
      const power = Number((10 ** (Number(slider.value) / STEPS)).toPrecision(3));
      settings[mode] = atLeft !== null && slider.value === slider.min ? atLeft : rounded(power);
      entry.value = String(settings[mode]);
      entry.removeAttribute("aria-invalid");
      say();
      update();
    });
    entry.addEventListener("input", () => {
      const value = read(entry, most, null);
      if (value === null) return;
      settings[mode] = value;
      slider.value = value === 0 ? slider.min : String(Math.round(STEPS * Math.log10(value)));
      say();
      update();
    });
    say();
  }

  connect("limit", (value) => `${percent(value)} of the negatives`, 1, 0, (value) => value);
  connect("alarms", (value) => `${value} alarm${value === 1 ? "" : "s"}`, Number.MAX_VALUE, null, Math.floor);
  connect("rate", (value) => `${value} alarms per 10,000 rows`, 10000, null, (value) => value);
  connect("cost", (value) => `${value} false alarms per missed positive`, Number.MAX_VALUE, null, (value) => value);

  // a score: the slider goes through the table, upwards
  function connectHand() {
    const slider = element("hand-slider");
    const entry = element("hand-number");
    const take = (row) => {
      settings.hand = row;
      slider.setAttribute("aria-valuetext", String(table.threshold[row]));
    };
    take(Number(slider.max) - Number(slider.value));
    slider.addEventListener("input", () => {
      take(Number(slider.max) - Number(slider.value));
      entry.value = String(table.threshold[settings.hand]);
      entry.removeAttribute("aria-invalid");
      update();
    });
    entry.addEventListener("input", () => {
      const score = read(entry, Number.MAX_VALUE, null, -Number.MAX_VALUE);
      if (score === null) return;
      take(rowNextTo(score));
      slider.value = String(Number(slider.max) - settings.hand);
      update();
    });
  }
  connectHand();

  function changeUse() {
    const total = table.positives + table.negatives;
    const rows = read(element("rows-number"), Number.MAX_VALUE, total);
    const share = read(element("share-number"), 1, -1);
    if (rows === null || share === null) return;
    inUse =
      share < 0
        ? [rows / total, rows / total]
        : [(rows * share) / table.positives, (rows * (1 - share)) / table.negatives];
    const same = inUse[0] === 1 && inUse[1] === 1;
    for (const part of document.querySelectorAll("[data-in-use]")) part.hidden = same;
    update();
  }
  for (const name of ["rows-number", "share-number"]) element(name).addEventListener("input", changeUse);

  // -- what can be copied ---------------------------------------------------------------------------------------

  // what is in an element, without its hidden parts; of a number, all its digits
  function textOf(place) {
    if (place.value !== undefined) return place.value;
    return [...place.children].filter((part) => !part.hidden).map((part) => part.textContent.trim()).join(" ");
  }

  for (const button of document.querySelectorAll("button[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const place = element(button.dataset.copy);
      getSelection().selectAllChildren(place);
      let done = false;
      try {
        await navigator.clipboard.writeText(textOf(place));
        done = true;
      } catch {
        done = document.execCommand("copy"); // where the page may not write; what is selected can be copied by hand
      }
      button.textContent = done ? "Copied" : "Selected";
      setTimeout(() => (button.textContent = "Copy"), 2000);
    });
  }

  for (const choice of document.querySelectorAll("input[name=mode]")) choice.addEventListener("change", update);
  update();
})();
