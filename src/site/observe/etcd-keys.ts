import { computePrefixEnd, type KeyRange, type KeyValue } from "../../core/protocol/txn.ts";
import { type ObserverPorts, readWithRetries } from "./ports.ts";
import { PageSize } from "./read.ts";

/** Which keys are wanted. */
interface KeyQuery {
  /** Empty for all keys. */
  prefix: string;
  /** Only keys behind this one. */
  after: string | undefined;
  /** Undefined for the current one. */
  revision: bigint | undefined;
  /** Maximum number of keys. */
  limit: number;
}

/** Keys in order, all at one revision. Values are binary strings. */
interface KeyPage {
  revision: bigint;
  keys: readonly KeyValue[];
  /** Number of keys behind the last one. */
  left: number;
}

/** Keys in the first request: values may be large. */
const FIRST_PAGE_KEYS = 50;

/**
 * Reads the first keys that a query finds, in requests of limited size.
 * @throws StoreError; `compacted` for a revision that etcd no longer has
 */
export async function readKeyPage(
  ports: ObserverPorts,
  { prefix, after, revision, limit }: KeyQuery,
  signal: AbortSignal,
): Promise<KeyPage> {
  const range = buildRange(prefix);
  const start = after === undefined || after < range.key ? range.key : `${after}\0`;
  const size = new PageSize();
  const read = (key: string, count: number, at: bigint | undefined) =>
    readWithRetries(ports, { ...range, key, limit: count, binaryValues: true, revision: at }, signal);
  const first = await read(start, Math.min(FIRST_PAGE_KEYS, limit), revision);
  const keys = [...first.kvs];
  for (let page = first; page.more && keys.length < limit; keys.push(...page.kvs)) {
    const count = Math.min(limit - keys.length, size.compute(page.kvs));
    page = await read(`${keys.at(-1)?.key}\0`, count, first.revision);
  }
  return { revision: first.revision, keys, left: first.count - keys.length };
}

/** A key, or all keys that begin alike up to a slash. */
export type FolderChild = { kind: "folder"; key: string } | { kind: "key"; key: string; kv: KeyValue };

/** A part of a folder, which is all keys with a prefix. */
interface FolderPage {
  revision: bigint;
  /** In order of their keys. */
  children: FolderChild[];
  /** Number of all keys from the beginning of the part on. */
  count: number;
  /** The beginning of the next part; undefined if this is the last one. */
  next: string | undefined;
}

/** Requests for a part, and keys in each: a folder in it may have any number of keys, which are skipped. */
const MOST_REQUESTS = 20;
const KEYS_A_REQUEST = 100;

/**
 * Reads a part of the children of a folder, without values. The parts of a folder may be of different revisions.
 * @param from  the first key of the part; undefined for the first part
 * @param wanted  number of children from which on no more are read
 * @throws StoreError, the signal's reason
 */
export async function readFolderPage(
  ports: ObserverPorts,
  prefix: string,
  { from, wanted }: { from: string | undefined; wanted: number },
  signal: AbortSignal,
): Promise<FolderPage> {
  const { key, rangeEnd } = buildRange(prefix);
  const found: FolderPage = { revision: 0n, children: [], count: 0, next: from ?? key };
  for (let requests = 0; found.next !== undefined && requests < MOST_REQUESTS; requests += 1) {
    if (found.children.length >= wanted) break;
    const range = { key: found.next, rangeEnd, keysOnly: true, limit: KEYS_A_REQUEST };
    const page = await readWithRetries(ports, range, signal);
    if (requests === 0) found.count = page.count;
    found.revision = page.revision;
    for (const kv of page.kvs) addChild(found.children, prefix, kv);
    const last = found.children.at(-1);
    const isEnd = last === undefined || !page.more;
    found.next = isEnd ? undefined : last.kind === "key" ? `${last.key}\0` : computePrefixEnd(last.key);
  }
  return found;
}

/** Adds the child that a key is or belongs to. A slash at the beginning of a name does not end a folder. */
function addChild(children: FolderChild[], prefix: string, kv: KeyValue): void {
  const slash = kv.key.indexOf("/", prefix.length + 1);
  if (slash < 0) children.push({ kind: "key", key: kv.key, kv });
  else {
    const key = kv.key.slice(0, slash + 1);
    if (children.at(-1)?.key !== key) children.push({ kind: "folder", key });
  }
}

/** Builds the range of all keys with any prefix: an empty one, or one that ends in the highest bytes. */
function buildRange(prefix: string): Required<KeyRange> {
  const stem = prefix.replace(/\xff+$/, "");
  return { key: prefix === "" ? "\0" : prefix, rangeEnd: stem === "" ? "\0" : computePrefixEnd(stem) };
}

/** Reads one key with its value as a binary string. @throws StoreError as `readKeyPage` */
export async function readKey(
  ports: ObserverPorts,
  key: string,
  revision: bigint | undefined,
  signal: AbortSignal,
): Promise<{ revision: bigint; kv: KeyValue | undefined }> {
  const answer = await readWithRetries(ports, { key, binaryValues: true, revision }, signal);
  return { revision: answer.revision, kv: answer.kvs[0] };
}
