import { EXIT, SignalboxError, UsageError } from "../../../base/errors.ts";
import { clean, quoteText } from "../../../base/text.ts";
import { resolveConfig } from "../../../config/config.ts";
import { isCompacted } from "../../../etcd/retry.ts";
import { load, readPages } from "../../../observe/read.ts";
import { readArchive } from "../../../output/archive.ts";
import { createKeys, type QueueKind } from "../../../protocol/keys.ts";
import { toQueue } from "../../../protocol/ticket.ts";
import type { KeyValue } from "../../../protocol/txn.ts";
import { computeQueueTally, type QueueTally } from "../../../state/shares.ts";
import type { NamedQueue, Snapshot } from "../../../state/snapshot.ts";
import { SnapshotBuilder } from "../../../state/snapshot-builder.ts";
import { buildViewContext, CONTEXT_COLLECTIONS, type ViewContext } from "../../../state/view-context.ts";
import { buildExportTable, formatCsv, formatMarkdownTable } from "../../../views/export-table.ts";
import { isFilterMatch } from "../../../views/filter.ts";
import { historyView, type PastRunRow, parseArchivedRun } from "../../../views/history.ts";
import { createHostMacroView } from "../../../views/hosts.ts";
import { VIEWS, type ViewId } from "../../../views/index.ts";
import { buildEmptyTableRows } from "../../../views/queues.ts";
import type { AnyView, QueueView } from "../../../views/view.ts";
import type { Call, CommandExecutor, CommandIo } from "../../command.ts";
import { formatJsonText } from "../../json-output.ts";
import { createReadCommand, readRecordedLocks, readSnapshotRanges } from "../../read-snapshot.ts";
import { type CommandContext, createMessagePrinter } from "../../store-command.ts";
import { ON_DEMAND, renderGridLines } from "../grid.ts";
import { addEtcdFaults, readEtcdHealth } from "../health.ts";
import { detectOutputStyle, type OutputStyle, paintText } from "../paint.ts";
import type { LsFlags } from "./ls.ts";
import {
  getShownColumns,
  hasDrawnColumn,
  isColumnsHelp,
  type ListOptions,
  parseListOptions,
  renderColumnsHelp,
  sortAndLimitRows,
} from "./ls-options.ts";

export const execute: CommandExecutor<LsFlags> = async (call, io) => {
  const id = (call.args[0] ?? "overview") as ViewId;
  if (call.flags.macros && id !== "hosts")
    throw new UsageError(`--macros works with ls hosts only; got ${quoteText(id)}`);
  if (!isColumnsHelp(call) && call.flags.archive !== undefined) return await listArchive(call, io, id);
  if (!isColumnsHelp(call)) return await createListCommand(VIEWS[id])(call, io);
  io.writeOutput(renderColumnsHelp(VIEWS[id]));
  return EXIT.ok;
};

function createListCommand(plain: AnyView<object>): CommandExecutor<LsFlags> {
  return createReadCommand<LsFlags>(async (call, io, context) => {
    const view = call.flags.macros ? await readMacroView(context) : plain;
    const options = parseListOptions(call, view, context.clock.getWallTime());
    checkOutputFlags(call);
    if (call.flags.watch)
      return await (await import("./ls-watch.ts")).watchView(call, io, context, view, options);
    const reading = await readViewRows(context, view, {
      all: options.all,
      needsHistories: hasDrawnColumn(view, options),
    });
    const head = { revision: reading.revision, prefix: context.keys.prefix };
    await printRows(call, io, view, reading, options, head);
    return EXIT.ok;
  });
}

