import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
} from "node:fs";
import { connect, createServer, type ListenOptions, type Server, type Socket } from "node:net";
import { dirname } from "node:path";
import { setImmediate, setTimeout } from "node:timers/promises";
import { ConfigError } from "../../base/errors.ts";
import { createFolder } from "../create-folder.ts";

/** Maximum number of connections that wait to be accepted: all jobs of a minute may start at once. */
const MAX_UNACCEPTED = 4096;

/** Whether launchers can find a socket. `restored`: its path was just restored. `lost`: they cannot, for this reason. */
export type PathCheck = { state: "found" | "restored" } | { state: "lost"; path: string; why: string };

/** A socket that listens, and the path by which launchers find it. */
export class ListeningSocket {
  readonly #address: AgentAddress;
  readonly #onConnection: (socket: Socket) => void;
  readonly #onFault: (error: Error) => void;
  #server: Server | undefined;
  /** The server before the last restore. The next check closes it, when its last connections have been accepted. */
  #former: Server | undefined;
  #file: SocketPath | undefined;
  #isClosed = false;

  constructor(
    address: AgentAddress,
    onConnection: (socket: Socket) => void,
    onFault: (error: Error) => void,
  ) {
    this.#address = address;
    this.#onConnection = onConnection;
    this.#onFault = onFault;
  }

  /** Starts to listen. @throws ConfigError when the path cannot be used, or another agent listens there */
  async open(): Promise<void> {
    const address = this.#address;
    await prepareAddress(address);
    try {
      if ("path" in address) await this.#publish(address.path);
      else await this.#inherit(address.descriptor);
    } catch (error) {
      throw explainListenError(address, error as Error);
    }
  }

