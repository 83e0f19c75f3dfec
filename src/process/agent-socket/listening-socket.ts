import { once } from "node:events";
import { createServer, type ListenOptions, type Server, type Socket } from "node:net";
import {
  type AgentAddress,
  explainListenError,
  prepareAddress,
  prepareBinding,
  prepareSocketDirectory,
  publishSocket,
  SocketPath,
} from "./socket-address.ts";

/** Connections that the kernel accepts before this process does: all jobs of a minute may start at once. */
const BACKLOG = 4096;

interface SocketEvents {
  onConnection(socket: Socket): void;
  onFault(error: Error): void;
}

/** Whether launchers find a socket: `restored` if it has just got its path again, `lost` with the reason. */
export type PathCheck = { state: "found" | "restored" } | { state: "lost"; path: string; why: string };

/** A socket that listens, and the path by which launchers find it. */
export class ListeningSocket {
  readonly #address: AgentAddress;
  readonly #events: SocketEvents;
  #server: Server | undefined;
  /** Listens no longer at a path. It is closed with the next check, when its last connections were accepted. */
  #former: Server | undefined;
  #file: SocketPath | undefined;
  #isClosed = false;

  constructor(address: AgentAddress, events: SocketEvents) {
    this.#address = address;
    this.#events = events;
  }

  /** Begins to listen. @throws ConfigError when the path cannot be used, or another agent listens there */
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
    this.#isClosed = true;
    this.#server?.close();
    this.#closeFormer();
    // An inherited socket belongs to systemd, which passes it to the next agent: calls wait there meanwhile.
    if ("path" in this.#address) this.#file?.remove();
  }

  /**
   * Looks whether launchers find the socket. Gives it its path again if nothing is there. Not if it was inherited: it
   * belongs to systemd, which would not know the new one. Never rejects.
   */
  async checkPath(): Promise<PathCheck> {
    this.#closeFormer();
    const problem = this.#file?.findProblem();
    if (problem === undefined || this.#isClosed) return { state: "found" };
    const { path = "" } = this.#file ?? {};
    if (problem !== "missing") return { state: "lost", path, why: problem };
    if ("descriptor" in this.#address) return { state: "lost", path, why: "it was removed" };
    try {
      prepareSocketDirectory(path);
      await this.#publish(path);
      return { state: "restored" };
    } catch (error) {
      return {
        state: "lost",
        path,
        why: `it was removed, and cannot be made again: ${(error as Error).message}`,
      };
    }
  }

  #closeFormer(): void {
    this.#former?.close();
    this.#former = undefined;
  }

  /** Listens on a new socket: one whose last path was removed cannot get another. */
  async #publish(path: string): Promise<void> {
    const bound = prepareBinding(path);
    // Everybody may connect: the peer is checked, not the file's mode.
    const server = await this.#listen({ path: bound, readableAll: true, writableAll: true });
    try {
      if (this.#isClosed) throw new Error("the agent ends");
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
    const server = createServer({ pauseOnConnect: true }, this.#events.onConnection);
    try {
      const listening = once(server, "listening"); // rejects with an error
      server.listen({ ...target, backlog: BACKLOG });
      await listening;
    } catch (error) {
      server.close();
      throw error;
    }
    return server.on("error", this.#events.onFault);
  }
}
