import { hostname } from "node:os";
import { join } from "node:path";
import { COMMANDS } from "../cli/commands/registry.ts";
import type { Call, CommandIo } from "../cli/frame/command.ts";
import type { CommandContext } from "../cli/frame/store-command.ts";
import type { Detail } from "../cli/views/detail.ts";
import { type EventList, EventLog, limitEvents } from "../cli/views/event-log.ts";
import { LONG_AGO, type Millis, subtractTime } from "../core/base/clock.ts";
import type { Snapshot } from "../site/state/snapshot.ts";
import type { Subject } from "../site/state/subject.ts";
import { type AlertNews, Alerts } from "./alerts.ts";
import { type ConsoleTable, ShownTable } from "./data/console-table.ts";
import { ContextList, type OpenedContext } from "./data/context-list.ts";
import { DetailCache } from "./data/detail-cache.ts";
import { ExplorerTree, getDefaultUnfolded } from "./data/explorer-tree.ts";
import { HistoryReader } from "./data/history-reader.ts";
import { Jobs } from "./data/jobs.ts";
import { isLive, LiveView, RevisionMonitor, type ShownData } from "./data/live-view.ts";
import { ScreenLog } from "./data/screen-log.ts";
import { TabCounter, type TabCounts } from "./data/tab-counter.ts";
import { TablePane } from "./data/table-pane.ts";
import { type PastView, TimeTravel } from "./data/time-travel.ts";
import { canShowLinks, FileLinks } from "./file-links.ts";
import { Drafts } from "./parts/drafts.ts";
import { Frames } from "./parts/frames.ts";
import { createKeymap, type KeyAction, type Keymap, listKeyActions } from "./parts/keymap.ts";
import { Overlays } from "./parts/overlays.ts";
import {
  type ConsoleState,
  type CursorLists,
  clampCursors,
  type TabState,
  TOAST_DURATION,
} from "./state/console-state.ts";
import type { RowList } from "./state/cursor.ts";
import { computeLayout, type Layout, type Size } from "./state/layout.ts";
import {
  getPreferencesPath,
  readPreferences,
  restoreState,
  toConsolePreferences,
  writePreferences,
} from "./state/preferences.ts";
import { formatClipboardSequence } from "./terminal/output-sequences.ts";
import { chooseTheme, dimTheme, type TerminalColours, type Theme } from "./theme/theme.ts";
import { listUserKeyActions } from "./user-commands.ts";

/** Columns of a table besides its cells: marks at the left, and a blank at the right. */
const TABLE_MARGIN = 3;

/** Steps in which displayed ages grow, ms: while the user types, and later. Each change is written to the terminal. */
const AGE_STEPS_MS = { active: 5_000, quiet: 10_000 };

/**
 * Minimum time between two updates of the explorer while the user does not type, ms: a line more or less moves all
 * lines below it, and so rewrites those of the table.
 */
const QUIET_EXPLORER = 5_000;

/** The environment of the console. */
interface ConsolePorts {
  context: CommandContext;
  io: CommandIo;
  call: Call;
  /** The context with which the console was started, if another one is shown now. */
  first?: OpenedContext;
  /** What the terminal has answered about its colours. */
  getColours?(): TerminalColours | undefined;
  /** Called once, when something has been read for the first time. */
  onFirstRead?(): void;
  /** Schedules a repaint; several requests become one. */
  repaint(): void;
  suspend(): void;
  /** Lends the terminal to another program until the promise settles; then repaints everything. */
  lendTerminal<T>(use: () => Promise<T>): Promise<T>;
  /**
   * Ends everything of the current cluster and shows another one.
   * @param name  undefined: the context with which the console was started
   */
  switchContext(name: string | undefined): void;
  act(app: ConsoleApp, id: string): void;
  /** Discards the knowledge of the screen, because another program may have written to it. */
  redraw(): void;
  /** Whether the user has not typed for a while. */
  getIsQuiet(): boolean;
  /**
   * Runs `action` when the frame that is being rendered is on the screen: when the terminal has answered after it, or
   * if the terminal never answers. Call it while a frame is rendered.
   */
  runWhenShown(action: () => void): void;
  /** Changes when the console takes the terminal again: keys may come that were typed while nothing of it was shown. */
  getScreenNumber(): number;
  quit(): void;
}

