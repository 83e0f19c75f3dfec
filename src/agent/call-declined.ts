/** This agent cannot serve a call. The launcher then does without it. */
export class CallDeclined extends Error {
  /** A word for statistics. */
  readonly kind: string;

  /** @param kind  a word for statistics */
  constructor(kind: string, message: string) {
    super(message);
    this.name = "CallDeclined";
    this.kind = kind;
  }
}
