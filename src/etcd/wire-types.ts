/**
 * The fields of etcd's responses that signalbox reads, as both transports represent them: 64-bit integers as decimal
 * strings. JSON omits zeros, so all fields are optional.
 */
export interface WireHeader {
  revision?: string;
  raft_term?: string;
  cluster_id?: string;
}

export interface WireKeyValue {
  key?: unknown;
  value?: unknown;
  create_revision?: string;
  mod_revision?: string;
  version?: string;
  lease?: string;
}

export interface WireRange {
  kvs?: WireKeyValue[];
  count?: string;
  more?: boolean;
}

export interface WireTxn {
  header?: WireHeader;
  succeeded?: boolean;
  responses?: WireResponseOp[];
}

export interface WireResponseOp {
  response_range?: WireRange | null;
  response_put?: object | null;
  response_delete_range?: { deleted?: string } | null;
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
  watch_id?: string | number;
  created?: boolean;
  canceled?: boolean;
  cancel_reason?: string;
  compact_revision?: string;
  events?: { type?: string | number; kv?: WireKeyValue }[];
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

export interface WireMemberList {
  members?: { ID?: string; name?: string; clientURLs?: string[]; isLearner?: boolean }[];
}
