import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { VERSION } from "../base/version.ts";
import { isUnavailable, type Store } from "../etcd/store.ts";
import { HOST_RECORD_INTERVAL, serializeHostRecord } from "../fleet/host-record.ts";
import type { MacroFacts } from "../fleet/macros.ts";
import { addPutIfChanged } from "../protocol/guards.ts";
import type { Keys } from "../protocol/keys.ts";

/** Time until the next attempt while etcd does not answer, ms. */
const RETRY_PAUSE_MS = 10_000;

/** Dependencies of the upkeep of a host record. */
interface HostRecordPorts {
  store: Pick<Store, "commitTxn">;
  keys: Pick<Keys, "host">;
  clock: Clock;
  log: Log;
}

/** Keeps the record of this host up to date while an agent or a worker serves it. Never rejects. */
export async function keepHostRecord(
  { store, keys, clock, log }: HostRecordPorts,
  facts: MacroFacts,
  signal: AbortSignal,
): Promise<void> {
  const key = keys.host(facts.fqdn);
  while (!signal.aborted) {
    const text = serializeHostRecord(facts, VERSION, clock.getWallTime());
    const txn = addPutIfChanged({ compare: [], success: [], failure: [] }, key, text);
    const isAway = await store.commitTxn(txn, signal).then(
      () => false,
      (error) => {
        if (!isUnavailable(error)) log.info("the host record was not written", { error: String(error) });
        return isUnavailable(error);
      },
    );
    await clock.sleep(isAway ? RETRY_PAUSE_MS : HOST_RECORD_INTERVAL, signal).catch(() => {}); // ended
  }
}