/**
 * The console: its state, its parts, and its actions. It connects the parts, but knows neither the terminal nor the
 * components, which select from it what they show.
 */
export class ConsoleApp {
  readonly ports: ConsolePorts;
  /** All actions that keys can be bound to, user-defined ones first. */
  readonly actions: readonly KeyAction[];
  readonly keymap: Keymap;
  #state: ConsoleState;
  /** Continues while a past state is shown, so that the return takes no time. */
  readonly #live: LiveView;
  readonly travel: TimeTravel;
  readonly jobs: Jobs;
  readonly overlays: Overlays;
  readonly log: ScreenLog;
  readonly #events = new EventLog();
  #pastEvents: { of: PastView; events: EventList } | undefined;
  readonly tree = new ExplorerTree();
  #shownContexts: ContextList["all"] | undefined;
  #treeAt = LONG_AGO;
  readonly drafts = new Drafts();
  readonly frames = new Frames();
  readonly contexts: ContextList;
  readonly #revisionMonitor = new RevisionMonitor();
  readonly #detailCache: DetailCache;
  readonly #historyReader: HistoryReader;
  /** The left table, or the only one, and the right one. */
  readonly tablePanes: readonly [TablePane, TablePane];
  /** Undefined if the terminal is not known to show links, or if links are disabled. */
  readonly links: FileLinks | undefined;
  /** Separate counters for the live state and each past one. */
  #counters = new WeakMap<ShownData, TabCounter>();
  readonly #panelTable = new ShownTable();
  readonly #alerts = new Alerts();
  #connectionKind = "opening";
  /** Number of lost changes that were logged. */
  #lostChanges = 0;
  #isFirstReadDone = false;
  #refreshedFor = Number.NaN;
  #dimmed: { of: Theme; theme: Theme } | undefined;

  constructor(ports: ConsolePorts) {
    this.ports = ports;
    const { context, io, call } = ports;
    const { userCommands, keyBindings } = context.settings;
    this.actions = [...listUserKeyActions(userCommands), ...listKeyActions(COMMANDS)];
    const { keymap, findings } = createKeymap(this.actions, keyBindings);
    this.keymap = keymap;
    const notifyChange = () => this.notifyChange();
    this.#state = loadInitialState(io, context);
    this.log = new ScreenLog(
      () => context.clock.getWallTime(),
      (text) => context.log.info(text),
    );
    this.#live = new LiveView(context, () => this.#handleSnapshot(), ports.getIsQuiet);
    this.travel = new TimeTravel(context, {
      onChange: notifyChange,
      onMessage: (text, tone) => this.showToast(text, tone),
    });
    this.overlays = new Overlays(notifyChange);
    const getSnapshot = () => (isLive(this.liveView.connection) ? this.liveView.snapshot : undefined);
    this.jobs = new Jobs({
      io,
      clock: context.clock,
      settings: call.settings,
      onChange: notifyChange,
      getSnapshot,
    });
    this.contexts = new ContextList({ first: ports.first ?? { call, context }, io, context }, notifyChange);
    this.#detailCache = new DetailCache(context, notifyChange, ports.getIsQuiet);
    this.#historyReader = new HistoryReader(context, notifyChange);
    this.tablePanes = [new TablePane(this, false), new TablePane(this, true)];
    if (context.settings.hyperlinks && canShowLinks(io.env))
      this.links = new FileLinks(join(import.meta.dirname, ".."), hostname());
    for (const finding of findings) this.log.add(finding);
    const [first] = findings;
    if (first !== undefined) this.showToast(first, "problem");
  }

