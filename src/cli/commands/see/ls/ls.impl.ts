import { EXIT, SignalboxError, UsageError } from "../../../../core/base/errors.ts";
import { clean, quoteText } from "../../../../core/base/text.ts";
import { resolveConfig } from "../../../../core/config/config.ts";
import { isCompacted } from "../../../../core/etcd/store.ts";
import { createKeys, type QueueKind } from "../../../../core/protocol/keys.ts";
import { isPlainName } from "../../../../core/protocol/names.ts";
import { toQueue } from "../../../../core/protocol/ticket.ts";
import type { KeyRange, KeyValue } from "../../../../core/protocol/txn.ts";
import { load, readPages } from "../../../../site/observe/read.ts";
import { readArchive } from "../../../../site/output/archive.ts";
import { computeQueueTally, type QueueTally } from "../../../../site/state/shares.ts";
import { buildQueueId, type NamedQueue, type Snapshot } from "../../../../site/state/snapshot.ts";
import { SnapshotBuilder } from "../../../../site/state/snapshot-builder.ts";
import {
  buildViewContext,
  CONTEXT_COLLECTIONS,
  type ViewContext,
} from "../../../../site/state/view-context.ts";
import type { Call, CommandExecutor, CommandIo } from "../../../frame/command.ts";
import { formatJsonText, JSON_PIECE_LENGTH } from "../../../frame/json-output.ts";
import { createReadCommand, readRecordedLocks, readSnapshotRanges } from "../../../frame/read-snapshot.ts";
import { type CommandContext, createMessagePrinter } from "../../../frame/store-command.ts";
import { buildExportTable, formatCsv, formatMarkdownTable } from "../../../views/export-table.ts";
import { createRowTest, findStart } from "../../../views/filter.ts";
import { archiveView, type PastRunRow, parseArchivedRun } from "../../../views/history.ts";
import { VIEWS, type ViewId } from "../../../views/index.ts";
import { createMacrosView } from "../../../views/macros.ts";
import { buildEmptyTableRows } from "../../../views/queues.ts";
import { parseSortOrder } from "../../../views/sort.ts";
import type { AnyView, QueueView, SnapshotView } from "../../../views/view.ts";
import { ON_DEMAND, renderGridLines } from "../grid.ts";
import { addEtcdFaults, readEtcdHealth } from "../live-output.ts";
import { detectOutputStyle, paintText } from "../paint.ts";
import type { LsFlags } from "./ls.ts";
import {
  getShownColumns,
  hasDrawnColumn,
  type ListOptions,
  parseListOptions,
  renderColumnsHelp,
  sortAndLimitRows,
} from "./ls-options.ts";

export const execute: CommandExecutor<LsFlags> = async (call, io) => {
  const { args, flags } = call;
  const id = (args[0] ?? "overview") as ViewId;
  const isColumnsHelp = flags.columns?.[0] === "help";
  if (!isColumnsHelp && flags.archive !== undefined) return await listArchive(call, io, id);
  if (!isColumnsHelp) return await createListCommand(VIEWS[id])(call, io);
  io.writeOutput(renderColumnsHelp(VIEWS[id]));
  return EXIT.ok;
};

function createListCommand(plain: AnyView<object>): CommandExecutor<LsFlags> {
  return createReadCommand<LsFlags>(async (context) => {
    const { flags } = context;
    const view =
      plain.id === "macros"
        ? (createMacrosView(await readSnapshotRanges(context, plain.collections)) as AnyView<object>)
        : plain;
    const options = parseListOptions(context, view, context.clock.getWallTime());
    checkOutputFlags(flags);
    if (flags.watch) return await (await import("./ls-watch.ts")).watchView(context, view, options);
    const reading = await readViewRows(context, view, options);
    await printRows(context, view, reading, options);
    if (reading.gap !== undefined) context.printMessage(`note: ${reading.gap}`);
    return EXIT.ok;
  });
}

/** Lists an archive of this host. @throws UsageError, ConfigError, SignalboxError if it cannot be read */
async function listArchive(call: Call<LsFlags>, io: CommandIo, id: ViewId): Promise<number> {
  const { flags, settings } = call;
  if (id !== "history") throw new UsageError(`--archive works with ls history only; got ${quoteText(id)}`);
  if (flags.watch) throw new UsageError("--archive cannot be combined with --watch");
  const { values } = resolveConfig({ flags: settings, env: io.env });
  const path = typeof flags.archive === "string" ? flags.archive : values.archiveFile;
  if (path === undefined)
    throw new UsageError("no archive is configured: set archiveFile, or write --archive=FILE");
  const wall = Date.now();
  const options = parseListOptions(call, archiveView, wall);
  checkOutputFlags(flags);
  const empty = new SnapshotBuilder(createKeys(values.prefix), []).getSnapshot();
  const printMessage = createMessagePrinter(call, io);
  const rows = readArchivedRuns(path, (lines) =>
    printMessage(
      `${path}: left out ${lines === 1 ? "a line that is not a record" : `${lines} lines that are not records`}`,
    ),
  );
  const reading = {
    source: { archive: path },
    readRows: () => rows,
    viewContext: buildViewContext(empty, wall),
  };
  await printRows({ ...call, io }, archiveView, reading, options);
  return EXIT.ok;
}

