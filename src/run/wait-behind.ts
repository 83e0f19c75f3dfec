import { OVER } from "../base/over.ts";
import type { WakeReason } from "../etcd/wait-for-change.ts";
import type { ClaimAttempt } from "./attempt.ts";
import type { NextGrant } from "./step.ts";
import { buildStepTransaction, readGrant, type StepGrant, type StepTransaction } from "./step.ts";
import type { SuccessorEntry, Successors } from "./successors.ts";

/** How long to wait for the answer to an offer after its event, in ms. */
const LATE_ANSWER = 100;

/** An attempt that waits directly behind another ticket, and the successors of its process. */
interface Waiter {
  attempt: ClaimAttempt;
  successors: Successors;
  /** Aborts when the run leaves. */
  signal: AbortSignal;
}

/** Waits for a change, or until a run of this process that is directly ahead grants this claim as it ends. */
export async function waitBehind(
  { attempt, successors, signal }: Waiter,
  next: NextGrant,
  watch: (signal: AbortSignal) => Promise<WakeReason>,
): Promise<StepGrant | WakeReason> {
  let act: StepTransaction | undefined;
  const entry = successors.add({
    ahead: next.ahead,
    session: attempt.session.id,
    buildGrant: () => {
      act = buildStepTransaction(attempt, { kind: "grant", ...next }, attempt.ports.clock.getWallTime());
      return act.txn;
    },
  });
  const over = new AbortController();
  try {
    const wake = await Promise.race([entry.granted, watch(AbortSignal.any([signal, over.signal]))]);
    if (typeof wake === "object") return act === undefined ? "broken" : readGrant(act, wake);
    // The event of the grant may arrive before its answer.
    const answer = await waitForAnswer(attempt, entry.offered, signal);
    return answer === undefined || act === undefined ? wake : readGrant(act, answer);
  } finally {
    entry.leave();
    over.abort(OVER);
  }
}

async function waitForAnswer(
  { ports }: ClaimAttempt,
  offered: SuccessorEntry["offered"],
  signal: AbortSignal,
): Promise<Awaited<SuccessorEntry["offered"]>> {
  if (offered === undefined) return undefined;
  const late = ports.clock.sleep(LATE_ANSWER, signal).then(() => undefined);
  late.catch(() => {}); // the run leaves
  return await Promise.race([offered, late]);
}
