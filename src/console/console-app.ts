import { COMMANDS } from "../commands/registry/registry.ts";
import type { Call, CommandIo } from "../commands/spec.ts";
import type { CommandContext } from "../commands/store-command.ts";
import type { Subject } from "../state/subject.ts";
import type { Detail } from "../views/detail.ts";
import { type EventList, EventLog, limitEvents } from "../views/event-log.ts";
import { ACTION_HANDLERS } from "./actions/handlers.ts";
import { type AlertNews, Alerts } from "./alerts.ts";
import { type ConsoleTable, Tables } from "./data/console-table.ts";
import { ContextList, type OpenedContext } from "./data/context-list.ts";
import { DetailCache } from "./data/detail-cache.ts";
import { ExplorerTree, getDefaultUnfolded, TabCounter, type TabCounts } from "./data/explorer-tree.ts";
import { Jobs } from "./data/jobs.ts";
import { isLive, LiveView, RevisionMonitor, type ShownData } from "./data/live-view.ts";
import { ScreenLog } from "./data/screen-log.ts";
import { type PastView, TimeTravel } from "./data/time-travel.ts";
import type { ConsoleParts } from "./parts/console-parts.ts";
import { Drafts } from "./parts/drafts.ts";
import { type KeyActionId, listKeyActions } from "./parts/key-actions.ts";
import { createKeymap, type Keymap } from "./parts/keymap.ts";
import { clampCursors } from "./parts/moves.ts";
import { Overlays } from "./parts/overlay.ts";
import { computeTitleHeight, countPanelLines } from "./parts/pane-lines.ts";
import { type ConsoleState, StateStore, TOAST_DURATION } from "./state/console-state.ts";
import { computeLayout, type Layout, type Size } from "./state/layout.ts";
import {
  getPreferencesPath,
  readPreferences,
  restoreState,
  toConsolePreferences,
  writePreferences,
} from "./state/preferences.ts";
import { formatClipboardSequence } from "./terminal/output-sequences.ts";
import { createThemeLookup, dimTheme, type Theme } from "./theme/theme.ts";

/** Columns of a table that are no cells: the mark at its left, and a blank at its right. */
const TABLE_MARGIN = 3;

/** What the console needs from its process. */
interface ConsolePorts {
  context: CommandContext;
  io: CommandIo;
  call: Call;
  /** As the console was started, if another context is shown now. */
  first?: OpenedContext;
  /** Whether the background of the terminal is light; undefined if it is not known. */
  getIsLight?(): boolean | undefined;
  /** Called once, when everything was read for the first time. */
  onFirstRead?(): void;
  /** Schedules a repaint; several requests become one. */
  repaint(): void;
  suspend(): void;
  lendTerminal: ConsoleParts["lendTerminal"];
  switchContext: ConsoleParts["switchContext"];
  /** Discards what is known of the screen, because something else may have written to it. */
  redraw(): void;
  /** The step in which displayed ages grow, ms. */
  getAgeStep(): number;
  isLineSlow(): boolean;
  runWhenShown(action: () => void): void;
  quit(code: number): void;
}

/** Connects the parts of the console. Independent of the terminal: its output is a frame, its input are events. */
export class ConsoleApp implements ConsoleParts {
  readonly #ports: ConsolePorts;
  readonly keymap: Keymap;
  readonly #getThemeByName: (name: string) => Theme;
  readonly #store: StateStore<ConsoleState>;
  /** Goes on while a past state is shown, so that the return takes no time. */
  readonly #live: LiveView;
  readonly travel: TimeTravel;
  readonly jobs: Jobs;
  readonly overlays: Overlays;
  readonly log: ScreenLog;
  readonly #events = new EventLog();
  #pastEvents: { of: PastView; events: EventList } | undefined;
  readonly tree = new ExplorerTree();
  readonly drafts = new Drafts();
  readonly contexts: ContextList;
  readonly #revisionMonitor = new RevisionMonitor();
  readonly #detailCache: DetailCache;
  /** A past state has counts of its own. */
  #counters = new WeakMap<ShownData, TabCounter>();
  readonly #tables = new Tables();
  readonly #alerts = new Alerts();
  #connectionKind = "opening";
  #isFirstReadDone = false;
  #dimmed: { of: Theme; theme: Theme } | undefined;