async function* readArchivedRuns(
  path: string,
  onUnreadable: (lines: number) => void,
): AsyncGenerator<PastRunRow> {
  for await (const record of readArchive(path, onUnreadable)) {
    const row = parseArchivedRun(record);
    if (row !== undefined) yield row;
  }
}

/** What printing rows needs of a command. */
type ListOutput = Pick<CommandContext<LsFlags>, "flags" | "io" | "verbosity">;

async function printRows<R>(
  output: ListOutput,
  view: AnyView<R>,
  reading: ViewRows<R>,
  options: ListOptions,
): Promise<void> {
  if (output.flags.json) await printRowsJson(output, view, reading, options);
  else if (output.flags.output !== undefined) await printExport(output, view, reading, options);
  else await printTable(output, view, reading, options);
}

/** @throws UsageError for formats that exclude each other */
function checkOutputFlags({ output, json, watch }: LsFlags): void {
  if (output === undefined) return;
  if (json) throw new UsageError("give --json or --output, not both");
  if (watch)
    throw new UsageError("--output cannot be combined with --watch; --watch on a pipe prints JSON lines");
}

/** Prints the rows in a format for other programs. The columns do not depend on the rows. */
async function printExport<R>(
  { flags, io }: ListOutput,
  view: AnyView<R>,
  reading: ViewRows<R>,
  options: ListOptions,
): Promise<void> {
  const shown = getShownColumns(view, options);
  const columns =
    shown?.flatMap((id) => view.columns.find((column) => column.id === id) ?? []) ??
    view.columns.filter(({ priority }) => priority < ON_DEMAND);
  const rows = await collectRows(reading, view, options);
  const table = buildExportTable(view.id, columns, rows, reading.viewContext.wall);
  io.writeOutput(flags.output === "csv" ? formatCsv(table) : formatMarkdownTable(table));
}

async function printTable<R>(
  { flags, io, verbosity }: ListOutput,
  view: AnyView<R>,
  reading: ViewRows<R>,
  options: ListOptions,
): Promise<void> {
  const style = detectOutputStyle(io, { ...flags, bars: view.id === "macros" });
  const others = new Set<string>();
  let hasOthers = false;
  const rows = await collectRows(reading, view, options, (row) => {
    hasOthers = true;
    for (const state of view.getFacets(row).states) others.add(state);
  });
  const { viewContext } = reading;
  if (rows.length > 0) {
    const table = { columns: view.columns, rows, wall: viewContext.wall };
    const lines = renderGridLines(table, style, getShownColumns(view, options));
    if (!io.writeOutput(`${lines.join("\n")}\n`)) return;
  }
  if (verbosity < 0) return;
  if (rows.length === 0 && !hasOthers) io.writeError(`${view.empty}\n`);
  else if (rows.length === 0) {
    const states = [...others].map((state) => `state:${state}`).join(", "); // as a filter accepts them
    const what = states === "" ? "" : ` Other rows have ${states}.`;
    const where = view.elsewhere === undefined ? "" : ` ${view.elsewhere}.`;
    io.writeError(`No row matches the filter.${what}${where}\n`);
  }
  if (style.marks !== undefined)
    for (const line of view.listRemarks?.(viewContext) ?? [])
      io.writeError(`${paintText(`${style.marks.problem}${clean(line)}`, "problem", style)}\n`);
}

/** Rows are sorted, and those beyond the limit forgotten, when there are so many more than the limit. */
const MAX_EXCESS_ROWS = 10_000;

/**
 * Returns the rows to show in order. Reads no more queues than these rows need, if the order is that of names; otherwise all
 * rows. @param onOther  gets the rows that do not match
 */
