import { SignalboxError } from "../../base/errors.ts";
import { parseEndpoint } from "../../etcd/endpoint.ts";
import { type Gauges, gaugesOf } from "../../etcd/gauges.ts";
import { chosenTransport, openStore, type StoreOptions } from "../../etcd/open.ts";
import type { MemberStatus, Store } from "../../etcd/store.ts";
import { storeOptions } from "../../etcd/store-options.ts";
import {
  judgeTransport,
  type TransportName,
  type TransportVerdict,
  type Trial,
} from "../../work/check/transport.ts";
import type { Desk } from "../with-store.ts";

/** A way to etcd that works, if there is one. */
export interface Way {
  store: Store;
  members: readonly MemberStatus[];
  /** By endpoint. */
  gauges: ReadonlyMap<string, Gauges>;
  verdict: TransportVerdict;
  close(): void;
}

/** Tries both transports beside each other, and asks the members what else they tell. */
export async function tryTransports(desk: Desk): Promise<Way> {
  const options = storeOptions(desk.settings);
  const chosen = chosenTransport(options);
  const second = await otherStore(desk, options, chosen === "http" ? "grpc" : "http");
  const [own, other, gauges] = await Promise.all([
    desk.store.status(desk.signal),
    second instanceof Error ? second : second.status(desk.signal),
    gaugesOfAll(desk, options),
  ]);
  const trials: Record<TransportName, Trial> =
    chosen === "http" ? { http: own, grpc: other } : { http: other, grpc: own };
  const verdict = judgeTransport(desk.settings.transport, chosen, trials);
  const isOwn = verdict.use === chosen || second instanceof Error || other instanceof Error;
  return {
    ...(isOwn ? { store: desk.store, members: own } : { store: second, members: other }),
    ...{ gauges, verdict },
    close: () => (second instanceof Error ? undefined : second.close()),
  };
}

async function otherStore(
  desk: Desk,
  options: StoreOptions,
  transport: TransportName,
): Promise<Store | Error> {
  try {
    return await openStore({ ...options, transport }, { clock: desk.clock, unit: desk.random.unit });
  } catch (error) {
    if (error instanceof SignalboxError) return error; // a setting that this transport cannot follow
    throw error;
  }
}

async function gaugesOfAll(desk: Desk, { endpoints, tls }: StoreOptions): Promise<Map<string, Gauges>> {
  const asked = endpoints.map(async (text) => {
    const { url } = parseEndpoint(text, tls !== undefined);
    return [url, await gaugesOf(url, tls, () => desk.clock.wall(), desk.signal)] as const;
  });
  return new Map(await Promise.all(asked));
}
