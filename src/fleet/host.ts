import { canonicalizeHost } from "../base/text.ts";
import { countSharedCpus, type KernelFileReader, readCgroupLimits } from "./cgroups.ts";
import type { MacroFacts } from "./macros.ts";

/** The facts of a host that jobs depend on. `cpu` and `memMb` are determined on first access. */
export type HostFacts = MacroFacts;

/** Access to the machine. The real implementation is in `config/machine.ts`. */
export interface Machine {
  /** The kernel's host name, with or without a domain. */
  hostname(): string;
  readFile: KernelFileReader;
  /** Number of processors, used if the kernel's files do not contain it. */
  getParallelism(): number;
  /** Physical memory in bytes. */
  getTotalMemory(): number;
}

/** Settings for this host. */
interface HostSettings {
  /** The full host name. */
  host?: string | undefined;
  macros?: Readonly<Record<string, number | string>> | undefined;
}

const MIB = 1_048_576;

/**
 * Reads the facts of this host.
 *
 * - `fqdn`: the configured name; else the kernel's name if it has a domain; else a name with a domain from the same
 * line of `/etc/hosts`; else the bare name. Does not use DNS, because the name must not depend on which server answers.
 * Lower case, without a trailing dot.
 * - `host`: the first label of `fqdn`.
 * - `cpu`: processors that the job can use, rounded down to a whole number, at least 1. With a quota of 2.5, 2 jobs of
 * one processor each run at full speed.
 * - `memMb`: MiB of the tightest memory limit or of all memory, rounded down, at least 1.
 */
export function readHostFacts(machine: Machine, settings: HostSettings = {}): HostFacts {
  const fqdn = readFullName(machine, settings);
  const limits = memoize(() => readCgroupLimits(machine.readFile));
  const cpu = memoize(() => Math.max(1, Math.floor(Math.min(countProcessors(machine), limits().cpus))));
  const memMb = memoize(() =>
    Math.max(1, Math.floor(Math.min(machine.getTotalMemory(), limits().memory) / MIB)),
  );
  return {
    fqdn,
    host: fqdn.replace(/\..*$/s, ""),
    get cpu() {
      return cpu();
    },
    get memMb() {
      return memMb();
    },
    macros: settings.macros ?? {},
  };
}

function readFullName(machine: Machine, { host }: HostSettings): string {
  if (host !== undefined) return canonicalizeHost(host);
  const name = canonicalizeHost(machine.hostname());
  if (name.includes(".")) return name;
  return findNameInHosts(machine.readFile("/etc/hosts") ?? "", name) ?? name;
}

/**
 * Finds the name with a domain on the line of `/etc/hosts` that has the bare name: `127.0.1.1 web1.example.com web1`.
 */
function findNameInHosts(text: string, name: string): string | undefined {
  for (const line of text.split("\n")) {
    const [, ...names] = line.replace(/#.*/, "").trim().split(/\s+/).map(canonicalizeHost);
    const full = names.includes(name)
      ? names.find((candidate) => candidate.startsWith(`${name}.`))
      : undefined;
    if (full !== undefined) return full;
  }
  return undefined;
}

/**
 * Counts the processors that the scheduler can use: the allowed ones (`taskset`, cpusets) that are also present. The
 * list of allowed processors can include processors that are not plugged in.
 */
function countProcessors(machine: Machine): number {
  const status = machine.readFile("/proc/self/status") ?? "";
  const [allowed = ""] = (status.split("\nCpus_allowed_list:", 2)[1] ?? "").split("\n", 1);
  const count = countSharedCpus(allowed, machine.readFile("/sys/devices/system/cpu/online") ?? "");
  return count > 0 ? count : machine.getParallelism();
}

function memoize<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
