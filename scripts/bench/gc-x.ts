import { setTimeout as pause } from "node:timers/promises";
import { openTerminal } from "../../fixtures/console.ts";
import { BUNDLE } from "../../fixtures/signalbox.ts";
import { runOnCluster } from "./bench-cluster.ts";
import { readResidentMemory } from "./console.ts";
import { startLoad } from "./console-load.ts";
import { fillLocks } from "./scale.ts";

await runOnCluster(async (cluster) => {
  await fillLocks(cluster.store, 10_000);
  const t = openTerminal({
    isRecorded: true,
    command: [
      process.execPath,
      "--max-semi-space-size=16",
      "--heap-growing-percent=40",
      ...(process.argv[3] ?? "").split(" ").filter(Boolean),
      "--trace-gc",
      BUNDLE,
      "console",
    ],
    columns: 160,
    rows: 50,
    endpoints: cluster.etcd.endpoints,
  });
  const began = performance.now();
  await pause(15_000);
  const load = await startLoad(cluster.store, 10_000, 100);
  t.press("]");
  t.press("]");
  for (let i = 0; i < Number(process.argv[2] ?? 6); i++) {
    await pause(5_000);
    console.log(readResidentMemory(t.pid).map(Math.round).join(" "));
  }
  const text = t.recording
    .map((x) => x.text)
    .join("")
    .replace(/\x1b\[[0-9;?]*[a-zA-Z]/g, "");
  const all = text.match(/\d+ ms: (Mark-Compact|Scavenge)[^\n]*?MB, pooled[^\n]{0,40}/g) ?? [];
  console.log(all.length, all.filter((x) => x.includes("Mark")).length);
  console.log(
    all
      .filter((x, i) => x.includes("Mark") || i % 40 === 0)
      .slice(-45)
      .join("\n"),
  );
  await load.stop();
  await t.close();
}, false);
