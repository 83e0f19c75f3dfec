import { newRunId } from "../../base/ids.ts";
import { persist } from "../../etcd/persist.ts";
import { absent, sameRevision } from "../../protocol/guards.ts";
import type { Compare, KeyValue, Op, Txn, TxnAnswer } from "../../protocol/txn.ts";
import type { Definition } from "../../schedule/definition.ts";
import { type Due, dueText, type Open } from "../../schedule/due.ts";
import {
  type Outcome,
  type Outcomes,
  outcomesText,
  parseOutcomes,
  remembered,
} from "../../schedule/outcome.ts";
import { type Candidate, mayOverlap } from "../../schedule/prospect.ts";
import { type Running, runningText } from "../../schedule/running.ts";
import { type Taking, take } from "../../schedule/take.ts";
import type { Book } from "./book.ts";
import type { Entry } from "./entry.ts";
import type { SchedulePorts } from "./ports.ts";
import type { Presence } from "./presence.ts";

/** What is known of a key's value; `mod` 0n: it is not there. */
export interface Known<T> {
  value: T;
  mod: bigint;
}

/** An occurrence that was claimed: its running key is ours. */
export interface Claimed {
  id: string;
  definition: Definition;
  open: Open;
  running: Running;
  key: string;
  /** `create_revision` of the running key: the fencing token. */
  token: bigint;
  due: Known<Due>;
  outcomes: Known<Outcomes>;
}

/** What became of an attempt: `missed` others were faster, or something has changed. */
export type Attempt =
  | { kind: "claimed"; claimed: Claimed; outcomes: readonly Outcome[] }
  | { kind: "skipped"; outcomes: readonly Outcome[]; isDead: boolean }
  | { kind: "missed" };

export interface ClaimContext {
  ports: SchedulePorts;
  presence: Presence;
  book: Book;
  host: string;
  pid: number;
}

/**
 * Claims what may be taken of a schedule now: one transaction that puts the running key on the worker's session and the
 * schedule's next state, guarded by everything that the decision was made from. Tried as long as the session lives, for a
 * claim without an answer may stand, and would then stand as long.
 * @throws StoreError when etcd refuses; SessionLost
 */
export async function claim(context: ClaimContext, entry: Entry, candidate: Candidate): Promise<Attempt> {
  const { ports, presence, book } = context;
  const now = ports.clock.wall();
  const { definition, due } = entry;
  const timing = book.timing(entry);
  if (definition === undefined || due === undefined || timing === undefined) return { kind: "missed" };
  const taking = take(definition, timing, due, candidate, now);
  const outcomes = taking.outcomes.length === 0 ? undefined : await readOutcomes(ports, entry.id);
  const running = taking.taken && runningOf(context, taking.taken, now);
  const txn = claimTxn(context, entry, taking, running, outcomes);
  const call = (signal: AbortSignal) => ports.store.txn(txn, signal);
  const answer = await persist(ports, Number.POSITIVE_INFINITY, call, presence.session.signal);
  if (answer.succeeded) book.wrote(written(ports.keys.due(entry.id), dueText(taking.due), answer.revision));
  const attempt = attemptOf({ ports, entry, taking, running }, answer);
  if (attempt.kind === "claimed")
    book.wrote(written(attempt.claimed.key, runningText(attempt.claimed.running), attempt.claimed.token));
  return attempt;
}

function runningOf({ presence, host, pid, ports }: ClaimContext, open: Open, now: number): Running {
  return {
    ...{ worker: presence.id, host, pid, run: newRunId(ports.random) },
    ...{ scheduled: open.scheduled, attempt: open.attempt, since: now, late: Math.max(0, now - open.runAt) },
  };
}

