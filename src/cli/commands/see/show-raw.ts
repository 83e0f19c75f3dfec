import { EXIT } from "../../../core/base/errors.ts";
import { parseJson } from "../../../core/base/parse-json.ts";
import { validateName } from "../../../core/protocol/names.ts";
import type { KeyValue } from "../../../core/protocol/txn.ts";
import { type RawKey, readEarlierValue, readRawKeys } from "../../../site/observe/raw-keys.ts";
import { followClaims } from "../../../site/state/claims.ts";
import type { Subject } from "../../../site/state/subject.ts";
import type { JsonFlags } from "../../frame/command-line/flags.ts";
import { printResult } from "../../frame/json-output.ts";
import {
  findOnlyClaim,
  QUEUE_COLLECTIONS,
  readSnapshot,
  throwUnknownName,
} from "../../frame/read-snapshot.ts";
import type { CommandContext } from "../../frame/store-command.ts";
import {
  compareLines,
  formatEarlierFacts,
  formatKeyFacts,
  formatValueLines,
  listSubjectRanges,
} from "./format-raw.ts";

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
