import { clean } from "../../base/text.ts";
import type { Store } from "../../etcd/store.ts";
import type { Keys } from "../../protocol/keys.ts";
import { encodeName } from "../../protocol/names.ts";
import { prefixEnd, prefixRange } from "../../protocol/txn.ts";
import type { NameKind } from "../spec.ts";
import type { Ask } from "./candidates.ts";

const PAGE = 1_000;
/** Pages that are read of a room, or of a queue. */
const MOST_PAGES = 4;

type Reader = Pick<Store, "range">;

/**
 * Names in etcd that begin so, in order. Those that a terminal would not show as they are, are left out. Of very many
 * some are left out too, but never so that the rest have more of their beginning in common than all: a shell types
 * that without asking.
 * @throws StoreError, the signal's reason
 */
export async function namesFrom(
  store: Reader,
  keys: Keys,
  ask: Omit<Ask, "line">,
  signal: AbortSignal,
): Promise<string[]> {
  const found = await Promise.all(ask.kinds.map((kind) => namesOf(store, keys, kind, ask, signal)));
  const fit = found.flat().filter((name) => name.startsWith(ask.prefix) && clean(name) === name);
  return [...new Set(fit)].sort();
}

async function namesOf(
  store: Reader,
  keys: Keys,
  kind: NameKind,
  ask: Omit<Ask, "line">,
  signal: AbortSignal,
): Promise<string[]> {
  if (kind === "run") return await runs(store, keys, ask, signal);
  const begun = encodeName(ask.prefix);
  const read = rooms(keys, kind, ask).map((room) => keysIn(store, room, begun, signal));
  return (await Promise.all(read)).flat().flatMap((key) => {
    const parsed = keys.parse(key);
    return parsed.kind === "unknown" ? [] : [parsed.name];
  });
}

/** Where the names of a kind stand: what their keys begin with. */
function rooms(keys: Keys, kind: Exclude<NameKind, "run">, { scope }: Pick<Ask, "scope">): string[] {
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
    case "drain":
      return scope === undefined ? [keys.drains().key] : [keys.drain(scope, "")];
  }
}

/**
 * Keys of a room whose names begin so; names are encoded byte by byte, so the beginning of one encodes to the
 * beginning of its key. Of a long queue the rest is passed over.
 */
async function keysIn(store: Reader, room: string, begun: string, signal: AbortSignal): Promise<string[]> {
  const found: string[] = [];
  const { key, rangeEnd } = prefixRange(room + begun);
  let from = key;
  for (let page = 0; page < MOST_PAGES; page++) {
    const { kvs, more } = await store.range({ key: from, rangeEnd, keysOnly: true, limit: PAGE }, signal);
    found.push(...kvs.map((one) => one.key));
    const last = found.at(-1);
    if (!more || last === undefined) return found;
    from = behind(room, last);
  }
  return [...found, ...(await strangers(store, key, rangeEnd, found, signal))];
}

/** The first key that can be of another name. */
function behind(room: string, key: string): string {
  const slash = key.indexOf("/", room.length);
  return slash < 0 ? `${key}\0` : prefixEnd(key.slice(0, slash + 1));
}

/** Keys further on that share less with the first ones than these share among themselves. */
async function strangers(
  store: Reader,
  begun: string,
  rangeEnd: string,
  found: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  const others: string[] = [];
  let shared = inCommon(found[0] ?? "", found.at(-1) ?? ""); // they are in order
  while (shared.length > begun.length) {
    const range = { key: prefixEnd(shared), rangeEnd, keysOnly: true, limit: 1 };
    const [next] = (await store.range(range, signal)).kvs;
    if (next === undefined) break;
    others.push(next.key);
    shared = inCommon(shared, next.key);
  }
  return others;
}

function inCommon(one: string, other: string): string {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return one.slice(0, length);
}

/**
 * Runs whose ids begin so, in one queue or in all. Ids are no beginnings of keys, so all are read; where they are too
 * many none is offered, for the only one of some that fits could be the wrong one.
 */
async function runs(
  store: Reader,
  keys: Keys,
  { queue }: Omit<Ask, "line">,
  signal: AbortSignal,
): Promise<string[]> {
  const ranges =
    queue === undefined ? [keys.locks(), keys.resources()] : [keys.queue(queue.kind, queue.name)];
  const limit = PAGE * MOST_PAGES;
  const read = ranges.map((range) => store.range({ ...range, keysOnly: true, limit }, signal));
  const answers = await Promise.all(read);
  if (answers.some(({ more }) => more)) return [];
  return answers.flatMap(({ kvs }) =>
    kvs.flatMap(({ key }) => {
      const parsed = keys.parse(key);
      return "run" in parsed ? [parsed.run] : [];
    }),
  );
}
