import { SignalboxError } from "../../../base/errors.ts";
import { countPresent } from "../../../check/members.ts";
import {
  judgeTransport,
  type TransportName,
  type TransportTrial,
  type TransportVerdict,
} from "../../../check/transport.ts";
import { parseEndpoint } from "../../../etcd/endpoint.ts";
import { type MemberMetrics, readMemberMetrics } from "../../../etcd/members/member-metrics.ts";
import { chooseTransport, openStore, type StoreOptions } from "../../../etcd/open/open.ts";
import { buildStoreOptions } from "../../../etcd/open/store-options.ts";
import type { MemberStatus, Store } from "../../../etcd/store.ts";
import type { CommandContext } from "../../store-command.ts";

/** A working connection to etcd, if there is one. */
export interface EtcdAccess {
  store: Store;
  members: readonly MemberStatus[];
  /** By endpoint. */
  gauges: ReadonlyMap<string, MemberMetrics>;
  verdict: TransportVerdict;
  close(): void;
}

/** Tries both transports in parallel, and reads the metrics of the members. */
export async function tryTransports(context: CommandContext): Promise<EtcdAccess> {
  const options = buildStoreOptions(context.settings);
  const chosen = chooseTransport(options);
  const second = await openOtherStore(context, options, chosen === "http" ? "grpc" : "http");
  const [own, other, gauges] = await Promise.all([
    askMembers(context.store, context.signal),
    second instanceof Error ? second : askMembers(second, context.signal),
    readAllGauges(context, options),
  ]);
  const trials: Record<TransportName, TransportTrial> =
    chosen === "http" ? { http: own, grpc: other } : { http: other, grpc: own };
  const verdict = judgeTransport(context.settings.transport, chosen, trials);
  const isOwn = verdict.use === chosen || second instanceof Error || other instanceof Error;
  return {
    ...(isOwn ? { store: context.store, members: own } : { store: second, members: other }),
    gauges,
    verdict,
    close: () => (second instanceof Error ? undefined : second.close()),
  };
}

/** How often members are asked if none answers: on a busy host, a transport that is still loading answers late. */
const TRIES = 3;

async function askMembers(store: Store, signal: AbortSignal): Promise<readonly MemberStatus[]> {
  for (let left = TRIES; ; left -= 1) {
    const members = await store.readMemberStatuses(signal);
    if (left === 1 || countPresent(members) > 0) return members;
  }
}

async function openOtherStore(
  context: CommandContext,
  options: StoreOptions,
  transport: TransportName,
): Promise<Store | Error> {
  try {
    return await openStore(
      { ...options, transport },
      { clock: context.clock, unit: context.random.generateFraction },
    );
  } catch (error) {
    if (error instanceof SignalboxError) return error; // this transport does not support a setting
    throw error;
  }
}

async function readAllGauges(
  context: CommandContext,
  { endpoints, tls }: StoreOptions,
): Promise<Map<string, MemberMetrics>> {
  const asked = endpoints.map(async (text) => {
    const { url } = parseEndpoint(text, tls !== undefined);
    return [
      url,
      await readMemberMetrics(url, tls, () => context.clock.getWallTime(), context.signal),
    ] as const;
  });
  return new Map(await Promise.all(asked));
}
