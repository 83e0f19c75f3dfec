import { formatKey } from "../../core/base/bytes.ts";
import { formatBytes } from "../../core/base/size.ts";
import type { Keys, ParsedKey } from "../../core/protocol/keys.ts";
import type { KeyValue } from "../../core/protocol/txn.ts";
import { createNumberColumn, createRightColumn, createTextColumn } from "./columns.ts";
import {
  describeBytes,
  describeChoice,
  describeCount,
  describeInteger,
  describeObject,
  describePart,
  describeParts,
  describeRevision,
  describeText,
  describeTexts,
} from "./json.ts";
import type { TableColumn } from "./view.ts";

/** A page of keys. Values are binary strings. */
interface KeyPage {
  revision: bigint;
  keys: readonly KeyValue[];
  /** Number of keys behind the last one. */
  left: number;
}

export const KEY_COLUMNS: readonly TableColumn<KeyValue>[] = [
  createTextColumn("key", 1, ({ key }) => formatKey(key)),
  createRightColumn("size", 1, ({ value }) => formatBytes(value.length), {
    getSortValue: ({ value }) => value.length,
  }),
  createNumberColumn("changed", 2, ({ modRevision }) => modRevision),
  createNumberColumn("created", 3, ({ createRevision }) => createRevision),
  createNumberColumn("version", 3, ({ version }) => version),
  createTextColumn("lease", 4, ({ session }) => formatLease(session), { isRandom: true }),
];

/** Formats the id of a lease as etcdctl does. */
function formatLease(session: bigint): string | undefined {
  return session === 0n ? undefined : session.toString(16);
}

const VALUE_FIELDS = describeBytes<KeyValue>("value", "value", ({ value }) => value);

const KEY_FIELDS = {
  ...describeBytes<KeyValue>("key", "key", ({ key }) => key),
  size: describeCount<KeyValue>("size of the value, bytes", ({ value }) => value.length),
  createRevision: describeRevision<KeyValue>("revision at which the key was created", "createRevision"),
  modRevision: describeRevision<KeyValue>("revision of its last change", "modRevision"),
  "version?": describeRevision<KeyValue>("how often it was written since it was created", "version"),
  "lease?": describeText<KeyValue>("lease that the key ends with, hexadecimal", ({ session }) =>
    formatLease(session),
  ),
};

const LISTED_KEY_JSON = describeObject<KeyValue>("etcdListedKey", "A key in etcd.", KEY_FIELDS);
const VALUED_KEY_JSON = describeObject<KeyValue>("etcdKey", "A key in etcd, with its value.", {
  ...KEY_FIELDS,
  ...VALUE_FIELDS,
});

/** Describes the document of a page of keys. */
function describePage(name: string, description: string, key: typeof LISTED_KEY_JSON) {
  return describeObject<KeyPage>(name, description, {
    revision: describeRevision("etcd revision of all keys", "revision"),
    keys: describeParts(key, "keys in order", ({ keys }) => keys),
    left: describeCount("number of keys that follow", "left"),
    ...describeBytes<KeyPage>("next", "if keys follow, what to pass to --after", ({ keys, left }) =>
      left > 0 ? keys.at(-1)?.key : undefined,
    ),
  });
}

export const KEYS_JSON = describePage(
  "etcd keys",
  "Keys with a prefix, without their values.",
  LISTED_KEY_JSON,
);
export const KEYS_WITH_VALUES_JSON = describePage(
  "etcd keys --values",
  "The same with values.",
  VALUED_KEY_JSON,
);

/** A key with what is known around it. */
export interface KeyDetail {
  revision: bigint;
  kv: KeyValue;
  /** Whole seconds; undefined without a lease, or if it could not be read. */
  lease: { left: number; ttl: number } | undefined;
  /** The value before this one, or why there is none; undefined if it was not asked for. */
  earlier: { kv: KeyValue } | { end: "created" | "compacted" } | undefined;
}

export const KEY_DETAIL_JSON = describeObject<KeyDetail>("etcd get", "A key in etcd.", {
  revision: describeRevision("etcd revision of the read", "revision"),
  key: describePart(VALUED_KEY_JSON, ({ kv }) => kv),
  "left?": describeInteger(
    "whole seconds until its lease ends unless it is renewed",
    ({ lease }) => lease?.left,
  ),
  "ttl?": describeInteger("granted time to live of its lease, whole seconds", ({ lease }) => lease?.ttl),
  "previous?": describePart(VALUED_KEY_JSON, ({ earlier }) =>
    earlier !== undefined && "kv" in earlier ? earlier.kv : undefined,
  ),
  "noPrevious?": describeChoice(
    ["created", "compacted"],
    "with --previous, why there is no earlier value. `created`: the key was created with this one; `compacted`: etcd no longer has it",
    ({ earlier }) => (earlier !== undefined && "end" in earlier ? earlier.end : undefined),
  ),
});

