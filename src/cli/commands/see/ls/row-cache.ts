import type { WallTime } from "../../../../core/base/clock.ts";
import { memoizeWeakly } from "../../../../core/base/memoize.ts";
import type { QueueKind } from "../../../../core/protocol/keys.ts";
import type { Collection, NamedQueue, Snapshot } from "../../../../site/state/snapshot.ts";
import { buildViewContext, type ViewContext } from "../../../../site/state/view-context.ts";
import { createRowTest, splitTimedFilter } from "../../../views/filter.ts";
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

/**
 * Computes the rows of a view for successive snapshots. Unchanged parts cost almost nothing: if nothing changed, it
 * returns the same array; otherwise it reuses the rows of unchanged queues.
 */
export class RowCache<R> {
  readonly #view: AnyView<R>;
  readonly #options: ListOptions;
  /**
   * The parts that the rows depend on. Rows of free locks depend on histories, which are not in the view's collections.
   */
  readonly #parts: readonly SnapshotPart[];
  /** Whether a row matches the part of the filter for which it stays a match, and the part that time can change; undefined without terms. */
  readonly #isSteadyMatch: ReturnType<typeof createRowTest<R>> | undefined;
  readonly #isTimedMatch: ReturnType<typeof createRowTest<R>> | undefined;
  #known: { snapshot: Snapshot; viewContext: ViewContext; second: number; lists: RowLists<R> } | undefined;
  #timedRows: { all: readonly R[]; second: number; rows: readonly R[] } | undefined;
  /** Rows by queue or list of claims; valid while the shared parts stay the same. */
  #built = new WeakMap<object, unknown>();
  readonly #filterList = memoizeWeakly((rows: readonly R[]) => this.#filterRows(rows));
  readonly #joinLists = memoizeWeakly(joinLists<R>);

  constructor(view: AnyView<R>, options: ListOptions) {
    this.#view = view;
    this.#options = options;
    const { steady, timed } = splitTimedFilter(options.filter);
    if (steady.terms.length > 0 || steady.fault !== undefined)
      this.#isSteadyMatch = createRowTest(view, steady);
    if (timed.terms.length > 0) this.#isTimedMatch = createRowTest(view, timed);
    const collections = new Set(view.collections.flatMap((collection) => PARTS_OF[collection]));
    this.#parts = [...collections, "strange", ...(view.of === "queue" ? (["histories"] as const) : [])];
  }

  computeRows(snapshot: Snapshot, wall: WallTime): { rows: readonly R[]; viewContext: ViewContext } {
    const { lists, viewContext } = this.computeLists(snapshot, wall);
    const rows = this.#joinLists(lists);
    return { rows: this.#isTimedMatch === undefined ? rows : this.#filterTimedRows(rows, wall), viewContext };
  }

  /** Filters by what time can change, once a second. Returns the same array while the same rows match. */
  #filterTimedRows(all: readonly R[], wall: WallTime): readonly R[] {
    const second = Math.floor(wall / 1000);
    const before = this.#timedRows;
    if (before?.all === all && before.second === second) return before.rows;
    const found = all.filter((row) => this.#isTimedMatch?.(row, wall));
    const isSame = found.length === before?.rows.length && found.every((row, at) => row === before.rows[at]);
    const rows = isSame ? before.rows : found;
    this.#timedRows = { all, second, rows };
    return rows;
  }

  /** Computes the rows in lists, without the part of the filter that time can change. A list without changes stays the same object. */
  computeLists(snapshot: Snapshot, wall: WallTime): { lists: RowLists<R>; viewContext: ViewContext } {
    const viewContext = buildViewContext(snapshot, wall);
    const second = Math.floor(wall / 1000);
    const before = this.#known;
    const isSame = before !== undefined && before.viewContext.drains.length === viewContext.drains.length;
    const isTimed = this.#view.of === "snapshot" && this.#view.isTimed === true && before?.second !== second;
    if (isSame && !isTimed && this.#parts.every((part) => before.snapshot[part] === snapshot[part]))
      return before;
    if (!isSame || SHARED_PARTS.some((part) => before.snapshot[part] !== snapshot[part]))
      this.#built = new WeakMap();
    const lists = this.#buildLists(snapshot, { ...viewContext, builtRows: this.#built });
    this.#known = { snapshot, viewContext, second, lists };
    return { lists, viewContext };
  }

  #buildLists(snapshot: Snapshot, viewContext: ViewContext): RowLists<R> {
    const view = this.#view;
    if (view.of === "snapshot") {
      const lists = view.buildLists?.(snapshot, viewContext) ?? [view.buildRows(snapshot, viewContext)];
      return this.#isSteadyMatch === undefined ? lists : lists.map(this.#filterList);
    }
    const lists = Array.from(snapshot.queues.values(), (queue) =>
      this.#buildQueueRows(view, queue, viewContext),
    );
    // While only a part of the queues is read, it is not known which ones are empty.
    if (view.hasEmpty && snapshot.revision > 0n)
      lists.push(this.#filterRows(this.#buildEmptyRows(snapshot, viewContext)));
    return lists;
  }

  #buildQueueRows(view: QueueView<R>, queue: NamedQueue, viewContext: ViewContext): readonly R[] {
    const known = this.#built.get(queue) as readonly R[] | undefined;
    if (known !== undefined) return known;
    const rows = this.#filterRows(view.buildRows(queue, viewContext));
    this.#built.set(queue, rows);
    return rows;
  }

  #filterRows(rows: readonly R[]): readonly R[] {
    const isMatch = this.#isSteadyMatch;
    if (isMatch === undefined) return rows;
    // Nothing in the steady part depends on the time.
    const found = rows.filter((row) => isMatch(row, 0));
    // The list of all rows is kept where it can be: there may be ten thousand queues, and a new list has room for more rows.
    return found.length === rows.length ? rows : found;
  }

  /** Builds the rows of empty queues. Only views whose rows are queues have them. */
  #buildEmptyRows(snapshot: Snapshot, viewContext: ViewContext): readonly R[] {
    const known = { lock: snapshot.histories.keys(), resource: snapshot.resources.keys() };
    const listNames = (kind: QueueKind) =>
      new Set([...snapshot.queues.values()].flatMap((queue) => (queue.kind === kind ? [queue.name] : [])));
    const kinds = (["lock", "resource"] as const).filter((kind) =>
      this.#view.collections.includes(`${kind}s`),
    );
    const findTally = createTallyFinder(snapshot);
    return kinds.flatMap((kind) =>
      buildEmptyTableRows(
        kind,
        listNames(kind),
        this.#options.all ? known[kind] : [],
        viewContext,
        findTally,
      ),
    ) as R[];
  }
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
