import { setImmediate } from "node:timers/promises";
import type { WallTime } from "../../../../core/base/clock.ts";
import { createListMapper, memoize, memoizeWeakly } from "../../../../core/base/memoize.ts";
import {
  type Collection,
  findNamedQueue,
  type NamedQueue,
  type Snapshot,
} from "../../../../site/state/snapshot.ts";
import { buildViewContext, type ViewContext } from "../../../../site/state/view-context.ts";
import { createRowTest, type RowFilter, splitTimedFilter } from "../../../views/filter.ts";
import { buildEmptyTableRows, createTallyFinder } from "../../../views/queues.ts";
import { countListedRows } from "../../../views/sort.ts";
import type { AnyView, QueueView, RowLists } from "../../../views/view.ts";
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

/** Rows of a view for successive snapshots. */
type Compute<T> = (snapshot: Snapshot, wall: WallTime) => T;
export type ComputeRows<R> = Compute<{ rows: readonly R[]; viewContext: ViewContext }>;
type ComputeLists<R> = Compute<{ lists: RowLists<R>; viewContext: ViewContext }>;

/**
 * Creates a function that computes the rows of a view for successive snapshots. Unchanged parts cost almost nothing: if nothing changed, it
 * returns the same array; otherwise it reuses the rows of unchanged queues.
 */
export function createRowCache<R>(view: AnyView<R>, options: ListOptions): ComputeRows<R> {
  const computeLists = createListCache(view, options);
  const join = memoizeWeakly(joinLists<R>);
  let timedRows: { all: readonly R[]; second: number; rows: readonly R[] } | undefined;
  const { timed } = splitTimedFilter(options.filter);
  const isTimedMatch = createRowTest(view, timed);
  return (snapshot, wall) => {
    const { lists, viewContext } = computeLists(snapshot, wall);
    const rows = join(lists);
    return { rows: timed.terms.length === 0 ? rows : filterTimedRows(rows, wall), viewContext };
  };

  /** Filters by what time can change, once a second. Returns the same array while the same rows match. */
  function filterTimedRows(all: readonly R[], wall: WallTime): readonly R[] {
    const second = Math.floor(wall / 1000);
    const before = timedRows;
    if (before?.all === all && before.second === second) return before.rows;
    const found = all.filter((row) => isTimedMatch(row, wall));
    const isSame = found.length === before?.rows.length && found.every((row, at) => row === before.rows[at]);
    const rows = isSame ? before.rows : found;
    timedRows = { all, second, rows };
    return rows;
  }
}

