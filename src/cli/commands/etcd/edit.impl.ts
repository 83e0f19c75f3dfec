import { readFileSync } from "node:fs";
import { encodeUtf8, formatKey, toBinaryString } from "../../../core/base/bytes.ts";
import { describeFileError, EXIT, SignalboxError, UsageError } from "../../../core/base/errors.ts";
import { quoteText } from "../../../core/base/text.ts";
import { isCompacted } from "../../../core/etcd/retry.ts";
import type { KeyValue } from "../../../core/protocol/txn.ts";
import { readKey } from "../../../site/observe/etcd-keys.ts";
import { checkEditAllowed, describeEdit, editKey } from "../../../site/operate/edit-key.ts";
import { type ActionOutcome, createOutcome, type KeyResult } from "../../frame/outcome.ts";
import { confirmAction, createActionCommand } from "../../frame/print-outcome.ts";
import { checkPastRevision } from "../../frame/read-snapshot.ts";
import type { CommandContext } from "../../frame/store-command.ts";
import { describeOwnKey } from "../../views/etcd-keys.ts";
import { formatEarlierFacts } from "../see/format-raw.ts";
import type { DelFlags, PutFlags } from "./etcd.ts";
import { formatBytesLines, formatDifference, parseNamedKey } from "./key-text.ts";

export const putKey = createActionCommand<PutFlags>(async (context) => {
  const key = parseNamedKey(context.args[0], context.flags.base64);
  return await changeKey(context, key, await readValue(context));
});

export const deleteKey = createActionCommand<DelFlags>(async (context) => {
  const key = parseNamedKey(context.args[0], context.flags.base64);
  return await changeKey(context, key, undefined);
});

/** Reads the value from the command line, standard input or a file. @returns a binary string. @throws UsageError; SignalboxError 74 */
async function readValue({ args: [, word], flags: { file }, io }: CommandContext<PutFlags>): Promise<string> {
  if ((word === undefined) === (file === undefined))
    throw new UsageError("give the value: as VALUE, as - for standard input, or with --file FILE");
  if (file !== undefined) return readBytes(file);
  if (word !== "-") return encodeUtf8(word ?? "");
  return io.readInputBytes === undefined
    ? encodeUtf8(await io.readInput())
    : toBinaryString(await io.readInputBytes());
}

function readBytes(file: string): string {
  try {
    return toBinaryString(readFileSync(file));
  } catch (cause) {
    throw new SignalboxError(EXIT.io, `cannot read ${file}: ${describeFileError(cause)}`, { cause });
  }
}

/** A key as it was read, and the revision of the read. */
interface ReadKey {
  revision: bigint;
  kv: KeyValue | undefined;
}

/** A key as the operator has seen it. */
type SeenKey = KeyValue | undefined | "compacted";

/** Previews the change of a key, asks for confirmation, and applies it. @param value  undefined to delete the key */
async function changeKey(
  context: CommandContext<DelFlags>,
  key: string,
  value: string | undefined,
): Promise<ActionOutcome<KeyResult>> {
  refuseOwnKey(context, key);
  const { flags } = context;
  if (!flags["dry-run"]) checkEditAllowed(context);
  const read = await readKey(context, key, undefined, context.signal);
  const { kv: before, revision } = read;
  const result = {
    kind: "key",
    revision,
    action: value === undefined ? "delete" : "put",
    key,
    before,
    value,
    now: undefined,
  } as const;
  const createKeyOutcome = (
    outcome: KeyResult["outcome"],
    messages: readonly string[],
    more: Partial<KeyResult & Pick<ActionOutcome, "repeat">> = {},
  ) => {
    const { repeat, ...changed } = more;
    return createOutcome(context, { ...result, ...changed, outcome }, { messages, repeat });
  };
  const createChangedOutcome = (seen: SeenKey, now: KeyValue | undefined) =>
    createKeyOutcome("changed", formatChange(seen, now), {
      before: seen === "compacted" ? undefined : seen,
      now,
    });
  const seen = await readChangedSince(context, key, read);
  if (seen !== undefined) return createChangedOutcome(seen.kv, before);
  const name = quoteText(formatKey(key));
  if (before?.value === value)
    return createKeyOutcome("nothing", [
      before === undefined ? `there is no key ${name}` : `the key ${name} has this value already`,
    ]);
  const messages = formatPreview(result);
  if (flags["dry-run"]) {
    const allowance = context.settings.allowEdit ? "" : " --allow-edit";
    return createKeyOutcome("dry-run", messages, {
      repeat: `--expect-revision ${revision}${allowance} --yes`,
    });
  }
  if (!(await confirmAction(context, messages, `${value === undefined ? "Delete" : "Put"} ${name}?`)))
    return createKeyOutcome("declined", ["nothing was changed"]);
  const receipt = await editKey(context, { key, value, before, seen: revision, reason: flags.reason });
  if (receipt.kind === "changed")
    return createChangedOutcome(before, (await readKey(context, key, undefined, context.signal)).kv);
  const done = `${name}: ${describeEdit(result)}, at revision ${receipt.revision}`;
  return createKeyOutcome("done", [done], { revision: receipt.revision });
}