function claimTxn(
  { ports: { keys }, presence, book }: ClaimContext,
  entry: Entry,
  { due, outcomes: added, dead }: Taking,
  running: Running | undefined,
  before: Known<Outcomes> | undefined,
): Txn {
  const { id, definition, definitionMod, dueMod } = entry;
  const key = running && runningKey(keys, id, definition, running.scheduled);
  const memory = before && outcomesText(remembered(before.value, added, dead));
  const puts: Op[] = [
    { op: "put", key: keys.due(id), value: dueText(due) },
    ...(key && running
      ? [{ op: "put", key, value: runningText(running), session: presence.session.id } as const]
      : []),
    ...(memory === undefined ? [] : [{ op: "put", key: keys.outcomes(id), value: memory } as const]),
  ];
  const reads: Op = { op: "range", key: keys.outcomes(id) };
  const unchanged = [sameRevision(keys.schedule(id), definitionMod), sameRevision(keys.due(id), dueMod)];
  const rules = { target: "mod", is: "less", value: book.revision + 1n } as const;
  return {
    compare: [
      ...unchanged,
      ...blockers(keys, id, definition, running),
      { ...keys.drains(), ...rules },
      ...(definition?.group === undefined ? [] : [{ ...keys.groups(), ...rules }]),
      ...(before === undefined ? [] : [sameRevision(keys.outcomes(id), before.mod)]),
    ],
    success: [...puts, reads],
    failure: [{ op: "range", key: key ?? keys.running(id) }, reads],
  };
}

type KeysOf = SchedulePorts["keys"];

/** Where occurrences may overlap, each has a key of its own. */
function runningKey(keys: KeysOf, id: string, definition: Definition | undefined, scheduled: number): string {
  return keys.running(id, mayOverlap(definition) ? scheduled : undefined);
}

/** What must not run: nothing at all, or, where occurrences overlap, not this one. */
function blockers(
  keys: KeysOf,
  id: string,
  definition: Definition | undefined,
  running: Running | undefined,
): Compare[] {
  if (mayOverlap(definition))
    return absent([keys.running(id), ...(running ? [keys.running(id, running.scheduled)] : [])]);
  return [
    ...absent([keys.running(id)]),
    { ...keys.runningsOf(id), target: "create", is: "equal", value: 0n },
  ];
}

interface Made {
  ports: SchedulePorts;
  entry: Entry;
  taking: Taking;
  running: Running | undefined;
}

/** A claim that was refused because an earlier copy of it was applied finds its own running key. */
function attemptOf({ ports: { keys }, entry, taking, running }: Made, answer: TxnAnswer): Attempt {
  const { id, definition } = entry;
  const key = running && runningKey(keys, id, definition, running.scheduled);
  const [found] = answer.results;
  const own =
    !answer.succeeded && found?.op === "range"
      ? found.kvs.find(({ value }) => isOwn(value, running))
      : undefined;
  if (!answer.succeeded && own === undefined) return { kind: "missed" };
  if (key === undefined || running === undefined || taking.taken === undefined || definition === undefined)
    return { kind: "skipped", outcomes: taking.outcomes, isDead: taking.dead !== undefined };
  const token = own?.createRevision ?? answer.revision;
  const claimed = {
    id,
    definition,
    open: taking.taken,
    running,
    key,
    token,
    due: { value: taking.due, mod: token },
    outcomes: outcomesRead(answer),
  };
  return { kind: "claimed", claimed, outcomes: taking.outcomes };
}

function isOwn(value: string, running: Running | undefined): boolean {
  return running !== undefined && value === runningText(running);
}

function outcomesRead({ results }: TxnAnswer): Known<Outcomes> {
  const last = results.at(-1);
  return outcomesIn(last?.op === "range" ? last.kvs[0] : undefined);
}

/** What a schedule remembers, of its key. */
export function outcomesIn(kv: KeyValue | undefined): Known<Outcomes> {
  return { value: parseOutcomes(kv?.value), mod: kv?.modRevision ?? 0n };
}

async function readOutcomes(
  { store, keys, clock, random, settings }: SchedulePorts,
  id: string,
): Promise<Known<Outcomes>> {
  const until = clock.now() + settings.connectTimeout;
  const { kvs } = await persist({ clock, random }, until, (call) =>
    store.range({ key: keys.outcomes(id) }, call),
  );
  return outcomesIn(kvs[0]);
}

/** A key as an own transaction has left it, for the book. */
export function written(key: string, value: string, revision: bigint): KeyValue {
  return { key, value, createRevision: revision, modRevision: revision, session: 0n };
}
