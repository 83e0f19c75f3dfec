import type { CallOptions, InterceptingCall, Interceptor, StatusObject } from "@grpc/grpc-js";
import { getErrorMessage } from "../../base/errors.ts";
import { MemberError } from "../member.ts";
import { createStatusError, explainGrpcFault, explainTlsFault } from "../member-errors.ts";

/** Codes that gRPC sets locally, without a response from the server: cancelled, deadline exceeded, unavailable. */
const LOCAL = new Set([1, 4, 14]);

export type GrpcPackage = Pick<typeof import("@grpc/grpc-js"), "InterceptingCall">;

/**
 * Intercepts one gRPC call below etcd3 for features that etcd3 lacks: a token in the metadata (etcd3 never renews its
 * own for streams), the status with its code (etcd3 keeps only the text), and cancellation.
 */
export class CallInterceptor {
  readonly options: CallOptions;
  readonly #endpoint: string;
  #call: InterceptingCall | undefined;
  #status: StatusObject | undefined;
  #cancelled = false;
  readonly #onReceived: () => void;

  /**
   * @param deadline milliseconds from now after which gRPC itself ends the call; undefined for streams
   * @param onReceived  called whenever the server has sent something
   */
  constructor(
    grpc: GrpcPackage,
    endpoint: string,
    token: string | undefined,
    deadline: number | undefined,
    onReceived: () => void = () => {},
  ) {
    this.#endpoint = endpoint;
    this.#onReceived = onReceived;
    const interceptors = [this.#createInterceptor(grpc, token)];
    this.options =
      deadline === undefined ? { interceptors } : { interceptors, deadline: Date.now() + deadline };
  }

  /** Cancels the call on the wire. Safe at any time. */
  cancel(): void {
    this.#cancelled = true;
    this.#call?.cancelWithStatus(1, "given up");
  }

  /** Converts an error from etcd3. */
  toMemberError(thrown: unknown): MemberError {
    if (this.#status && this.#status.code !== 0) {
      const { code, details } = this.#status;
      const answer = explainGrpcFault(this.#endpoint, details) ?? details;
      // A retry does not help with certificates and unknown names.
      const tlsFault = code === 14 ? explainTlsFault(details) : undefined;
      if (
        tlsFault !== undefined ||
        (code === 14 && /certificate|ENOTFOUND|Name resolution failed/i.test(details))
      )
        return new MemberError("unavailable", "elsewhere", `${this.#endpoint}: ${tlsFault ?? answer}`, {
          cause: thrown,
        });
      return createStatusError(this.#endpoint, code, answer, thrown);
    }
    return new MemberError("unavailable", "retry", `${this.#endpoint}: ${getErrorMessage(thrown)}`, {
      cause: thrown,
    });
  }

  #createInterceptor({ InterceptingCall }: GrpcPackage, token: string | undefined): Interceptor {
    return (options, nextCall) => {
      const call = new InterceptingCall(nextCall(options), {
        start: (metadata, _listener, next) => {
          if (token !== undefined) metadata.set("token", token);
          next(metadata, {
            onReceiveMetadata: (received, pass) => {
              this.#onReceived();
              pass(received);
            },
            onReceiveMessage: (message, pass) => {
              this.#onReceived();
              pass(message);
            },
            onReceiveStatus: (status, pass) => {
              this.#status = status;
              if (!LOCAL.has(status.code)) this.#onReceived();
              // etcd3 repeats a call without end when it recognizes this text for a stale token, so replace the text.
              const details = status.details.replace("invalid auth token", "stale auth token");
              pass({ ...status, details });
            },
          });
        },
      });
      this.#call = call;
      if (this.#cancelled) call.cancelWithStatus(1, "given up");
      return call;
    };
  }
}
