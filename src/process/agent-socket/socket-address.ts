import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
} from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { ConfigError } from "../../base/errors.ts";
import { SocketPath } from "./socket-path.ts";

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

/**
 * Prepares a path: creates its directory, and removes the socket of an agent that has ended.
 * @throws ConfigError when the path cannot be used, or another agent listens there
 */
export async function prepareAddress(address: AgentAddress): Promise<void> {
  if (!("path" in address)) return;
  prepareSocketDirectory(address.path);
  await removeStaleSocket(address.path);
}

/** Explains why it is not possible to listen. */
export function explainListenError(address: AgentAddress, cause: Error): ConfigError {
  const where = "path" in address ? address.path : `descriptor ${address.descriptor}`;
  const isUsed = ["EADDRINUSE", "EEXIST"].includes((cause as NodeJS.ErrnoException).code ?? "");
  const why = isUsed ? "another agent listens there" : cause.message;
  return new ConfigError(`the agent cannot listen on ${where}: ${why}`, { cause });
}

/**
 * Returns the path to bind for a socket. When a process closes a socket, Node removes the path that it has bound, even
 * if that is the socket of another agent by now. So no agent binds the path that launchers use.
 */
export function prepareBinding(path: string): string {
  const bound = join(dirname(path), `.${process.pid}`);
  rmSync(bound, { force: true }); // of a process that was killed
  return bound;
}

/** Gives a bound socket its path. @throws Error with code EEXIST when there is a file */
export function publishSocket(bound: string, path: string): SocketPath {
  linkSync(bound, path);
  rmSync(bound);
  return new SocketPath(path);
}

/**
 * Creates the directory of a socket. The agent's key is in it too.
 * @throws ConfigError if another user can write to it: launchers refuse a socket that another user can replace
 */
export function prepareSocketDirectory(socket: string): void {
  const path = dirname(socket);
  try {
    const isCreated = mkdirSync(path, { recursive: true }) !== undefined;
    if (isCreated) chmodSync(path, 0o755); // whatever the umask: launchers of all users connect
  } catch (cause) {
    throw new ConfigError(`cannot create ${path} for the agent's socket: ${(cause as Error).message}`, {
      cause,
    });
  }
  const status = statSync(path);
  const problem = findDirectoryProblem(status);
  if (problem !== undefined)
    throw new ConfigError(`the agent's socket cannot be in ${path}: ${problem}; choose another agentSocket`);
}

function findDirectoryProblem(status: Stats): string | undefined {
  if (!isOwn(status)) return `it belongs to user ${status.uid}`;
  if ((status.mode & 0o022) !== 0) return "other users can write to it";
  return undefined;
}

function isOwn({ uid }: Stats): boolean {
  return uid === 0 || uid === process.getuid?.();
}

/**
 * Removes a socket on which nobody listens. Takes it aside first: another agent may have replaced it since it was tried.
 */
async function removeStaleSocket(path: string): Promise<void> {
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (status === undefined) return;
  if (!status.isSocket()) throw new ConfigError(`the agent cannot listen on ${path}: it is not a socket`);
  const aside = `${path}.${process.pid}`;
  if (await isAnswered(path)) throw new ConfigError(`another agent listens on ${path}`);
  if (!existsSync(path)) return; // its agent has ended meanwhile
  renameSync(path, aside);
  if (await isAnswered(aside)) {
    renameSync(aside, path);
    throw new ConfigError(`another agent listens on ${path}`);
  }
  rmSync(aside);
}

/** Whether somebody listens on a socket: only a refusal, or no socket, is certain to mean that nobody does. */
function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const finish = (isListened: boolean) => {
      socket.destroy();
      resolve(isListened);
    };
    socket.once("connect", () => finish(true));
    socket.once("error", ({ code }: NodeJS.ErrnoException) =>
      finish(code !== "ECONNREFUSED" && code !== "ENOENT"),
    );
  });
}
