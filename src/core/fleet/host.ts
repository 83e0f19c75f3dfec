import { canonicalizeHost } from "../base/text.ts";
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

interface HostSettings {
  /** The full host name. */
  host?: string | undefined;
  macros?: Readonly<Record<string, number | string>> | undefined;
}

const MIB_BYTES = 1_048_576;

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
  const limits = computeOnce(() => readCgroupLimits(machine.readFile));
  const cpu = computeOnce(() => Math.max(1, Math.floor(Math.min(countProcessors(machine), limits().cpus))));
  const memMb = computeOnce(() =>
    Math.max(1, Math.floor(Math.min(machine.getTotalMemory(), limits().memory) / MIB_BYTES)),
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

function computeOnce<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/**
 * Reads the resource limits of a process from the kernel. Every run needs them before it makes its claim. It
 * uses no regular expressions, except to unescape a path: the first use of each takes as long as reading a file.
 */

/** Reads a kernel file. Returns undefined if it does not exist or cannot be read. */
export type KernelFileReader = (path: string) => string | undefined;

/** The limits that the control groups set for a process. Each value is infinite if nothing limits it. */
interface CgroupLimits {
  /** Number of processors; can be a fraction. */
  cpus: number;
  /** Bytes. */
  memory: number;
}

/** A mounted cgroup file system. `controllers` is undefined for version 2. */
interface CgroupMount {
  point: string;
  /** The cgroup mounted at `point`. In a container, it is not the topmost one. */
  root: string;
  controllers: readonly string[] | undefined;
}

/** The cgroup of a process in one hierarchy; `controllers` is undefined for version 2. */
interface CgroupMembership {
  path: string;
  controllers: readonly string[] | undefined;
}

const ZERO_BYTE = 0x30;
const NINE_BYTE = 0x39;
const CONTROLLERS = ["cpu", "cpuset", "memory"];

/**
 * Returns the tightest limits between the reading process and the root of each hierarchy it is in.
 *
 * Reads both versions 1 and 2, in every directory from the process's own cgroup up to the mount. On hybrid hosts, one
 * of the versions is mounted without its controllers. A parent's limit also applies to its children but does not appear
 * in them. `memory.high` counts as a limit, because a group above it is throttled until it is unusable.
 * @see https://docs.kernel.org/admin-guide/cgroup-v2.html, https://docs.kernel.org/admin-guide/cgroup-v1/
 */
export function readCgroupLimits(read: KernelFileReader): CgroupLimits {
  const memberships = parseMemberships(read("/proc/self/cgroup") ?? "");
  const mounts = parseMounts(read("/proc/self/mountinfo") ?? "");
  const limits = { cpus: Number.POSITIVE_INFINITY, memory: Number.POSITIVE_INFINITY };
  for (const mount of mounts) {
    const membership = memberships.find((candidate) => isSameHierarchy(candidate, mount));
    if (membership === undefined) continue;
    for (const directory of listDirectories(mount, membership.path)) {
      limits.cpus = Math.min(limits.cpus, readCpuLimit(directory, mount, read));
      limits.memory = Math.min(limits.memory, readMemoryLimit(directory, mount, read));
    }
  }
  return limits;
}

/** Parses `/proc/self/cgroup`: one line `id:controllers:path` for each hierarchy. */
function parseMemberships(text: string): CgroupMembership[] {
  return text.split("\n").flatMap((line) => {
    const [id = "", controllers = "", ...rest] = line.split(":");
    const path = rest.join(":");
    if (parseWholeNumber(id) === undefined || !path.startsWith("/")) return [];
    return [{ path, controllers: id === "0" && controllers === "" ? undefined : controllers.split(",") }];
  });
}

/** Parses the cgroup mounts in `/proc/self/mountinfo` (proc(5)) that can have one of the controllers we need. */
function parseMounts(text: string): CgroupMount[] {
  return text.split("\n").flatMap((line) => {
    if (!line.includes(" - cgroup")) return [];
    const [left = "", right = ""] = line.split(" - ", 2);
    const [, , , root, point] = left.split(" ");
    const [type, , options = ""] = right.split(" ");
    if (root === undefined || point === undefined || (type !== "cgroup" && type !== "cgroup2")) return [];
    const controllers =
      type === "cgroup2" ? undefined : options.split(",").filter((option) => CONTROLLERS.includes(option));
    return controllers?.length === 0
      ? []
      : [{ root: unescapePath(root), point: unescapePath(point), controllers }];
  });
}

/** Replaces the octal escapes of space, tab, line break and backslash (`\040` and so on). */
function unescapePath(path: string): string {
  if (!path.includes("\\")) return path;
  return path.replace(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
}

function isSameHierarchy(membership: CgroupMembership, mount: CgroupMount): boolean {
  if (membership.controllers === undefined || mount.controllers === undefined) {
    return membership.controllers === mount.controllers;
  }
  return mount.controllers.some((controller) => membership.controllers?.includes(controller));
}

/**
 * Lists the directories of a cgroup and its parents that are visible in the mount, lowest first. For a cgroup outside
 * the mount (`/../x`, or one of another container), only the directory of the mount itself is known to be a parent.
 */
function listDirectories({ point, root }: CgroupMount, path: string): string[] {
  const top = root === "/" ? "" : root;
  const inside = (path === root || path.startsWith(`${top}/`)) && !path.split("/").includes("..");
  const names = inside
    ? path
        .slice(top.length)
        .split("/")
        .filter((name) => name !== "")
    : [];
  return names.map((_, depth) => [point, ...names.slice(0, names.length - depth)].join("/")).concat(point);
}

function readCpuLimit(directory: string, mount: CgroupMount, read: KernelFileReader): number {
  if (mount.controllers === undefined) {
    const quota = parseCpuMax(read(`${directory}/cpu.max`) ?? "");
    return Math.min(quota, parseCpuList(read(`${directory}/cpuset.cpus.effective`) ?? ""));
  }
  const limits = [Number.POSITIVE_INFINITY];
  if (mount.controllers.includes("cpu")) {
    const [quota = "", period = ""] = ["quota", "period"].map(
      (what) => read(`${directory}/cpu.cfs_${what}_us`) ?? "",
    );
    limits.push(parseCpuMax(`${quota.trim()} ${period.trim()}`));
  }
  if (mount.controllers.includes("cpuset")) {
    const effective = read(`${directory}/cpuset.effective_cpus`) ?? read(`${directory}/cpuset.cpus`);
    limits.push(parseCpuList(effective ?? ""));
  }
  return Math.min(...limits);
}

function readMemoryLimit(directory: string, mount: CgroupMount, read: KernelFileReader): number {
  if (mount.controllers !== undefined && !mount.controllers.includes("memory"))
    return Number.POSITIVE_INFINITY;
  const files = mount.controllers === undefined ? ["memory.max", "memory.high"] : ["memory.limit_in_bytes"];
  return Math.min(...files.map((file) => parseMemoryLimit(read(`${directory}/${file}`) ?? "")));
}

/**
 * Parses `cpu.max`: `QUOTA PERIOD`, both in µs. `max` or, in version 1, `-1` means no limit.
 * @returns processors; infinite without a limit
 */
function parseCpuMax(text: string): number {
  const [quota = "", period = "", ...more] = text.trim().split(" ");
  const cpus = more.length === 0 ? (parseWholeNumber(quota) ?? 0) / (parseWholeNumber(period) ?? 0) : 0;
  return Number.isFinite(cpus) && cpus > 0 ? cpus : Number.POSITIVE_INFINITY;
}

/** Counts the processors in a kernel list such as `0-3,8`. Infinite if the list is empty. */
function parseCpuList(text: string): number {
  const count = parseCpuRanges(text).reduce((sum, [first, last]) => sum + last - first + 1, 0);
  return count > 0 ? count : Number.POSITIVE_INFINITY;
}

/** Counts the processors that are in both lists. */
export function countSharedCpus(one: string, other: string): number {
  const others = parseCpuRanges(other);
  const overlaps = parseCpuRanges(one).flatMap(([first, last]) =>
    others.map(([from, to]) => Math.max(0, Math.min(last, to) - Math.max(first, from) + 1)),
  );
  return overlaps.reduce((sum, overlap) => sum + overlap, 0);
}

function parseCpuRanges(text: string): [number, number][] {
  return text
    .trim()
    .split(",")
    .flatMap((range): [number, number][] => {
      const [from = "", to = from, ...more] = range.split("-");
      const first = parseProcessorNumber(from);
      const last = parseProcessorNumber(to);
      if (first === undefined || last === undefined || last < first || more.length > 0) return [];
      return [[first, last]];
    });
}

/**
 * Parses a limit in bytes. `max`, 0 and texts that are not numbers mean no limit. Version 1 writes about 2^63 for no
 * limit, which has the same effect.
 */
function parseMemoryLimit(text: string): number {
  const bytes = parseWholeNumber(text.trim()) ?? 0;
  return bytes > 0 ? bytes : Number.POSITIVE_INFINITY;
}

/** Parses a processor number. No kernel uses processor numbers of more than six digits. */
function parseProcessorNumber(text: string): number | undefined {
  return text.length <= 6 ? parseWholeNumber(text) : undefined;
}

/** Parses a text that consists only of digits. */
function parseWholeNumber(text: string): number | undefined {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < ZERO_BYTE || code > NINE_BYTE) return undefined;
  }
  return text === "" ? undefined : Number(text);
}
