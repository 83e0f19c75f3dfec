import { Body, type Reply, TYPES } from "./reply.ts";

const STYLE = `
:root {
  color-scheme: light dark;
  --back: #ffffff;
  --raised: #f4f6f8;
  --text: #1b2128;
  --quiet: #57606a;
  --line: #d0d7de;
  --link: #0550ae;
  --held: #116329;
  --free: #57606a;
  --waiting: #7d4e00;
  --problem: #b3151f;
  --accent: #0550ae;
}
@media screen and (prefers-color-scheme: dark) {
  :root { --back: #11151a; --raised: #1a2027; --text: #e3e8ee; --quiet: #9aa5b1; --line: #313a44; --link: #79b8ff; --held: #7ce38b; --free: #9aa5b1; --waiting: #f0c04f; --problem: #ff938a; --accent: #79b8ff; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); font: 15px/1.45 system-ui, sans-serif; }
header, main { padding: 0 clamp(10px, 2vw, 32px); }
header { background: var(--raised); border-bottom: 1px solid var(--line); padding-block: 6px; }
.site { margin: 0; overflow-wrap: anywhere; }
nav ul, .counts, .hosts { display: flex; flex-wrap: wrap; gap: 4px 14px; margin: 4px 0; padding: 0; list-style: none; }
a { color: var(--link); text-underline-offset: 2px; }
nav a, .counts a { text-decoration: none; display: inline-block; padding: 3px 0; }
nav a:hover, .counts a:hover { text-decoration: underline; }
nav a[aria-current] { font-weight: 700; color: var(--text); border-bottom: 2px solid var(--link); }
a:focus-visible, button:focus-visible, input:focus-visible, [tabindex="0"]:focus-visible { outline: 3px solid var(--link); outline-offset: 1px; }
main:focus { outline: none; }
.skip, .hidden { position: absolute; left: -9999px; }
.skip:focus { left: 8px; top: 8px; background: var(--back); padding: 6px; z-index: 1; }
h1 { font-size: 1.45rem; margin: 14px 0 8px; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 18px 0 6px; overflow-wrap: anywhere; }
p { margin: 6px 0; overflow-wrap: anywhere; }
.alarm { border: 2px solid var(--problem); color: var(--problem); padding: 8px; font-weight: 700; }
form { display: flex; flex-wrap: wrap; gap: 6px 12px; align-items: center; margin: 6px 0; }
input, button { font: inherit; color: inherit; background: var(--back); border: 1px solid var(--quiet); border-radius: 4px; padding: 3px 8px; }
input[type="search"] { width: min(60vw, 28rem); }
.scroll { overflow-x: auto; max-width: 100%; }
table { border-collapse: collapse; font-size: 0.93rem; }
.scroll > table { min-width: min(100%, 60rem); }
th, td { text-align: left; padding: 3px 12px 3px 0; vertical-align: top; border-bottom: 1px solid var(--line); font-weight: 400; }
:is(.waiting, .problem) > a { color: inherit; }
.short { white-space: nowrap; } .long { overflow-wrap: anywhere; min-width: 12rem; }
thead th { color: var(--quiet); font-size: 0.8rem; font-weight: 600; white-space: nowrap; position: sticky; top: 0; background: var(--back); }
thead a { color: inherit; text-decoration: none; }
thead a:hover { text-decoration: underline; }
th[aria-sort] a { color: var(--text); text-decoration: underline; }
.right { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.held { color: var(--held); } .free { color: var(--free); } .waiting { color: var(--waiting); } .problem { color: var(--problem); } .quiet { color: var(--quiet); } .accent { color: var(--accent); }
.counts a { font-size: 1.3rem; } .counts a.plain { color: var(--text); }
.hosts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 18rem), 1fr)); gap: 2px 16px; }
.hosts li { display: grid; grid-template-columns: minmax(5rem, 1fr) 4rem minmax(4rem, auto); gap: 8px; align-items: center; }
.hosts li > :last-child { grid-column: 3; text-align: right; white-space: nowrap; }
.hosts a { overflow-wrap: anywhere; }
.bar { width: 4rem; height: 8px; display: inline-block; margin-left: 6px; vertical-align: middle; }
.hosts .bar { margin: 0; }
.track { fill: var(--line); } .fill { fill: currentColor; }
.graph { width: 100%; height: clamp(90px, 18vw, 220px); display: block; background: var(--raised); }
.graph line { stroke: var(--quiet); stroke-width: 0.5; }
rect.holders { fill: var(--accent); } rect.waiters { fill: var(--waiting); } rect.bad { fill: var(--problem); }
.key .holders { color: var(--accent); } .key .waiters { color: var(--waiting); } .key .bad { color: var(--problem); }
.key { display: flex; flex-wrap: wrap; gap: 2px 18px; } .axis { display: flex; justify-content: space-between; color: var(--quiet); font-size: 0.85rem; }
#overview { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); gap: 0 28px; }
#overview section { min-width: 0; }
#counts, #hosts, #activity, #resources, #history, #etcd { grid-column: 1 / -1; }
dl { margin: 6px 0; } dl > div { display: flex; flex-wrap: wrap; gap: 0 12px; }
dt { color: var(--quiet); min-width: 9rem; } dd { margin: 0; flex: 1 1 16rem; overflow-wrap: anywhere; }
pre { margin: 6px 0; padding: 8px; background: var(--raised); white-space: pre-wrap; overflow-wrap: anywhere; font-size: 0.88rem; max-height: 40rem; overflow-y: auto; }
@media (max-width: 1280px) { .p7, .p8 { display: none; } }
@media (max-width: 960px) { .p5, .p6 { display: none; } }
@media (max-width: 640px) { .p3, .p4 { display: none; } body { font-size: 14px; } }
@media print { nav, form, .skip { display: none; } .scroll { overflow: visible; } body { font-size: 11px; } thead th { position: static; } }
@media (forced-colors: active) { .fill, rect { fill: CanvasText; } }
`;

