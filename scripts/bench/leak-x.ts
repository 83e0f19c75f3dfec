import { setTimeout as pause } from "node:timers/promises";
import { openTerminal } from "../../fixtures/console.ts";
import { BUNDLE } from "../../fixtures/signalbox.ts";
import { runOnCluster } from "./bench-cluster.ts";
import { readResidentMemory } from "./console.ts";
import { startLoad } from "./console-load.ts";
import { fillLocks } from "./scale.ts";

await runOnCluster(async (cluster) => {
  await fillLocks(cluster.store, 1_000);
  const t = openTerminal({
    command: [
      process.execPath,
      "--max-semi-space-size=16",
      "--heap-growing-percent=40",
      "--heapsnapshot-signal=SIGUSR2",
      "--diagnostic-dir=/tmp/heap",
      BUNDLE,
      "console",
    ],
    columns: 160,
    rows: 50,
    endpoints: cluster.etcd.endpoints,
  });
  await t.waitFor(/live rev \d/, 60_000);
  const load = await startLoad(cluster.store, 1_000, 1_000);
  const use = async (n: number) => {
    for (let i = 0; i < n; i++) {
      t.press(i % 5 === 4 && process.argv[2] !== "stay" ? "]" : "down");
      await pause(1000);
    }
    console.log(load.events, readResidentMemory(t.pid).map(Math.round).join(" "));
  };
  await use(30);
  process.kill(t.pid, "SIGUSR2");
  await pause(15000);
  await use(30);
  await use(30);
  await use(20);
  process.kill(t.pid, "SIGUSR2");
  await pause(15000);
  await load.stop();
  await t.close();
}, false);