async function collectRows<R>(
  { readRows, isInOrder, viewContext }: ViewRows<R>,
  view: AnyView<R>,
  options: ListOptions,
  onOther = (_: R) => {},
): Promise<R[]> {
  let found: R[] = [];
  const { limit, order = parseSortOrder(view.sort) } = options;
  const isByName = view.of === "queue" && !order.descending && view.isByName?.(order.column, viewContext);
  const hasEnough = ({ kind, name }: NamedQueue) => {
    if (!isByName || found.length < limit) return false;
    const last = buildQueueId(kind, name);
    return found.filter((row) => view.getKey(row) <= last).length >= limit;
  };
  const isMatch = createRowTest(view, options.filter);
  for await (const row of readRows(hasEnough)) {
    if (isMatch(row, viewContext.wall)) found.push(row);
    else onOther(row);
    if (isInOrder && found.length >= limit) break;
    if (found.length > limit + MAX_EXCESS_ROWS) found = sortAndLimitRows(view, found, options);
  }
  return sortAndLimitRows(view, found, options);
}

/**
 * Writes JSON while the rows are read. Rows of queues come in the order of keys and are never all in
 * memory. If an order is requested, or the view needs the whole snapshot, all rows are read first.
 */
async function printRowsJson<R>(
  { io }: ListOutput,
  view: AnyView<R>,
  reading: ViewRows<R>,
  options: ListOptions,
): Promise<void> {
  const rows =
    options.order === undefined && view.of === "queue"
      ? takeFirst(reading, view, options)
      : await collectRows(reading, view, options);
  for await (const batch of formatRowsJson(view, reading.source, rows)) if (!io.writeOutput(batch)) return;
}

/** Formats rows as one JSON document, in texts to write one after the other. @param source  where they come from */
export async function* formatRowsJson<R>(
  view: AnyView<R>,
  source: object,
  rows: AsyncIterable<R> | Iterable<R>,
): AsyncGenerator<string> {
  const head = formatJsonText({ version: 1, ...source, view: view.id });
  let batch = `${head.slice(0, -1)},"rows":[`;
  let separator = "\n";
  for await (const row of rows) {
    batch += separator + formatJsonText(view.json.toJson(row));
    separator = ",\n";
    if (batch.length < JSON_PIECE_LENGTH) continue;
    yield batch;
    batch = "";
  }
  yield `${batch}\n]}\n`;
}

/** Yields rows as they are read, and stops reading at the limit. */
async function* takeFirst<R>(
  { readRows, viewContext }: ViewRows<R>,
  view: AnyView<R>,
  { filter, limit }: ListOptions,
): AsyncGenerator<R> {
  let left = limit;
  const isMatch = createRowTest(view, filter);
  for await (const row of readRows(() => false)) {
    if (!isMatch(row, viewContext.wall)) continue;
    yield row;
    left -= 1;
    if (left <= 0) return;
  }
}

/** Rows as they are read. */
interface ViewRows<R> {
  /** Where they come from, for JSON: their common revision and the prefix, or the archive. */
  source: object;
  viewContext: ViewContext;
  /** @param hasEnough  called after the rows of a queue: whether no rows of queues with later names are needed */
  readRows(hasEnough: (queue: NamedQueue) => boolean): AsyncIterable<R> | readonly R[];
  /** Whether the rows come in the order in which they are shown. */
  isInOrder?: true;
  /** That there may be more rows within the time of the filter. */
  gap?: string | undefined;
}

/**
 * Reads the rows of a view. Rows of queues are read queue by queue, so memory does not depend on their number.
 * @throws StoreError
 */
async function readViewRows<R>(
  context: CommandContext,
  view: AnyView<R>,
  options: ListOptions,
): Promise<ViewRows<R>> {
  const isLimited = options.order === undefined && Number.isFinite(options.limit);
  const isTail = isLimited && view.of === "snapshot" && view.isNewestFirst === true;
  const own = view.of === "queue" || isTail ? CONTEXT_COLLECTIONS : view.collections;
  const collections = hasDrawnColumn(view, options) ? [...new Set([...own, "histories" as const])] : own;
  const builder = new SnapshotBuilder(context.keys, collections);
  const loading = load(context, builder, { signal: context.signal });
  const [revision, health] = await Promise.all([
    loading,
    view.id === "problems" ? readEtcdHealth(context, loading) : undefined,
  ]);
  const snapshot = addEtcdFaults(builder.getSnapshot(), health);
  const viewContext = buildViewContext(snapshot, context.clock.getWallTime());
  const source = { revision, prefix: context.keys.prefix };
  if (view.of === "queue")
    return {
      source,
      viewContext,
      readRows: (hasEnough) =>
        streamQueueRows(context, view, { snapshot, viewContext, all: options.all, hasEnough }),
    };
  if (isTail)
    return {
      source,
      viewContext,
      isInOrder: true,
      readRows: () => streamLastRows(context, view, snapshot, viewContext),
    };
  const from = findStart(options.filter);
  const gap = from === undefined ? undefined : view.describeGap?.(snapshot, from);
  return { source, viewContext, readRows: () => view.buildRows(snapshot, viewContext), gap };
}

