import { EXIT, SignalboxError } from "../../base/errors.ts";
import type { AuditRecord } from "../../protocol/audit.ts";
import { sameRevision } from "../../protocol/guards.ts";
import type { Keys } from "../../protocol/keys.ts";
import type { Compare, KeyRange, Op } from "../../protocol/txn.ts";
import { type Definition, definitionText } from "../../schedule/definition.ts";
import { type Due, dueText } from "../../schedule/due.ts";
import { type Outcomes, outcomesText } from "../../schedule/outcome.ts";
import { act, type Receipt } from "../operate/act.ts";
import { FEW, inChunks } from "../operate/chunks.ts";
import type { OperatorPorts } from "../operate/ports.ts";
import { readAllSeen, readSeen, type Seen, type Sight } from "./seen.ts";

/** What is to become of a schedule. What is not said stays as it is. */
export interface Change {
  readonly before: Seen;
  readonly definition?: Definition;
  readonly due?: Due;
  readonly outcomes?: Outcomes;
  readonly isDeleted?: true;
}

/** Something that an operator does to schedules: it is decided anew from what stands in etcd, until it is done. */
export interface Amendment {
  /** What the audit says it was done to: `schedule backup`. */
  readonly target: string;
  /** The schedules it is about; `all` where it depends on what there is. */
  readonly ids: readonly string[] | "all";
  /** @param now  wall clock, ms since the epoch. @throws NotFoundError, AlreadyExistsError, UsageError */
  decide(sight: Sight, now: number): readonly Change[];
  /** What the audit says became of it. */
  outcome(changes: readonly Change[]): string;
}

/** How it is done. */
export interface Manner {
  reason?: string | undefined;
  /** Revision at which the operator saw the definitions; one that was written later stops everything. */
  seen?: bigint | undefined;
}

/** `changed`: others have written these definitions since they were seen, and nothing was done. */
export type Amended =
  | { kind: "done"; changes: readonly Change[]; revision: bigint; record: AuditRecord }
  | { kind: "nothing"; revision: bigint }
  | { kind: "changed"; ids: readonly string[]; revision: bigint };

/** How often it is decided anew when others write the same keys meanwhile. */
const TRIES = 20;

/** What an amendment would change now. @throws as `decide`, StoreError */
export async function foreseen(
  ports: OperatorPorts,
  amendment: Amendment,
): Promise<{ changes: readonly Change[]; revision: bigint }> {
  const { ids } = amendment;
  const sight = ids === "all" ? await readAllSeen(ports) : await readSeen(ports, ids);
  return { changes: amendment.decide(sight, ports.clock.wall()), revision: sight.revision };
}

/**
 * Does it: one guarded transaction with its audit record, all of it or nothing. Where a worker has moved a schedule on
 * meanwhile, it is decided anew.
 * @throws as `decide`; SignalboxError 75 where others write without a pause, 77, 78 where it is too much; StoreError
 */
export async function amend(
  ports: OperatorPorts,
  amendment: Amendment,
  { reason, seen }: Manner = {},
): Promise<Amended> {
  for (let left = TRIES; left > 0; left -= 1) {
    const { changes, revision } = await foreseen(ports, amendment);
    const newer = changes.filter(({ before }) => seen !== undefined && before.definitionMod > seen);
    if (newer.length > 0) return { kind: "changed", ids: newer.map(({ before }) => before.id), revision };
    if (changes.length === 0) return { kind: "nothing", revision };
    const receipt = await apply(ports, amendment, changes, { reason, seen: seen ?? revision, at: revision });
    if (receipt.kind === "done")
      return { kind: "done", changes, revision: receipt.revision, record: receipt.record };
  }
  throw new SignalboxError(
    EXIT.changed,
    "nothing was done: others write these schedules without a pause; try again",
  );
}

async function apply(
  ports: OperatorPorts,
  amendment: Amendment,
  changes: readonly Change[],
  { reason, seen, at }: { reason: string | undefined; seen: bigint; at: bigint },
): Promise<Receipt> {
  const { keys } = ports;
  const ops = changes.flatMap((change) => opsFor(keys, change));
  return await act(ports, {
    ...{ action: "schedule", target: amendment.target, seen, reason, outcome: amendment.outcome(changes) },
    compare: guards(keys, changes, at),
    ops: inChunks(ops, (op) => roomOf(keys, op)),
  });
}

function roomOf(keys: Keys, op: Op): string {
  return op.op === "put" || op.op === "delete" ? keys.parse(op.key).kind : "";
}

function opsFor(keys: Keys, { before: { id, outcomesMod }, isDeleted, ...after }: Change): Op[] {
  if (isDeleted)
    return [keys.schedule(id), keys.due(id), keys.outcomes(id)].map((key) => ({ op: "delete", key }));
  const { definition, due, outcomes } = after;
  return [
    ...(definition ? [put(keys.schedule(id), definitionText(definition))] : []),
    ...(due ? [put(keys.due(id), dueText(due))] : []),
    ...(outcomes && (outcomesMod > 0n || outcomes.runs.length + outcomes.dead.length > 0)
      ? [put(keys.outcomes(id), outcomesText(outcomes))]
      : []),
  ];
}

const put = (key: string, value: string): Op => ({ op: "put", key, value });

/**
 * Everything that was decided from is as it was seen. Where there are too many keys to compare one by one, no definition may
 * be newer, nor the audit, which sees deletions: whatever an operator does is recorded there. Of the states, which workers
 * write all the time, only those count then that are written, and all only where these are too many as well.
 */
function guards(keys: Keys, changes: readonly Change[], revision: bigint): Compare[] {
  const definitions = changes.map(({ before }) =>
    sameRevision(keys.schedule(before.id), before.definitionMod),
  );
  const decided = changes.flatMap((change) => stateGuards(keys, change));
  if (definitions.length + decided.length <= FEW) return [...definitions, ...decided];
  const written = changes
    .filter(({ due }) => due !== undefined)
    .flatMap((change) => stateGuards(keys, change));
  const notNewer = { target: "mod", is: "less", value: revision + 1n } as const;
  const whole = (...ranges: Required<KeyRange>[]): Compare[] =>
    ranges.map((range) => ({ ...range, ...notNewer }));
  return [
    ...whole(keys.schedules(), keys.audits()),
    ...(written.length <= FEW ? written : whole(keys.dues(), keys.allOutcomes())),
  ];
}

/** The state of a schedule that goes on, and its memory where that is written. */
function stateGuards(keys: Keys, { before, isDeleted, outcomes }: Change): Compare[] {
  if (isDeleted || before.definitionMod === 0n) return [];
  const memory = outcomes === undefined ? [] : [sameRevision(keys.outcomes(before.id), before.outcomesMod)];
  return [sameRevision(keys.due(before.id), before.dueMod), ...memory];
}
