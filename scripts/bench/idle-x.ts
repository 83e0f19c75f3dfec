import { setTimeout as pause } from "node:timers/promises";
import { openTerminal } from "../../fixtures/console.ts";
import { openPlayground } from "../demo/playground.ts";

const closing: (() => unknown)[] = [];
const { endpoints } = await openPlayground(1, closing, new AbortController().signal);
await closing.pop()?.();
const [c, r] = [Number(process.argv[2] ?? 160), Number(process.argv[3] ?? 50)];
const t = openTerminal({ args: ["console"], columns: c, rows: r, endpoints, isRecorded: true });
await t.waitFor(/live rev \d/, 60_000);
await pause(25_000);
const n = t.recording.length,
  b = t.bytes,
  at = performance.now();
await pause(45_000);
console.log("bytes/s", (t.bytes - b) / ((performance.now() - at) / 1000));
for (const x of t.recording.slice(n))
  console.log(Math.round(x.at), x.text.length, JSON.stringify(x.text).slice(0, 900));
console.log(t.getScreen().join("\n"));
await t.close();
for (const close of closing.reverse()) await close();
