import { setTimeout as pause } from "node:timers/promises";
import { openTerminal } from "../../fixtures/console.ts";
import { BUNDLE } from "../../fixtures/signalbox.ts";
import { runOnCluster } from "./bench-cluster.ts";
import { fillLocks } from "./scale.ts";

await runOnCluster(async (cluster) => {
  await fillLocks(cluster.store, 10_000);
  const t = openTerminal({
    command: [
      process.execPath,
      "--max-semi-space-size=16",
      "--heap-growing-percent=40",
      "--cpu-prof",
      "--cpu-prof-dir=/tmp/cprof",
      BUNDLE,
      "console",
    ],
    columns: 160,
    rows: 50,
    endpoints: cluster.etcd.endpoints,
  });
  const a = performance.now();
  await t.waitFor(/live rev \d/, 60_000);
  console.log(performance.now() - a);
  await pause(Number(process.argv[2] ?? 100));
  t.press("q");
  await t.ended;
  await t.close();
}, false);
