import { spawn } from "node:child_process";
import { locateNotify } from "./locate.ts";

/** Words to a socket that Node.js cannot reach itself (see notify/main.c). */
export interface Messenger {
  /** Sends a text as one datagram. One that cannot be sent, or not yet, is dropped. @returns false then */
  send(text: string): boolean;
  /** Resolves when all that was sent has been delivered, and the messenger has gone. Rejects never. */
  close(): Promise<void>;
}

export interface MessengerOptions {
  /** A path, or `@` and an abstract address. */
  address: string;
  /** Told what the messenger says when something is wrong; one line. */
  onFault(message: string): void;
  /** Path of the binary; by default the one that was built with this program. */
  binary?: string;
}

/** Of what it says in one piece. */
const LONGEST_FAULT = 500;

/** Starts it; it goes with this process. @throws ConfigError where there is no such program */
export function startMessenger({ address, onFault, binary = locateNotify() }: MessengerOptions): Messenger {
  const child = spawn(binary, [address], { env: {}, stdio: ["pipe", "ignore", "pipe"] });
  let isGone = false;
  const gone = new Promise<void>((resolve) => {
    child.once("close", resolve);
    child.once("error", ({ message }) => {
      onFault(message);
      resolve();
    });
  });
  void gone.then(() => {
    isGone = true;
  });
  child.stdin.on("error", () => {}); // its end tells
  child.stderr.on("data", (chunk: Buffer) => onFault(chunk.toString().slice(0, LONGEST_FAULT).trim()));
  return {
    send(text) {
      if (isGone || child.stdin.writableNeedDrain) return false;
      child.stdin.write(`${text}\0`);
      return true;
    },
    close() {
      child.stdin.end();
      return gone;
    },
  };
}
