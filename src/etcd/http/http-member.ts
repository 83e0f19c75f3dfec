import type { Credentials } from "../credentials.ts";
import { type AttemptOptions, type Member, MemberError, type Rpc, type WatchStream } from "../member.ts";
import { exchange, type Line, unwrap } from "./exchange.ts";
import { openStream } from "./stream.ts";

const PATHS: Record<Rpc | "authenticate", string> = {
  grant: "/v3/lease/grant",
  renew: "/v3/lease/keepalive",
  remaining: "/v3/lease/timetolive",
  revoke: "/v3/lease/revoke",
  range: "/v3/kv/range",
  txn: "/v3/kv/txn",
  status: "/v3/maintenance/status",
  roster: "/v3/cluster/member/list",
  authenticate: "/v3/auth/authenticate",
};

/** One member over its JSON gateway. */
export class HttpMember implements Member {
  readonly endpoint: string;
  readonly #line: Line;
  readonly #credentials: Credentials | undefined;

  constructor(line: Line, credentials: Credentials | undefined) {
    this.endpoint = line.url;
    this.#line = line;
    this.#credentials = credentials;
  }

  async call(rpc: Rpc, request: object, { signal, fresh }: AttemptOptions): Promise<unknown> {
    if (fresh) this.#line.pool.dropIdle();
    const body = JSON.stringify(request);
    const post = (token?: string) => this.#post(PATHS[rpc], body, token, signal);
    return await (this.#credentials ? this.#credentials.use(this.#authenticate(signal), post) : post());
  }

  async stream(signal: AbortSignal): Promise<WatchStream> {
    return openStream(this.#line, await this.#credentials?.token(this.#authenticate(signal)), signal);
  }

  forgetToken(): boolean {
    return this.#credentials?.forget() ?? false;
  }

  close(): void {
    this.#line.pool.close();
  }

  async #post(path: string, body: string, token: string | undefined, signal: AbortSignal): Promise<unknown> {
    return unwrap(this.#line, await exchange(this.#line, path, body, token, signal));
  }

  #authenticate(signal: AbortSignal) {
    return async (name: string, password: string): Promise<string | undefined> => {
      const body = JSON.stringify({ name, password });
      try {
        const answer = await this.#post(PATHS.authenticate, body, undefined, signal);
        return (answer as { token?: string }).token;
      } catch (error) {
        if (error instanceof MemberError && error.message.endsWith("authentication is not enabled"))
          return undefined;
        throw error;
      }
    };
  }
}
