import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

type Kind = "web" | "db" | "batch" | "mail" | "cache";

const CORES: Record<Kind, number> = { web: 4, db: 16, batch: 8, mail: 2, cache: 4 };
const MEMORY: Record<Kind, number> = { web: 7_976, db: 64_312, batch: 31_904, mail: 3_936, cache: 15_992 };
const COUNTS: Record<Kind, number> = { web: 4, db: 2, batch: 3, mail: 2, cache: 1 };

/** A simulated host: every run on it reads its configuration file, as the one in /etc would be read there. */
export interface DemoHost {
  kind: Kind;
  /** Full name. */
  name: string;
  /** What its processors and memory (MiB) are said to be: macros of its own, for all of them are one machine in truth. */
  macros: { CORES: number; RAM: number };
}

export const HOSTS: readonly DemoHost[] = (Object.keys(COUNTS) as Kind[]).flatMap((kind) =>
  Array.from({ length: COUNTS[kind] }, (_, index) => ({
    ...{ kind, name: `${kind}${index + 1}.example.com` },
    macros: { CORES: CORES[kind], RAM: MEMORY[kind] },
  })),
);

/** Names of the hosts of some kinds; of all for `any`. @throws Error where there are none */
export function listDemoHosts(kinds: string): [string, ...string[]] {
  const wanted = kinds.split("+");
  const names = HOSTS.filter(({ kind }) => kinds === "any" || wanted.includes(kind)).map(({ name }) => name);
  const [first, ...rest] = names;
  if (first === undefined) throw new Error(`there are no hosts ${kinds}`);
  return [first, ...rest];
}

/** A machine that is busy with something else answers late: nothing of the site gives up for that. */
const PATIENT = { terminationTimeout: "3s", connectTimeout: "60s" };

/** Writes a configuration file for each host. @returns where the one of a host is */
export function writeConfigs(folder: string, endpoints: readonly string[]): (host: string) => string {
  const getConfigPath = (host: string) => join(folder, `${host}.json`);
  mkdirSync(folder, { recursive: true });
  for (const { name, macros } of HOSTS)
    writeFileSync(getConfigPath(name), JSON.stringify({ host: name, macros, endpoints, ...PATIENT }));
  return getConfigPath;
}
