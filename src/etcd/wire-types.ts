/** The fields of etcd's responses that signalbox reads, as the transports represent them. Zeros are omitted, so all fields are optional. */

/** A 64-bit integer: decimal digits in JSON; over gRPC also a number, if it is exact, or a bigint. */
type WireInteger = string | number | bigint;

export interface WireHeader {
  revision?: WireInteger;
  raft_term?: WireInteger;
  cluster_id?: WireInteger;
}

export interface WireKeyValue {
  key?: unknown;
  value?: unknown;
  create_revision?: WireInteger;
  mod_revision?: WireInteger;
  version?: WireInteger;
  lease?: WireInteger;
}

export interface WireRange {
  kvs?: WireKeyValue[];
  count?: WireInteger;
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
