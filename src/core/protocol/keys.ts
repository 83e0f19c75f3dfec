import type { WallTime } from "../base/clock.ts";
import { decodeName, encodeName } from "./names.ts";
import { buildPrefixRange, toSingleKeyRange } from "./txn.ts";

/** The scopes that a drain can apply to. */
export const DRAIN_SCOPES = ["lock", "resource", "host", "group", "all"] as const;
export type DrainScope = (typeof DRAIN_SCOPES)[number];

/** The only name in the scope `all`. */
export const DRAIN_ALL = "all";

/** The meaning of a key. `unknown`: the key has the prefix, but signalbox would not write it. */
export type ParsedKey =
  | { kind: "lock" | "resource"; name: string; run: string }
  | { kind: "resourceConfig" | "group" | "calendar" | "host" | "history"; name: string }
  /** `name`: a version, see `formatSchemaVersion`. */
  | { kind: "schema"; name: string }
  | { kind: "schedule"; name: string }
  | { kind: "worker"; name: string }
  /** `host`: the host whose state it is, if the schedule runs on every host. */
  | { kind: "due"; name: string; host?: string }
  | { kind: "outcomes"; name: string; host?: string }
  /**
   * `scheduled`: the occurrence, if several occurrences of a schedule can run at once, and always on
   * every host.
   */
  | { kind: "running"; name: string; host?: string; scheduled?: WallTime }
  /** The data that a start of an occurrence saves for the next start. */
  | { kind: "checkpoint"; name: string; host?: string; scheduled: WallTime }
  /**
   * The mark of a held ticket, see `Mark` in ticket.ts, or of an occurrence. `id`: the run; for an occurrence, its
   * instant or an empty text.
   */
  | { kind: "mark"; of: QueueKind; name: string; id: string }
  | { kind: "drain"; scope: DrainScope; name: string }
  | { kind: "audit"; name: string }
  /** The last job that a program has added, on a session. `name`: distinguishes additions that it makes at the same time. */
  | { kind: "receipt"; name: string }
  /** A session that an agent uses for many runs. `session`: its id, hexadecimal. */
  | { kind: "agentSession"; name: string; session: string }
  /** What an agent reports about itself. `agent`: its id. */
  | { kind: "agentReport"; name: string; agent: string }
  /** A viewer's request for the output of a run. `name`: the host that keeps the output. */
  | { kind: "outputRequest"; name: string; run: string; viewer: string }
  /** Output on its way to a viewer. `name`: the viewer. */
  | { kind: "outputChunk"; name: string }
  | { kind: "unknown" };

/** A run id; ids of agents, of viewers and of calls have the same form. */
export const RUN_ID = /^[0-9a-z]{12,32}$/;
export const SESSION_ID = /^[1-9a-f][0-9a-f]{0,15}$/;
const INSTANT_SEGMENT = /^(?:0|[1-9]\d{0,14})$/;

const NAMED_PREFIXES = {
  "config/resources/": "resourceConfig",
  "config/groups/": "group",
  "config/calendars/": "calendar",
  "config/schema/": "schema",
  "hosts/": "host",
  "history/": "history",
  "audit/": "audit",
  "receipts/": "receipt",
  "schedules/": "schedule",
  "due/": "due",
  "outcomes/": "outcomes",
  "workers/": "worker",
  "output/chunks/": "outputChunk",
} as const;

const NAMED_BY_COLLECTION: ReadonlyMap<string, (typeof NAMED_PREFIXES)[keyof typeof NAMED_PREFIXES]> =
  new Map(Object.entries(NAMED_PREFIXES));

const FIRST_SEGMENTS: ReadonlySet<string> = new Set(
  [
    ...NAMED_BY_COLLECTION.keys(),
    "locks/",
    "resources/",
    "drains/",
    "running/",
    "checkpoints/",
    "output/",
  ].map(getFirstSegment),
);

/** First character of the last segment of a mark. No run id and no instant contains it, and it sorts after all of them. */
const MARK_SEGMENT = "~";

