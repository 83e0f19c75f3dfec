import type { CallOptions, Client } from "@grpc/grpc-js";
import type protobuf from "protobufjs";

/**
 * The messages of the frequent calls, with the fields that signalbox sends or reads; others are skipped. Enumerations are
 * `int32`, which is the same on the wire.
 * @see https://github.com/etcd-io/etcd/blob/main/api/etcdserverpb/rpc.proto
 * @see https://github.com/etcd-io/etcd/blob/main/api/mvccpb/kv.proto
 */
export const DEFINITIONS = `
syntax = "proto3";

message ResponseHeader {
  uint64 cluster_id = 1;
  int64 revision = 3;
  uint64 raft_term = 4;
}

message KeyValue {
  bytes key = 1;
  int64 create_revision = 2;
  int64 mod_revision = 3;
  int64 version = 4;
  bytes value = 5;
  int64 lease = 6;
}

message RangeRequest {
  bytes key = 1;
  bytes range_end = 2;
  int64 limit = 3;
  int64 revision = 4;
  int32 sort_order = 5;
  int32 sort_target = 6;
  bool keys_only = 8;
  bool count_only = 9;
  int64 min_create_revision = 12;
  int64 max_create_revision = 13;
}

message RangeResponse {
  ResponseHeader header = 1;
  repeated KeyValue kvs = 2;
  bool more = 3;
  int64 count = 4;
}

message PutRequest {
  bytes key = 1;
  bytes value = 2;
  int64 lease = 3;
  bool ignore_lease = 6;
}

message PutResponse {}

message DeleteRangeRequest {
  bytes key = 1;
  bytes range_end = 2;
}

message DeleteRangeResponse {
  int64 deleted = 2;
}

message Compare {
  int32 result = 1;
  int32 target = 2;
  bytes key = 3;
  oneof target_union {
    int64 create_revision = 5;
    int64 mod_revision = 6;
    bytes value = 7;
    int64 lease = 8;
  }
  bytes range_end = 64;
}

message TxnRequest {
  repeated Compare compare = 1;
  repeated RequestOp success = 2;
  repeated RequestOp failure = 3;
}

message RequestOp {
  oneof request {
    RangeRequest request_range = 1;
    PutRequest request_put = 2;
    DeleteRangeRequest request_delete_range = 3;
    TxnRequest request_txn = 4;
  }
}

message TxnResponse {
  ResponseHeader header = 1;
  bool succeeded = 2;
  repeated ResponseOp responses = 3;
}

message ResponseOp {
  oneof response {
    RangeResponse response_range = 1;
    PutResponse response_put = 2;
    DeleteRangeResponse response_delete_range = 3;
    TxnResponse response_txn = 4;
  }
}

message WatchRequest {
  oneof request_union {
    WatchCreateRequest create_request = 1;
    WatchCancelRequest cancel_request = 2;
    WatchProgressRequest progress_request = 3;
  }
}

message WatchCreateRequest {
  bytes key = 1;
  bytes range_end = 2;
  int64 start_revision = 3;
  repeated int32 filters = 5;
  int64 watch_id = 7;
}

message WatchCancelRequest {
  int64 watch_id = 1;
}

message WatchProgressRequest {}

message WatchResponse {
  ResponseHeader header = 1;
  int64 watch_id = 2;
  bool created = 3;
  bool canceled = 4;
  int64 compact_revision = 5;
  string cancel_reason = 6;
  repeated Event events = 11;
}

message Event {
  int32 type = 1;
  KeyValue kv = 2;
}
`;

/** The encoding of one call's messages for gRPC's generic client. */
interface Coding {
  path: string;
  serialize(request: object): Buffer;
  deserialize(bytes: Buffer): object;
}

/** Creates the codings. protobufjs compiles their functions on the first call. */
export function createCodings({ parse }: typeof protobuf): Record<"range" | "txn" | "watch", Coding> {
  const { root } = parse(DEFINITIONS, { keepCase: true });
  const createCoding = (path: string, name: string): Coding => {
    const request = root.lookupType(`${name}Request`);
    const response = root.lookupType(`${name}Response`);
    return {
      path,
      serialize: (message) => {
        const { buffer, byteOffset, byteLength } = request.encode(message).finish();
        return Buffer.from(buffer, byteOffset, byteLength);
      },
      deserialize: (bytes) => response.decode(bytes),
    };
  };
  return {
    range: createCoding("/etcdserverpb.KV/Range", "Range"),
    txn: createCoding("/etcdserverpb.KV/Txn", "Txn"),
    watch: createCoding("/etcdserverpb.Watch/Watch", "Watch"),
  };
}

export type FrequentCalls = ReturnType<typeof createFrequentCalls>;

/**
 * Creates the calls for ranges, transactions and watches of one member, on a separate connection. Through etcd3 they
 * would take twice the processor time.
 */
export function createFrequentCalls(
  client: Client,
  codings: Readonly<Record<"range" | "txn" | "watch", Coding>>,
) {
  return {
    /** @throws the error of gRPC */
    call(name: "range" | "txn", request: object, options: CallOptions): Promise<object> {
      const { path, serialize, deserialize } = codings[name];
      return new Promise((resolve, reject) => {
        client.makeUnaryRequest(path, serialize, deserialize, request, options, (error, response) => {
          if (response !== undefined) resolve(response);
          else reject(error ?? new Error("gRPC gave no response"));
        });
      });
    },
    openWatch(options: CallOptions) {
      const { path, serialize, deserialize } = codings.watch;
      return client.makeBidiStreamRequest(path, serialize, deserialize, options);
    },
    close: () => client.close(),
  };
}
