import { clean } from "../../base/text.ts";
import type { Store } from "../../etcd/store.ts";
import type { Keys } from "../../protocol/keys.ts";
import { encodeName } from "../../protocol/names.ts";
import { buildPrefixRange, computePrefixEnd } from "../../protocol/txn.ts";
import type { NameKind } from "../spec.ts";
import type { NameQuery } from "./candidates.ts";

const PAGE = 1_000;
/** Largest number of pages to read of a collection or a queue. */
const MOST_PAGES = 4;

type RangeReader = Pick<Store, "readRange">;

/** What is read, and how. */
interface NameReading {
  store: RangeReader;
  keys: Keys;
  ask: Omit<NameQuery, "line">;
  signal: AbortSignal;
}

/**
 * Reads the names in etcd with a prefix, sorted. Names that a terminal would not show unchanged are left out. If there
 * are very many, some are left out, but the remaining names never share a longer prefix than all names do: a shell
 * inserts the common prefix without asking.
 * @throws StoreError, the signal's reason
 */
export async function readCompletionNames(
  store: RangeReader,
  keys: Keys,
  ask: Omit<NameQuery, "line">,
  signal: AbortSignal,
): Promise<string[]> {
  const found = await Promise.all(ask.kinds.map((kind) => readKindNames(kind, { store, keys, ask, signal })));
  const fit = found.flat().filter((name) => name.startsWith(ask.prefix) && clean(name) === name);
  return [...new Set(fit)].sort();
}

async function readKindNames(kind: NameKind, reading: NameReading): Promise<string[]> {
  if (kind === "run") return await readRunIds(reading);
  if (kind === "context") return []; // these are in configuration files
  const { keys, ask } = reading;
  const read = listPrefixes(keys, kind, ask).map((keyPrefix) => readKeys(keyPrefix, reading));
  return (await Promise.all(read)).flat().flatMap((key) => {
    const parsed = keys.parse(key);
    return parsed.kind === "unknown" ? [] : [parsed.name];
  });
}

/** Lists the key prefixes under which the names of a kind are stored. */
function listPrefixes(
  keys: Keys,
  kind: Exclude<NameKind, "run" | "context">,
  { scope }: Pick<NameQuery, "scope">,
): string[] {
  switch (kind) {
    case "lock":
      return [keys.locks().key, keys.histories().key];
    case "resource":
      return [keys.resources().key, keys.resourceConfigs().key];
    case "group":
      return [keys.groups().key];
    case "host":
      return [keys.hosts().key];
    case "schedule":
      return [keys.schedules().key];
    case "calendar":
      return [keys.calendars().key];
    case "drain":
      return scope === undefined ? [keys.drains().key] : [keys.drain(scope, "")];
  }
}

/**
 * Reads the keys of a collection whose names begin with a prefix. Names are encoded byte by byte, so a prefix of a name
 * encodes to a prefix of its key. Further tickets of a queue are skipped.
 */
async function readKeys(keyPrefix: string, { store, ask, signal }: NameReading): Promise<string[]> {
  const found: string[] = [];
  const { key, rangeEnd } = buildPrefixRange(keyPrefix + encodeName(ask.prefix));
  let from = key;
  for (let page = 0; page < MOST_PAGES; page++) {
    const { kvs, more } = await store.readRange({ key: from, rangeEnd, keysOnly: true, limit: PAGE }, signal);
    found.push(...kvs.map((one) => one.key));
    const last = found.at(-1);
    if (!more || last === undefined) return found;
    from = computeNextKey(keyPrefix, last);
  }
  return [...found, ...(await readDistantKeys(store, key, rangeEnd, found, signal))];
}

/** Returns the first key that can belong to another name. */
function computeNextKey(keyPrefix: string, key: string): string {
  const slash = key.indexOf("/", keyPrefix.length);
  return slash < 0 ? `${key}\0` : computePrefixEnd(key.slice(0, slash + 1));
}

/** Reads later keys that share a shorter prefix with the first ones than those share among themselves. */
async function readDistantKeys(
  store: RangeReader,
  begun: string,
  rangeEnd: string,
  found: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  const others: string[] = [];
  let shared = findCommonPrefix(found[0] ?? "", found.at(-1) ?? ""); // keys are sorted
  while (shared.length > begun.length) {
    const range = { key: computePrefixEnd(shared), rangeEnd, keysOnly: true, limit: 1 };
    const [next] = (await store.readRange(range, signal)).kvs;
    if (next === undefined) break;
    others.push(next.key);
    shared = findCommonPrefix(shared, next.key);
  }
  return others;
}

function findCommonPrefix(one: string, other: string): string {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return one.slice(0, length);
}

/**
 * Reads the ids of runs in one queue or in all. Keys do not begin with ids, so all tickets are read. If there are too
 * many, the result is empty, because the only match among some of them could be the wrong run.
 */
async function readRunIds({ store, keys, ask: { queue }, signal }: NameReading): Promise<string[]> {
  const ranges =
    queue === undefined ? [keys.locks(), keys.resources()] : [keys.getQueueRange(queue.kind, queue.name)];
  const limit = PAGE * MOST_PAGES;
  const read = ranges.map((range) => store.readRange({ ...range, keysOnly: true, limit }, signal));
  const answers = await Promise.all(read);
  if (answers.some(({ more }) => more)) return [];
  return answers.flatMap(({ kvs }) =>
    kvs.flatMap(({ key }) => {
      const parsed = keys.parse(key);
      return "run" in parsed ? [parsed.run] : [];
    }),
  );
}
