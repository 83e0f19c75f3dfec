import { VERSION } from "../base/version.ts";
import { isUnavailable } from "../etcd/retry.ts";
import { HOST_RECORD_INTERVAL, serializeHostRecord } from "../fleet/host-record.ts";
import { addPutIfChanged } from "../protocol/guards.ts";
import type { AgentContext } from "./agent-context.ts";

/** Keeps the record of this host up to date, so that its runs need not. Never rejects. */
export async function keepHostRecord(
  { store, keys, clock, log, facts }: AgentContext,
  signal: AbortSignal,
): Promise<void> {
  const key = keys.host(facts.fqdn);
  while (!signal.aborted) {
    const text = serializeHostRecord(facts, VERSION, clock.getWallTime());
    const txn = addPutIfChanged({ compare: [], success: [], failure: [] }, key, text);
    const failed = await store.commitTxn(txn, signal).then(
      () => false,
      (error) => {
        if (!isUnavailable(error)) log.info("the host record was not written", { error: String(error) });
        return true;
      },
    );
    await clock.sleep(failed ? 10_000 : HOST_RECORD_INTERVAL, signal).catch(() => {}); // ended
  }
}
