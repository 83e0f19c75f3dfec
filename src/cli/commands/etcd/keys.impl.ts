import { formatKey } from "../../../core/base/bytes.ts";
import { EXIT, SignalboxError, UsageError } from "../../../core/base/errors.ts";
import { formatBytes } from "../../../core/base/size.ts";
import { quoteText } from "../../../core/base/text.ts";
import { isCompacted } from "../../../core/etcd/store.ts";
import type { KeyValue } from "../../../core/protocol/txn.ts";
import { readKey, readKeyPage } from "../../../site/observe/etcd-keys.ts";
import { readCurrentRevision } from "../../../site/observe/past-revision.ts";
import { readEarlierValue } from "../../../site/observe/raw-keys.ts";
import { readSessionLiveness } from "../../../site/observe/runner-liveness.ts";
import type { CommandIo } from "../../frame/command.ts";
import { formatJsonDocument, printResult } from "../../frame/json-output.ts";
import { checkPastRevision, retryCompacted } from "../../frame/read-snapshot.ts";
import { type CommandContext, createStoreCommand } from "../../frame/store-command.ts";
import {
  KEY_COLUMNS,
  KEY_DETAIL_JSON,
  KEYS_JSON,
  KEYS_WITH_VALUES_JSON,
  type KeyDetail,
} from "../../views/etcd-keys.ts";
import { printTable } from "../see/grid.ts";
import { formatEarlierFacts, formatKeyFacts } from "../see/show-raw.ts";
import { DEFAULT_LIMIT, type GetFlags, type KeysFlags } from "./etcd.ts";
import { formatBytesLines, formatDifference, parseKey, parseNamedKey, quoteKey } from "./key-text.ts";

/** Lines of a value that a listing prints; `get` prints all. */
const MOST_LINES = 40;

export const showKeys = createStoreCommand<KeysFlags>(async (context) => {
  const { after, limit = DEFAULT_LIMIT, rev, values, json, base64 } = context.flags;
  const prefix = parseKey(context.args[0] ?? "", base64);
  const query = {
    prefix,
    limit,
    revision: rev,
    after: after === undefined ? undefined : parseKey(after, base64),
  };
  const page = await readAtRevision(context, rev, () => readKeyPage(context, query, context.signal));
  if (json)
    context.io.writeOutput(formatJsonDocument((values ? KEYS_WITH_VALUES_JSON : KEYS_JSON).toJson(page)));
  else if (values) context.io.writeOutput(page.keys.map(formatListedKey).join(""));
  else if (page.keys.length > 0) printTable(context.io, KEY_COLUMNS, page.keys);
  const last = page.keys.at(-1)?.key;
  if (last === undefined) context.printMessage("there are no such keys");
  else if (page.left > 0)
    context.printMessage(
      `note: ${page.left} more keys follow; the next page: --after ${quoteKey(last, base64)}`,
    );
});

function formatListedKey(kv: KeyValue): string {
  const lines = formatBytesLines(kv.value);
  const more = lines.length - MOST_LINES;
  const shown =
    more > 0 ? [...lines.slice(0, MOST_LINES), `and ${more} more lines: signalbox etcd get`] : lines;
  const facts = `${formatBytes(kv.value.length)}, ${formatEarlierFacts(kv)}`;
  return [formatKey(kv.key), `  ${facts}`, ...shown.map((line) => `    ${line}`), ""].join("\n");
}

export const showKey = createStoreCommand<GetFlags>(async (context) => {
  const { rev, previous, json, raw, base64 } = context.flags;
  if (raw && (json || previous))
    throw new UsageError("--raw prints only the value; leave out --json and --previous");
  const key = parseNamedKey(context.args[0], base64);
  const { revision, kv } = await readAtRevision(context, rev, () =>
    readKey(context, key, rev, context.signal),
  );
  if (kv === undefined)
    throw new SignalboxError(
      EXIT.undone,
      `there is no key ${quoteText(formatKey(key))}${rev === undefined ? "" : ` at revision ${rev}`}`,
    );
  if (raw) return printRawValue(context.io, kv);
  const earlier = previous ? await readEarlierValue(context, kv, context.signal, true) : undefined;
  const lease = (await readSessionLiveness(context, [kv.session], context.signal)).get(kv.session);
  const document = KEY_DETAIL_JSON.toJson({ revision, kv, lease: lease ?? undefined, earlier });
  printResult(context, document, () =>
    [
      formatKey(kv.key),
      `${formatBytes(kv.value.length)}, ${formatKeyFacts({ ...kv, lease })}`,
      ...formatDetailLines(kv, earlier),
      "",
    ].join("\n"),
  );
  return EXIT.ok;
});

function printRawValue(io: CommandIo, { value }: KeyValue): number {
  const bytes = Buffer.from(value, "latin1");
  if (io.writeBytes === undefined) io.writeOutput(bytes.toString());
  else io.writeBytes(bytes, 1);
  return EXIT.ok;
}

function formatDetailLines(kv: KeyValue, earlier: KeyDetail["earlier"]): string[] {
  if (earlier === undefined) return formatBytesLines(kv.value).map((line) => `  ${line}`);
  if ("kv" in earlier)
    return [
      `the value before: ${formatEarlierFacts(earlier.kv)}`,
      ...formatDifference(earlier.kv.value, kv.value).map((line) => `  ${line}`),
    ];
  return [
    ...formatBytesLines(kv.value).map((line) => `  ${line}`),
    earlier.end === "created"
      ? "there is no value before: the key was created with this one"
      : "etcd has compacted the value before",
  ];
}

/**
 * Reads at a revision that the user gave; without one at the current revision, and again if that is compacted meanwhile.
 * @throws UsageError for a revision in the future; SignalboxError 1 for one that etcd no longer has
 */
async function readAtRevision<T>(
  context: CommandContext,
  revision: bigint | undefined,
  read: () => Promise<T>,
): Promise<T> {
  if (revision === undefined) return await retryCompacted(read);
  const now = await readCurrentRevision(context, context.signal);
  checkPastRevision("--rev", revision, now);
  try {
    return await read();
  } catch (cause) {
    if (!isCompacted(cause)) throw cause;
    throw new SignalboxError(
      EXIT.undone,
      `etcd has compacted revision ${revision}: it no longer has its values`,
      {
        cause,
      },
    );
  }
}
