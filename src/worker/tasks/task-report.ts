import type { Clock } from "../../core/base/clock.ts";
import { NO_LONGER_NEEDED } from "../../core/base/wait.ts";
import { type Definition, getScheduleType } from "../../schedule/definition.ts";
import { getExpectation } from "../../schedule/expectation.ts";
import type { OccurrenceOutcome } from "../../schedule/state/outcome.ts";
import type { ClaimedOccurrence, UnstartedOutcomes } from "../claims/claim-occurrence.ts";
import type { WorkerListener } from "../events.ts";
import type { TaskCompletion } from "./complete-task.ts";
import { mergeOwnInput } from "./running-task.ts";

/** Reports one start of an occurrence: that it has begun, that it takes longer than expected, and how it has ended. */
export class TaskReport {
  readonly #listener: WorkerListener;
  readonly #claimed: ClaimedOccurrence;
  readonly #about: { id: string; type: string; definition: Definition };
  /** Ends the wait for an overrun, if one is expected. */
  #over: AbortController | undefined;
  #hasEnded = false;

  /** Reports the start. */
  constructor(clock: Clock, listener: WorkerListener, claimed: ClaimedOccurrence) {
    this.#listener = listener;
    this.#claimed = claimed;
    const { id, running } = claimed;
    const definition = mergeOwnInput(claimed);
    this.#about = { id, type: getScheduleType(id, definition), definition };
    const { scheduled, late, run, attempt, since: startedAt } = running;
    listener({ kind: "started", ...this.#about, scheduled, late, run, attempt });
    const { most: bound } = getExpectation(claimed.definition);
    if (bound === undefined) return;
    this.#over = new AbortController();
    void clock.sleep(bound, this.#over.signal).then(
      () => listener({ kind: "overrun", ...this.#about, scheduled, run, attempt, startedAt, bound }),
      () => {},
    );
  }

  /** Call this when the task has ended, and its result is not stored yet: it takes no longer. */
  stop(): void {
    this.#over?.abort(NO_LONGER_NEEDED);
  }

  /** Reports the end once; also a result that is stored after the task was reported as lost. */
  reportEnd(outcome: OccurrenceOutcome, completion: TaskCompletion): void {
    this.stop();
    const { after } = this.#claimed.open;
    const ended = { kind: "ended", ...this.#about, after, outcome } as const;
    if (completion.kind === "settled") {
      const { finish, wasFailing } = completion;
      const { again, isDead } = finish;
      this.#listener({ ...ended, isDead, wasFailing, ...(again !== undefined && { again }) });
    } else if (!this.#hasEnded) this.#listener({ ...ended, isDead: false, wasFailing: false, isLost: true });
    this.#hasEnded = true;
  }
}

/** Reports the occurrences that a claim has skipped, replaced or given up. */
export function reportUnstarted(
  listener: WorkerListener,
  { id, definition }: { id: string; definition: Definition | undefined },
  { outcomes, wasFailing }: UnstartedOutcomes,
): void {
  if (definition === undefined) return;
  const about = { id, type: getScheduleType(id, definition), definition };
  for (const outcome of outcomes) {
    if (outcome.result === "skipped") listener({ kind: "skipped", ...about, outcome });
    else listener({ kind: "ended", ...about, outcome, isDead: outcome.result === "lost", wasFailing });
  }
}
