import { setTimeout as pause } from "node:timers/promises";
import { openTerminal } from "../../fixtures/console.ts";
import { BUNDLE } from "../../fixtures/signalbox.ts";
import { runOnCluster } from "./bench-cluster.ts";
import { readResidentMemory } from "./console.ts";
import { startLoad } from "./console-load.ts";
import { readProcessorTime } from "./measure.ts";
import { fillLocks } from "./scale.ts";

await runOnCluster(async (cluster) => {
  await fillLocks(cluster.store, 10_000);
  for (const flags of process.argv.slice(2).length
    ? process.argv.slice(2)
    : [
        "--max-semi-space-size=16 --heap-growing-percent=40",
        "--max-semi-space-size=8 --heap-growing-percent=40",
        "--max-semi-space-size=8 --heap-growing-percent=20",
        "--max-semi-space-size=16 --heap-growing-percent=20",
      ]) {
    const t = openTerminal({
      command: [
        process.execPath,
        "--max-semi-space-size=16",
        "--heap-growing-percent=40",
        ...flags.split(" "),
        BUNDLE,
        "console",
      ],
      columns: 160,
      rows: 50,
      endpoints: cluster.etcd.endpoints,
    });
    const a = performance.now();
    await t.waitFor(/live rev \d/, 60_000);
    const s = performance.now() - a;
    const cpu0 = readProcessorTime(t.pid);
    const [m0] = readResidentMemory(t.pid);
    await pause(5000);
    const idle = (readProcessorTime(t.pid) - cpu0) / 50;
    const load = await startLoad(cluster.store, 10_000, 2_000);
    const c1 = readProcessorTime(t.pid);
    await pause(8_000);
    const c2 = readProcessorTime(t.pid);
    await load.stop();
    const [m1, peak] = readResidentMemory(t.pid);
    console.log(
      flags,
      "start s",
      (s / 1000).toFixed(2),
      "cpu start",
      cpu0.toFixed(0),
      "rss",
      m0.toFixed(0),
      m1.toFixed(0),
      "peak",
      peak.toFixed(0),
      "idle%",
      idle.toFixed(1),
      "busy%",
      ((c2 - c1) / 250).toFixed(0),
    );
    await t.close();
  }
}, false);
