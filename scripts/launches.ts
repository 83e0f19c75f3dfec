// Measures how many calls reach a slow etcd per requested call (hedging): `node scripts/launches.ts`
import { createSteadyJitter, measureLaunches } from "../fixtures/etcd/launches.ts";
import { openStore } from "../src/core/etcd/open.ts";
import { createRealClock } from "../src/core/process/clock.ts";

const DELAYS = { "700 ms": () => 700, "300-1500 ms": () => createSteadyJitter() } as const;

console.log("transport  members  delay        wanted  launched  ratio  failed  new connections");
for (const transport of ["http", "grpc"] as const) {
  for (const members of [1, 3]) {
    for (const [name, delay] of Object.entries(DELAYS)) {
      const load = { members, delay: delay(), callers: 10, calls: 12 };
      const { wanted, launched, failed, connections } = await measureLaunches(load, (endpoints) =>
        openStore({ endpoints, transport }, { clock: createRealClock() }),
      );
      const cells = [transport.padEnd(9), String(members).padEnd(7), name.padEnd(11)];
      const figures = [String(wanted).padStart(6), String(launched).padStart(8)];
      const ratio = (launched / wanted).toFixed(2).padStart(5);
      console.log(
        [...cells, ...figures, ratio, String(failed).padStart(6), String(connections).padStart(15)].join(
          "  ",
        ),
      );
    }
  }
}