/** What a change of a key did or would do. */
interface KeyChange {
  revision: bigint;
  action: "put" | "delete";
  outcome: string;
  key: string;
  before: KeyValue | undefined;
  value: string | undefined;
  now: KeyValue | undefined;
  messages: readonly string[];
}

export const KEY_CHANGE_JSON = describeObject<KeyChange>(
  "etcd put and etcd del",
  "What a change of a key did, or would do with --dry-run.",
  {
    revision: describeRevision("etcd revision of the change, or of the read before it", "revision"),
    action: describeChoice(["put", "delete"], "action", "action"),
    outcome: describeChoice(
      ["done", "dry-run", "nothing", "declined", "changed"],
      "outcome. `changed`: nothing was done, because the key has changed since it was shown (exit code 75)",
      "outcome",
    ),
    ...describeBytes<KeyChange>("key", "key", ({ key }) => key),
    "before?": describePart(VALUED_KEY_JSON, ({ before }) => before),
    ...describeBytes<KeyChange>("value", "new value; missing if the key is deleted", ({ value }) => value),
    "now?": describePart(VALUED_KEY_JSON, ({ now }) => now),
    messages: describeTexts("the same for people", "messages"),
  },
);

/** What a key of signalbox is, and what changes it. */
interface KeyMeaning {
  /** A noun phrase. */
  what: string;
  /** Commands that change it, or who else does. */
  changedBy: string;
}

/** Describes a key under the prefix. @returns undefined for keys of other programs */
export function describeOwnKey(keys: Keys, key: string): KeyMeaning | undefined {
  return key.startsWith(keys.prefix) ? describeParsedKey(keys.parse(key)) : undefined;
}

function describeParsedKey(parsed: ParsedKey): KeyMeaning {
  switch (parsed.kind) {
    case "lock":
    case "resource":
      return {
        what: `ticket for ${parsed.kind} ${parsed.name} of run ${parsed.run}`,
        changedBy: "signalbox reset, signalbox release",
      };
    case "mark":
      return {
        what: `mark for ${parsed.of} ${parsed.name} of run ${parsed.id}`,
        changedBy: "signalbox prune --vanished",
      };
    case "resourceConfig":
      return { what: `configuration of resource ${parsed.name}`, changedBy: "signalbox resource set" };
    case "group":
      return { what: `group ${parsed.name}`, changedBy: "signalbox group set" };
    case "calendar":
      return { what: `calendar ${parsed.name}`, changedBy: "signalbox calendar add" };
    case "schema":
      return { what: "required schema version", changedBy: "etcdctl, as docs/versioning.md says" };
    case "schedule":
      return { what: `definition of schedule ${parsed.name}`, changedBy: "signalbox schedule edit" };
    case "due":
      return {
        what: `next time of schedule ${parsed.name}${formatHost(parsed)}`,
        changedBy: "signalbox schedule trigger",
      };
    case "outcomes":
      return {
        what: `outcomes of schedule ${parsed.name}${formatHost(parsed)}`,
        changedBy: "signalbox schedule bury",
      };
    case "running":
      return {
        what: `running occurrence of schedule ${parsed.name}${formatHost(parsed)}`,
        changedBy: "only its worker",
      };
    case "checkpoint":
      return {
        what: `checkpoint of an occurrence of schedule ${parsed.name}${formatHost(parsed)}`,
        changedBy: "only its worker",
      };
    case "worker":
      return { what: `worker ${parsed.name}`, changedBy: "only the worker" };
    case "host":
      return { what: `record of host ${parsed.name}`, changedBy: "signalbox prune --hosts AGE" };
    case "agentSession":
      return { what: `session of the agent of ${parsed.name}`, changedBy: "only the agent" };
    case "agentReport":
      return { what: `report of the agent of ${parsed.name}`, changedBy: "only the agent" };
    case "history":
      return { what: `history of lock ${parsed.name}`, changedBy: "only its runs" };
    case "drain":
      return {
        what: `drain of ${parsed.scope} ${parsed.name}`,
        changedBy: "signalbox drain, signalbox undrain",
      };
    case "audit":
      return { what: "record of an operator's action", changedBy: "signalbox prune --audit AGE" };
    case "receipt":
      return { what: "receipt of a program that adds jobs", changedBy: "only the program" };
    case "outputRequest":
      return { what: `request for the output of run ${parsed.run}`, changedBy: "signalbox logs" };
    case "outputChunk":
      return { what: "output on its way to a viewer", changedBy: "signalbox logs" };
    case "unknown":
      return { what: "key that signalbox does not know", changedBy: "etcdctl" };
  }
}

function formatHost({ host }: { host?: string }): string {
  return host === undefined ? "" : ` on ${host}`;
}
