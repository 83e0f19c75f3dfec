// The program as it is shipped: starts one of three bundles. That of `run` starts from the code that V8 made of it when it
// was built, where that fits.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Script } from "node:vm";

const require = createRequire(import.meta.filename);
if (process.argv[2] === "run") startRun(join(import.meta.dirname, "run.cjs"));
else require(process.argv[2] === "__complete" ? "./complete.cjs" : "./full.cjs");

function startRun(filename: string): void {
  const source = readFileSync(filename, "latin1");
  // The bundle's first line names the code that was made of exactly this text: V8 itself compares no more than the
  // length, nor for which processor it was made.
  const name = `${source.slice(2, source.indexOf("\n"))}-${process.version}-${process.arch}.code`;
  const cachedData = read(join(import.meta.dirname, name));
  // V8 refuses what another version of it made, or one with other options. Then it compiles, as ever.
  const script = new Script(source, { filename, ...(cachedData && { cachedData }) });
  script.runInThisContext()(createRequire(filename), filename, import.meta.dirname);
}

function read(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}
