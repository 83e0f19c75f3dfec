import type { WallTime } from "../../../../core/base/clock.ts";
import type { QueueKind } from "../../../../core/protocol/keys.ts";
import type { Collection, NamedQueue, Snapshot } from "../../../../site/state/snapshot.ts";
import { buildViewContext, type ViewContext } from "../../../../site/state/view-context.ts";
import { isFilterMatch, splitTimedFilter } from "../../../views/filter.ts";
import { buildEmptyTableRows, createTallyFinder } from "../../../views/queues.ts";
import type { AnyView, QueueView, SnapshotView } from "../../../views/view.ts";
import type { ListOptions } from "./ls-options.ts";

/** The parts of a snapshot. Each is the same object while nothing in it changes. */
type SnapshotPart = Exclude<keyof Snapshot, "revision">;
const PARTS_OF: Readonly<Record<Collection, readonly SnapshotPart[]>> = {
  locks: ["queues"],
  resources: ["queues"],
  resourceConfigs: ["resources"],
  groups: ["groups"],
  drains: ["drains"],
  hosts: ["hosts", "agentSessions", "agentReports"],
  histories: ["histories"],
  audits: ["audit"],
  schedules: ["schedules"],
  dues: ["dues"],
  runnings: ["executions"],
  workers: ["workers"],
  calendars: ["calendars"],
  outcomeHistories: ["outcomes"],
} as const;
/** The parts that the rows of one queue depend on, besides the queue. */
const SHARED_PARTS = ["resources", "groups", "drains", "hosts"] as const;

/** The rows of a view, and what else they were built from. */
interface ComputedRows<R> {
  rows: readonly R[];
  viewContext: ViewContext;
}

export type ComputeRows<R> = (snapshot: Snapshot, wall: WallTime) => ComputedRows<R>;

/**
 * Creates a function that computes the rows of a view for successive snapshots. Unchanged parts cost almost nothing: if nothing changed, it
 * returns the same array; otherwise it reuses the rows of unchanged queues.
 */
export function createRowCache<R>(view: AnyView<R>, options: ListOptions): ComputeRows<R> {
  let last: (ComputedRows<R> & { snapshot: Snapshot; second: number }) | undefined;
  let timedRows: { all: readonly R[]; second: number; rows: readonly R[] } | undefined;
  let whole: { all: readonly R[]; rows: readonly R[] } | undefined;
  /** Rows by queue or claim; valid while the shared parts stay the same. */
  let built = new WeakMap<object, unknown>();
  /** The part of the filter for which a row stays a match, and the part that time can change. */
  const { steady, timed } = splitTimedFilter(options.filter);
  const collections = new Set(view.collections.flatMap((collection) => PARTS_OF[collection]));
  /**
   * The parts that the rows depend on. Rows of free locks depend on histories, which are not in the view's collections.
   */
  const parts: readonly SnapshotPart[] = [
    ...collections,
    "strange",
    ...(view.of === "queue" ? (["histories"] as const) : []),
  ];

  return computeRows;

  function computeRows(snapshot: Snapshot, wall: WallTime): ComputedRows<R> {
    const known = computeSteadyRows(snapshot, wall);
    return timed.terms.length === 0 ? known : { ...known, rows: filterTimedRows(known.rows, wall) };
  }

  /** Filters by what time can change, once a second. Returns the same array while the same rows match. */
  function filterTimedRows(all: readonly R[], wall: WallTime): readonly R[] {
    const second = Math.floor(wall / 1000);
    const before = timedRows;
    if (before?.all === all && before.second === second) return before.rows;
    const found = all.filter((row) => isFilterMatch(view, timed, row, { wall }));
    const isSame = found.length === before?.rows.length && found.every((row, at) => row === before.rows[at]);
    const rows = isSame ? before.rows : found;
    timedRows = { all, second, rows };
    return rows;
  }

  function computeSteadyRows(snapshot: Snapshot, wall: WallTime): ComputedRows<R> {
    const viewContext = buildViewContext(snapshot, wall);
    const second = Math.floor(wall / 1000);
    const before = last;
    const isSame = before !== undefined && before.viewContext.drains.length === viewContext.drains.length;
    const isTimed = view.of === "snapshot" && view.isTimed === true && before?.second !== second;
    if (isSame && !isTimed && parts.every((part) => before.snapshot[part] === snapshot[part])) return before;
    if (!isSame || SHARED_PARTS.some((part) => before.snapshot[part] !== snapshot[part]))
      built = new WeakMap();
    const rows = buildRows(snapshot, { ...viewContext, builtRows: built });
    last = { snapshot, viewContext, second, rows };
    return { rows, viewContext };
  }

  function buildRows(snapshot: Snapshot, viewContext: ViewContext): readonly R[] {
    if (view.of === "snapshot") return buildSnapshotRows(view, snapshot, viewContext);
    const rows = collectQueueRows(view, snapshot, viewContext);
    // While only a part of the queues is read, it is not known which ones are empty.
    return view.hasEmpty && snapshot.revision > 0n
      ? [...rows, ...filterRows(buildEmptyRows(snapshot, viewContext))]
      : rows;
  }

  /** Collects the rows of all queues in a list that is allocated once: there may be a hundred thousand. */
  function collectQueueRows(view: QueueView<R>, { queues }: Snapshot, viewContext: ViewContext): R[] {
    const lists = Array.from(queues.values(), (queue) => buildQueueRows(view, queue, viewContext));
    const rows = new Array<R>(lists.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const list of lists)
      for (const row of list) {
        rows[at] = row;
        at += 1;
      }
    return rows;
  }

  /** Builds the rows of a snapshot view. If the view returns the same array, the filtered rows are reused. */
  function buildSnapshotRows(
    view: SnapshotView<R>,
    snapshot: Snapshot,
    viewContext: ViewContext,
  ): readonly R[] {
    const all = view.buildRows(snapshot, viewContext);
    if (whole?.all !== all) whole = { all, rows: filterRows(all) };
    return whole.rows;
  }

  function buildQueueRows(view: QueueView<R>, queue: NamedQueue, viewContext: ViewContext): readonly R[] {
    const known = built.get(queue) as readonly R[] | undefined;
    if (known !== undefined) return known;
    const rows = filterRows(view.buildRows(queue, viewContext));
    built.set(queue, rows);
    return rows;
  }

  function filterRows(rows: readonly R[]): readonly R[] {
    if (steady.terms.length === 0) return rows;
    // Nothing in the steady part depends on the time.
    const found = rows.filter((row) => isFilterMatch(view, steady, row, { wall: 0 }));
    // The list of all rows is kept where it can be: there may be ten thousand queues, and a new list has room for more rows.
    return found.length === rows.length ? rows : found;
  }

  /** Builds the rows of empty queues. Only views whose rows are queues have them. */
  function buildEmptyRows(snapshot: Snapshot, viewContext: ViewContext): readonly R[] {
    const known = { lock: snapshot.histories.keys(), resource: snapshot.resources.keys() };
    const listNames = (kind: QueueKind) =>
      new Set([...snapshot.queues.values()].flatMap((queue) => (queue.kind === kind ? [queue.name] : [])));
    const kinds = (["lock", "resource"] as const).filter((kind) => view.collections.includes(`${kind}s`));
    const findTally = createTallyFinder(snapshot);
    return kinds.flatMap((kind) =>
      buildEmptyTableRows(kind, listNames(kind), options.all ? known[kind] : [], viewContext, findTally),
    ) as R[];
  }
}
