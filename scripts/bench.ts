/**
 * What a run costs, beside `etcdctl lock`, `flock` and bare Node, on an etcd started for it:
 * `npm run bench -- [--quick] [proposals] [start-up] [hand-off] [memory] [scale] [console] [schedules]`. Linux only, as the guardian is.
 */
import { cpus, loadavg, release } from "node:os";
import { onBed, type Part } from "./bench/bed.ts";
import { consoleFigures } from "./bench/console.ts";
import { handOff } from "./bench/hand-off.ts";
import { memory } from "./bench/memory.ts";
import { proposals } from "./bench/proposals.ts";
import { scale } from "./bench/scale.ts";
import { schedules } from "./bench/schedules.ts";
import { startUp } from "./bench/start-up.ts";

const parts: Record<string, Part> = {
  ...{ proposals, "start-up": startUp, "hand-off": handOff, memory, scale },
  ...{ console: consoleFigures, schedules },
};

const words = process.argv.slice(2);
const quick = words.includes("--quick");
const wanted = words.filter((word) => word !== "--quick");
const unknown = wanted.filter((word) => !Object.hasOwn(parts, word));
if (unknown.length > 0) {
  console.error(`unknown: ${unknown.join(", ")}; there are: --quick, ${Object.keys(parts).join(", ")}`);
  process.exit(64);
}

const [load = 0] = loadavg();
console.log(
  `Node ${process.versions.node}, Linux ${release()}, ${cpus().length} processors, load ${load.toFixed(1)}`,
);
if (load > cpus().length / 2)
  console.log("Something else is running here: the times will be too long, and uneven.");
for (const [name, part] of Object.entries(parts)) {
  if (wanted.length === 0 || wanted.includes(name)) await onBed(part, quick);
}
