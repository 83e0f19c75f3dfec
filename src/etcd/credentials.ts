import { MemberError } from "./member.ts";

/** Asks one member for a token; undefined when the server has authentication turned off. */
export type Authenticate = (user: string, password: string) => Promise<string | undefined>;

/** A user's password, and the token that the cluster gave for it. Tokens are valid on every member. */
export class Credentials {
  readonly #user: string;
  readonly #password: string;
  #token: { text: string | undefined } | undefined;

  constructor(user: string, password: string) {
    this.#user = user;
    this.#password = password;
  }

  /** The token, asked for when there is none yet. @throws MemberError `unauthenticated` */
  async token(authenticate: Authenticate): Promise<string | undefined> {
    this.#token ??= { text: await authenticate(this.#user, this.#password) };
    return this.#token.text;
  }

  /** Drops the token, so that the next call asks for a new one. @returns whether there was one */
  forget(): boolean {
    const had = this.#token !== undefined;
    this.#token = undefined;
    return had;
  }

  /**
   * Makes a call with the token; once more with a new one where the old was stale: expired, or forgotten by a
   * restarted server. Another call may have renewed it in between.
   */
  async use<T>(authenticate: Authenticate, call: (token: string | undefined) => Promise<T>): Promise<T> {
    const token = await this.token(authenticate);
    try {
      return await call(token);
    } catch (error) {
      if (!(error instanceof MemberError) || error.advice !== "relogin") throw error;
      if (this.#token?.text === token) this.forget();
      return await call(await this.token(authenticate));
    }
  }
}
