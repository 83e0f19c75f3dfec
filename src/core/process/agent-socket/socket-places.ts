import { statSync } from "node:fs";
import { join } from "node:path";

/** The socket of the agent that serves a host. */
export const SYSTEM_SOCKET = "/run/signalbox/agent.sock";

type Environment = Readonly<Record<string, string | undefined>>;

/** Lists where launchers of this user look for an agent, in the order of launcher/agent-socket.c. */
export function listSocketPlaces({ XDG_RUNTIME_DIR: runtime = "" }: Environment): string[] {
  const user = process.getuid?.() ?? 0;
  if (user === 0) return [SYSTEM_SOCKET];
  const folders = [join(runtime || `/run/user/${user}`, "signalbox"), `/tmp/signalbox-${user}`];
  return [...folders.map((folder) => join(folder, "agent.sock")), SYSTEM_SOCKET];
}

/** Chooses where an agent of this user listens: `/tmp` is for users without a login session, such as those of cron. */
export function chooseSocketPlace(env: Environment): string {
  const [first = SYSTEM_SOCKET, second] = listSocketPlaces(env);
  if (second === undefined) return first;
  const owner = statSync(join(first, "../.."), { throwIfNoEntry: false })?.uid;
  return owner === process.getuid?.() ? first : second;
}
