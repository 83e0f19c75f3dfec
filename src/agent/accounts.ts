import { readFileSync } from "node:fs";
import type { Peer } from "../core/process/agent-socket/peer.ts";
import { readUserName } from "../core/process/host.ts";

/**
 * Users and groups of this host, from /etc/passwd and /etc/group. Accounts of a directory service are known only by their
 * numbers. The files are read for each question, because accounts change while an agent runs.
 */
export class Accounts {
  readonly #folder: string;

  constructor(folder = "/etc") {
    this.#folder = folder;
  }

  /** Returns the name of a user; its number when the system has no name for it. */
  findUserName(uid: number): string {
    if (uid === process.getuid?.()) return readUserName();
    return readNames(`${this.#folder}/passwd`).get(uid) ?? String(uid);
  }

  /** Whether the list names the user, or one of the user's groups as `%GROUP`. */
  includes(list: readonly string[], { uid, gid, groups }: Pick<Peer, "uid" | "gid" | "groups">): boolean {
    if (list.length === 0) return false;
    const hasGroups = list.some((name) => name.startsWith("%"));
    const groupNames = hasGroups ? readNames(`${this.#folder}/group`) : new Map();
    const spelledGroups = [gid, ...groups].flatMap((id) => [`%${id}`, `%${groupNames.get(id) ?? id}`]);
    const spellings = [String(uid), this.findUserName(uid), ...spelledGroups];
    return list.some((name) => spellings.includes(name));
  }
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
