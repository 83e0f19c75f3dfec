import { spawn } from "node:child_process";
import { locateNotify } from "./native/locate.ts";

/** Sends messages to a socket that Node.js cannot use itself (see notify/main.c). */
export interface SystemdNotifier {
  /** Sends a text as one datagram. Drops it when it cannot be sent now. @returns false when it was dropped */
  send(text: string): boolean;
  /** Resolves when all sent messages have been delivered and the program has ended. Never rejects. */
  close(): Promise<void>;
}

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

/** Starts the program, which ends with this process. @throws ConfigError when the program does not exist */
export function startSystemdNotifier({
  address,
  onFault,
  binary = locateNotify(),
}: SystemdNotifierOptions): SystemdNotifier {
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
  child.stdin.on("error", () => {}); // the close event reports the end
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