export type QueueKind = "lock" | "resource";

/** Builds and parses every key of signalbox. No other module joins a key with `/`. */
export type Keys = ReturnType<typeof createKeys>;

/** Creates the key builder for a prefix. @param prefix  begins and ends with `/`, printable ASCII */
export function createKeys(prefix: string) {
  const createKeyBuilder = (collection: string) => (name: string) =>
    `${prefix}${collection}${encodeName(name)}`;
  const createStateKeyBuilder = (collection: string) => (id: string, host?: string) =>
    `${prefix}${collection}${encodeName(id)}${host === undefined ? "" : `/${encodeName(host)}`}`;
  const createTicketKeyBuilder = (collection: string) => (name: string, run: string) =>
    `${prefix}${collection}${encodeName(name)}/${run}`;
  const createRangeBuilder = (collection: string) => () => buildPrefixRange(prefix + collection);
  return {
    prefix,
    lock: createTicketKeyBuilder("locks/"),
    resource: createTicketKeyBuilder("resources/"),
    resourceConfig: createKeyBuilder("config/resources/"),
    group: createKeyBuilder("config/groups/"),
    calendar: createKeyBuilder("config/calendars/"),
    schema: createKeyBuilder("config/schema/"),
    drain: (scope: DrainScope, name: string) => `${prefix}drains/${scope}/${encodeName(name)}`,
    host: createKeyBuilder("hosts/"),
    agentSession: (host: string, session: bigint) =>
      `${prefix}hosts/${encodeName(host)}/sessions/${session.toString(16)}`,
    agentReport: (host: string, agent: string) => `${prefix}hosts/${encodeName(host)}/agents/${agent}`,
    history: createKeyBuilder("history/"),
    audit: createKeyBuilder("audit/"),
    receipt: createKeyBuilder("receipts/"),
    schedule: createKeyBuilder("schedules/"),
    /** @param host  if the schedule runs on every host: the host whose state it is; the same for outcomes */
    due: createStateKeyBuilder("due/"),
    outcomes: createStateKeyBuilder("outcomes/"),
    /** @param scheduled  if occurrences may overlap, each one has its own key */
    running: (id: string, scheduled?: WallTime) =>
      `${prefix}running/${encodeName(id)}${scheduled === undefined ? "" : `/${scheduled}`}`,
    /** Returns the key of an occurrence on one host of a schedule that runs on every host. */
    runningOnHost: (id: string, host: string, scheduled: WallTime) =>
      `${prefix}running/${encodeName(id)}/${encodeName(host)}/${scheduled}`,
    /** @param host  if the schedule runs on every host. */
    checkpoint: (id: string, host: string | undefined, scheduled: WallTime) =>
      `${prefix}checkpoints/${encodeName(id)}${host === undefined ? "" : `/${encodeName(host)}`}/${scheduled}`,
    /** Returns the ranges of the outcomes of one schedule, including those of its hosts. */
    listOutcomeRanges: (id: string) => {
      const own = `${prefix}outcomes/${encodeName(id)}`;
      return [toSingleKeyRange(own), buildPrefixRange(`${own}/`)];
    },
    /** Returns the ranges of all keys of one schedule. */
    listScheduleRanges: (id: string) => {
      const name = encodeName(id);
      const own = toSingleKeyRange(`${prefix}schedules/${name}`);
      const states = ["due", "running", "outcomes"].map((collection) => `${prefix}${collection}/${name}`);
      return [own, ...states.flatMap((key) => [toSingleKeyRange(key), buildPrefixRange(`${key}/`)])];
    },
    worker: createKeyBuilder("workers/"),
    outputRequest: (host: string, run: string, viewer: string) =>
      `${prefix}output/requests/${encodeName(host)}/${run}/${viewer}`,
    outputChunk: createKeyBuilder("output/chunks/"),
    /** Returns the range of the requests for the output of one run, or of all runs of a host. */
    getOutputRequestRange: (host: string, run?: string) =>
      buildPrefixRange(`${prefix}output/requests/${encodeName(host)}/${run === undefined ? "" : `${run}/`}`),
    /** Returns the range of the occurrences of one schedule that have their own key: of one host, or all. */
    getOccurrenceRange: (id: string, host?: string) =>
      buildPrefixRange(
        `${prefix}running/${encodeName(id)}/${host === undefined ? "" : `${encodeName(host)}/`}`,
      ),
    /** Returns the ranges of the states, and of the outcomes, of all hosts of a schedule that runs on every host. */
    getHostStateRanges: (id: string) => ({
      dues: buildPrefixRange(`${prefix}due/${encodeName(id)}/`),
      outcomes: buildPrefixRange(`${prefix}outcomes/${encodeName(id)}/`),
    }),
    /** Returns the key of the mark that belongs to the key of a ticket. */
    mark: (ticketKey: string) => {
      const at = ticketKey.lastIndexOf("/") + 1;
      return `${ticketKey.slice(0, at)}${MARK_SEGMENT}${ticketKey.slice(at)}`;
    },
    /** Returns the ranges of the tickets, and of the marks, of one lock or resource. Together they are its queue range. */
    getTicketAndMarkRanges: (kind: QueueKind, name: string) => {
      const { key, rangeEnd } = buildPrefixRange(`${prefix}${kind}s/${encodeName(name)}/`);
      return { tickets: { key, rangeEnd: key + MARK_SEGMENT }, marks: { key: key + MARK_SEGMENT, rangeEnd } };
    },
    /** Returns the range of all tickets and marks of one lock or resource. */
    getQueueRange: (kind: QueueKind, name: string) =>
      buildPrefixRange(`${prefix}${kind}s/${encodeName(name)}/`),
    locks: createRangeBuilder("locks/"),
    resources: createRangeBuilder("resources/"),
    resourceConfigs: createRangeBuilder("config/resources/"),
    groups: createRangeBuilder("config/groups/"),
    calendars: createRangeBuilder("config/calendars/"),
    schemas: createRangeBuilder("config/schema/"),
    drains: createRangeBuilder("drains/"),
    hosts: createRangeBuilder("hosts/"),
    histories: createRangeBuilder("history/"),
    audits: createRangeBuilder("audit/"),
    schedules: createRangeBuilder("schedules/"),
    dues: createRangeBuilder("due/"),
    runnings: createRangeBuilder("running/"),
    outcomeHistories: createRangeBuilder("outcomes/"),
    workers: createRangeBuilder("workers/"),
    getFullRange: createRangeBuilder(""),
    parse: (key: string): ParsedKey =>
      key.startsWith(prefix) ? parsePath(key.slice(prefix.length)) : { kind: "unknown" },
    /**
     * Returns the queue that contains a key. Includes marks, and keys written by hand that have no run id, because they
     * block the queue too.
     */
    parseQueueKey: (key: string) =>
      key.startsWith(prefix) ? parseQueuePath(key.slice(prefix.length)) : undefined,
    /** Returns the first segment of a key below the prefix; undefined if no key of signalbox begins with it. */
    findFirstSegment: (key: string) => {
      const segment = getFirstSegment(key.slice(prefix.length));
      return FIRST_SEGMENTS.has(segment) ? segment : undefined;
    },
  };
}

