/** Why a session can no longer be used; the reason of its `signal`. */
export class SessionLost extends Error {
  /**
   * `horizon`: the session may have expired. `unfounded`: the keys that it holds are gone. `expired`: the session and
   * its keys are gone on the server. `moved`: another process has taken it over, and its runs with it.
   */
  readonly kind: "horizon" | "expired" | "unfounded" | "moved";

  constructor(kind: SessionLost["kind"], message: string) {
    super(message);
    this.name = "SessionLost";
    this.kind = kind;
  }
}
