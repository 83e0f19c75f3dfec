import { setTimeout as pause } from "node:timers/promises";
import { openTerminal } from "../../fixtures/console.ts";
import { BUNDLE } from "../../fixtures/signalbox.ts";
import { runOnCluster } from "./bench-cluster.ts";
import { readResidentMemory } from "./console.ts";
import { fillLocks } from "./scale.ts";

await runOnCluster(async (cluster) => {
  await fillLocks(cluster.store, 10_000);
  const t = openTerminal({
    cwd: "/tmp/heap",
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
  await pause(2000);
  for (let i = 0; i < 11; i++) {
    t.press("]");
    await pause(2500);
    console.log(t.getScreen()[1]?.slice(0, 150), readResidentMemory(t.pid).map(Math.round).join(" "));
  }
  console.log(readResidentMemory(t.pid));
  process.kill(t.pid, "SIGUSR2");
  await pause(40_000);
  console.log(readResidentMemory(t.pid));
  await t.close();
}, false);