function parseQueuePath(path: string): { kind: QueueKind; name: string } | undefined {
  const [, collection, segment = ""] = /^(locks|resources)\/([^/]+)\//.exec(path) ?? [];
  const name = decodeName(segment);
  return collection === undefined || name === undefined
    ? undefined
    : { kind: collection === "locks" ? "lock" : "resource", name };
}

function getFirstSegment(path: string): string {
  return path.split("/", 1)[0] ?? "";
}

function parsePath(path: string): ParsedKey {
  const kindOfNamed = NAMED_BY_COLLECTION.get(path.slice(0, path.lastIndexOf("/") + 1));
  const lastName = kindOfNamed && decodeName(path.slice(path.lastIndexOf("/") + 1));
  if (kindOfNamed !== undefined && lastName !== undefined) return { kind: kindOfNamed, name: lastName };
  const [collection, first = "", second = "", ...rest] = path.split("/");
  if (collection === "hosts" && rest.length === 1) return parseAgentPath(first, second, rest[0]);
  if (collection === "output" && first === "requests") return parseOutputRequestPath(second, rest);
  if (collection === "running") return parseRunningPath(first, second, rest);
  if (collection === "checkpoints") return parseCheckpointPath(first, second, rest);
  if (rest.length > 0) return { kind: "unknown" };
  if (collection === "due" || collection === "outcomes") return parseHostStatePath(collection, first, second);
  if (collection === "drains") return parseDrainPath(first, second);
  if (collection !== "locks" && collection !== "resources") return { kind: "unknown" };
  const name = decodeName(first);
  const kind = collection === "locks" ? "lock" : "resource";
  if (name !== undefined && second.startsWith(MARK_SEGMENT) && RUN_ID.test(second.slice(1)))
    return { kind: "mark", of: kind, name, id: second.slice(1) };
  if (name === undefined || !RUN_ID.test(second)) return { kind: "unknown" };
  return { kind, name, run: second };
}

