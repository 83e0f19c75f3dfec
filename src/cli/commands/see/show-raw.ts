import { EXIT } from "../../../core/base/errors.ts";
import { parseJson } from "../../../core/base/parse-json.ts";
import { clean } from "../../../core/base/text.ts";
import type { Keys } from "../../../core/protocol/keys.ts";
import { validateName } from "../../../core/protocol/names.ts";
import type { KeyValue, RangeOp } from "../../../core/protocol/txn.ts";
import { type RawKey, readEarlierValue, readRawKeys } from "../../../site/observe/raw-keys.ts";
import { followClaims } from "../../../site/state/claims.ts";
import type { Snapshot } from "../../../site/state/snapshot.ts";
import type { Subject } from "../../../site/state/subject.ts";
import type { JsonFlags } from "../../frame/command-line/flags.ts";
import { escapeInvisible, printResult } from "../../frame/json-output.ts";
import {
  findOnlyClaim,
  QUEUE_COLLECTIONS,
  readSnapshot,
  throwUnknownName,
} from "../../frame/read-snapshot.ts";
import type { CommandContext } from "../../frame/store-command.ts";

/** Maximum number of keys, and of earlier values of each. */
const MOST_KEYS = 100;

/** A key with its earlier values, the newest first. */
interface KeyHistory {
  entry: RawKey;
  earlier: KeyValue[];
  /** Whether etcd has removed values before these. */
  isCompacted: boolean;
}

/**
 * Prints the keys of the object that the arguments name, as etcd has them.
 * @param count  number of earlier values of each key
 */
export async function printRawKeys(context: CommandContext<JsonFlags>, count: number): Promise<number> {
  const [kind = "", name = ""] = context.args;
  const { subject, queues } = await findSubject(context, kind, name);
  const ranges = listSubjectRanges(context.keys, subject, { queues });
  const { signal } = context;
  const { revision, entries, hasMore } = await readRawKeys(context, ranges, { limit: MOST_KEYS, signal });
  if (entries.length === 0) throwUnknownName(kind, name, [], ", or it has no keys");
  const histories: KeyHistory[] = [];
  for (const entry of entries) histories.push(await readHistory(context, entry, count));
  const document = { revision, kind, name, keys: histories.map(toJson), more: hasMore };
  printResult(context, document, () => `${histories.flatMap(formatHistory).join("\n")}\n`);
  if (hasMore) context.printMessage(`note: only the first ${MOST_KEYS} keys are shown`);
  return EXIT.ok;
}

async function findSubject(
  context: CommandContext,
  kind: string,
  name: string,
): Promise<{ subject: Subject } & Pick<Awaited<ReturnType<typeof readSnapshot>>, "queues">> {
  if (kind !== "run") {
    const subject = { kind: kind as "lock" | "resource" | "host" | "group" | "schedule", name };
    if (kind !== "host" && kind !== "group") validateName(subject.kind, name);
    return { subject, queues: new Map() };
  }
  const snapshot = await readSnapshot(context, QUEUE_COLLECTIONS);
  const claims = followClaims(snapshot);
  const claim = findOnlyClaim(name, claims);
  if (claim === undefined) return throwUnknownName("run", name, claims.keys(), ", or it has ended");
  return { subject: { kind: "run", name: claim.run }, queues: snapshot.queues };
}

async function readHistory(context: CommandContext, entry: RawKey, count: number): Promise<KeyHistory> {
  const earlier: KeyValue[] = [];
  let last: KeyValue = entry;
  while (earlier.length < count) {
    const found = await readEarlierValue(context, last, context.signal);
    if ("end" in found) return { entry, earlier, isCompacted: found.end === "compacted" };
    earlier.push(found.kv);
    last = found.kv;
  }
  return { entry, earlier, isCompacted: false };
}

function toJson({ entry, earlier, isCompacted }: KeyHistory): object {
  const { key, value, createRevision, modRevision, version, session, lease } = entry;
  return {
    key,
    value: toJsonValue(value),
    createRevision,
    modRevision,
    version,
    ...(session !== 0n && { lease: { id: session.toString(16), ...lease } }),
    ...(earlier.length > 0 && {
      earlier: earlier.map((one) => ({
        modRevision: one.modRevision,
        version: one.version,
        value: toJsonValue(one.value),
      })),
    }),
    ...(isCompacted && { compacted: true }),
  };
}

/** Returns the value as JSON, or as its text if it is not JSON, or if it would change. */
function toJsonValue(value: string): unknown {
  const parsed = parseJson(value);
  return parsed !== undefined && JSON.stringify(parsed) === value ? parsed : value;
}

function formatHistory({ entry, earlier, isCompacted }: KeyHistory): string[] {
  const values = [entry, ...earlier];
  const texts = values.map(({ value }) => formatValueLines(value));
  const blocks = values.flatMap((kv, at) => [
    ...(at === 0 ? [] : [formatEarlierFacts(kv)]),
    ...compareLines(texts[at + 1], texts[at] ?? []).map(({ mark, text }) => `  ${mark} ${text}`.trimEnd()),
  ]);
  const end = isCompacted ? ["etcd has compacted the values before"] : [];
  return [...formatValueLines(entry.key), formatKeyFacts(entry), ...blocks, ...end, ""];
}

