import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { Log } from "../base/log.ts";
import { clean } from "../base/text.ts";
import { locateNative } from "./native/locate.ts";

/** Sends the state of a service to systemd, see sd_notify(3). Without systemd, the methods do nothing. */
export interface Notifier {
  /** Sends that the service is ready, at the start and after `sendReloading`. */
  sendReady(): void;
  /** Sends one line for `systemctl status`. Does not send the same text twice in a row. */
  sendStatus(text: string): void;
  /** Sends that the service reloads its configuration; `sendReady` must follow. */
  sendReloading(): void;
  sendStopping(): void;
  /** Resolves when all messages have been sent. */
  close(): Promise<void>;
}

interface NotifierOptions {
  log: Log;
  /** Whether to send watchdog messages. If none arrive for `WatchdogSec`, systemd ends the service. */
  isAlive(): boolean;
  /** Path of the helper binary that sends the messages; default: the one built with this program. */
  binary?: string;
}

type Env = Readonly<Record<string, string | undefined>>;

/** Variables that systemd sets for a service. They must not be passed to child processes. */
export const SYSTEMD_VARIABLES: ReadonlySet<string> = new Set([
  "NOTIFY_SOCKET",
  "WATCHDOG_USEC",
  "WATCHDOG_PID",
  "CREDENTIALS_DIRECTORY",
]);

const LONGEST_STATUS = 200;

/**
 * Creates a notifier for the socket in `NOTIFY_SOCKET`. If the helper cannot be started, this is logged, and the
 * service continues.
 * @param env  environment of this process
 */
export function createNotifier(env: Env, options: NotifierOptions): Notifier {
  const messenger = openMessenger(env.NOTIFY_SOCKET, options);
  const beat =
    messenger && startSystemdWatchdog(env, () => options.isAlive() && messenger.send("WATCHDOG=1"));
  let last = "";
  const tell = (...words: string[]) => {
    if (messenger?.send(words.join("\n")) === false)
      options.log.debug("systemd was not notified", { what: words[0] });
  };
  return {
    sendReady: () => tell("READY=1"),
    sendStatus(text) {
      const line = clean(text, LONGEST_STATUS);
      if (line !== last) tell(`STATUS=${line}`);
      last = line;
    },
    sendReloading: () => tell("RELOADING=1", `MONOTONIC_USEC=${process.hrtime.bigint() / 1_000n}`),
    sendStopping: () => tell("STOPPING=1"),
    async close() {
      clearInterval(beat);
      await messenger?.close();
    },
  };
}

function openMessenger(
  address: string | undefined,
  { log, binary }: NotifierOptions,
): SystemdNotifier | undefined {
  if (address === undefined || address === "") return undefined;
  try {
    const onFault = (message: string) => log.warn("cannot notify systemd", { error: clean(message) });
    return new SystemdNotifier({ address, onFault, ...(binary !== undefined && { binary }) });
  } catch (error) {
    log.warn("cannot notify systemd", { error: (error as Error).message });
    return undefined;
  }
}

/** Sends two watchdog messages in each period that systemd allows, if systemd set a period for this process. */
function startSystemdWatchdog(
  { WATCHDOG_USEC, WATCHDOG_PID }: Env,
  tell: () => void,
): NodeJS.Timeout | undefined {
  const allowed = Number(WATCHDOG_USEC) / 1_000;
  if (!(allowed > 0) || (WATCHDOG_PID !== undefined && Number(WATCHDOG_PID) !== process.pid))
    return undefined;
  const every = Math.min(Math.max(1, allowed / 2), 2 ** 31 - 1);
  return setInterval(tell, every).unref();
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

/** Sends messages to a socket that Node.js cannot use itself (see notify/main.c). */
class SystemdNotifier {
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
