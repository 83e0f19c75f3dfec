import type { WallTime } from "../../../../core/base/clock.ts";
import type { QueueKind } from "../../../../core/protocol/keys.ts";
import type { Collection, NamedQueue, Snapshot } from "../../../../site/state/snapshot.ts";
import { buildViewContext, type ViewContext } from "../../../../site/state/view-context.ts";
import { isFilterMatch, type RowFilter, splitTimedFilter } from "../../../views/filter.ts";
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
  /** The part of the filter for which a row stays a match, and the part that time can change. */
  readonly #steady: RowFilter;
  readonly #timed: RowFilter;
  #known: { snapshot: Snapshot; viewContext: ViewContext; second: number; rows: readonly R[] } | undefined;
  #timedRows: { all: readonly R[]; second: number; rows: readonly R[] } | undefined;
  #whole: { all: readonly R[]; rows: readonly R[] } | undefined;
  /** Rows by queue or claim; valid while the shared parts stay the same. */
  #built = new WeakMap<object, unknown>();

  constructor(view: AnyView<R>, options: ListOptions) {
    this.#view = view;
    this.#options = options;
    ({ steady: this.#steady, timed: this.#timed } = splitTimedFilter(options.filter));
    const collections = new Set(view.collections.flatMap((collection) => PARTS_OF[collection]));
    this.#parts = [...collections, "strange", ...(view.of === "queue" ? (["histories"] as const) : [])];
  }

  computeRows(snapshot: Snapshot, wall: WallTime): { rows: readonly R[]; viewContext: ViewContext } {
    const known = this.#computeSteadyRows(snapshot, wall);
    return this.#timed.terms.length === 0
      ? known
      : { ...known, rows: this.#filterTimedRows(known.rows, wall) };
  }

  /** Filters by what time can change, once a second. Returns the same array while the same rows match. */
  #filterTimedRows(all: readonly R[], wall: WallTime): readonly R[] {
    const second = Math.floor(wall / 1000);
    const before = this.#timedRows;
    if (before?.all === all && before.second === second) return before.rows;
    const found = all.filter((row) => isFilterMatch(this.#view, this.#timed, row, { wall }));
    const isSame = found.length === before?.rows.length && found.every((row, at) => row === before.rows[at]);
    const rows = isSame ? before.rows : found;
    this.#timedRows = { all, second, rows };
    return rows;
  }

  #computeSteadyRows(snapshot: Snapshot, wall: WallTime): { rows: readonly R[]; viewContext: ViewContext } {
    const viewContext = buildViewContext(snapshot, wall);
    const second = Math.floor(wall / 1000);
    const before = this.#known;
    const isSame = before !== undefined && before.viewContext.drains.length === viewContext.drains.length;
    const isTimed = this.#view.of === "snapshot" && this.#view.isTimed === true && before?.second !== second;
    if (isSame && !isTimed && this.#parts.every((part) => before.snapshot[part] === snapshot[part]))
      return before;
    if (!isSame || SHARED_PARTS.some((part) => before.snapshot[part] !== snapshot[part]))
      this.#built = new WeakMap();
    const rows = this.#buildRows(snapshot, { ...viewContext, builtRows: this.#built });
    this.#known = { snapshot, viewContext, second, rows };
    return { rows, viewContext };
  }

  #buildRows(snapshot: Snapshot, viewContext: ViewContext): readonly R[] {
    const view = this.#view;
    if (view.of === "snapshot") return this.#buildSnapshotRows(view, snapshot, viewContext);
    const rows = this.#collectQueueRows(view, snapshot, viewContext);
    // While only a part of the queues is read, it is not known which ones are empty.
    return view.hasEmpty && snapshot.revision > 0n
      ? [...rows, ...this.#filterRows(this.#buildEmptyRows(snapshot, viewContext))]
      : rows;
  }

  /** Collects the rows of all queues in a list that is allocated once: there may be a hundred thousand. */
  #collectQueueRows(view: QueueView<R>, { queues }: Snapshot, viewContext: ViewContext): R[] {
    const lists = Array.from(queues.values(), (queue) => this.#buildQueueRows(view, queue, viewContext));
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
  #buildSnapshotRows(view: SnapshotView<R>, snapshot: Snapshot, viewContext: ViewContext): readonly R[] {
    const all = view.buildRows(snapshot, viewContext);
    if (this.#whole?.all !== all) this.#whole = { all, rows: this.#filterRows(all) };
    return this.#whole.rows;
  }

  #buildQueueRows(view: QueueView<R>, queue: NamedQueue, viewContext: ViewContext): readonly R[] {
    const known = this.#built.get(queue) as readonly R[] | undefined;
    if (known !== undefined) return known;
    const rows = this.#filterRows(view.buildRows(queue, viewContext));
    this.#built.set(queue, rows);
    return rows;
  }

  #filterRows(rows: readonly R[]): readonly R[] {
    if (this.#steady.terms.length === 0) return rows;
    // Nothing in the steady part depends on the time.
    const found = rows.filter((row) => isFilterMatch(this.#view, this.#steady, row, { wall: 0 }));
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
