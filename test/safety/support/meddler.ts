/**
 * A TCP proxy that meddles with single calls: it catches the connection on which a certain request is sent, and holds
 * the request or its answers back until the test has seen in etcd what it waits for. (fixtures/proxy.ts is for whole networks.)
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** A connection that was caught. What comes later on it is held back too. */
export interface Caught {
  /** Passes on what was held back, and goes on as if nothing had been. */
  release(): void;
  /** Forgets what was held back and resets the connection. */
  reset(): void;
  /** Swallows whatever comes from now on in both directions, in silence. */
  strand(): void;
}

interface Trap {
  pattern: RegExp;
  held: "request" | "answers";
  caught(by: Caught): void;
}

export class Meddler {
  readonly #server: Server;
  readonly #lines = new Set<Line>();
  readonly #traps: Trap[] = [];

  private constructor(target: URL) {
    this.#server = createServer({ noDelay: true }, (client) => {
      const server = connect({ host: target.hostname, port: Number(target.port), noDelay: true });
      const line = new Line(client, server, (text) => this.#trapFor(text));
      this.#lines.add(line);
      client.on("close", () => this.#lines.delete(line));
    });
  }

  /** @param target URL of a member of etcd */
  static async start(target: string): Promise<Meddler> {
    const meddler = new Meddler(new URL(target));
    meddler.#server.listen(0, "127.0.0.1");
    await once(meddler.#server, "listening");
    return meddler;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Catches the connection of the next request whose bytes match, holding back that request, or its answers. */
  catch(pattern: RegExp, held: Trap["held"]): Promise<Caught> {
    for (const line of this.#lines) line.forget();
    return new Promise((caught) => {
      this.#traps.push({ pattern, held, caught });
    });
  }

  async close(): Promise<void> {
    this.#server.close();
    for (const line of this.#lines) line.reset();
    await once(this.#server, "close");
  }

  #trapFor(text: string): Trap | undefined {
    const index = this.#traps.findIndex(({ pattern }) => pattern.test(text));
    return index < 0 ? undefined : this.#traps.splice(index, 1)[0];
  }
}

class Line implements Caught {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #trapFor: (text: string) => Trap | undefined;
  #held: Trap["held"] | undefined;
  #isStranded = false;
  #kept: Buffer[] = [];
  /** A request may come in pieces. */
  #recent = "";

  constructor(client: Socket, server: Socket, trapFor: (text: string) => Trap | undefined) {
    this.#client = client;
    this.#server = server;
    this.#trapFor = trapFor;
    client.on("data", (chunk) => this.#onRequest(chunk));
    server.on("data", (chunk) => this.#pass(chunk, "answers"));
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.on("error", () => this.reset());
      from.on("end", () => to.end());
      from.on("close", () => to.destroy());
    }
  }

  release(): void {
    const held = this.#held;
    this.#held = undefined;
    for (const chunk of this.#kept.splice(0)) this.#pass(chunk, held ?? "request");
  }

  reset(): void {
    this.#kept = [];
    this.#client.resetAndDestroy();
    this.#server.resetAndDestroy();
  }

  /** Requests sent so far are not looked at again. */
  forget(): void {
    this.#recent = "";
  }

  strand(): void {
    this.#isStranded = true;
  }

  #onRequest(chunk: Buffer): void {
    this.#recent = (this.#recent + chunk.toString("latin1")).slice(-65_536);
    const trap = this.#held === undefined ? this.#trapFor(this.#recent) : undefined;
    if (trap !== undefined) {
      this.#recent = "";
      this.#held = trap.held;
    }
    this.#pass(chunk, "request");
    trap?.caught(this);
  }

  #pass(chunk: Buffer, kind: Trap["held"]): void {
    if (this.#isStranded) return;
    const to = kind === "request" ? this.#server : this.#client;
    if (this.#held === kind) this.#kept.push(chunk);
    else if (to.writable) to.write(chunk);
  }
}
