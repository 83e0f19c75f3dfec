import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { locateNative } from "./native/locate.ts";

interface SystemdNotifierOptions {
  /** A path, or `@` and an abstract address. */
  address: string;
  /** Receives error messages of the program, one line each. */
  onFault(message: string): void;
  /** Path of the binary; by default the one that was built with this program. */
  binary?: string;
}

/** Maximum length of one error message. */
const LONGEST_FAULT = 500;

/** Sends messages to a socket that Node.js cannot use itself (see notify/main.c). */
export class SystemdNotifier {
  readonly #child: ChildProcessByStdio<Writable, null, Readable>;
  readonly #gone: Promise<void>;
  #isGone = false;

  /** Starts the program, which ends with this process. @throws ConfigError when the program does not exist */
  constructor({ address, onFault, binary = locateNative("notify") }: SystemdNotifierOptions) {
    const child = spawn(binary, [address], { env: {}, stdio: ["pipe", "ignore", "pipe"] });
    this.#child = child;
    this.#gone = new Promise<void>((resolve) => {
      child.once("close", resolve);
      child.once("error", ({ message }) => {
        onFault(message);
        resolve();
      });
    });
    void this.#gone.then(() => {
      this.#isGone = true;
    });
    child.stdin.on("error", () => {}); // the close event reports the end
    child.stderr.on("data", (chunk: Buffer) => onFault(chunk.toString().slice(0, LONGEST_FAULT).trim()));
  }

  /** Sends a text as one datagram. Drops it when it cannot be sent now. @returns false when it was dropped */
  send(text: string): boolean {
    const { stdin } = this.#child;
    if (this.#isGone || stdin.writableNeedDrain) return false;
    stdin.write(`${text}\0`);
    return true;
  }

  /** Resolves when all sent messages have been delivered and the program has ended. Never rejects. */
  close(): Promise<void> {
    this.#child.stdin.end();
    return this.#gone;
  }
}
