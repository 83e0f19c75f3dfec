import { type Connection, connect } from "./connect.ts";
import type { Call, Execute, Surroundings } from "./spec.ts";

/** A command that needs etcd: connects, works, closes. */
export function withStore(
  work: (call: Call, world: Surroundings, connection: Connection) => Promise<number>,
): Execute {
  return async (call, world) => {
    const connection = await connect(call, world);
    try {
      return await work(call, world, connection);
    } finally {
      connection.store.close();
    }
  };
}
