import { formatKey } from "../../core/base/bytes.ts";
import type { Seconds } from "../../core/base/clock.ts";
import { parseObject } from "../../core/base/parse-json.ts";
import type { Keys } from "../../core/protocol/keys.ts";
import {
  createNoteColumn,
  createNumberColumn,
  createOwnerColumn,
  createRightColumn,
  createTextColumn,
} from "./columns.ts";
import { describeOwnKey } from "./etcd-keys.ts";
import {
  describeBytes,
  describeChoice,
  describeCount,
  describeInteger,
  describeObject,
  describeParts,
  describeText,
} from "./json.ts";
import type { TableColumn } from "./view.ts";

/** Whose a session is. */
const SESSION_KINDS = ["run", "worker", "agent", "viewer", "foreign", "empty", "hidden"] as const;
type SessionKind = (typeof SESSION_KINDS)[number];

interface SessionReading {
  id: bigint;
  /** In whole seconds; undefined if it has ended; null if it could not be read. */
  time: { left: Seconds; ttl: Seconds } | undefined | null;
  keys: readonly string[];
  keyCount: number;
  /** The key that says whose it is. */
  owner: { key: string; value: string } | undefined;
  fault: string | undefined;
}

export interface SessionRow extends SessionReading {
  kind: SessionKind;
  host: string | undefined;
  pid: number | undefined;
  /** What its keys are. */
  contents: readonly { key: string; what: string | undefined }[];
}

/** Builds the rows, those that end soonest first. */
export function buildSessionRows(keys: Keys, sessions: readonly SessionReading[]): SessionRow[] {
  const rows = sessions.map((session): SessionRow => {
    const { host, pid } = findProcess(keys, session.owner);
    return {
      ...session,
      kind: judgeKind(keys, session),
      host,
      pid,
      contents: session.keys.map((key) => ({ key, what: describeOwnKey(keys, key) })),
    };
  });
  const getLeft = ({ time }: SessionRow) => time?.left ?? -1;
  return rows.sort((a, b) => getLeft(a) - getLeft(b) || (a.id < b.id ? -1 : 1));
}

function judgeKind(keys: Keys, { keyCount, owner, fault }: SessionReading): SessionKind {
  if (fault !== undefined) return "hidden";
  switch (keys.parse(owner?.key ?? "").kind) {
    case "agentSession":
      return "agent";
    case "worker":
    case "running":
      return "worker";
    case "lock":
    case "resource":
      return "run";
    case "outputRequest":
      return "viewer";
    default:
      return keyCount === 0 ? "empty" : "foreign";
  }
}

/** Finds the process whose session it is. Tickets and the records of workers name the host; the key of an agent has it. */
function findProcess(
  keys: Keys,
  owner: SessionReading["owner"],
): { host: string | undefined; pid: number | undefined } {
  const parsed = keys.parse(owner?.key ?? "");
  const { host, pid } = parseObject(owner?.value ?? "");
  return {
    host: parsed.kind === "agentSession" ? parsed.name : typeof host === "string" ? host : undefined,
    pid: Number.isSafeInteger(pid) ? (pid as number) : undefined,
  };
}

/** Keys that the table shows of a session. */
const MAX_SHOWN_KEYS = 3;

export const SESSION_COLUMNS: readonly TableColumn<SessionRow>[] = [
  createTextColumn("id", 2, formatSessionId, { title: "SESSION", isRandom: true }),
  createRightColumn("left", 1, ({ time }) => (time ? `${time.left} s` : ""), {
    getSortValue: ({ time }) => time?.left ?? -1,
    // It was not renewed for two thirds of its time: signalbox renews after a third.
    getTone: ({ time }) => (time && time.left < time.ttl / 3 ? "waiting" : "plain"),
  }),
  createRightColumn("ttl", 3, ({ time }) => (time ? `${time.ttl} s` : ""), {
    getSortValue: ({ time }) => time?.ttl ?? -1,
  }),
  createTextColumn("kind", 1, ({ kind }) => kind),
  createOwnerColumn("owner", 2, ({ host, pid }) =>
    host === undefined ? "" : `${host}${pid === undefined ? "" : `:${pid}`}`,
  ),
  createNumberColumn("count", 3, ({ keyCount }) => keyCount, { title: "KEYS" }),
  createTextColumn("keys", 2, formatContents, { title: "WHAT" }),
  createNoteColumn(2, ({ time, fault }) => fault ?? (time === undefined ? "it has ended meanwhile" : "")),
];

/** Formats the id as etcdctl does. */
function formatSessionId({ id }: SessionRow): string {
  return id.toString(16);
}

function formatContents({ contents, keyCount }: SessionRow): string {
  const shown = contents.slice(0, MAX_SHOWN_KEYS).map(({ key, what }) => what ?? formatKey(key));
  const more = keyCount - shown.length;
  return more > 0 ? `${shown.join(", ")} and ${more} more` : shown.join(", ");
}

const SESSION_KEY_JSON = describeObject<SessionRow["contents"][number]>(
  "etcdSessionKey",
  "A key of a session.",
  {
    ...describeBytes("key", "key", ({ key }) => key),
    "what?": describeText("what it is, if it is a key of signalbox", "what"),
  },
);

export const SESSION_JSON = describeObject<SessionRow>("etcdSession", "A session: a lease of etcd.", {
  id: describeText("id of the session, hexadecimal as in etcdctl", formatSessionId),
  "left?": describeInteger(
    "whole seconds until it ends unless it is renewed; missing if it has ended meanwhile",
    ({ time }) => time?.left,
  ),
  "ttl?": describeInteger("granted time to live, whole seconds", ({ time }) => time?.ttl),
  kind: describeChoice(
    SESSION_KINDS,
    "whose session it is. `viewer`: of a user who reads output; `foreign`: it has keys of another program; `empty`: it has no keys; `hidden`: its keys may not be read",
    "kind",
  ),
  "host?": describeText("host of the run, worker or agent", "host"),
  "pid?": describeInteger("its process id", "pid"),
  keyCount: describeCount("number of its keys", "keyCount"),
  keys: describeParts(SESSION_KEY_JSON, "its keys, at most 100", ({ contents }) => contents),
  "fault?": describeText("why its keys could not be read", "fault"),
});

export const SESSIONS_JSON = describeObject<{ count: number; rows: readonly SessionRow[] }>(
  "etcd sessions",
  "The sessions in etcd, of all programs.",
  {
    count: describeCount("number of all sessions", "count"),
    more: describeCount("number of those that were left out", ({ count, rows }) => count - rows.length),
    sessions: describeParts(SESSION_JSON, "sessions, those that end soonest first", ({ rows }) => rows),
  },
);
