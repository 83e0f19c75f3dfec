/**
 * Converts between the shapes of the store port and those of etcd's protocol buffers, as both transports represent
 * them: field names in snake case, 64-bit integers as decimal strings, enumerations as numbers. Only bytes differ: in
 * JSON they are base64.
 */

import type { Millis } from "../base/clock.ts";
import type { ClusterMember } from "../protocol/member.ts";
import type {
  Compare,
  KeyRange,
  KeyValue,
  Op,
  OpResult,
  RangeResult,
  ResponseHeader,
  Txn,
  TxnResult,
  WatchEvent,
  WatchRequest,
} from "../protocol/txn.ts";
import { type KeyPermission, type MemberStatus, type RangeRead, StoreError } from "./store.ts";

// The fields of etcd's responses that signalbox reads. JSON omits zeros, so all are optional.

/** A 64-bit integer: decimal digits, or in the frequent calls over gRPC its two halves. */
type WireInteger =
  | string
  | number
  | { readonly low: number; readonly high: number; readonly unsigned: boolean };

export interface WireHeader {
  revision?: WireInteger;
  raft_term?: WireInteger;
  cluster_id?: WireInteger;
}

interface WireKeyValue {
  key?: unknown;
  value?: unknown;
  create_revision?: WireInteger;
  mod_revision?: WireInteger;
  version?: WireInteger;
  lease?: WireInteger;
}

interface WireRange {
  kvs?: WireKeyValue[];
  count?: WireInteger;
  more?: boolean;
}

export interface WireTxn {
  header?: WireHeader | null;
  succeeded?: boolean;
  responses?: WireResponseOp[];
}

interface WireResponseOp {
  response_range?: WireRange | null;
  response_put?: object | null;
  response_delete_range?: { deleted?: WireInteger } | null;
  response_txn?: WireTxn | null;
}

export interface WireRangeResponse extends WireRange {
  header?: WireHeader;
}

export interface WireLease {
  header?: WireHeader;
  TTL?: string;
  /** Present in the response to a time-to-live request. */
  grantedTTL?: string;
  /** Present if the request asked for keys. */
  keys?: unknown[];
}

export interface WireWatch {
  header?: WireHeader;
  watch_id?: WireInteger;
  created?: boolean;
  canceled?: boolean;
  cancel_reason?: string;
  compact_revision?: WireInteger;
  events?: { type?: string | number; kv?: WireKeyValue | null }[];
}

export interface WireStatus {
  header?: WireHeader & { member_id?: string };
  version?: string;
  dbSize?: string;
  dbSizeInUse?: string;
  leader?: string;
  raftIndex?: string;
  raftTerm?: string;
  errors?: string[];
}

export interface WireLeases {
  leases?: { ID?: string }[];
}

/** Lists of names, and the roles of a user. */
export interface WireNames {
  users?: string[];
  roles?: string[];
}

export interface WireRole {
  perm?: { permType?: string; key?: unknown; range_end?: unknown }[];
}

export interface WireMemberList {
  members?: { ID?: string; name?: string; clientURLs?: string[]; isLearner?: boolean }[];
}

/** The representation of bytes in a transport. */
export interface ByteCodec<B> {
  fromKey(key: string): B;
  fromText(text: string): B;
  toKey(bytes: B): string;
  toText(bytes: B): string;
}

const COMPARE_RESULTS = { equal: 0, greater: 1, less: 2, notEqual: 3 } as const;
/** The targets of comparisons: their numbers, and the fields with the values. */
const COMPARE_TARGETS = {
  create: [1, "create_revision"],
  mod: [2, "mod_revision"],
  value: [3, "value"],
  session: [4, "lease"],
} as const;
const SORT_ORDER = { ascend: 1, descend: 2 } as const;
const SORT_TARGET = { key: 0, create: 2, mod: 3 } as const;
const WATCH_FILTERS = { puts: 1, deletes: 0 } as const; // etcd names the events to drop, the port those to keep

export class WireCodec<B> {
  readonly #bytes: ByteCodec<B>;

  constructor(bytes: ByteCodec<B>) {
    this.#bytes = bytes;
  }

