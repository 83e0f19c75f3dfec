// Runs a bundle as src/bin/start.ts does, and saves the code that V8 compiled: `node rehearse.ts BUNDLE CODE ARG…`
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { Script } from "node:vm";

const [node = "", , bundle = "", code = "", ...args] = process.argv;
const script = new Script(readFileSync(bundle, "latin1"), { filename: bundle });
process.argv = [node, bundle, ...args];
process.on("exit", (status) => {
  if (status === 0) writeFileSync(code, script.createCachedData());
});
script.runInThisContext()(createRequire(bundle), bundle, dirname(bundle));
