import { lstatSync, readFileSync, readlinkSync, rmSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";

/** The file by which launchers find a listening socket. As long as the socket is open, no other file has its inode. */
export class SocketPath {
  readonly path: string;
  /** Undefined if there was no file. */
  readonly #inode: string | undefined;

  constructor(path: string) {
    this.path = path;
    this.#inode = readInode(path);
  }

  /** Finds the file of a socket that this process has inherited. @returns undefined if it has none */
  static find(descriptor: number): SocketPath | undefined {
    const path = readBoundPath(descriptor);
    return path === undefined ? undefined : new SocketPath(path);
  }

  /**
   * Finds why launchers do not come to this socket.
   * @returns `missing` if there is no file, undefined if they come
   */
  findProblem(): "missing" | string | undefined {
    const inode = readInode(this.path);
    if (inode === undefined) return "missing";
    if (inode !== this.#inode) return "it was replaced";
    return findSocketDistrust(this.path);
  }

  /** Removes the file, unless it is another socket by now. */
  remove(): void {
    if (this.#inode !== undefined && readInode(this.path) === this.#inode) rmSync(this.path, { force: true });
  }
}

function readInode(path: string): string | undefined {
  try {
    const { dev, ino } = lstatSync(path);
    return `${dev}:${ino}`;
  } catch {
    return undefined; // launchers do not find it either
  }
}

/** Reads the path to which a socket is bound: Node only knows that of a socket that it has bound itself. */
function readBoundPath(descriptor: number): string | undefined {
  try {
    const [, inode] = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${descriptor}`)) ?? [];
    // Num RefCount Protocol Flags Type St Inode Path
    const lines = readFileSync("/proc/net/unix", "utf8").split("\n");
    const path = lines
      .map((line) => /^(?:\S+ +){6}(\d+) (\/.*)$/.exec(line))
      .find((found) => found?.[1] === inode);
    return path?.[2];
  } catch {
    return undefined; // without /proc, it is not known
  }
}

/**
 * Finds why a launcher of this user does not trust a socket: as launcher/trust.c, by the owners of the socket and its
 * directory.
 * @returns `missing` if there is no file
 */
export function findSocketDistrust(path: string): "missing" | string | undefined {
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (status === undefined) return "missing";
  if (!status.isSocket()) return "it is not a socket";
  if (!isTrusted(status.uid)) return `it belongs to user ${status.uid}`;
  return findFolderDistrust(dirname(path), statSync(dirname(path)));
}

/** Whether a user could pretend to be an agent towards this user. */
export function isTrusted(uid: number): boolean {
  return uid === 0 || uid === process.getuid?.();
}

function findFolderDistrust(folder: string, { uid, mode }: Stats): string | undefined {
  if (!isTrusted(uid)) return `its folder ${folder} belongs to user ${uid}`;
  const isSticky = (mode & 0o1000) !== 0;
  return (mode & 0o022) !== 0 && !isSticky ? `other users can write to its folder ${folder}` : undefined;
}