  constructor(ports: ConsolePorts) {
    this.#ports = ports;
    const { context, io, call } = ports;
    const { keymap, findings } = createKeymap(listKeyActions(COMMANDS), context.settings.keyBindings);
    this.keymap = keymap;
    this.#getThemeByName = createThemeLookup(io, {
      ascii: call.flags.ascii === true,
      getConditions: () => ({ isLight: ports.getIsLight?.(), isSlow: ports.isLineSlow() }),
    });
    const notifyChange = () => this.notifyChange();
    this.#store = new StateStore(loadInitialState(io, context));
    this.#store.subscribe(notifyChange);
    this.log = new ScreenLog(
      () => context.clock.getWallTime(),
      (text) => context.log.info(text),
    );
    this.#live = new LiveView(context, () => this.#handleSnapshot());
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
    this.#detailCache = new DetailCache(context, notifyChange);
    for (const finding of findings) this.log.add(finding);
    const [first] = findings;
    if (first !== undefined) this.showToast(first, "problem");
  }

  get liveView(): ShownData {
    return this.travel.view ?? this.#live;
  }
  /** The events seen so far; in the past, those until then. */
  get events(): EventList {
    const { view } = this.travel;
    if (view === undefined) return this.#events;
    if (this.#pastEvents?.of !== view)
      this.#pastEvents = { of: view, events: limitEvents(this.#events, view.past.at) };
    return this.#pastEvents.events;
  }
  get context(): CommandContext {
    return this.#ports.context;
  }
  get env(): CommandIo["env"] {
    return this.#ports.io.env;
  }
  get io(): CommandIo {
    return this.#ports.io;
  }
  get call(): Call {
    return this.#ports.call;
  }
  get state(): ConsoleState {
    return this.#store.state;
  }
  get isReadOnly(): boolean {
    return this.context.settings.readOnly;
  }
  get isLineSlow(): boolean {
    return this.#ports.isLineSlow();
  }
  /** The dimmed theme while the displayed data may be out of date. */
  get theme(): Theme {
    const theme = this.#getThemeByName(this.state.configuredTheme ?? this.state.theme);
    const { kind } = this.liveView.connection;
    if (kind === "live" || kind === "opening" || kind === "past") return theme;
    if (this.#dimmed?.of !== theme) this.#dimmed = { of: theme, theme: dimTheme(theme) };
    return this.#dimmed.theme;
  }
  get table(): ConsoleTable {
    return this.#tables.getTabTable(this.state.tab);
  }

  getWallTime(): number {
    return this.travel.view?.past.at ?? this.getPresentTime();
  }

  getPresentTime(): number {
    return this.context.clock.getWallTime();
  }

  getShownTime(): number {
    if (this.liveView.past !== undefined) return this.getWallTime();
    const step = this.#ports.getAgeStep();
    return Math.floor(this.getWallTime() / step) * step;
  }

  getScreenSize(): Size {
    const { columns: width, rows: height } = this.io.terminal.getSize();
    return { width, height };
  }

  getLayout(): Layout | undefined {
    const tableWidth = this.table.wantedWidth;
    return computeLayout(this.getScreenSize(), this.state, {
      panelLines: countPanelLines(this),
      tableWidth: tableWidth && tableWidth + TABLE_MARGIN,
      tableLines: this.table.length === 0 ? undefined : this.table.length + computeTitleHeight(this),
    });
  }

  getTabCounts(): TabCounts {
    return this.#getCounter().countTabs(this.liveView.snapshot, this.getWallTime());
  }

  #getCounter(): TabCounter {
    const counter = this.#counters.get(this.liveView) ?? new TabCounter(() => this.context.clock.now());
    this.#counters.set(this.liveView, counter);
    return counter;
  }

  getPanelTable(): ConsoleTable | undefined {
    return this.#tables.findPanelTable(this.state.panel.id);
  }

  getSubject(): Subject | undefined {
    return this.table.getSubjectAt(this.state.tabs[this.state.tab].cursor.index);
  }

  getDetail(): Detail | undefined {
    const { index } = this.state.tabs[this.state.tab].cursor;
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
    ACTION_HANDLERS[id as KeyActionId]?.(this);
  }

  update(change: (state: ConsoleState) => ConsoleState): void {
    this.#store.update(change);
  }

  notifyChange(): void {
    this.#ports.repaint();
  }

  showToast(text: string, tone: "held" | "problem" | "quiet" = "quiet", isTrue?: () => boolean): void {
    const until = this.getPresentTime() + TOAST_DURATION;
    this.update((state) => ({ ...state, toast: { text, tone, until, isTrue } }));
  }

  copy(text: string, what: string): void {
    this.io.writeOutput(formatClipboardSequence(text));
    this.showToast(`copied ${what}`);
  }

  /** Stores the preferences for the next session. */
  savePreferences(): void {
    writePreferences(getPreferencesPath(this.io, this.context.settings), toConsolePreferences(this.state));
  }

  suspend(): void {
    this.#ports.suspend();
  }

  lendTerminal<T>(use: () => Promise<T>): Promise<T> {
    return this.#ports.lendTerminal(use);
  }

  switchContext(name: string | undefined): void {
    this.#ports.switchContext(name);
  }

  redraw(): void {
    this.#ports.redraw();
    this.notifyChange();
  }

  quit(code = 0): void {
    this.#ports.quit(code);
  }

  begin(): void {
    this.#live.begin();
    this.contexts.begin();
  }

  end(): void {
    this.travel.end();
    this.#live.end();
    this.contexts.end();
    this.#detailCache.end();
  }

  /**
   * Notices changes of watched rows, and shows them. @returns what to tell outside the screen. Data that may be out of date is
   * no news.
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
    const { filter, order, columns } = this.state.tabs[this.state.tab];
    this.table.update(snapshot, wall, { filter, order, columns });
    this.getPanelTable()?.update(snapshot, wall, { filter: "", order: undefined });
    const counts = this.getTabCounts();
    const open = this.state.explorer.open ?? getDefaultUnfolded(counts);
    const { problems } = this.#getCounter();
    const inputs = { snapshot, counts, problems, open, contexts: this.contexts.all };
    this.tree.update(inputs, wall, this.theme.signs);
    this.#store.update((state) => clampCursors(state, this));
    this.#detailCache.watchSubject(this.getSubject(), snapshot, wall, this.liveView.past);
  }

  /** Call this when a frame was built. @param ms  how long it took */
  handleFrameBuilt(ms: number): void {
    this.#live.handleFrameBuilt(ms);
  }

  runWhenShown(action: () => void): void {
    this.#ports.runWhenShown(action);
  }

  #handleSnapshot(): void {
    const fault = this.#revisionMonitor.checkRevision(this.#live.snapshot.revision);
    if (fault !== undefined) {
      this.log.add(fault);
      this.showToast(fault, "problem");
    }
    this.#logConnectionChange();
    this.#events.addSnapshot(this.#live.snapshot, this.getPresentTime());
    this.notifyChange();
    if (this.#isFirstReadDone || !this.#live.hasRead) return;
    this.#isFirstReadDone = true;
    this.#ports.onFirstRead?.();
  }

  /** Logs when the connection to etcd was lost and when it came back. */
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
