import type { CallOptions, Client, ClientDuplexStream } from "@grpc/grpc-js";
import type { Coding } from "./messages.ts";

/** Ranges, transactions and watches of one member, on a connection of their own: etcd3 needs twice the processor time for them. */
export class FrequentCalls {
  readonly #client: Client;
  readonly #codings: Readonly<Record<"range" | "txn" | "watch", Coding>>;

  constructor(client: Client, codings: Readonly<Record<"range" | "txn" | "watch", Coding>>) {
    this.#client = client;
    this.#codings = codings;
  }

  /** @throws the error of gRPC */
  call(name: "range" | "txn", request: object, options: CallOptions): Promise<object> {
    const { path, serialize, deserialize } = this.#codings[name];
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest(path, serialize, deserialize, request, options, (error, response) => {
        if (response !== undefined) resolve(response);
        else reject(error ?? new Error("gRPC gave no response"));
      });
    });
  }

  openWatch(options: CallOptions): ClientDuplexStream<object, object> {
    const { path, serialize, deserialize } = this.#codings.watch;
    return this.#client.makeBidiStreamRequest(path, serialize, deserialize, options);
  }

  close(): void {
    this.#client.close();
  }
}
