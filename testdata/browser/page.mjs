// Opens a page in headless Chromium and prints what a browser and axe say of it, as one JSON
// object: node page.mjs FILE [--shot PICTURE]
import chromium from "@sparticuz/chromium";
import puppeteer from "puppeteer-core";
import axe from "axe-core";
import { pathToFileURL } from "node:url";

const [file, flag, picture] = process.argv.slice(2);
const url = pathToFileURL(file).href;
const report = { version: "", problems: [], requests: [], violations: [], text: "", plainText: "", search: {}, focus: [] };
const browser = await puppeteer.launch({ args: chromium.args, executablePath: await chromium.executablePath(), headless: "shell" });

async function open({ scheme, width, script }) {
  const tab = await browser.newPage();
  await tab.setJavaScriptEnabled(script);
  await tab.setViewport({ width, height: 900 });
  await tab.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  tab.on("console", (m) => report.problems.push(`${m.type()}: ${m.text()}`));
  tab.on("pageerror", (e) => report.problems.push(`error: ${e.message}`));
  tab.on("request", (r) => { if (r.url() !== url && !r.url().startsWith("data:")) report.requests.push(r.url()); });
  await tab.goto(url, { waitUntil: "load" });
  return tab;
}

// Each theme is judged, one of them narrow, with everything open, for what is closed is not looked at.
async function judge(scheme, width) {
  const tab = await open({ scheme, width, script: true });
  await tab.evaluate(() => { for (const e of document.querySelectorAll("details")) e.open = true; });
  await tab.evaluate(axe.source);
  const { violations } = await tab.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  for (const v of violations) {
    report.violations.push({ scheme, width, id: v.id, impact: v.impact, help: v.help, nodes: v.nodes.slice(0, 5).map((n) => n.html.slice(0, 200) + " " + n.failureSummary) });
  }
  const wide = await tab.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (wide > 0) report.problems.push(`${scheme}, ${width} wide: the page is ${wide} pixels wider than the window`);
  report.text = await tab.evaluate(() => document.body.textContent);
  await tab.close();
}

async function use() {
  const tab = await open({ scheme: "light", width: 1000, script: true });
  await tab.keyboard.press("Tab");
  report.focus.push(await tab.evaluate(() => document.activeElement.textContent));
  await tab.keyboard.press("Tab");
  report.focus.push(await tab.evaluate(() => document.activeElement.id));
  await tab.keyboard.type("build failed");
  await tab.waitForFunction(() => document.getElementById("found").value !== "");
  report.search.found = await tab.evaluate(() => document.getElementById("found").value);
  await tab.keyboard.press("Enter");
  report.search.at = await tab.evaluate(() => document.getElementById("found").value);
  report.search.opened = await tab.evaluate(() => [...document.querySelectorAll("details[open]")].some((e) => e.textContent.includes("build failed")));
  await tab.evaluate(() => document.getElementById("only").click());
  report.search.shown = await tab.evaluate(() => [...document.querySelectorAll("article")].filter((e) => e.offsetParent !== null).length);
  report.search.marked = await tab.evaluate(() => CSS.highlights.get("found")?.size ?? 0);
  await tab.close();
}

report.version = await browser.version();
if (flag === "--shot") {
  const tab = await open({ scheme: "light", width: 1000, script: true });
  await tab.screenshot({ path: picture, type: "png", clip: { x: 0, y: 0, width: 1000, height: 1680 } });
} else {
  await judge("light", 1200);
  await judge("dark", 360);
  await use();
  const plain = await open({ scheme: "light", width: 1000, script: false });
  report.plainText = await plain.evaluate(() => document.body.textContent);
  report.search.hidden = await plain.evaluate(() => document.getElementById("find").offsetParent === null);
}
await browser.close();
console.log(JSON.stringify(report));
