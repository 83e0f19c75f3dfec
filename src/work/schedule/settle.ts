import { persist } from "../../etcd/persist.ts";
import { sameRevision } from "../../protocol/guards.ts";
import type { Keys } from "../../protocol/keys.ts";
import type { KeyValue, Op, OpResult, Txn, TxnAnswer } from "../../protocol/txn.ts";
import { type Due, dueText, parseDue } from "../../schedule/due.ts";
import { type Ended, type Finish, finish } from "../../schedule/finish.ts";
import { type Outcome, type Outcomes, outcomesText, remembered } from "../../schedule/outcome.ts";
import type { Book } from "./book.ts";
import { type Claimed, type Known, outcomesIn, written } from "./claim.ts";
import type { SchedulePorts } from "./ports.ts";

/** What became of a claimed occurrence. */
export type Settled =
  /** It is on record. `due`: where the schedule was then, or where it was seen to be later. */
  | { kind: "settled"; finish: Finish; due: Known<Due> | undefined }
  /** Its schedule was deleted meanwhile, or what stands in its place cannot be read. */
  | { kind: "deleted" }
  /** Its running key is not ours any more: the session was lost, or somebody deleted it. */
  | { kind: "preempted" };

/**
 * Ends an occurrence: one transaction, guarded by the own running key and by the schedule's state, that deletes the one,
 * puts the other, and remembers the outcome. Where an operator has changed the state meanwhile, it is made again of that.
 * @param until  instant on the clock until which an unreachable etcd is tried again
 * @throws StoreError
 */
export async function settle(
  ports: SchedulePorts,
  claimed: Claimed,
  ended: Ended,
  until: number,
): Promise<Settled> {
  let { due, outcomes } = claimed;
  const unit = ports.random.unit();
  for (;;) {
    const result = finish(claimed.definition, due.value, ended, unit);
    const memory = remembered(outcomes.value, [ended.outcome], result.isDead ? ended.outcome : undefined);
    const txn = settleTxn(ports, claimed, { result, due: due.mod, memory, outcomes: outcomes.mod });
    const answer = await persist(ports, until, (call) => ports.store.txn(txn, call));
    const seen = look(answer);
    // Where it was refused, an earlier copy of this call may have been applied, whose answer was lost.
    if (answer.succeeded || hasSettled(seen, claimed.running.run)) {
      const known = answer.succeeded ? memoryMissed(answer) : seen.outcomes;
      await rememberLate(ports, claimed.id, { ended, isDead: result.isDead, known }, until);
      const own = { value: result.due, mod: answer.revision };
      return { kind: "settled", finish: result, due: answer.succeeded ? own : seen.due };
    }
    if (seen.token !== claimed.token) return { kind: "preempted" };
    if (seen.due !== undefined) ({ due, outcomes } = { due: seen.due, outcomes: seen.outcomes });
    else if (await drop(ports, claimed, seen.dueMod, until)) return { kind: "deleted" };
  }
}

interface Step {
  result: Finish;
  due: bigint;
  memory: Outcomes;
  outcomes: bigint;
}

function settleTxn({ keys }: SchedulePorts, { id, key, token }: Claimed, step: Step): Txn {
  const reads: Op[] = [key, keys.due(id), keys.outcomes(id)].map((one) => ({ op: "range", key: one }));
  return {
    compare: [{ key, target: "create", is: "equal", value: token }, sameRevision(keys.due(id), step.due)],
    success: [
      { op: "put", key: keys.due(id), value: dueText(step.result.due) },
      { op: "delete", key },
      { op: "txn", txn: memoryTxn(keys.outcomes(id), step.memory, step.outcomes) },
    ],
    failure: reads,
  };
}

/** Nested, so that what cannot be remembered at once never delays the end. */
function memoryTxn(key: string, memory: Outcomes, mod: bigint): Txn {
  return {
    compare: [sameRevision(key, mod)],
    success: [{ op: "put", key, value: outcomesText(memory) }],
    failure: [{ op: "range", key }],
  };
}

