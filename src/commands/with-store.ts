import type { Picture } from "../model/picture.ts";
import type { Operator } from "../work/operate/ports.ts";
import { type Connection, connect } from "./connect.ts";
import type { Call, Execute, Surroundings } from "./spec.ts";
import { operatorOf } from "./who.ts";

/** What a command of an operator works with. */
export interface Desk extends Connection {
  operator: Operator;
  /** What is kept up to date by whoever shows a preview: its reader acts on what was seen there, or not at all. */
  known?: Picture | undefined;
  /** Aborted, with an `Interrupted`, when the user ends the command. */
  signal: AbortSignal;
}

/** The user ended the command: Ctrl+C, TERM or HUP. */
export class Interrupted extends Error {
  /** 128 and the signal's number, as shells have it. */
  readonly exitCode: number;

  constructor(name: NodeJS.Signals) {
    super(`ended by ${name}`);
    this.name = "Interrupted";
    this.exitCode = 128 + (ENDINGS[name] ?? 15);
  }
}

const ENDINGS: Partial<Record<NodeJS.Signals, number>> = { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGTERM: 15 };

/** A command that needs etcd: connects, works, closes. One that is interrupted ends without a word. */
export function withStore(work: (call: Call, world: Surroundings, desk: Desk) => Promise<number>): Execute {
  return async (call, world) => {
    const stop = new AbortController();
    const deaf = world.onSignal((name) => {
      if (ENDINGS[name] !== undefined) stop.abort(new Interrupted(name));
    });
    const connection = await connect(call, world);
    const operator = operatorOf(world, connection.facts.fqdn);
    try {
      const known = call.flags["dry-run"] ? world.picture?.() : undefined;
      return await work(call, world, { ...connection, operator, known, signal: stop.signal });
    } catch (error) {
      if (error instanceof Interrupted) return error.exitCode;
      throw error;
    } finally {
      deaf();
      connection.store.close();
    }
  };
}
