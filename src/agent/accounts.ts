import { readFileSync } from "node:fs";
import type { Peer } from "../process/agent-socket/peer.ts";
import { readUserName } from "../process/host.ts";

/** Users and groups of this host, from the files of the system. Those of a directory service count by their numbers. */
export interface Accounts {
  /** Returns the name of a user; its number when the system has no name for it. */
  findUserName(uid: number): string;
  /** Whether the list names the user, or as %GROUP one of its groups. */
  includes(list: readonly string[], peer: Pick<Peer, "uid" | "gid" | "groups">): boolean;
}

/** Reads names when they are asked for: accounts change while an agent runs. */
export function createAccounts(folder = "/etc"): Accounts {
  const findUserName = (uid: number) =>
    uid === process.getuid?.() ? readUserName() : (readNames(`${folder}/passwd`).get(uid) ?? String(uid));
  return {
    findUserName,
    includes(list, { uid, gid, groups }) {
      if (list.length === 0) return false;
      const groupNames = list.some((name) => name.startsWith("%")) ? readNames(`${folder}/group`) : new Map();
      const own = [
        String(uid),
        findUserName(uid),
        ...[gid, ...groups].flatMap((id) => [`%${id}`, `%${groupNames.get(id) ?? id}`]),
      ];
      return list.some((name) => own.includes(name));
    },
  };
}

/** Reads the names in a file such as /etc/passwd by their numbers: `name:password:number:…`. */
function readNames(path: string): ReadonlyMap<number, string> {
  try {
    const fields = readFileSync(path, "utf8")
      .split("\n")
      .map((line) => line.split(":"));
    return new Map(fields.flatMap(([name = "", , id = ""]) => (id === "" ? [] : [[Number(id), name]])));
  } catch {
    return new Map(); // without names, numbers are used
  }
}
