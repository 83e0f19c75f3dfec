import { EXIT, type SignalboxError } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import {
  EXPORTER_LISTEN,
  formatListenAddress,
  parseListenAddress,
} from "../../worker/metrics/listen-address.ts";
import { serveMetrics } from "../../worker/metrics/metrics-server.ts";
import { createNotifier } from "../../worker/service/notifier.ts";
import type { CommandExecutor } from "../spec.ts";
import { type CommandContext, createStoreCommand, InterruptedError } from "../store-command.ts";
import { ClusterMetrics } from "./exporter/cluster-metrics.ts";

/** Pause before it tries again if etcd cannot be reached at the start, in ms. */
const PAUSE = 5_000;

export const execute: CommandExecutor = createStoreCommand(async (call, io, context) => {
  const { listen = EXPORTER_LISTEN } = call.flags;
  const address = parseListenAddress(String(listen));
  const metrics = await ClusterMetrics.create(context);
  const server = await serveMetrics(address, metrics, context.log);
  const notifier = createNotifier(io.env, { log: context.log, isAlive: () => true });
  context.printMessage(`serving metrics on ${formatListenAddress(server.address)}`);
  notifier.sendReady();
  try {
    return await followUntilEnd(metrics, context);
  } finally {
    notifier.sendStopping();
    await server.close();
    await notifier.close();
  }
});

/**
 * Follows etcd until the user or the service manager ends it.
 * @returns the exit code
 * @throws StoreError if etcd refuses
 */
async function followUntilEnd(metrics: ClusterMetrics, context: CommandContext): Promise<number> {
  for (;;) {
    try {
      await metrics.follow(context.signal);
    } catch (error) {
      if (error instanceof InterruptedError) return EXIT.ok;
      if ((error as SignalboxError).exitCode !== EXIT.unreachable) throw error;
      context.log.warn("cannot reach etcd", { error: clean((error as Error).message) });
    }
    try {
      await context.clock.sleep(PAUSE, context.signal);
    } catch {
      return EXIT.ok;
    }
  }
}