function parseAgentPath(segment: string, part: string, id = ""): ParsedKey {
  const name = decodeName(segment);
  if (name === undefined) return { kind: "unknown" };
  if (part === "sessions" && SESSION_ID.test(id)) return { kind: "agentSession", name, session: id };
  if (part === "agents" && RUN_ID.test(id)) return { kind: "agentReport", name, agent: id };
  return { kind: "unknown" };
}

function parseOutputRequestPath(segment: string, [run = "", viewer = "", ...rest]: string[]): ParsedKey {
  const name = decodeName(segment);
  if (name === undefined || rest.length > 0 || !RUN_ID.test(run) || !RUN_ID.test(viewer))
    return { kind: "unknown" };
  return { kind: "outputRequest", name, run, viewer };
}

function parseHostStatePath(kind: "due" | "outcomes", segment: string, hostSegment: string): ParsedKey {
  const name = decodeName(segment);
  const host = decodeName(hostSegment);
  return name === undefined || host === undefined ? { kind: "unknown" } : { kind, name, host };
}

function parseRunningPath(segment: string, second: string, rest: readonly string[]): ParsedKey {
  const name = decodeName(segment);
  const host = rest.length === 0 ? undefined : decodeName(second);
  const instant = rest.length === 0 ? second : rest.join("/");
  const isComplete = instant === "" ? rest.length === 0 : INSTANT_SEGMENT.test(instant);
  if (name === undefined || !isComplete || (rest.length > 0 && host === undefined))
    return { kind: "unknown" };
  return {
    kind: "running",
    name,
    ...(host !== undefined && { host }),
    ...(instant !== "" && { scheduled: Number(instant) }),
  };
}

function parseCheckpointPath(segment: string, second: string, rest: readonly string[]): ParsedKey {
  const parsed = parseRunningPath(segment, second, rest);
  if (parsed.kind !== "running" || parsed.scheduled === undefined) return { kind: "unknown" };
  return { ...parsed, kind: "checkpoint", scheduled: parsed.scheduled };
}

function parseDrainPath(scope: string, segment: string): ParsedKey {
  const name = decodeName(segment);
  const knownScope = DRAIN_SCOPES.find((known) => known === scope);
  return knownScope === undefined || name === undefined
    ? { kind: "unknown" }
    : { kind: "drain", scope: knownScope, name };
}

/**
 * Finds the nested prefix (`db<number>/`, as CRONLOCK_DB creates it) that a key belongs to. A key that is unknown here
 * may be a valid key under that prefix.
 */
export function findNestedPrefix({ prefix }: Keys, key: string): string | undefined {
  const [below] = /^db\d+\//.exec(key.slice(prefix.length)) ?? [];
  if (below === undefined || !key.startsWith(prefix)) return undefined;
  const inner = `${prefix}${below}`;
  return createKeys(inner).parse(key).kind === "unknown" ? undefined : inner;
}
