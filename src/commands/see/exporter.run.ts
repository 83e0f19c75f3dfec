import { EXIT, type SignalboxError } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import { EXPORTER_LISTEN, listenText, parseListen } from "../../work/worker/listen.ts";
import { serveMetrics } from "../../work/worker/metrics-server.ts";
import { notifierOf } from "../../work/worker/notify.ts";
import type { Call, Execute, Surroundings } from "../spec.ts";
import { type Desk, Interrupted, withStore } from "../with-store.ts";
import { Gauging } from "./gauging.ts";

/** A call without etcd at the start is begun again after this, ms. */
const PAUSE = 5_000;

export const execute: Execute = withStore(async (call, world, desk) => {
  const { listen = EXPORTER_LISTEN } = call.flags;
  const address = parseListen(String(listen));
  const gauging = await Gauging.create(desk);
  const server = await serveMetrics(address, gauging, desk.log);
  const notifier = notifierOf(world.env, { log: desk.log, isAlive: () => true });
  greet(call, world, listenText(server.address));
  notifier.ready();
  try {
    return await followed(gauging, desk);
  } finally {
    notifier.stopping();
    await server.close();
    await notifier.close();
  }
});

function greet({ verbosity }: Call, world: Surroundings, address: string): void {
  if (verbosity >= 0) world.err(`signalbox: metrics are served on ${address}\n`);
}

/** @returns when the user ends it, as services are ended. @throws StoreError when etcd refuses */
async function followed(gauging: Gauging, desk: Desk): Promise<number> {
  for (;;) {
    try {
      await gauging.follow(desk.signal);
    } catch (error) {
      if (error instanceof Interrupted) return EXIT.ok;
      if ((error as SignalboxError).exitCode !== EXIT.unreachable) throw error;
      desk.log.warn("etcd cannot be reached", { error: clean((error as Error).message) });
    }
    try {
      await desk.clock.sleep(PAUSE, desk.signal);
    } catch {
      return EXIT.ok;
    }
  }
}