  /** The displayed state: the live one, or a past one. */
  get liveView(): ShownData {
    return this.travel.view ?? this.#live;
  }
  /** The events so far; in the past, those up to that time. */
  get events(): EventList {
    const { view } = this.travel;
    if (view === undefined) return this.#events;
    if (this.#pastEvents?.of !== view)
      this.#pastEvents = { of: view, events: limitEvents(this.#events, view.past.at) };
    return this.#pastEvents.events;
  }
  get context(): CommandContext {
    return this.ports.context;
  }
  get state(): ConsoleState {
    return this.#state;
  }
  /** How the active tab is displayed. */
  get tabState(): TabState {
    return this.#state.tabs[this.#state.tab];
  }
  get isReadOnly(): boolean {
    return this.context.settings.readOnly;
  }
  /** The dimmed theme while the displayed data may be out of date. */
  get theme(): Theme {
    const wanted = this.state.configuredTheme ?? this.state.theme;
    const isAscii = this.ports.call.flags.ascii === true;
    const theme = chooseTheme(wanted, this.ports.io.env, isAscii, this.ports.getColours?.());
    const { kind } = this.liveView.connection;
    if (kind === "live" || kind === "opening" || kind === "past") return theme;
    if (this.#dimmed?.of !== theme) this.#dimmed = { of: theme, theme: dimTheme(theme) };
    return this.#dimmed.theme;
  }
  /** The active table. */
  get tablePane(): TablePane {
    return this.tablePanes.find(({ isActive }) => isActive) ?? this.tablePanes[0];
  }
  /** The table that is not active, if there is one. */
  get otherPane(): TablePane | undefined {
    return this.tablePanes.find(({ isActive }) => !isActive);
  }
  get table(): ConsoleTable {
    return this.tablePane.table;
  }

  /** The time of the displayed state: the wall clock, or a past time. */
  getWallTime(): number {
    return this.travel.view?.past.at ?? this.getPresentTime();
  }

  getPresentTime(): number {
    return this.context.clock.getWallTime();
  }

  /** The wall clock for displayed ages: it moves in steps, because each change is written to the terminal. */
  getShownTime(): number {
    if (this.liveView.past !== undefined) return this.getWallTime();
    const step = this.ports.getIsQuiet() ? AGE_STEPS_MS.quiet : AGE_STEPS_MS.active;
    return Math.floor(this.getWallTime() / step) * step;
  }

  /**
   * Whether a frame would be that of the last refresh: nobody types, all is well, and no displayed age has grown. The first
   * read shows its own progress.
   */
  get isStill(): boolean {
    const { toast, watched } = this.state;
    const { connection, progress } = this.liveView;
    const isAtRest = this.ports.getIsQuiet() && (isLive(connection) || progress !== undefined);
    const isIdle = this.overlays.top === undefined && this.jobs.running.length === 0;
    return isAtRest && isIdle && !toast && watched.length === 0 && this.#refreshedFor === this.getShownTime();
  }

  getScreenSize(): Size {
    const { columns: width, rows: height } = this.ports.io.terminal.getSize();
    return { width, height };
  }

  /** Undefined if the screen is too small. */
  getLayout(): Layout | undefined {
    const tableWidth = this.table.wantedWidth;
    return computeLayout(this.getScreenSize(), this.state, {
      panelLines: this.#countPanelLines(),
      explorerWidth: this.tree.wantedWidth,
      tableWidth: tableWidth && tableWidth + TABLE_MARGIN,
      tableLines: this.#countTableLines(),
    });
  }

  #countTableLines(): number | undefined {
    return this.table.length === 0 || this.state.tab === "overview"
      ? undefined
      : this.table.length + this.tablePane.titleHeight;
  }

  /** Counts the lines of the panel: one for the text of an empty panel, and one more for the titles of a table. */
  #countPanelLines(): number {
    const { id } = this.state.panel;
    if (id === "problems" || id === "audit") return 1 + (this.getPanelTable()?.length ?? 0);
    return Math.max(1, { events: this.events, jobs: this.jobs.list, log: this.log.lines }[id].length);
  }

  /** Returns the rows of the panel that a cursor can select. Views of text have none. */
  getPanelRows(): RowList {
    const jobs = this.state.panel.id === "jobs" ? this.jobs.list : [];
    return (
      this.getPanelTable() ?? {
        length: jobs.length,
        getKeyAt: (index) => jobs[index] && String(jobs[index].id),
        findIndex: (key) => jobs.findIndex(({ id }) => String(id) === key),
      }
    );
  }

