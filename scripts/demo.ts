/**
 * Demonstrates signalbox on a temporary etcd.
 * `npm run demo`: a tour of 15 seconds. `npm run demo -- --console [--seed N]`: a simulated site with jobs, and the console.
 * `--serve` instead of `--console`: only the site, for a console or commands in another terminal.
 */
import { parseArgs } from "node:util";
import { EtcdMissingError } from "../fixtures/etcd/index.ts";

const USAGE = "usage: npm run demo -- [--console | --serve] [--seed N]";

try {
  const { values } = parseArgs({
    options: {
      console: { type: "boolean", default: false },
      serve: { type: "boolean", default: false },
      seed: { type: "string", default: "1" },
    },
  });
  const seed = Number(values.seed);
  if (!Number.isSafeInteger(seed)) throw new TypeError(`--seed must be a whole number; got ${values.seed}`);
  if (values.console || values.serve) {
    const { runPlayground } = await import("./demo/playground.ts");
    process.exitCode = await runPlayground({ seed, isServed: values.serve });
  } else await (await import("./demo/tour.ts")).runTour();
} catch (error) {
  if (error instanceof TypeError) {
    console.error(`${error.message}\n${USAGE}`);
    process.exitCode = 64;
  } else if (error instanceof EtcdMissingError) {
    console.error(error.message);
    process.exitCode = 69;
  } else if (error instanceof Error) {
    console.error(`\nthe demo failed: ${error.message}`);
    process.exitCode = 1;
  } else throw error;
}
