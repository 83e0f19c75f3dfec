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
  | { kind: "drain"; scope: DrainScope; name: string }
  | { kind: "audit"; name: string }
  | { kind: "unknown" };

const RUN_ID = /^[0-9a-z]{12,32}$/;

const NAMED = {
  "config/resources/": "resourceConfig",
  "config/groups/": "group",
  "hosts/": "host",
  "history/": "history",
  "audit/": "audit",
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
    queue: (kind, name) => prefixRange(`${prefix}${kind}s/${encodeName(name)}/`),
    locks: range("locks/"),
    resources: range("resources/"),
    resourceConfigs: range("config/resources/"),
    groups: range("config/groups/"),
    drains: range("drains/"),
    hosts: range("hosts/"),
    histories: range("history/"),
    audits: range("audit/"),
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
  if (room !== "locks" && room !== "resources") return { kind: "unknown" };
  const name = decodeName(first);
  if (name === undefined || !RUN_ID.test(second)) return { kind: "unknown" };
  return { kind: room === "locks" ? "lock" : "resource", name, run: second };
}

function parseDrain(scope: string, segment: string): ParsedKey {
  const name = decodeName(segment);
  const known = DRAIN_SCOPES.find((one) => one === scope);
  return known === undefined || name === undefined
    ? { kind: "unknown" }
    : { kind: "drain", scope: known, name };
}
