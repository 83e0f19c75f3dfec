import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Script } from "node:vm";
import { startEtcdStub } from "./etcd-stub.ts";

const PATIENCE_MS = 30_000;
/** Typical runs, as started by cron. Functions that they do not call are not cached, and are compiled when called. */
const REHEARSED: Record<string, string[]> = {
  "run.cjs": ["run", "--lock", "rehearsal", "--", "true"],
  "front.cjs": ["cronlock", "true"],
};

/**
 * Caches the code that V8 compiles from a bundle during an uncontended run, in the file that the first line of the bundle
 * names. Only the version of Node that runs this build uses it; other versions compile the bundle themselves.
 * @returns a note for the build report
 */
export async function cacheCode(bundle: string): Promise<string> {
  const title = readFileSync(bundle, "latin1").split("\n", 1)[0]?.slice(2);
  const name = `${title}-${process.version}-${process.arch}.code`; // the name that src/bin/start.ts looks for
  const code = join(dirname(bundle), name);
  const draft = `${code}.${process.pid}`;
  const failure = isAccepted(bundle, code) ? undefined : await rehearse(bundle, draft);
  if (failure !== undefined) return `without V8's code: ${failure}`;
  if (existsSync(draft)) renameSync(draft, code);
  removeOthers(bundle, name);
  return `and ${Math.round(statSync(code).size / 1024)} KiB of V8's code`;
}

/** Whether the cached code exists, and this version of V8 accepts it. */
function isAccepted(bundle: string, code: string): boolean {
  if (!existsSync(code)) return false;
  const script = new Script(readFileSync(bundle, "latin1"), { cachedData: readFileSync(code) });
  return script.cachedDataRejected === false;
}

/** @returns why it failed; undefined if it did not */
async function rehearse(bundle: string, draft: string): Promise<string | undefined> {
  const { server, endpoint } = await startEtcdStub();
  const env = { PATH: process.env.PATH, SIGNALBOX_ENDPOINTS: endpoint };
  const script = join(import.meta.dirname, "rehearse.ts");
  const child = spawn(process.execPath, [script, bundle, draft, ...(REHEARSED[basename(bundle)] ?? [])], {
    env,
    stdio: ["ignore", "inherit", "inherit"],
    timeout: PATIENCE_MS,
  });
  const [status, signal] = await once(child, "exit");
  server.closeAllConnections();
  server.close();
  return status === 0 ? undefined : `its rehearsal ended with ${signal ?? status}`;
}

/** Removes the cached code of older bundles. A program that starts at this moment compiles its bundle itself. */
function removeOthers(bundle: string, name: string): void {
  const [folder, ours] = [dirname(bundle), `${basename(bundle, ".cjs")}-`];
  const stale = readdirSync(folder).filter(
    (one) => one.startsWith(ours) && one.endsWith(".code") && one !== name,
  );
  for (const one of stale) rmSync(join(folder, one), { force: true });
}
