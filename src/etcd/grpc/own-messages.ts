/**
 * The calls that are made most often, with our own encoding: that of etcd3 takes three times as long, because it converts each
 * message twice, and each integer to text. The connections remain those of etcd3.
 */
import type { Etcd3 } from "etcd3";
import type { CallOptions } from "./call-interceptor.ts";
import {
  RANGE_REQUEST,
  RANGE_RESPONSE,
  TXN_REQUEST,
  TXN_RESPONSE,
  WATCH_REQUEST,
  WATCH_RESPONSE,
} from "./messages/etcd-messages.ts";
import { decodeMessage } from "./messages/message-reader.ts";
import type { MessageType } from "./messages/message-type.ts";
import { encodeMessage } from "./messages/message-writer.ts";

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
