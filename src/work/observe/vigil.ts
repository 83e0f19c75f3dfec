import { StoreError } from "../../etcd/store.ts";
import { ask } from "./ask.ts";
import type { ObserverPorts } from "./ports.ts";

/** Pause between questions, ms. */
const EVERY = 1_000;
/** A watch is asked so often how far it is, ms; it ends when it does not answer that for as long again. */
export const PROGRESS_EVERY = 1_500;
/** A watch that etcd is ahead of for so long, and that has told nothing meanwhile, hangs, ms. */
const STUCK_AFTER = 2 * PROGRESS_EVERY;

/** How far a watch has come, as it says itself. */
export interface Course {
  /** The last revision that it is at or past. */
  revision: bigint;
  /** Whether it says so when nothing happens: old members do not. */
  tells: boolean;
}

/**
 * Stands by a watch, which may be silent because nothing happens, because nobody is there any more, or because it hangs on
 * a member that is cut off from the others. Asks etcd itself, about once a second.
 * @param course  kept up to date by whoever reads the watch
 * @throws only: StoreError when etcd does not answer or refuses, or when it is at a revision that the watch does not come
 * to; the signal's reason
 */
export async function vigil(
  ports: ObserverPorts,
  course: Readonly<Course>,
  signal: AbortSignal,
): Promise<never> {
  const { clock } = ports;
  for (let behind: { heard: bigint; since: number } | undefined; ; ) {
    await clock.sleep(EVERY, signal);
    const { revision: heard } = course;
    const { revision } = await ask(ports, signal);
    if (!course.tells || course.revision >= revision) behind = undefined;
    else if (behind === undefined || heard !== behind.heard) behind = { heard, since: clock.now() };
    else if (clock.now() - behind.since > STUCK_AFTER)
      throw new StoreError("unavailable", "changes are not told any more");
  }
}