/** A line of a value: new in this revision, removed in it, or as before. */
interface ChangedLine {
  mark: "+" | "-" | " ";
  text: string;
}

/**
 * Formats a value as lines: indented if it is JSON that is the same after it was read and written again, otherwise as it is
 * stored. A number with more digits than a program can read would be another one.
 */
export function formatValueLines(value: string): string[] {
  const parsed = parseJson(value);
  const isSame = parsed !== undefined && JSON.stringify(parsed) === value;
  const text = isSame ? JSON.stringify(parsed, undefined, 2) : value;
  return text.split("\n").map((line) => clean(escapeInvisible(line)));
}

/** Formats what etcd says of a key: revisions, version, lease. */
export function formatKeyFacts({ createRevision, modRevision, version, session, lease }: RawKey): string {
  const facts = [
    `created at revision ${createRevision}`,
    `changed at ${modRevision}`,
    ...(version === undefined ? [] : [`version ${version}`]),
    session === 0n ? "no lease" : `lease ${session.toString(16)}, ${formatLease(lease)}`,
  ];
  return facts.join(", ");
}

function formatLease(lease: RawKey["lease"]): string {
  if (lease === null) return "its time to live could not be read";
  if (lease === undefined) return "which has ended";
  return `${lease.left} s of ${lease.ttl} s left`;
}

/** Formats the revision of an earlier value. */
export function formatEarlierFacts({ modRevision, version }: KeyValue): string {
  return `changed at revision ${modRevision}${version === undefined ? "" : `, version ${version}`}`;
}

/** Longest values whose lines are compared: the effort grows with the product of both. */
export const MOST_COMPARED = 500;

/** Compares the lines of a value with those before it. */
export function compareLines(before: readonly string[] | undefined, after: readonly string[]): ChangedLine[] {
  if (before === undefined || before.length > MOST_COMPARED || after.length > MOST_COMPARED)
    return after.map((text) => ({ mark: " ", text }));
  const lengths = computeCommonLengths(before, after);
  const lines: ChangedLine[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    const [old, now] = [before[i], after[j]];
    if (old !== undefined && old === now) {
      lines.push({ mark: " ", text: now });
      i += 1;
      j += 1;
    } else if (
      now === undefined ||
      (old !== undefined && getLength(lengths, i + 1, j) >= getLength(lengths, i, j + 1))
    ) {
      lines.push({ mark: "-", text: old ?? "" });
      i += 1;
    } else {
      lines.push({ mark: "+", text: now });
      j += 1;
    }
  }
  return lines;
}

function getLength(lengths: readonly (readonly number[])[], i: number, j: number): number {
  return lengths[i]?.[j] ?? 0;
}

/** Computes the length of the longest common subsequence of all ends of two lists. */
function computeCommonLengths(before: readonly string[], after: readonly string[]): number[][] {
  const lengths = Array.from({ length: before.length + 1 }, () =>
    new Array<number>(after.length + 1).fill(0),
  );
  for (let i = before.length - 1; i >= 0; i -= 1) {
    for (let j = after.length - 1; j >= 0; j -= 1) {
      const row = lengths[i];
      if (row === undefined) continue;
      row[j] =
        before[i] === after[j]
          ? 1 + getLength(lengths, i + 1, j + 1)
          : Math.max(getLength(lengths, i + 1, j), getLength(lengths, i, j + 1));
    }
  }
  return lengths;
}

/**
 * Lists the keys of a subject, the most important ones first.
 * @param snapshot  the queues in which the tickets of a run are searched
 */
export function listSubjectRanges(
  keys: Keys,
  subject: Subject,
  snapshot: Pick<Snapshot, "queues">,
): readonly RangeOp[] {
  switch (subject.kind) {
    case "lock":
    case "resource": {
      const { kind, name } = subject;
      const own = kind === "lock" ? [] : [{ key: keys.resourceConfig(name) }];
      const rest = [{ key: keys.drain(kind, name) }, { key: keys.history(name) }];
      const sort = { by: "create", order: "ascend" } as const; // the order of the queue
      return [
        ...own,
        { ...keys.getQueueRange(kind, name), sort },
        ...(kind === "lock" ? rest : rest.slice(0, 1)),
      ];
    }
    case "run":
      return listRunKeys(keys, subject.name, snapshot).map((key) => ({ key }));
    case "host":
      return [{ key: keys.host(subject.name) }, { key: keys.drain("host", subject.name) }];
    case "group":
      return [{ key: keys.group(subject.name) }, { key: keys.drain("group", subject.name) }];
    case "schedule":
      return keys.listScheduleRanges(subject.name);
    case "drain":
      return [{ key: keys.drain(subject.scope, subject.name || "all") }];
    case "record":
      return subject.about === undefined
        ? (subject.keys ?? []).map((key) => ({ key }))
        : listSubjectRanges(keys, subject.about, snapshot);
  }
}

function listRunKeys(keys: Keys, run: string, { queues }: Pick<Snapshot, "queues">): string[] {
  return [...queues.values()].flatMap(({ kind, name, entries }) =>
    entries.some((entry) => entry.run === run) ? [keys[kind](name, run)] : [],
  );
}
