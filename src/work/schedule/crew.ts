import { type Outcome, RESULTS } from "../../schedule/outcome.ts";
import { replacedAt } from "../../schedule/prospect.ts";
import { Agenda } from "./agenda.ts";
import type { ClaimContext, Claimed } from "./claim.ts";
import type { Entry } from "./entry.ts";
import type { WorkerListener } from "./events.ts";
import { type Handler, TaskLost, type Verdict } from "./handler.ts";
import { outcomeOf, type Settled } from "./settle.ts";
import { settled } from "./settling.ts";
import { type RunningTask, taskOf } from "./tasks.ts";

/** The tasks that run on one session, from claimed to settled. */
export class Crew {
  readonly #context: ClaimContext;
  readonly #listener: WorkerListener;
  readonly #tasks = new Map<string, RunningTask>();
  /** By run: when the next occurrence takes its place. */
  readonly #replacements = new Agenda();
  readonly #changed: () => void;
  readonly #leaving = new AbortController();

  /** @param changed  told whenever a task has begun or ended */
  constructor(context: ClaimContext, listener: WorkerListener, changed: () => void) {
    this.#context = context;
    this.#listener = listener;
    this.#changed = changed;
  }

  get size(): number {
    return this.#tasks.size;
  }

  /** Runs a claimed occurrence to its end. */
  start(claimed: Claimed, handler: Handler): void {
    const { presence, ports } = this.#context;
    const running = taskOf(claimed, presence);
    // After a stop, answers that were waiting come before the timers that would tell what time it is.
    if (presence.session.horizon <= ports.clock.now())
      running.end(new TaskLost("lost", "the session may be over since the claim"));
    this.#tasks.set(claimed.running.run, running);
    this.#changed();
    void this.#run(running, handler).finally(() => {
      this.#tasks.delete(claimed.running.run);
      this.#replacements.set(claimed.running.run, undefined);
      this.#changed();
    });
  }

  /** Something of a schedule has changed: whether what runs of it is still ours, and still wanted. @param now wall clock, ms */
  watch(entry: Entry, now: number): void {
    for (const { claimed, end } of this.#tasks.values()) {
      if (claimed.id !== entry.id) continue;
      if (entry.running.get(claimed.key)?.createRevision !== claimed.token)
        end(new TaskLost("lost", "its running key was deleted"));
      const { definition = claimed.definition, due } = entry;
      const at = due && replacedAt(definition, due, claimed.running.scheduled, now);
      this.#replacements.set(claimed.running.run, at);
    }
  }

  /** Ends what the next occurrence replaces. @returns when there is something to replace again, wall clock, ms */
  replace(now: number): number | undefined {
    for (let run = this.#replacements.take(now); run !== undefined; run = this.#replacements.take(now))
      this.#tasks.get(run)?.end(new TaskLost("replaced", "the next one is due"));
    return this.#replacements.next;
  }

  /** Ends all, also what would go on to settle for as long as etcd refuses. */
  stop(reason: () => TaskLost): void {
    this.#leaving.abort();
    this.endAll(reason);
  }

  endAll(reason: () => TaskLost): void {
    for (const { end } of this.#tasks.values()) end(reason());
  }

  async #run(running: RunningTask, handler: Handler): Promise<void> {
    const { task, claimed } = running;
    const { clock, log } = this.#context.ports;
    const about = { id: task.id, type: task.type, definition: task.definition };
    this.#listener({ kind: "started", ...about, ...pick(task) });
    log.info("started", { schedule: task.id, scheduled: iso(task.scheduled), attempt: task.attempt });
    const verdict = await verdictOf(handler, running);
    const outcome = outcomeOf(claimed, verdict, clock.wall());
    const end = await settled(this.#context, claimed, { outcome, wait: verdict.wait }, this.#leaving.signal);
    this.#report(task.id, outcome, end);
    const { again, isDead = false } = end.kind === "settled" ? end.finish : {};
    this.#listener({ kind: "ended", ...about, outcome, isDead, ...(again !== undefined && { again }) });
  }

  #report(schedule: string, { result, code, reason, scheduled }: Outcome, { kind }: Settled): void {
    const { log } = this.#context.ports;
    const fields = { schedule, scheduled: iso(scheduled), result, code, reason };
    if (kind === "preempted") log.warn("a task was lost to others before it could be settled", fields);
    else if (result === "ok") log.info("finished", fields);
    else log.warn("a task did not finish well", fields);
  }
}

/** Whatever a handler does, there is a verdict: without one its running key would stand as long as the worker lives. */
async function verdictOf(handler: Handler, { task }: RunningTask): Promise<Verdict> {
  const verdict = await askedOf(handler, task);
  const { reason } = task.signal;
  if (verdict.result === "ok" || !(reason instanceof TaskLost)) return verdict;
  return { ...verdict, result: reason.result, reason: reason.message };
}

async function askedOf(handler: Handler, task: RunningTask["task"]): Promise<Verdict> {
  if (task.signal.aborted) return { result: "lost", reason: "it was over before it began" };
  try {
    const verdict: Verdict | undefined = await handler.run(task);
    if (RESULTS.some((result) => result === verdict?.result)) return verdict;
    return { result: "failed", reason: "the handler gave no result" };
  } catch (error) {
    return { result: "failed", reason: `the handler failed: ${String(error)}` };
  }
}

function pick({
  scheduled,
  late,
  run,
  attempt,
}: RunningTask["task"]): Pick<RunningTask["task"], "scheduled" | "late" | "run" | "attempt"> {
  return { scheduled, late, run, attempt };
}

const iso = (ms: number) => new Date(ms).toISOString();
