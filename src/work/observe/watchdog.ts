import { StoreError } from "../../etcd/store.ts";
import type { ObserverPorts } from "./ports.ts";
import { probeEtcd } from "./probe.ts";

/** Pause between probes, ms. */
const EVERY = 1_000;
/**
 * Interval at which a watch is asked for its progress, ms; the watch ends if no answer arrives within another interval.
 */
export const PROGRESS_EVERY = 1_500;
/** A watch that is behind etcd for this time without any progress hangs, ms. */
const STUCK_AFTER = 2 * PROGRESS_EVERY;

/** The progress of a watch, from its own reports. */
export interface WatchProgress {
  /** The watch has delivered everything up to this revision. */
  revision: bigint;
  /** Whether the watch reports its progress when nothing changes; old members do not. */
  reportsProgress: boolean;
}

/**
 * Checks a watch. A watch may be silent because nothing changes, because the member is gone, or because it hangs on a
 * member that is cut off from the others. Probes etcd about once a second.
 * @param progress  updated by the reader of the watch
 * @throws StoreError when etcd does not answer or refuses, or when the watch does not reach the revision of etcd; the
 * signal's reason. Never returns
 */
export async function runWatchdog(
  ports: ObserverPorts,
  progress: Readonly<WatchProgress>,
  signal: AbortSignal,
): Promise<never> {
  const { clock } = ports;
  for (let behind: { heard: bigint; since: number } | undefined; ; ) {
    await clock.sleep(EVERY, signal);
    const { revision: heard } = progress;
    const { revision } = await probeEtcd(ports, signal);
    if (!progress.reportsProgress || progress.revision >= revision) behind = undefined;
    else if (behind === undefined || heard !== behind.heard) behind = { heard, since: clock.now() };
    else if (clock.now() - behind.since > STUCK_AFTER)
      throw new StoreError("unavailable", "changes are no longer reported");
  }
}