/** The script of every page: it puts in place what the server says has changed. Without it, pages load themselves again. */
const SCRIPT = `"use strict";
const find = (id) => document.getElementById(id);
const parse = (text) => {
  const template = document.createElement("template");
  template.innerHTML = text;
  return template.content.firstElementChild;
};
/** Keeps the focus on the same link of a part that is replaced. */
const replace = (old, fresh) => {
  const focused = document.activeElement;
  const links = [...old.querySelectorAll("a, [tabindex]")];
  const at = old.contains(focused) ? links.indexOf(focused) : -1;
  old.replaceWith(fresh);
  if (at >= 0) fresh.querySelectorAll("a, [tabindex]")[at]?.focus();
};
const change = ({ id, order, put }) => {
  const block = find(id);
  if (block === null) return;
  for (const [key, text] of Object.entries(put)) {
    const fresh = parse(text);
    const old = find(key);
    if (old === null) block.append(fresh);
    else if (old.outerHTML !== fresh.outerHTML) replace(old, fresh);
  }
  if (order === undefined) return;
  const wanted = new Set(order);
  for (const child of [...block.children]) if (!wanted.has(child.id)) child.remove();
  order.forEach((key, at) => {
    const child = find(key);
    if (child !== null && block.children[at] !== child) block.insertBefore(child, block.children[at] ?? null);
  });
};
const reload = async () => {
  const answer = await fetch(location.href, { headers: { accept: "text/html" } });
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("main");
  const typed = document.activeElement?.name === "filter" ? document.activeElement.value : undefined;
  if (fresh !== null && typed === undefined) find("main").replaceWith(fresh);
};
let source;
const say = (text) => {
  const line = find("offline");
  if (line !== null && line.textContent !== text) line.textContent = text;
  line?.classList.toggle("alarm", text !== "");
};
const connect = () => {
  source = new EventSource(location.href);
  source.onopen = () => say("");
  source.onmessage = ({ data }) => {
    const { blocks, alarm } = JSON.parse(data);
    blocks.forEach(change);
    if (alarm !== undefined && find("alarm").innerHTML !== alarm) find("alarm").innerHTML = alarm;
  };
  source.addEventListener("other", reload);
  source.addEventListener("gone", reload);
  source.onerror = () => {
    say("Not connected to signalbox serve. What is shown may be old.");
    if (source.readyState === EventSource.CLOSED) setTimeout(connect, 5000);
  };
};
addEventListener("pagehide", () => source?.close());
document.addEventListener("visibilitychange", () => {
  source?.close();
  if (!document.hidden) connect();
});
connect();
`;

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#0550ae"/><circle cx="8" cy="5" r="2.5" fill="#7ce38b"/><circle cx="8" cy="11.5" r="2.5" fill="#ff938a"/></svg>
`;

/** The files that every page uses. They are the same for all. */
export const FILES: ReadonlyMap<string, Pick<Reply, "type" | "body">> = new Map([
  ["style.css", { type: TYPES.css, body: new Body(STYLE) }],
  ["live.js", { type: TYPES.script, body: new Body(SCRIPT) }],
  ["icon.svg", { type: TYPES.svg, body: new Body(ICON) }],
]);
