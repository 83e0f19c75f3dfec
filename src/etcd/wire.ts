/**
 * The store port's shapes to and from those of etcd's protocol buffers, as both transports carry them: field names in
 * snake case, 64-bit integers as decimal strings, enumerations as numbers. Only bytes differ: base64 or Buffer.
 */
import {
  type ClusterMember,
  type Compare,
  type Header,
  type KeyRange,
  type KeyValue,
  type MemberStatus,
  type Op,
  type OpResult,
  type RangeOp,
  type RangeResult,
  StoreError,
  type Txn,
  type TxnResult,
  type WatchEvent,
  type WatchRequest,
} from "./store.ts";
import type {
  WireHeader,
  WireKeyValue,
  WireRange,
  WireResponseOp,
  WireRoster,
  WireStatus,
  WireTxn,
  WireWatch,
} from "./wire-types.ts";

/** How a transport writes bytes. */
export interface ByteCodec<B> {
  fromKey(key: string): B;
  fromText(text: string): B;
  toKey(bytes: B): string;
  toText(bytes: B): string;
}

const RESULT = { equal: 0, greater: 1, less: 2, notEqual: 3 } as const;
const SORT_ORDER = { ascend: 1, descend: 2 } as const;
const SORT_TARGET = { key: 0, create: 2, mod: 3 } as const;
const FILTER = { puts: 1, deletes: 0 } as const; // etcd filters out, we name what stays

export class Wire<B> {
  readonly #bytes: ByteCodec<B>;

  constructor(bytes: ByteCodec<B>) {
    this.#bytes = bytes;
  }

  rangeRequest(range: RangeOp & { revision?: bigint }): object {
    return {
      ...this.#span(range),
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

  txnRequest(txn: Txn): object {
    return {
      compare: txn.compare.map((compare) => this.#compare(compare)),
      success: txn.success.map((op) => this.#op(op)),
      failure: txn.failure.map((op) => this.#op(op)),
    };
  }

  createRequests({ ranges, from }: WatchRequest): object[] {
    return ranges.map((range) => ({
      create_request: {
        ...this.#span(range),
        start_revision: from.toString(),
        filters: range.only && [FILTER[range.only]],
      },
    }));
  }

  range(answer: WireRange): RangeResult {
    const kvs = (answer.kvs ?? []).map((kv) => this.#keyValue(kv));
    return { kvs, count: Number(answer.count ?? 0), more: answer.more ?? false };
  }

  txn(answer: WireTxn): TxnResult {
    return {
      succeeded: answer.succeeded ?? false,
      results: (answer.responses ?? []).map((op) => this.#result(op)),
    };
  }

  events(answer: WireWatch): WatchEvent[] {
    return (answer.events ?? []).map(({ type, kv = {} }) => {
      const put = this.#keyValue(kv);
      // JSON omits PUT, which is zero; the spelling differs between the transports.
      const deleted = type === 1 || String(type).toUpperCase() === "DELETE";
      return deleted ? { type: "delete", key: put.key, revision: put.modRevision } : { type: "put", kv: put };
    });
  }

  #span(range: KeyRange): { key: B; range_end?: B } {
    const key = this.#key(range.key);
    return range.rangeEnd === undefined ? { key } : { key, range_end: this.#key(range.rangeEnd) };
  }

  #key(key: string): B {
    for (let i = 0; i < key.length; i += 1) {
      // Cut to bytes, such a key would silently become another one.
      if (key.charCodeAt(i) > 0xff)
        throw new StoreError("invalid", `key ${JSON.stringify(key)} is no byte string`);
    }
    return this.#bytes.fromKey(key);
  }

  #compare(compare: Compare): object {
    const common = { ...this.#span(compare), result: RESULT[compare.is] };
    switch (compare.target) {
      case "create":
        return { ...common, target: 1, create_revision: compare.value.toString() };
      case "mod":
        return { ...common, target: 2, mod_revision: compare.value.toString() };
      case "value":
        return { ...common, target: 3, value: this.#bytes.fromText(compare.value) };
      case "session":
        return { ...common, target: 4, lease: compare.value.toString() };
    }
  }

  #op(op: Op): object {
    switch (op.op) {
      case "range":
        return { request_range: this.rangeRequest(op) };
      case "put":
        return {
          request_put: {
            key: this.#key(op.key),
            value: this.#bytes.fromText(op.value),
            lease: op.session?.toString(),
            ignore_lease: op.keepSession,
          },
        };
      case "delete":
        return { request_delete_range: this.#span(op) };
      case "txn":
        return { request_txn: this.txnRequest(op.txn) };
    }
  }

  #result(op: WireResponseOp): OpResult {
    if (op.response_range) return { op: "range", ...this.range(op.response_range) };
    if (op.response_txn) return { op: "txn", ...this.txn(op.response_txn) };
    if (op.response_put) return { op: "put" };
    return { op: "delete", deleted: Number(op.response_delete_range?.deleted ?? 0) };
  }

  #keyValue(kv: WireKeyValue): KeyValue {
    return {
      key: this.#bytes.toKey(kv.key as B),
      value: this.#bytes.toText(kv.value as B),
      createRevision: BigInt(kv.create_revision ?? 0),
      modRevision: BigInt(kv.mod_revision ?? 0),
      session: BigInt(kv.lease ?? 0),
    };
  }
}

/** The header of an answer. @throws StoreError `invalid` when there is none: it is not etcd that answered */
export function readHeader(header: WireHeader | undefined): Header {
  if (!header?.revision) throw new StoreError("invalid", "the answer has no revision: is that etcd?");
  return { revision: BigInt(header.revision), raftTerm: BigInt(header.raft_term ?? 0) };
}

export function readStatus(endpoint: string, status: WireStatus, millis: number): MemberStatus {
  return {
    endpoint,
    ok: true,
    version: status.version ?? "",
    memberId: BigInt(status.header?.member_id ?? 0),
    leaderId: BigInt(status.leader ?? 0),
    revision: readHeader(status.header).revision,
    raftTerm: BigInt(status.raftTerm ?? 0),
    raftIndex: BigInt(status.raftIndex ?? 0),
    dbSize: Number(status.dbSize ?? 0),
    ...(status.dbSizeInUse !== undefined && { dbInUse: Number(status.dbSizeInUse) }),
    ...(status.header?.cluster_id !== undefined && { clusterId: BigInt(status.header.cluster_id) }),
    errors: status.errors ?? [],
    millis,
  };
}

export function readRoster({ members = [] }: WireRoster): ClusterMember[] {
  return members.map(({ ID = "0", name = "", clientURLs = [], isLearner = false }) => ({
    ...{ id: BigInt(ID), name, clientUrls: clientURLs, isLearner },
  }));
}
