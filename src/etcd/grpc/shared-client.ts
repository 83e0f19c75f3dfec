import type { Etcd3 } from "etcd3";

/** A client whose one connection is shared by many calls and watches. It tracks whether the connection may be dead. */
export class SharedClient {
  readonly etcd: Etcd3;
  #heard = 0;
  #uses = 0;
  #isDoubted = false;
  #isRetired = false;
  readonly #onClosed: () => void;

  /** @param onClosed  called when the retired client is no longer used and has been closed */
  constructor(etcd: Etcd3, onClosed: () => void) {
    this.etcd = etcd;
    this.#onClosed = onClosed;
  }

  /** Whether a call ended without a response and the server has sent nothing since that call began. */
  get isDoubted(): boolean {
    return this.#isDoubted;
  }

  /** Records that the server has sent something. */
  markAlive(): void {
    this.#heard += 1;
    this.#isDoubted = false;
  }

  /** Records the start of a call or watch. @returns a function to call at its end */
  beginUse(): () => void {
    const before = this.#heard;
    let isOver = false;
    this.#uses += 1;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#uses -= 1;
      if (this.#heard === before) this.#isDoubted = true;
      this.#closeIfUnused();
    };
  }

  /** Accepts no new calls. The connection closes when the last call in flight has ended. */
  retire(): void {
    this.#isRetired = true;
    this.#closeIfUnused();
  }

  #closeIfUnused(): void {
    if (!this.#isRetired || this.#uses > 0) return;
    this.etcd.close();
    this.#onClosed();
  }
}