/** @throws SignalboxError 77 for a key under the prefix, with what changes it */
function refuseOwnKey({ keys }: CommandContext, key: string): void {
  const own = describeOwnKey(keys, key);
  if (own === undefined) return;
  throw new SignalboxError(
    EXIT.permission,
    `${quoteText(formatKey(key))} is a key of signalbox (${own.what}), which this command never changes; it is changed by: ${own.changedBy}`,
  );
}

/**
 * Reads what the operator has seen, if the key has changed since the revision of --expect-revision.
 * @returns undefined if it has not; `kv` is the string `compacted` if etcd no longer has it
 * @throws UsageError for a revision in the future; SignalboxError 75 if it cannot be told
 */
async function readChangedSince(
  context: CommandContext<DelFlags>,
  key: string,
  { revision, kv }: ReadKey,
): Promise<{ kv: SeenKey } | undefined> {
  const expected = context.flags["expect-revision"];
  if (expected === undefined) return undefined;
  checkPastRevision("--expect-revision", expected, revision);
  if (kv !== undefined && kv.modRevision <= expected) return undefined;
  try {
    const { kv: then } = await readKey(context, key, expected, context.signal);
    return then?.modRevision === kv?.modRevision ? undefined : { kv: then };
  } catch (cause) {
    if (!isCompacted(cause)) throw cause;
    if (kv !== undefined) return { kv: "compacted" };
    const message = `nothing was done: etcd has compacted revision ${expected}, so it is not known whether the key was deleted since; run with --dry-run again`;
    throw new SignalboxError(EXIT.changed, message, { cause });
  }
}

/** Formats the value that the operator has seen and the present one. */
function formatChange(seen: SeenKey, now: KeyValue | undefined): string[] {
  return [
    ...(seen === "compacted"
      ? ["etcd no longer has the value that was shown"]
      : formatState("the value that was shown", seen)),
    ...formatState("the value now", now),
  ];
}

function formatState(what: string, kv: KeyValue | undefined): string[] {
  if (kv === undefined) return [`${what}: there is no such key`];
  return [`${what}, ${formatEarlierFacts(kv)}:`, ...formatBytesLines(kv.value).map((line) => `  ${line}`)];
}

/** Formats what would change: facts, and the difference. */
function formatPreview({ key, value, before }: Omit<KeyResult, "outcome">): string[] {
  const what =
    value === undefined ? "would be deleted" : before === undefined ? "would be created" : "would be changed";
  const facts = before === undefined ? [] : [`now: ${formatEarlierFacts(before)}`];
  const lease = before === undefined || before.session === 0n ? [] : [describeLease(before, value)];
  return [
    `${quoteText(formatKey(key))} ${what}`,
    ...facts,
    ...lease,
    ...formatDifference(before?.value, value).map((line) => `  ${line}`),
  ];
}

function describeLease({ session }: KeyValue, value: string | undefined): string {
  const lease = `lease ${session.toString(16)}`;
  return value === undefined
    ? `it is attached to ${lease}`
    : `it stays attached to ${lease}, and ends with it`;
}
