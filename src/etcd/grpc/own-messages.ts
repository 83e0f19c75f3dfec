/**
 * The calls that are made most often, with our own encoding: that of etcd3 takes three times as long, because it converts each
 * message twice, and each integer to text. The connections remain those of etcd3.
 */
import type { Etcd3 } from "etcd3";
import type { CallOptions } from "./call-interceptor.ts";
import { decodeMessage, encodeMessage, MessageType } from "./protobuf.ts";

/**
 * The messages of etcd that signalbox sends and receives often, with the names of wire-types.ts.
 * @see https://github.com/etcd-io/etcd/blob/main/api/etcdserverpb/rpc.proto
 * @see https://github.com/etcd-io/etcd/blob/main/api/mvccpb/kv.proto
 */
const HEADER = new MessageType().define({
  cluster_id: [1, "unsigned"],
  revision: [3, "integer"],
  raft_term: [4, "unsigned"],
});

const KEY_VALUE = new MessageType().define({
  key: [1, "key"],
  create_revision: [2, "integer"],
  mod_revision: [3, "integer"],
  version: [4, "integer"],
  value: [5, "text"],
  lease: [6, "integer"],
});

export const RANGE_REQUEST = new MessageType().define({
  key: [1, "key"],
  range_end: [2, "key"],
  limit: [3, "integer"],
  revision: [4, "integer"],
  sort_order: [5, "integer"],
  sort_target: [6, "integer"],
  keys_only: [8, "flag"],
  count_only: [9, "flag"],
  min_create_revision: [12, "integer"],
  max_create_revision: [13, "integer"],
});

export const RANGE_RESPONSE = new MessageType().define({
  header: [1, HEADER],
  kvs: [2, [KEY_VALUE]],
  more: [3, "flag"],
  count: [4, "integer"],
});

const PUT_REQUEST = new MessageType().define({
  key: [1, "key"],
  value: [2, "text"],
  lease: [3, "integer"],
  ignore_lease: [6, "flag"],
});

const DELETE_REQUEST = new MessageType().define({ key: [1, "key"], range_end: [2, "key"] });

const COMPARE = new MessageType().define({
  result: [1, "integer"],
  target: [2, "integer"],
  key: [3, "key"],
  create_revision: [5, "integer"],
  mod_revision: [6, "integer"],
  value: [7, "text"],
  lease: [8, "integer"],
  range_end: [64, "key"],
});

export const TXN_REQUEST = new MessageType();
const REQUEST_OP = new MessageType().define({
  request_range: [1, RANGE_REQUEST],
  request_put: [2, PUT_REQUEST],
  request_delete_range: [3, DELETE_REQUEST],
  request_txn: [4, TXN_REQUEST],
});
TXN_REQUEST.define({ compare: [1, [COMPARE]], success: [2, [REQUEST_OP]], failure: [3, [REQUEST_OP]] });

export const TXN_RESPONSE = new MessageType();
const RESPONSE_OP = new MessageType().define({
  response_range: [1, RANGE_RESPONSE],
  response_put: [2, new MessageType()],
  response_delete_range: [3, new MessageType().define({ deleted: [2, "integer"] })],
  response_txn: [4, TXN_RESPONSE],
});
TXN_RESPONSE.define({ header: [1, HEADER], succeeded: [2, "flag"], responses: [3, [RESPONSE_OP]] });

export const WATCH_REQUEST = new MessageType().define({
  create_request: [
    1,
    new MessageType().define({
      key: [1, "key"],
      range_end: [2, "key"],
      start_revision: [3, "integer"],
      filters: [5, ["integer"]],
      watch_id: [7, "integer"],
    }),
  ],
  cancel_request: [2, new MessageType().define({ watch_id: [1, "integer"] })],
  progress_request: [3, new MessageType()],
});

export const WATCH_RESPONSE = new MessageType().define({
  header: [1, HEADER],
  watch_id: [2, "integer"],
  created: [3, "flag"],
  canceled: [4, "flag"],
  compact_revision: [5, "integer"],
  cancel_reason: [6, "text"],
  events: [11, [new MessageType().define({ type: [1, "integer"], kv: [2, KEY_VALUE] })]],
});

/**
 * The calls that are made most often, with our own encoding: that of etcd3 takes three times as long, because it converts each
 * message twice, and each integer to text. The connections remain those of etcd3.
 */
type Serialize = (request: object) => Buffer;
type Deserialize = (bytes: Buffer) => object;

/** The used part of a client of gRPC. */
interface GrpcClient {
  makeUnaryRequest(
    path: string,
    serialize: Serialize,
    deserialize: Deserialize,
    request: object,
    metadata: object,
    options: CallOptions,
    handle: (error: Error | null, response?: object) => void,
  ): unknown;
  makeBidiStreamRequest(
    path: string,
    serialize: Serialize,
    deserialize: Deserialize,
    metadata: object,
    options: CallOptions,
  ): object & { on(event: "error", handler: (error: Error) => void): unknown };
}

/** The used part of etcd3's pool of connections, which its clients do not declare. */
interface ConnectionPool {
  withConnection<T>(
    service: "KV" | "Watch",
    use: (connection: { resource: object; client: GrpcClient; metadata: object }) => T | Promise<T>,
  ): Promise<T>;
  /** Closes the connection after an error that says that it is of no use. */
  markFailed(resource: object, error: Error): void;
}

interface Coding {
  readonly path: string;
  readonly serialize: Serialize;
  readonly deserialize: Deserialize;
}

const CALLS = {
  range: createCoding("/etcdserverpb.KV/Range", RANGE_REQUEST, RANGE_RESPONSE),
  txn: createCoding("/etcdserverpb.KV/Txn", TXN_REQUEST, TXN_RESPONSE),
};
const WATCH = createCoding("/etcdserverpb.Watch/Watch", WATCH_REQUEST, WATCH_RESPONSE);

function createCoding(path: string, request: MessageType, response: MessageType): Coding {
  return {
    path,
    serialize: (message) => encodeMessage(request, message),
    deserialize: (bytes) => decodeMessage(response, bytes),
  };
}

/** @throws the error of gRPC */
export async function callKv(
  etcd: Etcd3,
  name: keyof typeof CALLS,
  request: object,
  options: CallOptions,
): Promise<object> {
  const { path, serialize, deserialize } = CALLS[name];
  const pool = getPool(etcd);
  return await pool.withConnection("KV", ({ resource, client, metadata }) => {
    return new Promise<object>((resolve, reject) => {
      client.makeUnaryRequest(path, serialize, deserialize, request, metadata, options, (error, response) => {
        if (response !== undefined) return resolve(response);
        const failure = error ?? new Error("gRPC gave no response");
        pool.markFailed(resource, failure);
        reject(failure);
      });
    });
  });
}

/** Opens a stream for watches. */
export async function openWatch(etcd: Etcd3, options: CallOptions): Promise<object> {
  const pool = getPool(etcd);
  return await pool.withConnection("Watch", ({ resource, client, metadata }) => {
    const { path, serialize, deserialize } = WATCH;
    const stream = client.makeBidiStreamRequest(path, serialize, deserialize, metadata, options);
    stream.on("error", (error) => pool.markFailed(resource, error));
    return stream;
  });
}

function getPool({ kv }: Etcd3): ConnectionPool {
  return (kv as unknown as { client: ConnectionPool }).client;
}
