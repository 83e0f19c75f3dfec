/**
 * What the kernel says of a process's limits. Every run asks for it on its way to its claim: hence no regular
 * expressions, whose first use costs as much as reading a file.
 */

/** Reads a file of the kernel's; undefined when it is not there or may not be read. */
export type ReadFile = (path: string) => string | undefined;

/** What the control groups of a process leave it, both without end where nothing limits it. */
export interface Limits {
  /** Processors, with fractions. */
  cpus: number;
  /** Bytes. */
  memory: number;
}

/** A cgroup file system: `controllers` is undefined for version 2. */
interface Mount {
  point: string;
  /** The cgroup shown at `point`: not the topmost one in a container. */
  root: string;
  controllers: readonly string[] | undefined;
}

/** The cgroup of a process in one hierarchy; `controllers` is undefined for version 2. */
interface Place {
  path: string;
  controllers: readonly string[] | undefined;
}

const ZERO = 0x30;
const NINE = 0x39;
const CONTROLLERS = ["cpu", "cpuset", "memory"];

/**
 * The tightest limits that stand between the reading process and the root of each hierarchy it is in.
 *
 * Versions 1 and 2 are both looked at, in every directory from the process's own up to the mount: on hybrid hosts one
 * of them is there without its controllers, and a limit of a parent holds for its children without showing in them.
 * `memory.high` counts as a limit, since a group above it is throttled until it is of no use.
 * @see https://docs.kernel.org/admin-guide/cgroup-v2.html, https://docs.kernel.org/admin-guide/cgroup-v1/
 */
export function cgroupLimits(read: ReadFile): Limits {
  const places = parsePlaces(read("/proc/self/cgroup") ?? "");
  const mounts = parseMounts(read("/proc/self/mountinfo") ?? "");
  const limits = { cpus: Number.POSITIVE_INFINITY, memory: Number.POSITIVE_INFINITY };
  for (const mount of mounts) {
    const place = places.find((one) => sameHierarchy(one, mount));
    if (place === undefined) continue;
    for (const directory of directories(mount, place.path)) {
      limits.cpus = Math.min(limits.cpus, cpusIn(directory, mount, read));
      limits.memory = Math.min(limits.memory, memoryIn(directory, mount, read));
    }
  }
  return limits;
}

/** `/proc/self/cgroup`: a line `id:controllers:path` for each hierarchy. */
export function parsePlaces(text: string): Place[] {
  return text.split("\n").flatMap((line) => {
    const [id = "", controllers = "", ...rest] = line.split(":");
    const path = rest.join(":");
    if (wholeNumber(id) === undefined || !path.startsWith("/")) return [];
    return [{ path, controllers: id === "0" && controllers === "" ? undefined : controllers.split(",") }];
  });
}

/** The cgroup mounts in `/proc/self/mountinfo` (proc(5)) that can hold one of our controllers. */
export function parseMounts(text: string): Mount[] {
  return text.split("\n").flatMap((line) => {
    if (!line.includes(" - cgroup")) return [];
    const [left = "", right = ""] = line.split(" - ", 2);
    const [, , , root, point] = left.split(" ");
    const [type, , options = ""] = right.split(" ");
    if (root === undefined || point === undefined || (type !== "cgroup" && type !== "cgroup2")) return [];
    const controllers =
      type === "cgroup2" ? undefined : options.split(",").filter((one) => CONTROLLERS.includes(one));
    return controllers?.length === 0 ? [] : [{ root: unescaped(root), point: unescaped(point), controllers }];
  });
}

/** Space, tab, line break and backslash stand as `\040` and so on. */
function unescaped(path: string): string {
  if (!path.includes("\\")) return path;
  return path.replace(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
}

function sameHierarchy(place: Place, mount: Mount): boolean {
  if (place.controllers === undefined || mount.controllers === undefined) {
    return place.controllers === mount.controllers;
  }
  return mount.controllers.some((one) => place.controllers?.includes(one));
}

/**
 * The directories of a cgroup and of all above it that the mount shows, lowest first. Of a cgroup outside of what is
 * shown (`/../x`, or another container's) only the mount's own directory is known to be above it.
 */
function directories({ point, root }: Mount, path: string): string[] {
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

function cpusIn(directory: string, mount: Mount, read: ReadFile): number {
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

function memoryIn(directory: string, mount: Mount, read: ReadFile): number {
  if (mount.controllers !== undefined && !mount.controllers.includes("memory"))
    return Number.POSITIVE_INFINITY;
  const files = mount.controllers === undefined ? ["memory.max", "memory.high"] : ["memory.limit_in_bytes"];
  return Math.min(...files.map((file) => parseBytes(read(`${directory}/${file}`) ?? "")));
}

/** `cpu.max`: `QUOTA PERIOD`, both in µs; `max` or, as in version 1, `-1` for no limit. @returns processors */
export function parseCpuMax(text: string): number {
  const [quota = "", period = "", ...more] = text.trim().split(" ");
  const cpus = more.length === 0 ? (wholeNumber(quota) ?? 0) / (wholeNumber(period) ?? 0) : 0;
  return Number.isFinite(cpus) && cpus > 0 ? cpus : Number.POSITIVE_INFINITY;
}

/** How many processors a list of the kernel's names, such as `0-3,8`; without end where it says nothing. */
export function parseCpuList(text: string): number {
  const count = cpuRanges(text).reduce((sum, [first, last]) => sum + last - first + 1, 0);
  return count > 0 ? count : Number.POSITIVE_INFINITY;
}

/** How many processors stand in both of two lists. */
export function sharedCpus(one: string, other: string): number {
  const others = cpuRanges(other);
  const overlaps = cpuRanges(one).flatMap(([first, last]) =>
    others.map(([from, to]) => Math.max(0, Math.min(last, to) - Math.max(first, from) + 1)),
  );
  return overlaps.reduce((sum, overlap) => sum + overlap, 0);
}

function cpuRanges(text: string): [number, number][] {
  return text
    .trim()
    .split(",")
    .flatMap((range): [number, number][] => {
      const [from = "", to = from, ...more] = range.split("-");
      const first = processorNumber(from);
      const last = processorNumber(to);
      if (first === undefined || last === undefined || last < first || more.length > 0) return [];
      return [[first, last]];
    });
}

/** A limit in bytes; `max`, 0 and what is no number are none. Version 1 writes some 2^63 for none, as good as none. */
export function parseBytes(text: string): number {
  const bytes = wholeNumber(text.trim()) ?? 0;
  return bytes > 0 ? bytes : Number.POSITIVE_INFINITY;
}

/** No kernel numbers its processors with more than six digits. */
function processorNumber(text: string): number | undefined {
  return text.length <= 6 ? wholeNumber(text) : undefined;
}

/** A text of digits, and of nothing else. */
function wholeNumber(text: string): number | undefined {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < ZERO || code > NINE) return undefined;
  }
  return text === "" ? undefined : Number(text);
}
