import { lstatSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { findSocketDistrust } from "./socket-trust.ts";

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
