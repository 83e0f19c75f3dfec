import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

type Kind = "web" | "db" | "batch" | "mail" | "cache";

const CORES: Record<Kind, number> = { web: 4, db: 16, batch: 8, mail: 2, cache: 4 };
const MEMORY: Record<Kind, number> = { web: 7_976, db: 64_312, batch: 31_904, mail: 3_936, cache: 15_992 };
const COUNTS: Record<Kind, number> = { web: 4, db: 2, batch: 3, mail: 2, cache: 1 };

/** A simulated host. All runs on it read its configuration file, in place of the one in /etc. */
export interface DemoHost {
  kind: Kind;
  /** Full name. */
  name: string;
  /** Simulated processors and memory (MiB), as macros of the host, because all simulated hosts are one machine. */
  macros: { CORES: number; RAM: number };
}

export const HOSTS: readonly DemoHost[] = (Object.keys(COUNTS) as Kind[]).flatMap((kind) =>
  Array.from({ length: COUNTS[kind] }, (_, index) => ({
    kind,
    name: `${kind}${index + 1}.example.com`,
    macros: { CORES: CORES[kind], RAM: MEMORY[kind] },
  })),
);

/** Lists the names of hosts. @param kinds  kinds, joined by `+`; `any`: all hosts. @throws Error if no host is of these kinds */
export function listDemoHosts(kinds: string): [string, ...string[]] {
  const wanted = kinds.split("+");
  const names = HOSTS.filter(({ kind }) => kinds === "any" || wanted.includes(kind)).map(({ name }) => name);
  const [first, ...rest] = names;
  if (first === undefined) throw new Error(`no host has the kind ${kinds}`);
  return [first, ...rest];
}

/** Long timeouts, so that nothing fails on a busy machine, where etcd answers slowly. */
const PATIENT = { terminationTimeout: "3s", connectTimeout: "60s" };

/** Writes a configuration file for each host. @returns a function that returns the path of a host's file */
export function writeConfigs(folder: string, endpoints: readonly string[]): (host: string) => string {
  const getConfigPath = (host: string) => join(folder, `${host}.json`);
  mkdirSync(folder, { recursive: true });
  for (const { name, macros } of HOSTS)
    writeFileSync(getConfigPath(name), JSON.stringify({ host: name, macros, endpoints, ...PATIENT }));
  return getConfigPath;
}
