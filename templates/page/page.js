"use strict";
(() => {
  const one = (selector) => document.querySelector(selector);
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const form = one("#filter");
  if (!form) return;
  const [words, grade, kind] = [one("#words"), one("#grade"), one("#kind")];

  // What a search looks through: what a person reads of a change, and not the labels around it.
  const said = (...parts) => parts.map((part) => part?.textContent ?? "").join(" ").replace(/\s+/g, " ").toLowerCase();
  const rows = all(".row").map((row) => ({
    row,
    text: said(row.querySelector(".said"), row.querySelector(".why")),
    names: all(".names li", row).map((item) => ({ item, text: said(item), count: Number(item.dataset.count) })),
    count: Number(row.dataset.count),
  }));
  const mentions = all(".mention").map((row) => ({
    row,
    text: said(row.closest(".definition").querySelector("h3"), row.querySelector(".said"), row.querySelector(".more")),
  }));
  const total = rows.reduce((sum, { count }) => sum + count, 0);

  const chosen = (row) =>
    (!kind.value || row.dataset.kind === kind.value) &&
    (!grade.value || row.dataset.grades.split(" ").includes(grade.value));
  const searched = () => words.value.toLowerCase().split(/\s+/).filter(Boolean);

  // How many changes of a row match: all of them by its own words, or those of the definitions that match by name.
  const narrow = ({ row, text, names, count }, terms) => {
    const left = terms.filter((term) => !text.includes(term));
    const matches = names.map((name) => left.every((term) => name.text.includes(term)));
    names.forEach(({ item }, index) => { item.hidden = !matches[index]; });
    if (!chosen(row)) return 0;
    if (!names.length) return left.length ? 0 : count;
    return names.reduce((sum, name, index) => sum + (matches[index] ? name.count : 0), 0);
  };

  // Names are cut into several nodes where a line may end, so a match can begin in one and end in another.
  const ranges = (block, terms) => {
    const nodes = [];
    const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) nodes.push(walker.currentNode);
    const text = nodes.map((node) => node.data).join("");
    const lower = text.toLowerCase();
    if (lower.length !== text.length) return [];
    const point = (at, isEnd) => {
      for (const node of nodes) {
        if (at < node.length || (isEnd && at === node.length)) return [node, at];
        at -= node.length;
      }
    };
    return terms.flatMap((term) => {
      const found = [];
      for (let at = lower.indexOf(term); at >= 0; at = lower.indexOf(term, at + term.length)) {
        const range = new Range();
        range.setStart(...point(at, false));
        range.setEnd(...point(at + term.length, true));
        found.push(range);
      }
      return found;
    });
  };
  const mark = (terms) => {
    if (!CSS.highlights) return;
    const blocks = terms.length ? all(".said, .why, .names li, .definition h3").filter((block) => !block.closest("[hidden]")) : [];
    CSS.highlights.set("found", new Highlight(...blocks.flatMap((block) => ranges(block, terms))));
  };

  const apply = () => {
    const terms = searched();
    const perSection = new Map();
    let shown = 0;
    for (const each of rows) {
      const count = narrow(each, terms);
      each.row.hidden = !count;
      const section = each.row.closest(".kind");
      perSection.set(section, (perSection.get(section) ?? 0) + count);
      shown += count;
    }
    for (const [section, count] of perSection) {
      section.hidden = !count;
      const { total } = section.dataset;
      section.querySelector(".total").textContent = count < total ? `${count} of ${total}` : total;
    }
    for (const { row, text } of mentions) {
      row.hidden = !(chosen(row) && terms.every((term) => text.includes(term)));
    }
    for (const group of [...all(".definition"), one(".definitions")]) {
      group.hidden = !group.querySelector(".mention:not([hidden])");
    }
    one("#nothing").hidden = shown > 0;
    one("#status").textContent = `${shown} of ${total} changes shown`;
    mark(terms);
  };

  const choose = (ofKind, ofGrade) => {
    [words.value, kind.value, grade.value] = ["", ofKind, ofGrade];
    apply();
  };
  const reveal = (target) => {
    if (target?.closest("[hidden]")) choose("", "");
  };

  form.hidden = false;
  form.addEventListener("input", () => {
    apply();
    // What is found begins at the top, and a long page may have been left far behind.
    const main = one("#changes");
    if (main.getBoundingClientRect().top < 0) main.scrollIntoView();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  one("#all").addEventListener("click", () => {
    choose("", "");
    words.focus();
  });
  document.addEventListener("click", ({ target }) => {
    const link = target.closest?.("a[href^='#']");
    if (link?.dataset.chooseGrade !== undefined) choose(link.dataset.chooseKind, link.dataset.chooseGrade);
    else if (link) reveal(document.getElementById(link.getAttribute("href").slice(1)));
  });
  addEventListener("hashchange", () => {
    const target = one(":target");
    reveal(target);
    target?.scrollIntoView();
  });
  addEventListener("pageshow", apply);
})();
