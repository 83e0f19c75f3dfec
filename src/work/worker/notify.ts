import type { Log } from "../../base/log.ts";
import { clean } from "../../base/text.ts";
import { type Messenger, startMessenger } from "../../process/messenger.ts";

/** What a service tells systemd, as sd_notify(3) has it. Without systemd each of these does nothing. */
export interface Notifier {
  /** It works: also after a `reloading`. */
  ready(): void;
  /** One line that `systemctl status` shows. The same again is not sent. */
  status(text: string): void;
  /** It reads its configuration again; `ready` follows. */
  reloading(): void;
  stopping(): void;
  /** Resolves when all of it has been told. */
  close(): Promise<void>;
}

export interface NotifyOptions {
  log: Log;
  /** Whether systemd shall be told that all is well; where it is not for `WatchdogSec`, systemd ends the service. */
  isAlive(): boolean;
  /** Path of the messenger's binary; by default the one that was built with this program. */
  binary?: string;
}

type Env = Readonly<Record<string, string | undefined>>;

/** Variables by which systemd speaks to a service, and to none of its children. */
export const SYSTEMD_VARIABLES = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] as const;

const LONGEST_STATUS = 200;

/**
 * Speaks to whoever `NOTIFY_SOCKET` names; a messenger that cannot be started is logged, and harms nothing.
 * @param env  of this process
 */
export function notifierOf(env: Env, options: NotifyOptions): Notifier {
  const messenger = messengerOf(env.NOTIFY_SOCKET, options);
  const beat = messenger && watchdog(env, () => options.isAlive() && messenger.send("WATCHDOG=1"));
  let last = "";
  const tell = (...words: string[]) => {
    if (messenger?.send(words.join("\n")) === false)
      options.log.debug("systemd was not told", { what: words[0] });
  };
  return {
    ready: () => tell("READY=1"),
    status(text) {
      const line = clean(text, LONGEST_STATUS);
      if (line !== last) tell(`STATUS=${line}`);
      last = line;
    },
    reloading: () => tell("RELOADING=1", `MONOTONIC_USEC=${process.hrtime.bigint() / 1_000n}`),
    stopping: () => tell("STOPPING=1"),
    async close() {
      clearInterval(beat);
      await messenger?.close();
    },
  };
}

function messengerOf(address: string | undefined, { log, binary }: NotifyOptions): Messenger | undefined {
  if (address === undefined || address === "") return undefined;
  try {
    const onFault = (message: string) => log.warn("systemd cannot be told", { error: clean(message) });
    return startMessenger({ address, onFault, ...(binary !== undefined && { binary }) });
  } catch (error) {
    log.warn("systemd cannot be told", { error: (error as Error).message });
    return undefined;
  }
}

/** Twice in the time that systemd allows, where it does and means this process. */
function watchdog({ WATCHDOG_USEC, WATCHDOG_PID }: Env, tell: () => void): NodeJS.Timeout | undefined {
  const allowed = Number(WATCHDOG_USEC) / 1_000;
  if (!(allowed > 0) || (WATCHDOG_PID !== undefined && Number(WATCHDOG_PID) !== process.pid))
    return undefined;
  const every = Math.min(Math.max(1, allowed / 2), 2 ** 31 - 1);
  return setInterval(tell, every).unref();
}
