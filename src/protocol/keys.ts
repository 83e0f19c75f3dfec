import { decodeName, encodeName } from "./names.ts";
import { type KeyRange, prefixRange } from "./txn.ts";

/** What a drain can stop. */
export const DRAIN_SCOPES = ["lock", "resource", "host", "group", "all"] as const;
export type DrainScope = (typeof DRAIN_SCOPES)[number];

/** The only name in the scope `all`. */
export const DRAIN_ALL = "all";

/** What a key stands for. `unknown`: under our prefix, but not a key that we would write. */
export type ParsedKey =
  | { kind: "lock" | "resource"; name: string; run: string }
  | { kind: "resourceConfig" | "group" | "host" | "history"; name: string }
  | { kind: "schedule" | "due" | "outcomes" | "worker"; name: string }
  /** `scheduled`: the occurrence, ms since the epoch, where several of one schedule may run at once. */
  | { kind: "running"; name: string; scheduled?: number }
  | { kind: "drain"; scope: DrainScope; name: string }
  | { kind: "audit"; name: string }
  | { kind: "unknown" };

const RUN_ID = /^[0-9a-z]{12,32}$/;
const INSTANT = /^(?:0|[1-9]\d{0,14})$/;

const NAMED = {
  "config/resources/": "resourceConfig",
  "config/groups/": "group",
  "hosts/": "host",
  "history/": "history",
  "audit/": "audit",
  "schedules/": "schedule",
  "due/": "due",
  "outcomes/": "outcomes",
  "workers/": "worker",
} as const;

export type QueueKind = "lock" | "resource";

/** Builds and parses every key of signalbox. No other module joins a key with `/`. */
export interface Keys {
  readonly prefix: string;
  lock(name: string, run: string): string;
  resource(name: string, run: string): string;
  resourceConfig(name: string): string;
  group(name: string): string;
  drain(scope: DrainScope, name: string): string;
  host(fqdn: string): string;
  history(lock: string): string;
  audit(id: string): string;
  schedule(id: string): string;
  due(id: string): string;
  /** @param scheduled  ms since the epoch; where occurrences may overlap, each has a key of its own */
  running(id: string, scheduled?: number): string;
  outcomes(id: string): string;
  worker(id: string): string;
  /** The occurrences of one schedule that have a key of their own. */
  runningsOf(id: string): Required<KeyRange>;
  /** Every ticket of one lock or resource. */
  queue(kind: QueueKind, name: string): Required<KeyRange>;
  locks(): Required<KeyRange>;
  resources(): Required<KeyRange>;
  resourceConfigs(): Required<KeyRange>;
  groups(): Required<KeyRange>;
  drains(): Required<KeyRange>;
  hosts(): Required<KeyRange>;
  histories(): Required<KeyRange>;
  audits(): Required<KeyRange>;
  schedules(): Required<KeyRange>;
  dues(): Required<KeyRange>;
  runnings(): Required<KeyRange>;
  allOutcomes(): Required<KeyRange>;
  workers(): Required<KeyRange>;
  everything(): Required<KeyRange>;
  parse(key: string): ParsedKey;
  /** The queue in which a key stands: also one put by hand, that names no run. It is in everybody's way all the same. */
  queueAt(key: string): { kind: QueueKind; name: string } | undefined;
}

/** @param prefix begins and ends with `/`, printable ASCII */
export function keysUnder(prefix: string): Keys {
  const named = (room: string) => (name: string) => `${prefix}${room}${encodeName(name)}`;
  const ticket = (room: string) => (name: string, run: string) =>
    `${prefix}${room}${encodeName(name)}/${run}`;
  const range = (room: string) => () => prefixRange(prefix + room);
  return {
    prefix,
    lock: ticket("locks/"),
    resource: ticket("resources/"),
    resourceConfig: named("config/resources/"),
    group: named("config/groups/"),
    drain: (scope, name) => `${prefix}drains/${scope}/${encodeName(name)}`,
    host: named("hosts/"),
    history: named("history/"),
    audit: named("audit/"),
    schedule: named("schedules/"),
    due: named("due/"),
    running: (id, scheduled) =>
      `${prefix}running/${encodeName(id)}${scheduled === undefined ? "" : `/${scheduled}`}`,
    outcomes: named("outcomes/"),
    worker: named("workers/"),
    runningsOf: (id) => prefixRange(`${prefix}running/${encodeName(id)}/`),
    queue: (kind, name) => prefixRange(`${prefix}${kind}s/${encodeName(name)}/`),
    locks: range("locks/"),
    resources: range("resources/"),
    resourceConfigs: range("config/resources/"),
    groups: range("config/groups/"),
    drains: range("drains/"),
    hosts: range("hosts/"),
    histories: range("history/"),
    audits: range("audit/"),
    schedules: range("schedules/"),
    dues: range("due/"),
    runnings: range("running/"),
    allOutcomes: range("outcomes/"),
    workers: range("workers/"),
    everything: range(""),
    parse: (key) => (key.startsWith(prefix) ? parse(key.slice(prefix.length)) : { kind: "unknown" }),
    queueAt: (key) => (key.startsWith(prefix) ? queueAt(key.slice(prefix.length)) : undefined),
  };
}

function queueAt(path: string): ReturnType<Keys["queueAt"]> {
  const [, room, segment = ""] = /^(locks|resources)\/([^/]+)\//.exec(path) ?? [];
  const name = decodeName(segment);
  return room === undefined || name === undefined
    ? undefined
    : { kind: room === "locks" ? "lock" : "resource", name };
}

function parse(path: string): ParsedKey {
  for (const [room, kind] of Object.entries(NAMED)) {
    const name = path.startsWith(room) ? decodeName(path.slice(room.length)) : undefined;
    if (name !== undefined) return { kind, name };
  }
  const [room, first = "", second = "", ...rest] = path.split("/");
  if (rest.length > 0) return { kind: "unknown" };
  if (room === "drains") return parseDrain(first, second);
  if (room === "running") return parseRunning(first, second);
  if (room !== "locks" && room !== "resources") return { kind: "unknown" };
  const name = decodeName(first);
  if (name === undefined || !RUN_ID.test(second)) return { kind: "unknown" };
  return { kind: room === "locks" ? "lock" : "resource", name, run: second };
}

function parseRunning(segment: string, instant: string): ParsedKey {
  const name = decodeName(segment);
  if (name === undefined || (instant !== "" && !INSTANT.test(instant))) return { kind: "unknown" };
  return { kind: "running", name, ...(instant !== "" && { scheduled: Number(instant) }) };
}

function parseDrain(scope: string, segment: string): ParsedKey {
  const name = decodeName(segment);
  const known = DRAIN_SCOPES.find((one) => one === scope);
  return known === undefined || name === undefined
    ? { kind: "unknown" }
    : { kind: "drain", scope: known, name };
}
