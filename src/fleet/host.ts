import { cgroupLimits, type ReadFile, sharedCpus } from "./cgroups.ts";
import { canonicalHost } from "./groups.ts";
import type { MacroFacts } from "./macros.ts";

/** What a host has for its jobs. `cpu` and `memMb` are found out when first asked for. */
export type HostFacts = MacroFacts;

/** What can be asked of the machine; `config/machine.ts` is the real one. */
export interface Machine {
  /** The kernel's name for it, with or without a domain. */
  hostname(): string;
  readFile: ReadFile;
  /** Processors, where the kernel's files do not say. */
  parallelism(): number;
  /** Physical memory in bytes. */
  totalMemory(): number;
}

/** What the configuration says about this host. */
export interface HostSettings {
  /** Its full name. */
  host?: string | undefined;
  macros?: Readonly<Record<string, number | string>> | undefined;
}

const MIB = 1_048_576;

/**
 * The facts of this host.
 *
 * - `fqdn`: the configured name, else the kernel's if it has a domain, else the name with a domain that `/etc/hosts`
 *   has beside it, else the bare name. No DNS: a name must not depend on who answers. Small letters, no last dot.
 * - `host`: the first label of `fqdn`.
 * - `cpu`: processors the job may run on, cut to a whole number, at least 1: with a quota of 2.5, 2 jobs of one
 *   processor each run at full speed.
 * - `memMb`: MiB of the tightest memory limit or of all memory, rounded down, at least 1.
 */
export function hostFacts(machine: Machine, settings: HostSettings = {}): HostFacts {
  const fqdn = fullName(machine, settings);
  const limits = once(() => cgroupLimits(machine.readFile));
  const cpu = once(() => Math.max(1, Math.floor(Math.min(processors(machine), limits().cpus))));
  const memMb = once(() => Math.max(1, Math.floor(Math.min(machine.totalMemory(), limits().memory) / MIB)));
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

function fullName(machine: Machine, { host }: HostSettings): string {
  if (host !== undefined) return canonicalHost(host);
  const name = canonicalHost(machine.hostname());
  if (name.includes(".")) return name;
  return nameInHosts(machine.readFile("/etc/hosts") ?? "", name) ?? name;
}

/** The name with a domain that stands on the same line of `/etc/hosts` as the bare name: `127.0.1.1 web1.example.com web1`. */
export function nameInHosts(text: string, name: string): string | undefined {
  for (const line of text.split("\n")) {
    const [, ...names] = line.replace(/#.*/, "").trim().split(/\s+/).map(canonicalHost);
    const full = names.includes(name) ? names.find((one) => one.startsWith(`${name}.`)) : undefined;
    if (full !== undefined) return full;
  }
  return undefined;
}

/**
 * Processors that the scheduler may use: those allowed (`taskset`, cpusets), of those that are there. The list of the
 * allowed ones can name processors that could be plugged in.
 */
function processors(machine: Machine): number {
  const status = machine.readFile("/proc/self/status") ?? "";
  const [allowed = ""] = (status.split("\nCpus_allowed_list:", 2)[1] ?? "").split("\n", 1);
  const count = sharedCpus(allowed, machine.readFile("/sys/devices/system/cpu/online") ?? "");
  return count > 0 ? count : machine.parallelism();
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