/** What rows of queues need besides their queue. `all`: also those of locks and resources that are free. */
interface QueueRowContext {
  snapshot: Snapshot;
  viewContext: ViewContext;
  all: boolean;
  hasEnough(queue: NamedQueue): boolean;
}

async function* streamQueueRows<R>(
  context: CommandContext,
  view: QueueView<R>,
  around: QueueRowContext,
): AsyncGenerator<R> {
  for (const kind of ["lock", "resource"] as const) {
    if (!view.collections.includes(`${kind}s`)) continue;
    const seen = new Set<string>();
    const tallies = new Map<string, QueueTally>();
    const { revision } = around.snapshot;
    const range = context.keys[`${kind}s`]();
    // The row of a name with host macros sums the queues of all hosts.
    const canStop = kind === "lock" || !(around.all || hasDrained(kind, around.viewContext));
    let isEnough = false;
    for await (const queue of streamQueues(context, range, revision)) {
      seen.add(queue.name);
      if (kind === "resource") tallies.set(queue.name, computeQueueTally(queue));
      yield* view.buildRows(queue, around.viewContext);
      isEnough = canStop && isPlainName(queue.name) && around.hasEnough(queue);
      if (!isEnough) continue;
      for (const name of listLaterPrefixes(queue.name))
        for await (const one of streamQueues(context, context.keys.getQueueRange(kind, name), revision)) {
          seen.add(name);
          yield* view.buildRows(one, around.viewContext);
        }
      break;
    }
    // Only the views of locks and resources have rows for empty queues.
    if (view.hasEmpty)
      yield* buildEmptyTableRows(
        kind,
        (name) => seen.has(name),
        await readKnownNames(context, kind, around),
        around.viewContext,
        (name) => tallies.get(name),
      ) as R[];
    if (isEnough) return;
  }
}

function hasDrained(kind: QueueKind, { drains }: ViewContext): boolean {
  return drains.some(({ scope }) => scope === kind);
}

/**
 * Lists the names that precede a plain name, but whose keys follow its keys: keys are in the order of `NAME/`, and `-` and `.`
 * are before `/`. All other names with later keys are later names.
 */
function listLaterPrefixes(name: string): string[] {
  return Array.from(name.matchAll(/(?!^)[-.]/g), ({ index }) => name.slice(0, index));
}

/** Builds the rows of a collection from its last key on. */
async function* streamLastRows<R>(
  context: CommandContext,
  view: SnapshotView<R>,
  { revision }: Snapshot,
  viewContext: ViewContext,
): AsyncGenerator<R> {
  const [collection] = view.collections;
  if (collection === undefined) return;
  const range = context.keys[collection]();
  for await (const { kvs } of readListPages(context, range, { revision, isReversed: true })) {
    const builder = new SnapshotBuilder(context.keys, [collection]);
    for (const kv of kvs) builder.add(kv);
    yield* view.buildRows(builder.getSnapshot(), viewContext);
  }
}

/** Reads pages at the revision of a listing. @throws SignalboxError if etcd was compacted meanwhile */
async function* readListPages(
  context: CommandContext,
  range: Required<KeyRange>,
  options: Parameters<typeof readPages>[2],
): ReturnType<typeof readPages> {
  try {
    yield* readPages(context, range, { ...options, signal: context.signal });
  } catch (error) {
    if (!isCompacted(error)) throw error;
    const message = "etcd was compacted during the read, so the list is incomplete; run the command again";
    throw new SignalboxError(EXIT.changed, message, { cause: error });
  }
}

/** Reads the queues of a range, one at a time: the keys of a queue are adjacent. */
async function* streamQueues(
  context: CommandContext,
  range: Required<KeyRange>,
  revision: bigint,
): AsyncGenerator<NamedQueue> {
  let at: ReturnType<CommandContext["keys"]["parseQueueKey"]>;
  let kvs: KeyValue[] = [];
  const buildQueue = (): NamedQueue[] =>
    at === undefined || kvs.length === 0 ? [] : [{ ...at, entries: toQueue(kvs) }];
  for await (const page of readListPages(context, range, { revision })) {
    for (const kv of page.kvs) {
      const next = context.keys.parseQueueKey(kv.key);
      if (next?.name !== at?.name) {
        yield* buildQueue();
        [at, kvs] = [next, []];
      }
      kvs.push(kv);
    }
  }
  yield* buildQueue();
}

/** Reads the locks with a history, or the configured resources. Returns none without `--all`. */
async function readKnownNames(
  context: CommandContext,
  kind: QueueKind,
  { snapshot, all }: Pick<QueueRowContext, "snapshot" | "all">,
): Promise<Iterable<string>> {
  if (!all) return [];
  return kind === "lock" ? await readRecordedLocks(context, snapshot.revision) : snapshot.resources.keys();
}
