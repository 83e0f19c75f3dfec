import { EtcdMissingError } from "../fixtures/etcd/index.ts";
import { readArguments, readNumber } from "./arguments.ts";

const HELP = `npm run demo -- [--console | --serve] [--seed N]

Demonstrates signalbox on a temporary etcd: a tour of 20 seconds.

  --console   a simulated site with jobs, and the console
  --serve     only that site, for a console or commands in another terminal
  --seed N    seed of the simulated site (default: 1)`;

const { values } = readArguments(HELP, {
  console: { type: "boolean" },
  serve: { type: "boolean", default: false },
  seed: { type: "string", default: "1" },
});
const seed = readNumber(HELP, "seed", values.seed);
try {
  if (values.console || values.serve) {
    const { runPlayground } = await import("./demo/playground.ts");
    process.exitCode = await runPlayground({ seed, isServed: values.serve });
  } else await (await import("./demo/tour.ts")).runTour();
} catch (error) {
  if (error instanceof EtcdMissingError) {
    console.error(error.message);
    process.exitCode = 69;
  } else if (error instanceof Error) {
    console.error(`\nthe demo failed: ${error.message}`);
    process.exitCode = 1;
  } else throw error;
}