/** Creates the same for rows in lists, without the part of the filter that time can change. */
export function createListCache<R>(view: AnyView<R>, options: ListOptions): ComputeLists<R> {
  let last: (ReturnType<ComputeLists<R>> & { snapshot: Snapshot; second: number }) | undefined;
  /** Rows by queue or list of claims; valid while the shared parts stay the same. */
  let built = new WeakMap<object, unknown>();
  let mapQueues = createListMapper<NamedQueue, readonly R[]>();
  const { steady } = splitTimedFilter(options.filter);
  const isMatch = createRowTest(view, steady);
  const isFiltered = steady.terms.length > 0;
  const filterList = memoizeWeakly(filterRows);
  const collections = new Set(view.collections.flatMap((collection) => PARTS_OF[collection]));
  /**
   * The parts that the rows depend on. Rows of free locks depend on histories, which are not in the view's collections.
   */
  const parts: readonly SnapshotPart[] = [
    ...collections,
    "strange",
    ...(view.of === "queue" ? (["histories"] as const) : []),
  ];

  return computeLists;

  function computeLists(snapshot: Snapshot, wall: WallTime): ReturnType<ComputeLists<R>> {
    const viewContext = buildViewContext(snapshot, wall);
    const second = Math.floor(wall / 1000);
    const before = last;
    const isSame = before !== undefined && before.viewContext.drains.length === viewContext.drains.length;
    const isTimed = view.of === "snapshot" && view.isTimed === true && before?.second !== second;
    if (isSame && !isTimed && parts.every((part) => before.snapshot[part] === snapshot[part]))
      return { lists: before.lists, viewContext };
    if (!isSame || SHARED_PARTS.some((part) => before.snapshot[part] !== snapshot[part])) {
      built = new WeakMap();
      mapQueues = createListMapper();
    }
    const lists = buildLists(snapshot, { ...viewContext, builtRows: built });
    last = { snapshot, viewContext, second, lists };
    return last;
  }

  function buildLists(snapshot: Snapshot, viewContext: ViewContext): RowLists<R> {
    if (view.of === "snapshot") {
      const lists = view.buildLists?.(snapshot, viewContext) ?? [view.buildRows(snapshot, viewContext)];
      return isFiltered ? lists.map(filterList) : lists;
    }
    const queues = [...snapshot.queues.values()];
    const lists = [...mapQueues(queues, (queue) => buildQueueRows(view, queue, viewContext))];
    // While only a part of the queues is read, it is not known which ones are empty.
    if (view.hasEmpty && snapshot.revision > 0n)
      lists.push(filterRows(buildEmptyRows(snapshot, viewContext)));
    return lists;
  }

  function buildQueueRows(view: QueueView<R>, queue: NamedQueue, viewContext: ViewContext): readonly R[] {
    const known = built.get(queue) as readonly R[] | undefined;
    if (known !== undefined) return known;
    const rows = filterRows(view.buildRows(queue, viewContext));
    built.set(queue, rows);
    return rows;
  }

  function filterRows(rows: readonly R[]): readonly R[] {
    if (!isFiltered) return rows;
    // Nothing in the steady part depends on the time.
    const found = rows.filter((row) => isMatch(row, 0));
    // The list of all rows is kept where it can be: there may be ten thousand queues, and a new list has room for more rows.
    return found.length === rows.length ? rows : found;
  }

  /** Builds the rows of empty queues. Only views whose rows are queues have them. */
  function buildEmptyRows(snapshot: Snapshot, viewContext: ViewContext): readonly R[] {
    const known = { lock: snapshot.histories.keys(), resource: snapshot.resources.keys() };
    const kinds = (["lock", "resource"] as const).filter((kind) => view.collections.includes(`${kind}s`));
    const findTally = createTallyFinder(snapshot);
    return kinds.flatMap((kind) =>
      buildEmptyTableRows(
        kind,
        (name) => findNamedQueue(snapshot, kind, name) !== undefined,
        options.all ? known[kind] : [],
        viewContext,
        findTally,
      ),
    ) as R[];
  }
}

/** Lists that are filtered before others are served: each has the rows of a queue. */
const LISTS_AT_ONCE = 200;

/**
 * Creates what filters lists, always by the same filter, and lets others run meanwhile. It keeps what time does not change of lists that
 * are as before.
 */
export function createListFilter<R>() {
  const byList = new WeakMap<readonly R[], readonly R[]>();
  const getMapper = memoize((_part: number) => createListMapper<readonly R[], readonly R[]>());
  return async (
    view: AnyView<R>,
    lists: RowLists<R>,
    filter: RowFilter,
    wall: WallTime,
  ): Promise<RowLists<R>> => {
    if (filter.terms.length === 0) return lists;
    const { steady, timed } = splitTimedFilter(filter);
    const [isMatch, isTimedMatch] = [createRowTest(view, steady), createRowTest(view, timed)];
    const found: (readonly R[])[] = [];
    let isNew = false;
    const filterRows = (rows: readonly R[]) => {
      isNew = true;
      const own = byList.get(rows) ?? rows.filter((row) => isMatch(row, 0));
      byList.set(rows, own);
      return own;
    };
    for (let at = 0; at < lists.length; at += LISTS_AT_ONCE) {
      isNew = false;
      found.push(...getMapper(at)(lists.slice(at, at + LISTS_AT_ONCE), filterRows));
      if (isNew) await setImmediate();
    }
    return timed.terms.length === 0
      ? found
      : found.map((rows) => rows.filter((row) => isTimedMatch(row, wall)));
  };
}

/** Joins lists in one that is allocated once: there may be a hundred thousand rows. */
function joinLists<R>(lists: RowLists<R>): readonly R[] {
  const [only] = lists;
  if (only !== undefined && lists.length === 1) return only;
  const rows = new Array<R>(countListedRows(lists));
  let at = 0;
  for (const list of lists)
    for (const row of list) {
      rows[at] = row;
      at += 1;
    }
  return rows;
}
