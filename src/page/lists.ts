import { hash } from "node:crypto";
import { ON_DEMAND } from "../cli/commands/see/grid.ts";
import { addEtcdFaults } from "../cli/commands/see/live-output.ts";
import { formatRowsJson } from "../cli/commands/see/ls/ls.impl.ts";
import { type LsFlags, ls } from "../cli/commands/see/ls/ls.ts";
import { type ListOptions, parseListOptions } from "../cli/commands/see/ls/ls-options.ts";
import { createListCache, createListFilter } from "../cli/commands/see/ls/row-cache.ts";
import type { Call } from "../cli/frame/command.ts";
import { parseCall } from "../cli/frame/command-line/parse-call.ts";
import { UNICODE_DRAWING } from "../cli/views/drawing.ts";
import { NO_FILTER } from "../cli/views/filter.ts";
import { VIEWS } from "../cli/views/index.ts";
import { createMacrosView } from "../cli/views/macros.ts";
import { countListedRows, getRowSorter, parseSortOrder } from "../cli/views/sort.ts";
import type { AnyView, RowLists, TableColumn } from "../cli/views/view.ts";
import type { WallTime } from "../core/base/clock.ts";
import { UsageError } from "../core/base/errors.ts";
import { createListMapper, memoize, memoizeWeakly } from "../core/base/memoize.ts";
import { clean, pluralize } from "../core/base/text.ts";
import type { Keys } from "../core/protocol/keys.ts";
import type { Snapshot } from "../site/state/snapshot.ts";
import type { Share, Subject, Tone } from "../site/state/subject.ts";
import type { ViewContext } from "../site/state/view-context.ts";
import { type Html, html, type Page, type PageItem } from "./html.ts";
import { findSubjectPath, formatListName, LIST_SWITCHES, LIST_VALUES, type ListId } from "./routes.ts";
import type { SiteState } from "./site-follower.ts";

/** What a list is asked for. */
export interface ListQuery {
  id: ListId;
  query: URLSearchParams;
}

type View = AnyView<object>;

/** The rows of a list. */
interface ListRows {
  view: View;
  options: ListOptions;
  viewContext: ViewContext;
  count: number;
  /** Sorts those of some ranks. */
  sortRows(from: number, to: number): Iterable<object>;
}

const ROWS_PER_PAGE = 100;
const MAX_KNOWN_FILTERS = 64;
/** Filters of strangers: the time for a row grows with them. */
const MAX_FILTER_TERMS = 8;
const MAX_FILTER_CHARACTERS = 400;