function hasSettled({ due, outcomes }: ReturnType<typeof look>, run: string): boolean {
  return due?.value.last?.run === run || remembers(outcomes.value, run);
}

function rangeIn(result: OpResult | undefined): KeyValue | undefined {
  return result?.op === "range" ? result.kvs[0] : undefined;
}

function look({ results: [running, due, outcomes] }: TxnAnswer): {
  token: bigint | undefined;
  due: Claimed["due"] | undefined;
  /** 0n: it is not there. */
  dueMod: bigint;
  outcomes: Known<Outcomes>;
} {
  const state = rangeIn(due);
  const parsed = state && parseDue(state.value);
  const value = parsed === undefined || "fault" in parsed ? undefined : parsed.value;
  return {
    token: rangeIn(running)?.createRevision,
    due: value && { value, mod: state?.modRevision ?? 0n },
    dueMod: state?.modRevision ?? 0n,
    outcomes: outcomesIn(rangeIn(outcomes)),
  };
}

/** What is remembered instead, where the transaction was applied without its memory. */
function memoryMissed({ results }: TxnAnswer): Known<Outcomes> | undefined {
  const nested = results.at(-1);
  if (nested?.op !== "txn" || nested.succeeded) return undefined;
  return outcomesIn(rangeIn(nested.results[0]));
}

/** Makes up for a memory that was not written; what others wrote into it meanwhile is kept. */
async function rememberLate(
  ports: SchedulePorts,
  id: string,
  { ended, isDead, known }: { ended: Ended; isDead: boolean; known: Known<Outcomes> | undefined },
  until: number,
): Promise<void> {
  const { outcome } = ended;
  for (let seen = known; seen !== undefined && !remembers(seen.value, outcome.run); ) {
    const memory = remembered(seen.value, [outcome], isDead ? outcome : undefined);
    const txn = memoryTxn(ports.keys.outcomes(id), memory, seen.mod);
    const answer = await persist(ports, until, (call) => ports.store.txn(txn, call));
    seen = answer.succeeded ? undefined : outcomesIn(rangeIn(answer.results[0]));
  }
}

function remembers({ runs }: Outcomes, run: string | undefined): boolean {
  return runs.some((one) => one.run !== undefined && one.run === run);
}

/** The schedule's state is gone: its occurrence leaves without a trace. @returns false where there is another state by now */
async function drop(
  ports: SchedulePorts,
  { id, key, token }: Claimed,
  dueMod: bigint,
  until: number,
): Promise<boolean> {
  const txn: Txn = {
    compare: [{ key, target: "create", is: "equal", value: token }, sameRevision(ports.keys.due(id), dueMod)],
    success: [{ op: "delete", key }],
    failure: [],
  };
  const { succeeded } = await persist(ports, until, (call) => ports.store.txn(txn, call));
  return succeeded;
}

/** Takes over into the book what an own end has changed, before the watch tells it. */
export function noted(book: Book, keys: Keys, { id, key, token }: Claimed, settled: Settled): void {
  if (settled.kind === "settled" && settled.due !== undefined)
    book.wrote(written(keys.due(id), dueText(settled.due.value), settled.due.mod));
  book.erased(key, token);
}

/** What is remembered of a start. @param verdict how it came out */
export function outcomeOf(
  { running, token }: Claimed,
  verdict: Pick<Outcome, "result" | "code" | "reason" | "tail">,
  endedAt: number,
): Ended["outcome"] {
  const { scheduled, run, worker, host, attempt, since, late } = running;
  const { result, code, reason, tail } = verdict;
  return {
    ...{ scheduled, run, worker, host, attempt, startedAt: since, endedAt, late, token: String(token) },
    result: result as Ended["outcome"]["result"],
    ...(code !== undefined && { code }),
    ...(reason !== undefined && { reason }),
    ...(tail !== undefined && { tail }),
  };
}