/** Lists an archive of this host. @throws UsageError, ConfigError, SignalboxError if it cannot be read */
async function listArchive(call: Call<LsFlags>, io: CommandIo, id: ViewId): Promise<number> {
  if (id !== "history") throw new UsageError(`--archive works with ls history only; got ${quoteText(id)}`);
  if (call.flags.watch) throw new UsageError("--archive cannot be combined with --watch");
  const { values } = resolveConfig({ flags: call.settings, env: io.env });
  const { archive } = call.flags;
  const path = typeof archive === "string" ? archive : values.archiveFile;
  if (path === undefined)
    throw new UsageError("no archive is configured: set archiveFile, or write --archive=FILE");
  const wall = Date.now();
  const options = parseListOptions(call, historyView, wall);
  checkOutputFlags(call);
  const empty = new SnapshotBuilder(createKeys(values.prefix), []).getSnapshot();
  const warn = (lines: number) =>
    createMessagePrinter(
      call,
      io,
    )(`${path}: left out ${lines === 1 ? "a line that is no record" : `${lines} lines that are no records`}`);
  const rows = readArchivedRuns(path, warn);
  const reading = { rows, viewContext: buildViewContext(empty, wall) };
  await printRows(call, io, historyView, reading, options, { archive: path });
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

/** @param head  where the rows come from, for JSON */
async function printRows<R>(
  call: Call<LsFlags>,
  io: CommandIo,
  view: AnyView<R>,
  reading: ReadRows<R>,
  options: ListOptions,
  head: object,
): Promise<void> {
  if (call.flags.json) await printRowsJson(io, head, view, reading, options);
  else if (call.flags.output !== undefined) await printExport(call, io, view, reading, options);
  else await printTable(call, io, view, reading, options);
}

/** Reads which resources have host macros in their names, and creates the view of hosts with a column for each. */
async function readMacroView(context: CommandContext): Promise<AnyView<object>> {
  return createHostMacroView(
    await readSnapshotRanges(context, ["resourceConfigs", "hosts"]),
  ) as AnyView<object>;
}

/** @throws UsageError for formats that exclude each other */
function checkOutputFlags({ flags }: Call<LsFlags>): void {
  if (flags.output === undefined) return;
  if (flags.json) throw new UsageError("give --json or --output, not both");
  if (flags.watch)
    throw new UsageError("--output cannot be combined with --watch; --watch on a pipe prints JSON lines");
}

/** Prints the rows in a format for other programs. The columns do not depend on the rows. */
async function printExport<R>(
  call: Call<LsFlags>,
  io: CommandIo,
  view: AnyView<R>,
  { rows: all, viewContext }: ReadRows<R>,
  options: ListOptions,
): Promise<void> {
  const rows: R[] = [];
  for await (const row of all) if (isFilterMatch(view, options.filter, row, viewContext)) rows.push(row);
  const shown = getShownColumns(view, options, call);
  const columns =
    shown?.flatMap((id) => view.columns.find((column) => column.id === id) ?? []) ??
    view.columns.filter(({ priority }) => priority < ON_DEMAND);
  const table = buildExportTable(view.id, columns, sortAndLimitRows(view, rows, options), viewContext.wall);
  io.writeOutput(call.flags.output === "csv" ? formatCsv(table) : formatMarkdownTable(table));
}

async function printTable<R>(
  call: Call<LsFlags>,
  io: CommandIo,
  view: AnyView<R>,
  { rows: all, viewContext }: ReadRows<R>,
  options: ListOptions,
): Promise<void> {
  const style = detectOutputStyle(io, {
    ascii: call.flags.ascii === true,
    wide: call.flags.wide === true,
    bars: call.flags.macros === true,
  });
  const rows: R[] = [];
  const others = new Set<string>();
  for await (const row of all) {
    if (isFilterMatch(view, options.filter, row, viewContext)) rows.push(row);
    else for (const state of view.getFacets(row).states) others.add(state);
  }
  if (rows.length > 0) {
    const lines = renderGridLines(
      { columns: view.columns, rows: sortAndLimitRows(view, rows, options), wall: viewContext.wall },
      style,
      getShownColumns(view, options, call),
    );
    if (!io.writeOutput(`${lines.join("\n")}\n`)) return;
  }
  if (call.verbosity < 0) return;
  if (rows.length === 0) io.writeError(`${others.size > 0 ? explainNoMatch(others) : view.empty}\n`);
  if (style.marks !== undefined) io.writeError(renderRemarks(view, viewContext, style));
}

/** Suggests an alternative: lists the states of the existing rows, which a filter accepts. */
function explainNoMatch(states: ReadonlySet<string>): string {
  return `No row matches the filter. The states of the other rows: ${[...states].join(", ")}.`;
}

/** Renders the remarks of the view, for a terminal. */
function renderRemarks<R>(view: AnyView<R>, viewContext: ViewContext, style: OutputStyle): string {
  const lines = view.listRemarks?.(viewContext) ?? [];
  return lines
    .map((line) => `${paintText(`${style.marks?.problem ?? ""}${clean(line)}`, "problem", style)}\n`)
    .join("");
}

/** Characters per write. */
const BATCH = 65_536;

/**
 * Writes one JSON document while the rows are read. Rows of queues come in the order of keys and are never all in
 * memory. If an order is requested, or the view needs the whole snapshot, all rows are read first.
 */
async function printRowsJson<R>(
  io: CommandIo,
  source: object,
  view: AnyView<R>,
  { rows, viewContext }: ReadRows<R>,
  options: ListOptions,
): Promise<void> {
  const head = formatJsonText({ version: 1, ...source, view: view.id });
  let batch = `${head.slice(0, -1)},"rows":[`;
  let separator = "\n";
  const wanted =
    options.order === undefined && view.of === "queue"
      ? takeFirst(rows, view, options, viewContext)
      : sortRows(rows, view, options, viewContext);
  for await (const row of wanted) {
    batch += separator + formatJsonText(view.json.toJson(row));
    separator = ",\n";
    if (batch.length < BATCH) continue;
    if (!io.writeOutput(batch)) return;
    batch = "";
  }
  io.writeOutput(`${batch}\n]}\n`);
}

/** Yields rows as they are read, and stops reading at the limit. */
async function* takeFirst<R>(
  rows: AsyncIterable<R>,
  view: AnyView<R>,
  { filter, limit }: ListOptions,
  { wall }: ViewContext,
): AsyncGenerator<R> {
  let left = limit;
  for await (const row of rows) {
    if (!isFilterMatch(view, filter, row, { wall })) continue;
    yield row;
    left -= 1;
    if (left <= 0) return;
  }
}

async function* sortRows<R>(
  rows: AsyncIterable<R>,
  view: AnyView<R>,
  options: ListOptions,
  { wall }: ViewContext,
): AsyncGenerator<R> {
  const all: R[] = [];
  for await (const row of rows) if (isFilterMatch(view, options.filter, row, { wall })) all.push(row);
  yield* sortAndLimitRows(view, all, options);
}

/** Rows as they are read. */
interface ReadRows<R> {
  viewContext: ViewContext;
  rows: AsyncIterable<R>;
}

/** Rows of etcd, and their common revision. */
interface ViewRows<R> extends ReadRows<R> {
  revision: bigint;
}

/** What to read besides the collections of the view. */
interface RowsToRead {
  /** Also locks and resources that are free. */
  all: boolean;
  /** Also histories, for columns that draw them. */
  needsHistories: boolean;
}

/**
 * Reads the rows of a view. Rows of queues are read queue by queue, so memory does not depend on their number.
 * @throws StoreError
 */
async function readViewRows<R>(
  context: CommandContext,
  view: AnyView<R>,
  { all, needsHistories }: RowsToRead,
): Promise<ViewRows<R>> {
  const own = view.of === "queue" ? CONTEXT_COLLECTIONS : view.collections;
  const collections = needsHistories ? [...new Set([...own, "histories" as const])] : own;
  const builder = new SnapshotBuilder(context.keys, collections);
  const [revision, health] = await Promise.all([
    load(context, builder, { signal: context.signal }),
    view.id === "problems" ? readEtcdHealth(context) : undefined,
  ]);
  const snapshot = addEtcdFaults(builder.getSnapshot(), health);
  const viewContext = buildViewContext(snapshot, context.clock.getWallTime());
  if (view.of === "queue")
    return {
      revision,
      viewContext,
      rows: streamQueueRows(context, view, { snapshot, viewContext, all }),
    };
  const rows = view.buildRows(snapshot, viewContext);
  return {
    revision,
    viewContext,
    rows: (async function* () {
      yield* rows;
    })(),
  };
}

interface QueueRowContext {
  snapshot: Snapshot;
  viewContext: ViewContext;
  all: boolean;
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
    for await (const queue of streamQueues(context, kind, around.snapshot.revision)) {
      seen.add(queue.name);
      if (kind === "resource") tallies.set(queue.name, computeQueueTally(queue));
      yield* view.buildRows(queue, around.viewContext);
    }
    // Only the views of locks and resources have rows for empty queues.
    if (view.hasEmpty)
      yield* buildEmptyTableRows(
        kind,
        seen,
        await readKnownNames(context, kind, around),
        around.viewContext,
        (name) => tallies.get(name),
      ) as R[];
  }
}