  /** The lists that have a cursor, with the number of rows that fit. */
  getLists(): CursorLists {
    const { explorer, panel } = this.getLayout() ?? {};
    const titles = this.getPanelTable() === undefined ? 0 : 1;
    return {
      table: this.tablePane.list,
      beside: this.otherPane?.list,
      isUntouched: !this.#live.hasRead && this.ports.getIsQuiet(),
      explorer: { rows: this.tree, height: (explorer?.height ?? 2) - 1 },
      panel: { rows: this.getPanelRows(), height: (panel?.height ?? 1) - titles },
    };
  }

  getTabCounts(): TabCounts {
    return this.#getCounter().countTabs(this.getTableSnapshot(), this.getWallTime());
  }

  /** The displayed state; while the history is shown, with the outcomes of schedules. */
  getTableSnapshot(): Snapshot {
    const { snapshot, past } = this.liveView;
    const { tab, split } = this.state;
    const isShown = tab === "history" || split?.tab === "history";
    return this.#historyReader.complete(snapshot, isShown, past);
  }

  /** Whether the rows of the active tab are still read for the first time. */
  get isReadingRows(): boolean {
    this.getTableSnapshot(); // begins to read
    return this.tablePane.etcd.isReading || this.#historyReader.isReading;
  }

  #getCounter(): TabCounter {
    const counter = this.#counters.get(this.liveView) ?? new TabCounter(() => this.context.clock.now());
    this.#counters.set(this.liveView, counter);
    return counter;
  }

  /** The table that the panel shows, if it shows one. */
  getPanelTable(): ConsoleTable | undefined {
    const { id } = this.state.panel;
    if (id === "problems" || id === "audit") return this.#panelTable.show(id);
    this.#panelTable.hide();
    return undefined;
  }

  /** The line of the explorer under the cursor. */
  getNode() {
    return this.tree.nodes[this.state.explorer.cursor.index];
  }

  /** The subject that the detail shows and that actions apply to. */
  getSubject(): Subject | undefined {
    const target = this.tablePane.picturePart?.target;
    if (target !== undefined) return target.kind === "listing" ? undefined : target;
    return this.table.getSubjectAt(this.tabState.cursor.index);
  }

  getDetail(): Detail | undefined {
    const { index } = this.tabState.cursor;
    return this.#detailCache.getDetail(
      this.getSubject(),
      this.liveView.snapshot,
      this.table,
      index,
      this.getShownTime(),
      this.liveView.past,
    );
  }

  act(id: string): void {
    this.ports.act(this, id);
  }

  /** Changes the console state, and schedules a repaint. */
  update(change: (state: ConsoleState) => ConsoleState): void {
    const next = change(this.#state);
    if (next === this.#state) return;
    this.#state = next;
    this.notifyChange();
  }

  /** Schedules a repaint after a change outside the console state. */
  notifyChange(): void {
    this.frames.isDue = true;
    this.ports.repaint();
  }

  /** @param isTrue  called for every frame: the toast disappears when it returns false */
  showToast(text: string, tone: "held" | "problem" | "quiet" = "quiet", isTrue?: () => boolean): void {
    const until = this.getPresentTime() + TOAST_DURATION;
    this.update((state) => ({ ...state, toast: { text, tone, until, isTrue } }));
  }

  /** Copies a text to the clipboard of the user's terminal. */
  copy(text: string, what: string): void {
    this.ports.io.writeOutput(formatClipboardSequence(text));
    this.showToast(`copied ${what}`);
  }

  /** Stores the preferences for the next session. */
  savePreferences(): void {
    writePreferences(
      getPreferencesPath(this.ports.io, this.context.settings),
      toConsolePreferences(this.state),
    );
  }

  redraw(): void {
    this.ports.redraw();
    this.notifyChange();
  }

  begin(): void {
    this.#live.begin();
    this.contexts.begin();
  }

  end(): void {
    this.jobs.end();
    this.travel.end();
    this.#live.end();
    this.contexts.end();
    this.#detailCache.end();
    this.#historyReader.end();
    for (const pane of this.tablePanes) pane.hide();
  }

  /**
   * Shows changes of watched rows, unless the data may be outdated.
   * @returns the notification for outside the screen, if any
   */
  noticeChanges(): AlertNews | undefined {
    const { snapshot, hasRead, connection } = this.#live;
    if (!hasRead || !isLive(connection)) return undefined;
    const wall = this.getPresentTime();
    const news = this.#alerts.check(this.state.watched, snapshot, wall, this.context.clock.now());
    if (news === undefined) return undefined;
    for (const text of news.changes) this.#events.addWatched(text, wall);
    this.showToast(news.text, "held");
    return news;
  }

  /** Updates everything that is derived from the state and the snapshot. Called before every frame. */
  refreshDerivedState(): void {
    const { snapshot } = this.liveView;
    const wall = this.getWallTime();
    this.#refreshedFor = this.getShownTime();
    const whole = this.getTableSnapshot();
    this.tablePane.update(whole, this.#historyReader.obstacle);
    this.otherPane?.update(whole, this.#historyReader.obstacle);
    if (this.otherPane === undefined) this.tablePanes[1].hide();
    this.getPanelTable()?.update(snapshot, wall, { filter: "", order: undefined });
    this.#updateTree();
    this.update((state) => clampCursors(state, this.getLists(), this.getPresentTime()));
    this.#detailCache.watchSubject(this.getSubject(), snapshot, wall, this.liveView.past);
  }

  #updateTree(): void {
    const now = this.context.clock.now();
    const contexts = this.contexts.all;
    const isRecent = subtractTime(now, this.#treeAt) < QUIET_EXPLORER && contexts === this.#shownContexts;
    if (this.ports.getIsQuiet() && isRecent) return;
    this.#shownContexts = contexts;
    const { snapshot } = this.liveView;
    const counts = this.getTabCounts();
    const open = this.state.explorer.open ?? getDefaultUnfolded(counts);
    const { problems } = this.#getCounter();
    const { clusterHealth: health } = this.liveView;
    const inputs = { snapshot, counts, problems, open, contexts, health };
    this.#treeAt = this.liveView.hasRead ? now : LONG_AGO;
    this.tree.update(inputs, this.getWallTime(), this.theme.signs);
  }

  /** Applies all received changes now. */
  catchUp(): void {
    this.liveView.catchUp();
    this.notifyChange();
  }

  /** Call this when a frame was built. @param ms  how long it took */
  handleFrameBuilt(ms: Millis): void {
    this.#live.handleFrameBuilt(ms);
  }

  #handleSnapshot(): void {
    const fault = this.#revisionMonitor.checkRevision(this.#live.snapshot.revision);
    if (fault !== undefined) {
      this.log.add(fault);
      this.showToast(fault, "problem");
    }
    this.#logConnectionChange();
    this.#logLostChanges();
    this.#events.addSnapshot(this.#live.snapshot, this.getPresentTime());
    this.notifyChange();
    if (this.#isFirstReadDone || (this.#live.progress === undefined && !this.#live.hasRead)) return;
    this.#isFirstReadDone = true;
    this.ports.onFirstRead?.();
  }

  #logLostChanges(): void {
    const more = this.#live.lostChanges - this.#lostChanges;
    this.#lostChanges += more;
    if (more > 0) this.log.add(`etcd's watch lost changes of ${more} keys; they were read again`);
  }

  /** Logs when the connection to etcd is lost and when it is back. */
  #logConnectionChange(): void {
    const { kind, fault } = this.#live.connection;
    if (kind === this.#connectionKind) return;
    this.#connectionKind = kind;
    this.log.add(
      kind === "live"
        ? `live at revision ${this.#live.snapshot.revision}`
        : `etcd: ${kind}${fault === undefined ? "" : `, ${fault}`}`,
    );
  }
}

/** Loads the stored state, with the theme from the settings. */
function loadInitialState(io: CommandIo, { settings }: CommandContext): ConsoleState {
  const state = restoreState(readPreferences(getPreferencesPath(io, settings)));
  return settings.theme === "auto" ? state : { ...state, configuredTheme: settings.theme };
}
