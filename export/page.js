"use strict";
(() => {
  const form = document.getElementById("find");
  const words = document.getElementById("words");
  const only = document.getElementById("only");
  const found = document.getElementById("found");
  const main = document.getElementById("conversation");
  const most = 2000;
  const marks = typeof Highlight === "function" && CSS.highlights ? CSS.highlights : null;
  let ranges = [], at = -1, timer = 0;
  form.hidden = false;

  function search() {
    const wanted = words.value.trim().toLowerCase();
    ranges = [];
    at = -1;
    const matched = new Set();
    if (wanted) {
      const texts = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
      for (let node = texts.nextNode(); node && ranges.length < most; node = texts.nextNode()) {
        const text = node.data.toLowerCase();
        if (text.length !== node.data.length) continue;
        for (let i = text.indexOf(wanted); i >= 0 && ranges.length < most; i = text.indexOf(wanted, i + wanted.length)) {
          const range = document.createRange();
          range.setStart(node, i);
          range.setEnd(node, i + wanted.length);
          ranges.push(range);
          for (let e = node.parentElement; e !== main; e = e.parentElement) matched.add(e);
        }
      }
    }
    for (const e of main.querySelectorAll("article, section")) {
      e.classList.toggle("unmatched", only.checked && wanted !== "" && !matched.has(e));
    }
    if (marks) {
      marks.set("found", new Highlight(...ranges));
      marks.delete("current");
    }
    say();
  }

  function say() {
    if (!words.value.trim()) found.value = "";
    else if (!ranges.length) found.value = "Not found";
    else found.value = (at < 0 ? "" : at + 1 + " of ") + ranges.length + (ranges.length === most ? " or more" : "") + (ranges.length === 1 ? " match" : " matches");
  }

  function go(step) {
    if (!ranges.length) return;
    at = at < 0 && step < 0 ? ranges.length - 1 : (at + step + ranges.length) % ranges.length;
    const range = ranges[at];
    for (let e = range.startContainer.parentElement; e !== main; e = e.parentElement) {
      if (e.tagName === "DETAILS") e.open = true;
    }
    if (marks) marks.set("current", new Highlight(range));
    range.startContainer.parentElement.scrollIntoView({ block: "center" });
    say();
  }

  words.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(search, 150);
  });
  only.addEventListener("change", search);
  words.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.shiftKey) {
      event.preventDefault();
      go(-1);
    }
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    go(1);
  });
  document.getElementById("previous").addEventListener("click", () => go(-1));
  addEventListener("beforeprint", () => {
    for (const e of document.querySelectorAll("details")) e.open = true;
  });
})();
