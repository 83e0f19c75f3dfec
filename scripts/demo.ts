/**
 * What signalbox does, on a real etcd of its own, which is gone at the end.
 * `npm run demo`: a story of a quarter of a minute. `npm run demo -- --console [--seed N]`: a whole site at work, and the console on it;
 * `--serve` instead of `--console`: the site alone, for a console or commands in another terminal.
 */
import { parseArgs } from "node:util";

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
  if (!Number.isSafeInteger(seed)) throw new TypeError(`--seed takes a whole number, not ${values.seed}`);
  if (values.console || values.serve) {
    const { playground } = await import("./demo/playground.ts");
    process.exitCode = await playground({ seed, isServed: values.serve });
  } else await (await import("./demo/story.ts")).story();
} catch (error) {
  if (!(error instanceof TypeError)) throw error;
  console.error(`${error.message}\n${USAGE}`);
  process.exitCode = 64;
}