  close(): void {
    if (this.#isClosed) return; // by now, the inode of its file may belong to another agent's socket
    this.#isClosed = true;
    this.#server?.close();
    this.#closeFormer();
    // An inherited socket belongs to systemd, which passes it to the next agent: calls wait there meanwhile.
    if ("path" in this.#address) this.#file?.remove();
  }

  /**
   * Checks whether launchers can find the socket, and restores its path if that was removed. Does not restore an inherited
   * socket: it belongs to systemd, which would not know the new one. Never rejects.
   */
  async checkPath(): Promise<PathCheck> {
    this.#closeFormer();
    const problem = this.#file?.findProblem();
    if (problem === undefined || this.#isClosed) return { state: "found" };
    const { path = "" } = this.#file ?? {};
    if (problem !== "missing") return { state: "lost", path, why: problem };
    if ("descriptor" in this.#address) return { state: "lost", path, why: "it was removed" };
    try {
      await prepareSocketDirectory(path);
      await this.#publish(path);
      return { state: "restored" };
    } catch (error) {
      return {
        state: "lost",
        path,
        why: `it was removed, and cannot be restored: ${(error as Error).message}`,
      };
    }
  }

  #closeFormer(): void {
    this.#former?.close();
    this.#former = undefined;
  }

  /** Listens on a new socket: one whose path was removed cannot be given another. */
  async #publish(path: string): Promise<void> {
    const bound = prepareBinding(path);
    // Any user may connect: the agent checks the peer instead of the file's mode.
    const server = await this.#listen({ path: bound, readableAll: true, writableAll: true });
    try {
      if (this.#isClosed) throw new Error("the agent is ending");
      this.#file = publishSocket(bound, path);
    } catch (error) {
      server.close();
      throw error;
    }
    this.#former = this.#server;
    this.#server = server;
  }

  async #inherit(descriptor: number): Promise<void> {
    this.#server = await this.#listen({ fd: descriptor });
    this.#file = SocketPath.find(descriptor);
  }

  async #listen(target: ListenOptions | { fd: number }): Promise<Server> {
    const server = createServer({ pauseOnConnect: true }, this.#onConnection);
    try {
      const listening = once(server, "listening"); // rejects with an error
      server.listen({ ...target, backlog: MAX_UNACCEPTED });
      await listening;
    } catch (error) {
      server.close();
      throw error;
    }
    return server.on("error", this.#onFault);
  }
}

/** Where an agent listens: a path, or a listening socket that this process has inherited. */
export type AgentAddress = { path: string } | { descriptor: number };

/** The first descriptor that systemd passes on. @see sd_listen_fds(3) */
const FIRST_DESCRIPTOR = 3;

/**
 * Finds the socket that systemd has passed to this process (socket activation), and removes its variables, which are
 * not for commands.
 * @returns undefined when there is none
 * @throws ConfigError when there are several
 */
export function takeInheritedSocket(env: NodeJS.ProcessEnv, pid: number = process.pid): number | undefined {
  const { LISTEN_PID: owner, LISTEN_FDS: count } = env;
  for (const name of ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "LISTEN_PIDFDID"]) delete env[name];
  if (Number(owner) !== pid || count === undefined) return undefined;
  if (count === "1") return FIRST_DESCRIPTOR;
  throw new ConfigError(`the agent's unit must have one socket; LISTEN_FDS is "${count}"`);
}

/** How long connections to an inherited socket are refused at least, and after the last one. */
const REFUSE_TIME_MS = 100;
/** A flood does not keep the agent from ending. */
const MAX_REFUSE_ROUNDS = 20;

/** Ends the connections that wait at an inherited socket, for an agent that cannot start. Never rejects. */
export async function refuseConnections(descriptor: number): Promise<void> {
  let refused = 0;
  const server = createServer((socket) => {
    refused += 1;
    socket.destroy();
  }).on("error", () => {}); // why the agent cannot start is reported elsewhere
  server.listen({ fd: descriptor });
  for (let round = 0, before = -1; refused > before && round < MAX_REFUSE_ROUNDS; round += 1) {
    before = refused;
    await setTimeout(REFUSE_TIME_MS);
    await setImmediate(); // connections are accepted between timers and immediates, also if this process was paused
  }
  server.close();
}

/**
 * Prepares a path: creates its directory, and removes the socket of an agent that has ended.
 * @throws ConfigError when the path cannot be used, or another agent listens there
 */
async function prepareAddress(address: AgentAddress): Promise<void> {
  if (!("path" in address)) return;
  await prepareSocketDirectory(address.path);
  await removeStaleSocket(address.path);
}

/** Builds the error for an address on which the agent cannot listen. */
function explainListenError(address: AgentAddress, cause: Error): ConfigError {
  const where = "path" in address ? address.path : `descriptor ${address.descriptor}`;
  const isUsed = ["EADDRINUSE", "EEXIST"].includes((cause as NodeJS.ErrnoException).code ?? "");
  const why = isUsed ? "another agent listens there" : cause.message;
  return new ConfigError(`the agent cannot listen on ${where}: ${why}`, { cause });
}

/**
 * Returns the path to bind for a socket. When a process closes a socket, Node removes the path that it has bound, even
 * if another agent's socket has that path by now. So no agent binds the path that launchers use.
 */
function prepareBinding(path: string): string {
  const bound = `${dirname(path)}/.${process.pid}`; // with its slash: Node takes a path such as .123 for a port
  rmSync(bound, { force: true }); // left by a process with the same id that was killed
  return bound;
}

/** Gives a bound socket the path that launchers use. @throws Error with code EEXIST when there is a file */
function publishSocket(bound: string, path: string): SocketPath {
  linkSync(bound, path);
  rmSync(bound);
  return new SocketPath(path);
}

/**
 * Creates the directory of a socket. The agent's key is in it too.
 * @throws ConfigError if another user can write to it: launchers refuse a socket that another user can replace
 */
export async function prepareSocketDirectory(socket: string): Promise<void> {
  const path = dirname(socket);
  try {
    const mode = process.getuid?.() === 0 ? 0o755 : 0o700; // launchers of all users connect to that of root
    if (await createFolder(path, mode)) chmodSync(path, mode); // regardless of the umask
  } catch (cause) {
    throw new ConfigError(`cannot create ${path} for the agent's socket: ${(cause as Error).message}`, {
      cause,
    });
  }
  const problem = findOwnerProblem(lstatSync(path)) ?? findDirectoryProblem(statSync(path));
  if (problem !== undefined)
    throw new ConfigError(`the agent's socket cannot be in ${path}: ${problem}; choose another agentSocket`);
}

function findOwnerProblem({ uid }: Stats): string | undefined {
  return isTrusted(uid) ? undefined : `it belongs to user ${uid}`;
}

function findDirectoryProblem(status: Stats): string | undefined {
  const problem = findOwnerProblem(status);
  if (problem !== undefined) return problem;
  if ((status.mode & 0o022) !== 0) return "other users can write to it";
  return undefined;
}

/**
 * Removes a socket on which no agent listens. Renames it first and tries it once more: another agent may have replaced it
 * since the first try.
 */
async function removeStaleSocket(path: string): Promise<void> {
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (status === undefined) return;
  if (!status.isSocket()) throw new ConfigError(`the agent cannot listen on ${path}: it is not a socket`);
  const aside = `${path}.${process.pid}`;
  if (await isAnswered(path)) throw new ConfigError(`another agent listens on ${path}`);
  if (!existsSync(path)) return; // its agent has ended meanwhile
  renameSync(path, aside);
  if (await isAnswered(aside).catch(() => true)) {
    renameSync(aside, path);
    throw new ConfigError(`another agent listens on ${path}`);
  }
  rmSync(aside);
}

/**
 * Returns whether a process may be listening on a socket. Only a refused connection, or a missing socket, rules that out.
 * @throws ConfigError if this user may not connect to it
 */
export function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    const finish = (isAnswered: boolean) => {
      socket.destroy();
      resolve(isAnswered);
    };
    socket.once("connect", () => finish(true));
    socket.once("error", ({ code }: NodeJS.ErrnoException) => {
      if (code !== "EACCES") return finish(code !== "ECONNREFUSED" && code !== "ENOENT");
      const remedy = "remove it if no agent listens there, or choose another agentSocket";
      reject(new ConfigError(`this user may not connect to ${path}; ${remedy}`));
    });
  });
}

/** The file by which launchers find a listening socket. While the socket is open, no other file has its inode. */
class SocketPath {
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
   * Finds out why launchers cannot reach this socket.
   * @returns `missing` if there is no file; undefined if they can reach it
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

/** Reads the path to which a socket is bound. Node knows it only for sockets that it has bound itself. */
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
    return undefined; // without /proc, the path is not known
  }
}

/**
 * Finds out why a launcher of this user would not trust a socket: by the owners of the socket and its directory, as
 * launcher/trust.c does.
 * @returns `missing` if there is no file
 */
export function findSocketDistrust(path: string): "missing" | string | undefined {
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (status === undefined) return "missing";
  if (!status.isSocket()) return "it is not a socket";
  return findOwnerProblem(status) ?? findFolderDistrust(dirname(path));
}

/** Whether this user trusts agents of a user: its own, and root's. */
export function isTrusted(uid: number): boolean {
  return uid === 0 || uid === process.getuid?.();
}

function findFolderDistrust(folder: string): string | undefined {
  const { uid, mode } = statSync(folder);
  const owner = [lstatSync(folder).uid, uid].find((id) => !isTrusted(id)); // also that of a link
  if (owner !== undefined) return `its folder ${folder} belongs to user ${owner}`;
  const isSticky = (mode & 0o1000) !== 0;
  return (mode & 0o022) !== 0 && !isSticky ? `other users can write to its folder ${folder}` : undefined;
}
