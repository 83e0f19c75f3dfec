import { readFileSync } from "node:fs";
import { availableParallelism, hostname, totalmem } from "node:os";

/** This machine, as `fleet/host.ts` asks for it. A few small files of the kernel's, no child process, no DNS. */
export const thisMachine = {
  hostname,
  readFile(path: string): string | undefined {
    try {
      return readFileSync(path, "utf8");
    } catch {
      return undefined; // what cannot be read limits nothing that we know of
    }
  },
  parallelism: availableParallelism,
  totalMemory: totalmem,
};
