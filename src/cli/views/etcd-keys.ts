import { formatKey } from "../../core/base/bytes.ts";
import type { Seconds } from "../../core/base/clock.ts";
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
} from "./json.ts";
import type { TableColumn } from "./view.ts";

/** A page of keys. Values are binary strings. */
interface KeyPage {
  revision: bigint;
  keys: readonly KeyValue[];
  /** Number of keys behind the last one. */
  left: Seconds;
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
  lease: { left: Seconds; ttl: Seconds } | undefined;
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

/** Describes a key under the prefix, as a noun phrase. @returns undefined for keys of other programs */
export function describeOwnKey(keys: Keys, key: string): string | undefined {
  return key.startsWith(keys.prefix) ? describeParsedKey(keys.parse(key)) : undefined;
}

function describeParsedKey(parsed: ParsedKey): string {
  switch (parsed.kind) {
    case "lock":
    case "resource":
      return `ticket for ${parsed.kind} ${parsed.name} of run ${parsed.run}`;
    case "mark":
      return `mark for ${parsed.of} ${parsed.name} of run ${parsed.id}`;
    case "resourceConfig":
      return `configuration of resource ${parsed.name}`;
    case "group":
      return `group ${parsed.name}`;
    case "calendar":
      return `calendar ${parsed.name}`;
    case "schema":
      return "required schema version";
    case "schedule":
      return `definition of schedule ${parsed.name}`;
    case "due":
      return `next time of schedule ${parsed.name}${formatHost(parsed)}`;
    case "outcomes":
      return `outcomes of schedule ${parsed.name}${formatHost(parsed)}`;
    case "running":
      return `running occurrence of schedule ${parsed.name}${formatHost(parsed)}`;
    case "checkpoint":
      return `checkpoint of an occurrence of schedule ${parsed.name}${formatHost(parsed)}`;
    case "worker":
      return `worker ${parsed.name}`;
    case "host":
      return `record of host ${parsed.name}`;
    case "agentSession":
      return `session of the agent of ${parsed.name}`;
    case "agentReport":
      return `report of the agent of ${parsed.name}`;
    case "history":
      return `history of lock ${parsed.name}`;
    case "drain":
      return `drain of ${parsed.scope} ${parsed.name}`;
    case "audit":
      return "record of an operator's action";
    case "receipt":
      return "receipt of a program that adds jobs";
    case "outputRequest":
      return `request for the output of run ${parsed.run}`;
    case "outputChunk":
      return "output on its way to a viewer";
    case "unknown":
      return "key that signalbox does not know";
  }
}

function formatHost({ host }: { host?: string }): string {
  return host === undefined ? "" : ` on ${host}`;
}
