/** A host whose load and memory pressure a test sets. */
import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";

const CAN_MOUNT = spawnSync("unshare", ["-m", "true"]).status === 0;
const UNSHARE = ["unshare", CAN_MOUNT ? "-m" : "-rm"];
const MOUNT =
  'mount --bind "$1/loadavg" /proc/loadavg && mount --bind "$1/pressure" /proc/pressure && shift && exec "$@"';

/** Why this machine cannot do it; undefined if it can. */
export const obstacle =
  CAN_MOUNT || spawnSync("unshare", ["-rm", "true"]).status === 0 ? undefined : "needs mount namespaces";

const formatLoad = (load: number) => `${load.toFixed(2)} 0.00 0.00 1/100 4711\n`;

export class MeasuredHost {
  /** Words that start a program on it. */
  readonly before: readonly string[];
  readonly #folder: string;

  /**
   * @param folder  a path of the test, which does not exist
   * @param memory  pressure on memory, percent; undefined: the kernel does not measure it
   */
  constructor(folder: string, load: number, memory?: number) {
    this.#folder = folder;
    this.before = [...UNSHARE, "sh", "-c", MOUNT, "sh", folder];
    mkdirSync(join(folder, "pressure"), { recursive: true });
    writeFileSync(join(folder, "loadavg"), formatLoad(load));
    const text = `some avg10=${memory?.toFixed(2)} avg60=0.00 avg300=0.00 total=1\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1\n`;
    if (memory !== undefined) writeFileSync(join(folder, "pressure", "memory"), text);
  }

  /** Sets the load, below 10. Readers see the old one or the new one: the text keeps its length. */
  setLoad(load: number): void {
    const file = openSync(join(this.#folder, "loadavg"), "r+");
    writeSync(file, formatLoad(load), 0);
    closeSync(file);
  }
}
