import type { AttemptOptions, Member, Rpc, WatchStream } from "../member.ts";
import { type GatewayTarget, postRequest, unwrapResponse } from "./gateway-request.ts";
import { openGatewayStream } from "./stream.ts";

const PATHS: Record<Rpc, string> = {
  authenticate: "/v3/auth/authenticate",
  grant: "/v3/lease/grant",
  renew: "/v3/lease/keepalive",
  remaining: "/v3/lease/timetolive",
  revoke: "/v3/lease/revoke",
  range: "/v3/kv/range",
  txn: "/v3/kv/txn",
  status: "/v3/maintenance/status",
  roster: "/v3/cluster/member/list",
};

/** One member over its JSON gateway. */
export class HttpMember implements Member {
  readonly endpoint: string;
  readonly #target: GatewayTarget;

  constructor(line: GatewayTarget) {
    this.endpoint = line.url;
    this.#target = line;
  }

  async call(rpc: Rpc, request: object, { signal, fresh, token }: AttemptOptions): Promise<unknown> {
    if (fresh) this.#target.pool.dropIdle();
    const answer = await postRequest(this.#target, PATHS[rpc], JSON.stringify(request), token, signal);
    return unwrapResponse(this.#target, answer);
  }

  async openWatchStream(signal: AbortSignal, token?: string): Promise<WatchStream> {
    return openGatewayStream(this.#target, token, signal);
  }

  close(): void {
    this.#target.pool.close();
  }
}
