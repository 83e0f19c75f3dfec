import type { Etcd3 } from "etcd3";
import { statusError } from "../classify.ts";
import { MemberError } from "../member.ts";

export type CallOptions = NonNullable<Parameters<Etcd3["kv"]["range"]>[1]>;
type Interceptor = NonNullable<CallOptions["interceptors"]>[number];
type Started = ReturnType<Parameters<Interceptor>[1]>;

/**
 * Taps one gRPC call beneath etcd3, for what etcd3 does not offer: a token of our own in the metadata (its own are
 * never renewed for streams), the status with its code (it keeps the text only), and cancelling.
 */
export class CallTap {
  readonly options: CallOptions;
  readonly #endpoint: string;
  #call: Started | undefined;
  #status: { code: number; details: string } | undefined;
  #cancelled = false;

  /** @param deadline milliseconds from now after which gRPC itself gives up; undefined for streams */
  constructor(endpoint: string, token: string | undefined, deadline: number | undefined) {
    this.#endpoint = endpoint;
    const interceptors = [this.#interceptor(token)];
    this.options =
      deadline === undefined ? { interceptors } : { interceptors, deadline: Date.now() + deadline };
  }

  /** Ends the call on the wire. Safe at any time. */
  cancel(): void {
    this.#cancelled = true;
    this.#call?.cancelWithStatus(1, "given up");
  }

  /** The error for what etcd3 threw. */
  error(thrown: unknown): MemberError {
    if (this.#status && this.#status.code !== 0) {
      const { code, details } = this.#status;
      // Certificates and unknown names do not get better by trying again.
      if (code === 14 && /certificate|ENOTFOUND|Name resolution failed/i.test(details)) {
        return new MemberError("unavailable", "elsewhere", `${this.#endpoint}: ${details}`, {
          cause: thrown,
        });
      }
      return statusError(this.#endpoint, code, details, thrown);
    }
    const text = thrown instanceof Error ? thrown.message : String(thrown);
    return new MemberError("unavailable", "retry", `${this.#endpoint}: ${text}`, { cause: thrown });
  }

  #interceptor(token: string | undefined): Interceptor {
    return (options, nextCall) => {
      const call = nextCall(options);
      const start = call.start.bind(call);
      call.start = (metadata, listener) => {
        if (token !== undefined) metadata.set("token", token);
        start(metadata, {
          onReceiveMetadata: (received) => listener?.onReceiveMetadata?.(received),
          onReceiveMessage: (message) => listener?.onReceiveMessage?.(message),
          onReceiveStatus: (status) => {
            this.#status = status;
            // etcd3 answers its own name for a stale token by calling again for ever: it must not recognise it.
            const details = status.details.replace("invalid auth token", "stale auth token");
            listener?.onReceiveStatus?.({ ...status, details });
          },
        });
      };
      this.#call = call;
      if (this.#cancelled) call.cancelWithStatus(1, "given up");
      return call as ReturnType<Interceptor>; // gRPC only ever calls what the interface has
    };
  }
}
