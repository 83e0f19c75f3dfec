import { clean } from "../../base/text.ts";
import type { Store } from "../../etcd/store.ts";
import type { Keys } from "../../protocol/keys.ts";
import { encodeName } from "../../protocol/names.ts";
import type { KeyRange } from "../../protocol/txn.ts";
import type { NameKind } from "../spec.ts";

/** Keys that are looked through; where there are more, some names are not offered. */
const MOST_KEYS = 2_000;

/**
 * Names in etcd that begin so, of one kind, in order. Those that a terminal would not show as they are, are left out.
 * @throws StoreError, the signal's reason
 */
export async function namesFrom(
  store: Pick<Store, "range">,
  keys: Keys,
  kind: NameKind,
  prefix: string,
  signal: AbortSignal,
): Promise<string[]> {
  const reads = ranges(keys, kind).map((range) =>
    store.range(
      { ...narrowed(range, kind === "run" ? "" : prefix), keysOnly: true, limit: MOST_KEYS },
      signal,
    ),
  );
  const found = (await Promise.all(reads)).flatMap(({ kvs }) =>
    kvs.flatMap(({ key }) => nameIn(keys, kind, key) ?? []),
  );
  return [...new Set(found)].filter((name) => name.startsWith(prefix) && clean(name) === name).sort();
}

function ranges(keys: Keys, kind: NameKind): Required<KeyRange>[] {
  switch (kind) {
    case "lock":
      return [keys.locks(), keys.histories()];
    case "resource":
      return [keys.resources(), keys.resourceConfigs()];
    case "group":
      return [keys.groups()];
    case "host":
      return [keys.hosts()];
    case "run":
      return [keys.locks(), keys.resources()];
    case "drain":
      return [keys.drains()];
  }
}

/** Names are encoded byte by byte, so the beginning of one encodes to the beginning of its key. */
function narrowed({ key, rangeEnd }: Required<KeyRange>, prefix: string): Required<KeyRange> {
  if (prefix === "") return { key, rangeEnd };
  const start = key + encodeName(prefix);
  return {
    key: start,
    rangeEnd: `${start.slice(0, -1)}${String.fromCharCode(start.charCodeAt(start.length - 1) + 1)}`,
  };
}

function nameIn(keys: Keys, kind: NameKind, key: string): string | undefined {
  const parsed = keys.parse(key);
  if (kind === "run") return parsed.kind === "lock" || parsed.kind === "resource" ? parsed.run : undefined;
  return parsed.kind === "unknown" ? undefined : parsed.name;
}
