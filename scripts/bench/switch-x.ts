import { writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { openTerminal } from "../../fixtures/console.ts";
import { openPlayground } from "../demo/playground.ts";

const closing: (() => unknown)[] = [];
const { endpoints } = await openPlayground(1, closing, new AbortController().signal);
await closing.pop()?.();
await pause(20_000);
const out: unknown[] = [];
for (const [c, r] of [
  [80, 24],
  [120, 40],
  [160, 50],
] as const) {
  const t = openTerminal({ args: ["console"], columns: c, rows: r, endpoints, isRecorded: true });
  await t.waitFor(/live rev \d/, 60_000);
  await pause(3_000);
  for (let i = 0; i < 10; i++) {
    const n = t.recording.length;
    t.press("]");
    await pause(900);
    const chunk = t.recording.slice(n).map((x) => x.text);
    out.push({ size: `${c}x${r}`, tab: t.getScreen()[1]?.slice(0, 120), chunk, screen: t.getScreen() });
    const text = chunk[0] ?? "";
    const sgr = (text.match(/\x1b\[[0-9;]*m/g) ?? []).join("").length;
    const move = (text.match(/\x1b\[[0-9;]*[A-HXKJ]/g) ?? []).join("").length;
    console.log(
      `${c}x${r}`,
      i,
      "bytes",
      chunk.join("").length,
      "first",
      text.length,
      "sgr",
      sgr,
      "move",
      move,
      "utf8",
      Buffer.byteLength(text),
      "text",
      text.length - sgr - move,
      "frames",
      chunk.length,
    );
  }
  await t.close();
}
writeFileSync("/tmp/switch.json", JSON.stringify(out));
for (const close of closing.reverse()) await close();
