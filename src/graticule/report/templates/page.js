"use strict";
(() => {
  const names = JSON.parse(document.getElementById("names").textContent);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const spoken = document.getElementById("spoken");
  const say = (text) => { spoken.textContent = text; };

  const make = (name, facts = {}, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(facts)) {
      if (key in element) element[key] = value; else element.setAttribute(key, value);
    }
    element.append(...children);
    return element;
  };
  const choose = (title, options, act) => {
    const select = make("select", {}, ...options.map(([value, text]) => make("option", { value }, text)));
    select.addEventListener("change", () => act(select.value));
    return { label: make("label", {}, make("span", {}, title), select), select };
  };
  const percent = (value) => (value === "" || Number.isNaN(+value) ? "n/a" : (100 * value).toFixed(1) + "%");
  const count = (value) => Number(value).toLocaleString("en-US");

  /* Light or dark. */
  const root = document.documentElement;
  const controls = document.getElementById("controls");
  const remember = (value) => { try { localStorage.setItem("graticule-theme", value); } catch { /* no storage in this place */ } };
  const recall = () => { try { return localStorage.getItem("graticule-theme"); } catch { return null; } };
  const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const theme = make("button", { type: "button", className: "theme", textContent: "◐" });
  const nameTheme = () => { theme.setAttribute("aria-label", isDark() ? "Switch to light" : "Switch to dark"); theme.title = theme.getAttribute("aria-label"); };
  if (recall()) root.dataset.theme = recall();
  theme.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; remember(root.dataset.theme); nameTheme(); });
  nameTheme();

  /* One model at a time. */
  let showGalleryOf = () => {};
  const showModel = (place) => {
    for (const block of all(".block[data-model]")) block.hidden = block.dataset.model !== place;
    showGalleryOf(place);
  };
  if (names.models.length > 1) {
    const { label } = choose("Model", names.models.map((name, place) => [String(place), name]), (place) => {
      showModel(place);
      say("Showing " + names.models[place]);
    });
    controls.append(label);
  }
  controls.append(theme);

  /* Contents: open beside a wide page, closed over a narrow one. */
  const contents = document.getElementById("contents");
  const wide = matchMedia("(min-width: 1180px)");
  const fit = () => { contents.open = wide.matches; };
  wide.addEventListener("change", fit);
  fit();
  contents.addEventListener("click", (event) => { if (event.target.closest("a") && !wide.matches) contents.open = false; });
  const links = new Map(all("a[href^='#']", contents).map((link) => [link.hash.slice(1), link]));
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      for (const link of links.values()) link.removeAttribute("aria-current");
      links.get(entry.target.id)?.setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-20% 0px -70% 0px" });
  for (const panel of all(".panel")) seen.observe(panel);

  /* One of several drawings at a time. */
  for (const box of all("[data-chooser]")) {
    const parts = [...box.children];
    const show = (place) => parts.forEach((part, index) => { part.hidden = index !== +place; });
    const { label } = choose(box.dataset.chooser, parts.map((part, index) => [String(index), part.dataset.choice]), show);
    label.className = "chooser";
    box.before(label);
    show(0);
  }
  for (const form of all("form")) form.addEventListener("submit", (event) => event.preventDefault());

  /* Order of the labels in the range plot. */
  const orders = [["accuracy", "accuracy", 1], ["gap", "gap, widest first", -1], ["p", "p, smallest first", 1], ["name", "name", 0]];
  for (const plot of all(".ranges")) {
    const list = plot.querySelector(".row-list");
    if (list.children.length < 3) continue;
    const { label } = choose("Sort labels by", orders.map(([key, text]) => [key, text]), (key) => {
      const sign = orders.find((order) => order[0] === key)[2];
      const value = (row) => { const found = parseFloat(row.dataset[key]); return Number.isNaN(found) ? Infinity : sign * found; };
      const rows = [...list.children];
      rows.sort((a, b) => (sign ? value(a) - value(b) : 0) || a.dataset.name.localeCompare(b.dataset.name));
      list.append(...rows);
    });
    label.className = "chooser";
    plot.closest("form").querySelector(".tools").append(label);
  }

  /* The gallery. */
  const gallery = document.getElementById("gallery");
  const BATCH = 24;
  let openGallery = null;
  if (gallery) {
    const photos = [...gallery.children];
    const wanted = { region: "", label: "", model: "", picked: "" };
    let limit = BATCH;
    const tally = make("p", { className: "tally" });
    const more = make("button", { type: "button" }, "Show more");
    const fits = (photo) => (!wanted.region || photo.dataset.region === wanted.region) && (!wanted.label || photo.dataset.label === wanted.label);
    const render = () => {
      let found = 0;
      for (const photo of photos) {
        let any = false;
        for (const mistake of all(".mistake", photo)) {
          const right = (!wanted.model || mistake.dataset.model === wanted.model) && (!wanted.picked || mistake.dataset.picked.split(" ").includes(wanted.picked));
          mistake.hidden = !right;
          any ||= right;
        }
        const kept = any && fits(photo);
        photo.hidden = !kept || found >= limit;
        found += kept;
      }
      gallery.classList.toggle("one-model", Boolean(wanted.model));
      tally.textContent = found > limit ? `${limit} of ${found} shown` : found === 1 ? "1 photo" : `${found} photos`;
      more.hidden = found <= limit;
    };
    const selects = {};
    const add = (key, title, options) => {
      const { label, select } = choose(title, [["", "all"], ...options], (value) => { wanted[key] = value; limit = BATCH; render(); say(tally.textContent); });
      selects[key] = select;
      document.getElementById("filters").append(label);
    };
    const titled = names.one.charAt(0).toUpperCase() + names.one.slice(1);
    add("region", titled, names.groups.filter(([key]) => names.shown.includes(key)));
    add("label", "Label", names.labels.map((label) => [label, label]));
    if (names.pictured.length > 1) add("model", "Model", names.pictured.map((place) => [String(place), names.models[place]]));
    add("picked", "Picked", [["random", "at random"], ["worst", "most confident errors"]]);
    const reset = make("button", { type: "button" }, "Reset");
    reset.addEventListener("click", () => openGallery({ region: "", label: "", picked: "" }));
    document.getElementById("filters").append(reset, tally);
    document.getElementById("more-photos").append(more);
    more.addEventListener("click", () => {
      const first = photos.filter((photo) => !photo.hidden).length;
      limit += 2 * BATCH;
      render();
      const next = photos.filter((photo) => !photo.hidden)[first];
      if (next) { next.tabIndex = -1; next.focus({ preventScroll: true }); }
      say(tally.textContent);
    });
    openGallery = (choice) => {
      Object.assign(wanted, choice);
      for (const [key, value] of Object.entries(choice)) if (selects[key]) selects[key].value = value;
      limit = BATCH;
      render();
    };
    showGalleryOf = (place) => openGallery({ model: names.pictured.includes(+place) && names.pictured.length > 1 ? place : "" });
    render();
  }

  /* The grid of labels and regions: order, shrunken values, keys, and the way to the gallery. */
  const step = (value, edges) => {
    const bins = edges.length - 1;
    let place = 0;
    for (const edge of edges.slice(1, -1)) place += value >= edge - 1e-12;
    return bins === 1 ? 0 : Math.round((bins - 1 - place) * 9 / (bins - 1));
  };
  for (const table of all("table.heat")) {
    const heads = all("thead th", table);
    const body = table.tBodies[0];
    const edges = table.dataset.bins.split(" ").map(Number);
    const sort = (place, direction) => {
      const rows = [...body.rows];
      const value = (row) => { const found = row.cells[place].dataset.v; return found === "" ? -Infinity * direction : +found; };
      rows.sort((a, b) => place === 0
        ? direction * a.cells[0].textContent.localeCompare(b.cells[0].textContent)
        : direction * (value(a) - value(b)) || a.cells[0].textContent.localeCompare(b.cells[0].textContent));
      body.append(...rows);
      heads.forEach((head, index) => { if (index === place) head.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending"); else head.removeAttribute("aria-sort"); });
    };
    heads.forEach((head, place) => {
      const button = make("button", { type: "button", className: "head-sort" }, ...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const text = place === 0 || place < heads.length - 2;
        sort(place, head.getAttribute("aria-sort") === (text ? "ascending" : "descending") ? (text ? -1 : 1) : (text ? 1 : -1));
        say("Sorted by " + head.textContent);
      });
    });
    heads[heads.length - 2].setAttribute("aria-sort", "descending");

    const cells = all("td[data-f]:not(.empty)", table);
    if (cells.some((cell) => cell.dataset.f.split(" ")[3])) {
      const box = make("input", { type: "checkbox" });
      box.addEventListener("change", () => {
        for (const cell of cells) {
          const shrunken = cell.dataset.f.split(" ")[3];
          const value = box.checked && shrunken ? +shrunken : +cell.dataset.v;
          cell.className = cell.className.replace(/step-\d/, "step-" + step(value, edges));
          (cell.firstElementChild || cell).textContent = (100 * value).toFixed(1);
        }
      });
      const label = make("label", {}, box, make("span", {}, "Shrunken values, which pull small cells towards what is usual"));
      const place = table.closest(".scroll");
      place.before(make("div", { className: "switch" }, label));
    }

    const column = (cell) => heads[cell.cellIndex];
    table.setAttribute("role", "grid");
    for (const cell of cells) { cell.setAttribute("role", "gridcell"); cell.tabIndex = -1; }
    if (cells.length) cells[0].tabIndex = 0;
    const move = (cell, across, down) => {
      const rows = [...body.rows];
      let row = rows.indexOf(cell.parentElement) + down;
      let place = cell.cellIndex + across;
      for (; rows[row] && rows[row].cells[place]; row += down, place += across) {
        const next = rows[row].cells[place];
        if (next.hasAttribute("tabindex")) { cell.tabIndex = -1; next.tabIndex = 0; next.focus(); return; }
      }
    };
    const keys = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
    const open = (cell) => {
      if (!openGallery) return;
      const region = column(cell).dataset.column;
      const label = cell.parentElement.cells[0].textContent;
      const block = table.closest(".block");
      const known = names.shown.includes(region) || !region;
      if (!names.labels.includes(label) || !known || !document.querySelector(".photo")) { say("No failures are pictured for this cell"); return; }
      const choice = { region: region || "", label, picked: "" };
      if (block?.dataset.model && names.pictured.length > 1) choice.model = names.pictured.includes(+block.dataset.model) ? block.dataset.model : "";
      openGallery(choice);
      const title = document.getElementById("failures-title");
      title.tabIndex = -1;
      title.focus({ preventScroll: true });
      document.getElementById("failures").scrollIntoView();
      say(document.querySelector(".tally").textContent);
    };
    table.addEventListener("keydown", (event) => {
      const cell = event.target.closest("td[role=gridcell]");
      if (!cell) return;
      if (keys[event.key]) { event.preventDefault(); move(cell, ...keys[event.key]); }
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); open(cell); }
    });
    table.addEventListener("click", (event) => { const cell = event.target.closest("td[role=gridcell]"); if (cell) open(cell); });
  }

  /* What is pointed at, in words. */
  const tip = document.getElementById("tip");
  const describeCell = (cell) => {
    const [low, high, n, shrunken] = cell.dataset.f.split(" ");
    const table = cell.closest("table");
    const where = table.tHead.rows[0].cells[cell.cellIndex].textContent;
    const label = cell.parentElement.cells[0].textContent;
    const rest = table.dataset.region === undefined && shrunken && where !== "All" ? ` Shrunken ${percent(shrunken)}.` : "";
    const ends = low && high ? ` (${(100 * low).toFixed(1)}–${(100 * high).toFixed(1)})` : "";
    return `${label}, ${where}: ${percent(cell.dataset.v)}${ends}, ${count(n)} image${n === "1" ? "" : "s"}.${rest}`;
  };
  const matrices = new Map();
  const describeMatrix = (svg, event) => {
    if (!matrices.has(svg)) {
      const shares = new Map((svg.dataset.cells || "").split(" ").filter(Boolean).map((cell) => { const [row, column, share] = cell.split("."); return [row + "." + column, share / 1000]; }));
      const labels = svg.dataset.names ? JSON.parse(svg.dataset.names) : null;
      matrices.set(svg, { shares, labels, sizes: svg.dataset.sizes.split(" ") });
    }
    const { shares, labels, sizes } = matrices.get(svg);
    const box = svg.getBoundingClientRect();
    const side = Number(svg.dataset.side);
    const column = Math.floor((event.clientX - box.left) / side);
    const row = Math.floor((event.clientY - box.top - svg.dataset.top) / side);
    const share = shares.get(row + "." + column);
    if (share === undefined || !labels) return "";
    const n = count(sizes[row]);
    return row === column ? `${labels[row]}: ${percent(share)} of ${n} right` : `${labels[row]} → ${labels[column]}: ${percent(share)} of ${n}`;
  };
  const place = (x, y) => {
    const { width, height } = tip.getBoundingClientRect();
    const left = Math.max(6, Math.min(x - width / 2, innerWidth - width - 6));
    const top = y - height - 14 < 6 ? y + 20 : y - height - 14;
    tip.style.transform = `translate(${Math.round(left)}px,${Math.round(top)}px)`;
  };
  const show = (text, x, y) => {
    tip.hidden = !text;
    if (!text) return;
    if (tip.textContent !== text) tip.textContent = text;
    place(x, y);
  };
  const find = (target, event) => {
    if (!(target instanceof Element)) return "";
    const matrix = target.closest("svg.matrix");
    if (matrix) return describeMatrix(matrix, event);
    const cell = target.closest("table.heat td[data-f]");
    if (cell) return cell.dataset.f ? describeCell(cell) : "";
    return target.closest("[data-tip]")?.dataset.tip || "";
  };
  document.addEventListener("pointermove", (event) => show(find(event.target, event), event.clientX, event.clientY));
  document.addEventListener("pointerdown", (event) => show(find(event.target, event), event.clientX, event.clientY));
  document.documentElement.addEventListener("pointerleave", () => show(""));
  const showFocused = () => {
    const cell = document.activeElement?.closest("table.heat td");
    const box = cell?.getBoundingClientRect();
    show(cell ? find(cell) : "", box?.left + box?.width / 2, box?.top);
  };
  document.addEventListener("focusin", showFocused);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") show(""); });
  addEventListener("scroll", showFocused, { passive: true });

  if (names.models.length > 1) showModel("0");
})();
