import { readFileSync } from "node:fs";
import { availableParallelism, hostname, totalmem } from "node:os";

/** The real machine, for `fleet/host.ts`. Reads a few small kernel files; uses no child process and no DNS. */
export const thisMachine = {
  hostname,
  readFile(path: string): string | undefined {
    try {
      return readFileSync(path, "utf8");
    } catch {
      return undefined; // a file that cannot be read counts as no limit
    }
  },
  getParallelism: availableParallelism,
  getTotalMemory: totalmem,
};
