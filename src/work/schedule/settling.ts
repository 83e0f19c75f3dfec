import type { ClaimContext, Claimed } from "./claim.ts";
import { noted, type Settled, settle } from "./settle.ts";

/** How long it is tried to settle a task whose session is lost, ms: mostly it cannot be, and somebody else takes it. */
const LOST_WITHIN = 1_000;
/** How often it is tried, of a worker that stops, where etcd refuses: others take it again, and the worker must leave. */
const LAST_TRIES = 3;
/** Between attempts to settle one that etcd refuses, ms: while its running key stands, nobody else can. */
const AGAIN = 2_000;
const LAST_AGAIN = 500;

/**
 * Settles a task, and goes on trying while etcd refuses it; rejects never.
 * @param leaving  aborted when the worker stops: then it is tried a few times more
 */
export async function settled(
  context: ClaimContext,
  claimed: Claimed,
  ended: Parameters<typeof settle>[2],
  leaving: AbortSignal,
): Promise<Settled> {
  const { ports, presence, book } = context;
  const { session } = presence;
  for (let last = 0; ; ) {
    const until = session.signal.aborted ? ports.clock.now() + LOST_WITHIN : session.horizon;
    try {
      const result = await settle(ports, claimed, ended, until);
      noted(book, ports.keys, claimed, result);
      return result;
    } catch (error) {
      if (leaving.aborted) last += 1;
      if (session.signal.aborted || last === LAST_TRIES) return { kind: "preempted" };
      ports.log.error("a task has ended, but etcd does not take that", {
        schedule: claimed.id,
        error: String(error),
      });
      await pause(context, leaving);
    }
  }
}

/** The worker's stop cuts a pause short that has begun before it. */
async function pause({ ports, presence }: ClaimContext, leaving: AbortSignal): Promise<void> {
  const { signal } = presence.session;
  const [ms, over] = leaving.aborted ? [LAST_AGAIN, signal] : [AGAIN, AbortSignal.any([signal, leaving])];
  await ports.clock.sleep(ms, over).catch(() => {});
}