/** Reads the queues of one kind, one at a time: the keys of a queue are adjacent. */
async function* streamQueues(
  context: CommandContext,
  kind: QueueKind,
  revision: bigint,
): AsyncGenerator<NamedQueue> {
  let name: string | undefined;
  let kvs: KeyValue[] = [];
  const buildQueue = (): NamedQueue[] =>
    name === undefined || kvs.length === 0 ? [] : [{ kind, name, entries: toQueue(kvs) }];
  try {
    for await (const page of readPages(context, context.keys[`${kind}s`](), {
      revision,
      signal: context.signal,
    })) {
      for (const kv of page.kvs) {
        const at = context.keys.parseQueueKey(kv.key);
        if (at?.name !== name) {
          yield* buildQueue();
          [name, kvs] = [at?.name, []];
        }
        kvs.push(kv);
      }
    }
  } catch (error) {
    if (!isCompacted(error)) throw error;
    const message = "etcd was compacted during the read, so the list is incomplete; run the command again";
    throw new SignalboxError(EXIT.changed, message, { cause: error });
  }
  yield* buildQueue();
}

/** Reads the locks with a history, or the configured resources. Returns none without `--all`. */
async function readKnownNames(
  context: CommandContext,
  kind: QueueKind,
  { snapshot, all }: QueueRowContext,
): Promise<Iterable<string>> {
  if (!all) return [];
  return kind === "lock" ? await readRecordedLocks(context, snapshot.revision) : snapshot.resources.keys();
}