/** Makes the lists of the page, as `signalbox ls` does. Rows of queues that have not changed are not built again. */
export class SiteLists {
  readonly #keys: Keys;
  readonly #basePath: string;
  readonly #mapHistories = createListMapper<readonly object[], RowLists<object>>();
  readonly #getFilter = memoize((_key: string) => createListFilter<object>(), MAX_KNOWN_FILTERS);
  readonly #getLists = memoize((key: string) => {
    const [id, all] = JSON.parse(key) as [ListId, boolean];
    return createListCache<object>(VIEWS[id], { ...EVERYTHING, all });
  });

  constructor(keys: Keys, basePath: string) {
    this.#keys = keys;
    this.#basePath = basePath;
  }

  /** Builds the page of a list. @throws UsageError for a wrong query */
  async buildPage(asked: ListQuery, state: SiteState, wall: WallTime): Promise<Page> {
    return buildListPage(await this.#findRows(asked, state, wall), asked, this.#basePath);
  }

  /** Renders the first rows of a list with its most important columns, for a part of a page. */
  async renderTable(title: string, asked: ListQuery, state: SiteState, wall: WallTime): Promise<Html> {
    const list = await this.#findRows(asked, state, wall);
    const shown = [...list.sortRows(0, list.options.limit)];
    const columns = selectShownColumns(list.view, shown, wall).filter(({ priority }) => priority < 3);
    const rows = shown.map((row) => buildRow(row, list, columns, this.#basePath).html);
    return renderTable(title, columns, rows);
  }

  /** Formats what `signalbox ls --json` prints. @throws UsageError for a wrong query */
  async formatJson(asked: ListQuery, state: SiteState, wall: WallTime): Promise<AsyncIterable<string>> {
    const { view, count, sortRows } = await this.#findRows(asked, state, wall, true);
    const source = { revision: state.snapshot.revision, prefix: this.#keys.prefix };
    return formatRowsJson(view, source, sortRows(0, count));
  }

  /** Filters rows; for JSON as `ls` does. Lists of rows that are as before are not filtered again. */
  async #findRows(asked: ListQuery, state: SiteState, wall: WallTime, isJson = false): Promise<ListRows> {
    const { id, query } = asked;
    const view = id === "macros" && !isJson ? (createMacrosView(state.snapshot) as View) : VIEWS[id];
    const options = parseQuery(view, query, wall);
    const isByKey = isJson && view.of === "queue" && options.order === undefined;
    // No column: the order of the lists stays.
    const { filter, order = parseSortOrder(isByKey ? "" : view.sort), limit } = options;
    const snapshot = isByKey ? this.#sortByKey(state.snapshot) : getSnapshot(view, state);
    const { lists, viewContext } = this.#getLists(JSON.stringify([id, options.all]))(snapshot, wall);
    const key = buildFilterKey(query);
    const filterLists = query.has("since") ? createListFilter<object>() : this.#getFilter(`${id} ${key}`);
    const found = await filterLists(view, lists, filter, wall);
    const isDefault = id === "history" && !isJson && options.order === undefined;
    const split = isDefault ? this.#mapHistories(found, splitFailures) : [];
    const parts = isDefault ? [0, 1].map((at) => split.map((own) => own[at] ?? [])) : [found];
    return {
      view,
      options,
      viewContext,
      count: Math.min(limit, countListedRows(found)),
      sortRows: (from, to) => getRowSorter(view, order, key).sortRanks(parts, from, to),
    };
  }

  /** Puts what a listing reads in the order of keys. */
  #sortByKey(snapshot: Snapshot): Snapshot {
    const sortBy = <K, V>(map: ReadonlyMap<K, V>, getKey: (entry: readonly [K, V]) => string) => {
      const keyed = [...map].map((entry) => [getKey(entry), entry] as const);
      return new Map(keyed.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry));
    };
    return {
      ...snapshot,
      queues: sortBy(snapshot.queues, ([, { kind, name }]) => this.#keys.getQueueRange(kind, name).key),
      histories: sortBy(snapshot.histories, ([name]) => this.#keys.history(name)),
    };
  }
}

/** What is wrong with etcd is a problem, too. */
function getSnapshot(view: View, { snapshot, health }: SiteState): Snapshot {
  return view.id === "problems" ? addEtcdFaults(snapshot, health) : snapshot;
}

const EVERYTHING = {
  filter: NO_FILTER,
  order: undefined,
  columns: undefined,
  limit: Number.POSITIVE_INFINITY,
};

/** What rows a query finds. */
function buildFilterKey(query: URLSearchParams): string {
  const key = new URLSearchParams(query);
  for (const name of ["page", "sort", "reverse", "limit"]) key.delete(name);
  return key.toString();
}

/** Parses a query as the flags of `signalbox ls`. @throws UsageError */
function parseQuery(view: View, query: URLSearchParams, wall: WallTime): ListOptions {
  const words = LIST_VALUES.flatMap((name) =>
    query.getAll(name).flatMap((value) => (value === "" ? [] : [`--${name}=${value}`])),
  );
  const switches = LIST_SWITCHES.flatMap((name) => (query.has(name) ? [`--${name}`] : []));
  const call = parseCall(ls, [view.id, ...switches, ...words]) as Call<LsFlags>;
  const options = parseListOptions(call, view, wall);
  const { terms } = options.filter;
  if (terms.length > MAX_FILTER_TERMS || words.join("").length > MAX_FILTER_CHARACTERS)
    throw new UsageError(`a filter on the page has at most ${MAX_FILTER_TERMS} words`);
  if (terms.some(({ test }) => "pattern" in test))
    throw new UsageError("the page takes no regular expressions: one of a stranger can take forever");
  return options;
}

/** Splits runs by whether they have failed, once while a list does not change. */
const splitFailures = memoizeWeakly((rows: readonly object[]): RowLists<object> => {
  const isFailed = (row: object) => VIEWS.history.getFacets(row).states.includes("failed");
  return [rows.filter(isFailed), rows.filter((row) => !isFailed(row))];
});

function buildListPage(list: ListRows, { id, query }: ListQuery, basePath: string): Page {
  const { view, options, viewContext, count: total } = list;
  const { wall } = viewContext;
  const name = formatListName(id);
  const pages = Math.max(1, Math.ceil(total / ROWS_PER_PAGE));
  const page = Math.min(pages, Math.max(1, Math.floor(Number(query.get("page")) || 1)));
  const shown = [...list.sortRows((page - 1) * ROWS_PER_PAGE, Math.min(total, page * ROWS_PER_PAGE))];
  const columns = selectShownColumns(view, shown, wall);
  const isFiltered = options.filter.terms.length > 0;
  const empty = isFiltered ? "No row matches the filter." : view.empty;
  const remarks = view.listRemarks?.(viewContext) ?? [];
  const count = pluralize(total, "row");
  return {
    title: name,
    section: id,
    blocks: [
      {
        id: "about",
        before: html`<h1>${name}</h1>${renderFilterForm(view, query)}<div id="about">`,
        items: [
          {
            id: "about-all",
            html: html`<div id="about-all"><p>${total === 0 ? empty : pages === 1 ? count : `${count}, page ${page} of ${pages}`}
${pages > 1 && renderPageLinks(page, pages, query)}</p>${remarks.map((remark) => html`<p class="problem">${UNICODE_DRAWING.marks.problem}${remark}</p>`)}</div>`,
          },
        ],
        after: html`</div>`,
      },
      {
        id: "rows",
        before: html`<div class="scroll" role="region" aria-label="${name}" tabindex="0"><table>
<thead><tr>${columns.map((column) => renderColumnHead(column, view, options, query))}</tr></thead>
<tbody id="rows">`,
        items: shown.map((row) => buildRow(row, list, columns, basePath)),
        after: html`</tbody></table></div>`,
      },
    ],
  };
}

/** Leaves out columns that are empty, or only shown on demand. */
function selectShownColumns(view: View, rows: readonly object[], wall: WallTime): TableColumn<object>[] {
  return view.columns.filter(
    (column) =>
      column.priority < ON_DEMAND &&
      (rows.length === 0 || rows.some((row) => column.formatCell(row, wall).trim() !== "")),
  );
}

function renderFilterForm({ of, columns }: View, query: URLSearchParams): Html {
  const hasFree = of === "queue" && columns.some(({ id }) => id === "holder");
  const kept = ["sort", "reverse", "host", "state", "since"].filter((name) => query.has(name));
  return html`<form method="get" role="search"><label>Filter <input type="search" name="filter" value="${query.get("filter") ?? ""}" maxlength="${MAX_FILTER_CHARACTERS}"></label>
${hasFree && html`<label><input type="checkbox" name="all" value="1"${query.has("all") && html` checked`}> also free</label>`}
${kept.map((name) => html`<input type="hidden" name="${name}" value="${query.get(name) ?? ""}">`)}<button>Show</button></form>`;
}

function renderPageLinks(page: number, pages: number, query: URLSearchParams): Html {
  const link = (to: number, rel: string) =>
    to >= 1 &&
    to <= pages &&
    html` <a href="?${changeQuery(query, "page", String(to))}" rel="${rel}">${rel} page</a>`;
  return html`${link(page - 1, "prev")}${link(page + 1, "next")}`;
}

function changeQuery(query: URLSearchParams, name: string, value: string, dropped: readonly string[] = []) {
  const changed = new URLSearchParams(query);
  for (const one of dropped) changed.delete(one);
  changed.set(name, value);
  return changed.toString();
}

function renderColumnHead(
  column: TableColumn<object>,
  view: View,
  { order = parseSortOrder(view.sort) }: ListOptions,
  query: URLSearchParams,
): Html {
  const { id, title } = column;
  const isSorted = order.column === id;
  const sort = isSorted && !order.descending ? `-${id}` : id;
  const direction = order.descending ? "descending" : "ascending";
  return html`<th scope="col" class="${getCellClass(column)}"${isSorted && html` aria-sort="${direction}"`}><a href="?${changeQuery(query, "sort", sort, ["reverse", "page"])}">${title}</a></th>`;
}

/** What of a column decides how its cells look. */
type ShownColumn = Pick<TableColumn<never>, "priority" | "align" | "isMarked">;

export function getCellClass({ priority, align }: ShownColumn): string {
  return [`p${priority}`, align].join(" ").trim();
}

function buildRow(
  row: object,
  { view, viewContext: { wall } }: ListRows,
  columns: readonly TableColumn<object>[],
  basePath: string,
): PageItem {
  const id = `r${hash("sha1", view.getKey(row), "base64url").slice(0, 12)}`;
  const subject = view.getSubject(row);
  const cells = columns.map((column) => {
    const tone = column.getTone?.(row, wall) ?? "plain";
    const share = column.getShare?.(row);
    const text = column.formatBriefCell?.(row) ?? column.formatCell(row, wall);
    const path = findSubjectPath(column.getCellSubject?.(row), basePath);
    return { text, tone, share, column, path };
  });
  return { id, html: renderTableRow(id, cells, subject, basePath) };
}

/** A cell as it is shown. */
interface ShownCell {
  text: string;
  tone?: Tone;
  share?: Share | undefined;
  /** Where it leads, if not to what the row is about. */
  path?: string | undefined;
  column: ShownColumn;
}

/** Longest text of a cell, in characters. */
const MAX_CELL_CHARACTERS = 300;
/** A shorter text stays on one line; a longer one can be broken anywhere. */
const MAX_UNBROKEN_CHARACTERS = 24;
const MIN_LONG_CHARACTERS = 40;

/** Renders a row. The cell with the name of what it is about, or else the first one, leads there. */
export function renderTableRow(
  id: string | undefined,
  cells: readonly ShownCell[],
  subject: Subject | undefined,
  basePath: string,
): Html {
  const path = findSubjectPath(subject, basePath);
  const name = subject?.kind === "record" ? subject.about?.name : subject?.name;
  const linked = Math.max(
    0,
    cells.findIndex(({ text }) => text !== "" && text === name),
  );
  return html`<tr${id !== undefined && html` id="${id}"`}>${cells.map((cell, at) => renderCell(cell, at === 0, at === linked ? path : cell.path))}</tr>
`;
}

function renderCell(
  { text, tone = "plain", share, column }: ShownCell,
  isHead: boolean,
  path: string | undefined,
): Html {
  const shown = clean(text, MAX_CELL_CHARACTERS);
  const mark = column.isMarked && html`<span aria-hidden="true">${UNICODE_DRAWING.marks[tone]}</span>`;
  const link = path === undefined ? shown : html`<a href="${path}">${shown}</a>`;
  const inner = html`${mark}${link}${text !== "" && share && renderBar(share)}`;
  const length =
    shown.length <= MAX_UNBROKEN_CHARACTERS ? "short" : shown.length > MIN_LONG_CHARACTERS ? "long" : "";
  const classes = `${getCellClass(column)} ${tone} ${length}`.trim();
  return isHead
    ? html`<th scope="row" class="${classes}">${inner}</th>`
    : html`<td class="${classes}">${inner}</td>`;
}

/** Renders a table below its title. */
export function renderTable(
  title: string,
  columns: readonly (ShownColumn & { title: string })[],
  rows: readonly Html[],
): Html {
  if (rows.length === 0) return html`<h2>${title}</h2><p>None.</p>`;
  const heads = columns.map(
    (column) => html`<th scope="col" class="${getCellClass(column)}">${column.title}</th>`,
  );
  return html`<h2>${title}</h2><div class="scroll" role="region" aria-label="${title}" tabindex="0"><table>
<thead><tr>${heads}</tr></thead><tbody>${rows}</tbody></table></div>`;
}

/** Draws units in use. The text beside it says the same. */
export function renderBar({ used, total = 0 }: Share): Html {
  const width = total > 0 ? Math.min(100, (100 * used) / total) : 0;
  return html`<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect class="track" width="100" height="8"/><rect class="fill" width="${width.toFixed(1)}" height="8"/></svg>`;
}
