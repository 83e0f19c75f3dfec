import type { Socket } from "node:net";
import { getSystemErrorMap } from "node:util";
import { ConfigError } from "../../base/errors.ts";
import { locatePeerAddon } from "../native/locate.ts";

/** The process that made a connection, as the kernel recorded it at that moment. Ids are those of this namespace. */
export interface Peer {
  /** 0 when it is in a pid namespace that cannot be seen from here. */
  pid: number;
  uid: number;
  gid: number;
  /** Supplementary groups. */
  groups: readonly number[];
}

/** What Node cannot read by itself. */
export interface PeerAddon {
  /** Reads the peer of a connected Unix socket. @throws Error when the socket has been closed */
  readPeer(socket: Socket): Peer;
  /** Reads the boot-time clock, ms. Processes in one time namespace see the same. */
  readBootTime(): number;
}

/**
 * Loads the addon.
 * @param path  by default the addon that was built with this program
 * @throws ConfigError when it cannot be loaded: nobody can be served without knowing who it is
 */
export function loadPeerAddon(path: string = locatePeerAddon()): PeerAddon {
  const { readPeer, readBootTime } = loadExports(path);
  return {
    readBootTime,
    readPeer(socket) {
      const result = readPeer(readDescriptor(socket));
      if (Array.isArray(result)) return toPeer(result);
      const [name = result] = getSystemErrorMap().get(-result) ?? [];
      throw new Error(`cannot read the peer of a connection: ${name}`);
    },
  };
}

function toPeer([pid = 0, uid = -1, gid = -1, ...groups]: readonly number[]): Peer {
  return { pid, uid, gid, groups };
}

interface AddonExports {
  /** Returns the numbers of a peer, or an errno. */
  readPeer(descriptor: number): number[] | number;
  readBootTime(): number;
}

function loadExports(path: string): AddonExports {
  const module: { exports: Partial<AddonExports> } = { exports: {} };
  try {
    process.dlopen(module, path);
  } catch (cause) {
    throw new ConfigError(
      `cannot load ${path}, which reads who connects to the agent: ${(cause as Error).message}; install signalbox again, or build it with \`npm run build\``,
      { cause },
    );
  }
  const { readPeer, readBootTime } = module.exports;
  if (readPeer !== undefined && readBootTime !== undefined) return { readPeer, readBootTime };
  throw new ConfigError(`${path} belongs to another version of signalbox; build it with \`npm run build\``);
}

/** Node's types do not declare the descriptor. */
function readDescriptor(socket: Socket): number {
  const { _handle: handle } = socket as { _handle?: { fd?: unknown } | null };
  const descriptor = handle?.fd;
  if (typeof descriptor === "number" && descriptor >= 0) return descriptor;
  throw new Error("the connection has no descriptor");
}