  /** @param keys  in the transport's representation of bytes */
  parseKeys(keys: readonly unknown[]): string[] {
    return keys.map((key) => this.#bytes.toKey(key as B));
  }

  toRangeRequest(range: RangeRead): object {
    return {
      ...this.#toSpan(range),
      limit: range.limit,
      revision: range.revision?.toString(),
      sort_order: range.sort && SORT_ORDER[range.sort.order],
      sort_target: range.sort && SORT_TARGET[range.sort.by],
      min_create_revision: range.minCreateRevision?.toString(),
      max_create_revision: range.maxCreateRevision?.toString(),
      keys_only: range.keysOnly,
      count_only: range.countOnly,
    };
  }

  toTxnRequest(txn: Txn): object {
    return {
      compare: txn.compare.map((compare) => this.#encodeCompare(compare)),
      success: txn.success.map((op) => this.#encodeOp(op)),
      failure: txn.failure.map((op) => this.#encodeOp(op)),
    };
  }

  toCreateRequests({ ranges, from }: WatchRequest): object[] {
    return ranges.map((range) => ({
      create_request: {
        ...this.#toSpan(range),
        start_revision: from.toString(),
        filters: range.only && [WATCH_FILTERS[range.only]],
      },
    }));
  }

  /** @param binaryValues  as in `RangeRead` */
  parseRange(answer: WireRange, binaryValues = false): RangeResult {
    const kvs = (answer.kvs ?? []).map((kv) => this.#parseKeyValue(kv, binaryValues));
    return { kvs, count: Number(parseInteger(answer.count)), more: answer.more ?? false };
  }

  parsePermissions({ perm = [] }: WireRole): KeyPermission[] {
    return perm.map(({ permType = "READ", key, range_end }) => {
      const rangeEnd = this.#bytes.toKey(range_end as B);
      return {
        access: permType.toLowerCase() as KeyPermission["access"], // the spelling differs between the transports
        key: this.#bytes.toKey(key as B),
        ...(rangeEnd !== "" && { rangeEnd }),
      };
    });
  }

  parseTxn(answer: WireTxn): TxnResult {
    return {
      succeeded: answer.succeeded ?? false,
      results: (answer.responses ?? []).map((op) => this.#parseResult(op)),
    };
  }

  parseEvents(answer: WireWatch): WatchEvent[] {
    return (answer.events ?? []).map(({ type, kv }) => {
      const put = this.#parseKeyValue(kv ?? {});
      // PUT is omitted because it is zero. The spelling differs between the transports.
      const deleted = type === 1 || (typeof type === "string" && type.toUpperCase() === "DELETE");
      return deleted ? { type: "delete", key: put.key, revision: put.modRevision } : { type: "put", kv: put };
    });
  }

  #toSpan(range: KeyRange): { key: B; range_end?: B } {
    const key = this.#encodeKey(range.key);
    return range.rangeEnd === undefined ? { key } : { key, range_end: this.#encodeKey(range.rangeEnd) };
  }

  #encodeKey(key: string): B {
    for (let i = 0; i < key.length; i += 1) {
      // Truncated to bytes, such a key would silently become a different key.
      if (key.charCodeAt(i) > 0xff)
        throw new StoreError("invalid", `key ${JSON.stringify(key)} is not a byte string`);
    }
    return this.#bytes.fromKey(key);
  }

  #encodeCompare(compare: Compare): object {
    const [target, field] = COMPARE_TARGETS[compare.target];
    const value = compare.target === "value" ? this.#bytes.fromText(compare.value) : compare.value.toString();
    return { ...this.#toSpan(compare), result: COMPARE_RESULTS[compare.is], target, [field]: value };
  }

  #encodeOp(op: Op): object {
    switch (op.op) {
      case "range":
        return { request_range: this.toRangeRequest(op) };
      case "put":
        return {
          request_put: {
            key: this.#encodeKey(op.key),
            value: this.#bytes.fromText(op.value),
            lease: op.session?.toString(),
            ignore_lease: op.keepSession,
          },
        };
      case "delete":
        return { request_delete_range: this.#toSpan(op) };
      case "txn":
        return { request_txn: this.toTxnRequest(op.txn) };
    }
  }

  #parseResult(op: WireResponseOp): OpResult {
    if (op.response_range) return { op: "range", ...this.parseRange(op.response_range) };
    if (op.response_txn) return { op: "txn", ...this.parseTxn(op.response_txn) };
    if (op.response_put) return { op: "put" };
    return { op: "delete", deleted: Number(parseInteger(op.response_delete_range?.deleted)) };
  }

  #parseKeyValue(kv: WireKeyValue, binaryValues = false): KeyValue {
    return {
      key: this.#bytes.toKey(kv.key as B),
      value: binaryValues ? this.#bytes.toKey(kv.value as B) : this.#bytes.toText(kv.value as B),
      createRevision: parseInteger(kv.create_revision),
      modRevision: parseInteger(kv.mod_revision),
      session: parseInteger(kv.lease),
      version: parseInteger(kv.version),
    };
  }
}

/** Converts a 64-bit integer. A missing one is zero. */
export function parseInteger(value: WireInteger = 0): bigint {
  if (typeof value !== "object") return BigInt(value);
  const { low, high, unsigned } = value;
  if (high === 0) return BigInt(low >>> 0);
  const bits = (BigInt(high) << 32n) | BigInt(low >>> 0);
  return unsigned ? BigInt.asUintN(64, bits) : bits;
}

/** Parses a response header. @throws StoreError `notEtcd` when it has no revision: the server is not etcd */
export function parseResponseHeader(header: WireHeader | null | undefined): ResponseHeader {
  const revision = parseInteger(header?.revision);
  if (revision === 0n) throw new StoreError("notEtcd", "the answer has no revision: is that etcd?");
  return { revision, raftTerm: parseInteger(header?.raft_term) };
}

export function parseMemberStatus(endpoint: string, status: WireStatus, millis: Millis): MemberStatus {
  return {
    endpoint,
    ok: true,
    version: status.version ?? "",
    memberId: BigInt(status.header?.member_id ?? 0),
    leaderId: BigInt(status.leader ?? 0),
    revision: parseResponseHeader(status.header).revision,
    raftTerm: BigInt(status.raftTerm ?? 0),
    raftIndex: BigInt(status.raftIndex ?? 0),
    dbSize: Number(status.dbSize ?? 0),
    ...(status.dbSizeInUse !== undefined && { dbInUse: Number(status.dbSizeInUse) }),
    ...(status.header?.cluster_id !== undefined && { clusterId: parseInteger(status.header.cluster_id) }),
    errors: status.errors ?? [],
    millis,
  };
}

export function parseMemberList({ members = [] }: WireMemberList): ClusterMember[] {
  return members.map(({ ID = "0", name = "", clientURLs = [], isLearner = false }) => ({
    id: BigInt(ID),
    name,
    clientUrls: clientURLs,
    isLearner,
  }));
}
