import type { Call, CommandIo } from "../commands/spec.ts";
import type { CommandContext } from "../commands/store-command.ts";
import type { Detail } from "../model/detail/detail.ts";
import { EventLog } from "../model/events/event-log.ts";
import type { Subject } from "../model/views/view.ts";
import { buildHints } from "./actions/hints.ts";
import type { Keymap } from "./actions/keys/keymap.ts";
import { type AlertNews, Alerts } from "./alerts/alerts.ts";
import { isLive } from "./data/connection-state.ts";
import type { ConsoleTable } from "./data/console-table.ts";
import { DetailCache } from "./data/detail/detail-cache.ts";
import { getDefaultUnfolded, type TabCounts } from "./data/explorer/build-tree.ts";
import { ExplorerTree } from "./data/explorer/explorer-tree.ts";
import { TabCounter } from "./data/explorer/tab-counter.ts";
import { LiveView } from "./data/live-view.ts";
import { RevisionMonitor } from "./data/revision-monitor.ts";
import { ScreenLog } from "./data/screen-log.ts";
import { Tables } from "./data/tables.ts";
import { Jobs } from "./jobs/jobs.ts";
import { clampCursors } from "./parts/clamp-cursors.ts";
import { type Hint, Overlays } from "./parts/overlay.ts";
import type {
  ActionRunner,
  ClockAccess,
  CursorAccess,
  DialogPorts,
  HintAccess,
  LogAccess,
  SelectionAccess,
  TerminalControl,
} from "./parts/parts.ts";
import { type ConsoleState, TOAST_DURATION } from "./state/console-state.ts";
import { computeLayout, type Layout, type Size } from "./state/layout.ts";
import { StateStore } from "./state/store.ts";
import { formatClipboardSequence } from "./terminal/clipboard.ts";
import { dimTheme } from "./theme/dim-theme.ts";
import type { Theme } from "./theme/theme.ts";

/** All parts of the console. Each function names those that it needs. */
export type ConsoleParts = ActionRunner &
  CursorAccess &
  DialogPorts &
  HintAccess &
  LogAccess &
  SelectionAccess &
  TerminalControl &
  ClockAccess;

/** What the console needs from its process. */
export interface ConsolePorts {
  context: CommandContext;
  io: CommandIo;
  call: Call;
  isReadOnly: boolean;
  keymap: Keymap;
  /** Handlers by the id of their action. */
  handlers: Readonly<Record<string, (app: ConsoleParts) => void>>;
  getThemeByName(name: string): Theme;
  /** Schedules a repaint; several requests become one. */
  repaint(): void;
  suspend(): void;
  /** Discards what is known of the screen, because something else may have written to it. */
  redraw(): void;
  quit(code: number): void;
}

/** Connects the parts of the console. Independent of the terminal: its output is a frame, its input are events. */
export class ConsoleApp implements ConsoleParts {
  readonly #ports: ConsolePorts;
  readonly #store: StateStore<ConsoleState>;
  readonly liveView: LiveView;
  readonly jobs: Jobs;
  readonly overlays: Overlays;
  readonly log: ScreenLog;
  readonly events = new EventLog();
  readonly tree = new ExplorerTree();
  readonly #revisionMonitor = new RevisionMonitor();
  readonly #detailCache: DetailCache;
  readonly #counter: TabCounter;
  readonly #tables = new Tables();
  readonly #alerts = new Alerts();
  #connectionKind = "opening";
  #dimmed: { of: Theme; theme: Theme } | undefined;

  constructor(ports: ConsolePorts, state: ConsoleState) {
    this.#ports = ports;
    const { context, io, call } = ports;
    const notifyChange = () => this.notifyChange();
    this.#store = new StateStore(state);
    this.#store.subscribe(notifyChange);
    this.log = new ScreenLog(
      () => context.clock.getWallTime(),
      (text) => context.log.info(text),
    );
    this.liveView = new LiveView(context, () => this.#handleSnapshot());
    this.overlays = new Overlays(notifyChange);
    const getSnapshot = () => (isLive(this.liveView.connection) ? this.liveView.snapshot : undefined);
    this.jobs = new Jobs({
      io,
      clock: context.clock,
      settings: call.settings,
      onChange: notifyChange,
      getSnapshot,
    });
    this.#detailCache = new DetailCache(context, notifyChange);
    this.#counter = new TabCounter(() => context.clock.now());
  }

  get context(): CommandContext {
    return this.#ports.context;
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
  get keymap(): Keymap {
    return this.#ports.keymap;
  }
  get isReadOnly(): boolean {
    return this.#ports.isReadOnly;
  }
  /** The dimmed theme while the displayed data may be out of date. */
  get theme(): Theme {
    const theme = this.#ports.getThemeByName(this.state.theme);
    if (isLive(this.liveView.connection) || this.liveView.connection.kind === "opening") return theme;
    if (this.#dimmed?.of !== theme) this.#dimmed = { of: theme, theme: dimTheme(theme) };
    return this.#dimmed.theme;
  }
  get table(): ConsoleTable {
    return this.#tables.getTabTable(this.state.tab);
  }

  getWallTime(): number {
    return this.context.clock.getWallTime();
  }

  getScreenSize(): Size {
    const { columns: width, rows: height } = this.io.terminal.getSize();
    return { width, height };
  }

  getLayout(): Layout | undefined {
    return computeLayout(this.getScreenSize(), this.state);
  }

  getTabCounts(): TabCounts {
    return this.#counter.countTabs(this.liveView.snapshot, this.getWallTime());
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
      this.getWallTime(),
    );
  }

  getHints(): readonly Hint[] {
    return buildHints(this);
  }

  act(id: string): void {
    this.#ports.handlers[id]?.(this);
  }

  update(change: (state: ConsoleState) => ConsoleState): void {
    this.#store.update(change);
  }

  notifyChange(): void {
    this.#ports.repaint();
  }

  showToast(text: string, tone: "held" | "problem" | "quiet" = "quiet", isTrue?: () => boolean): void {
    const until = this.getWallTime() + TOAST_DURATION;
    this.update((state) => ({ ...state, toast: { text, tone, until, isTrue } }));
  }

  copy(text: string, what: string): void {
    this.io.writeOutput(formatClipboardSequence(text));
    this.showToast(`copied ${what}`);
  }

  suspend(): void {
    this.#ports.suspend();
  }

  redraw(): void {
    this.#ports.redraw();
    this.notifyChange();
  }

  quit(code = 0): void {
    this.#ports.quit(code);
  }

  begin(): void {
    this.liveView.begin();
  }

  end(): void {
    this.liveView.end();
    this.#detailCache.end();
  }

  /**
   * Notices changes of watched rows, and shows them. @returns what to tell outside the screen. Data that may be out of date is
   * no news.
   */
  noticeChanges(): AlertNews | undefined {
    const { snapshot } = this.liveView;
    if (!this.liveView.hasRead || !isLive(this.liveView.connection)) return undefined;
    const news = this.#alerts.check(
      this.state.watched,
      snapshot,
      this.getWallTime(),
      this.context.clock.now(),
    );
    if (news === undefined) return undefined;
    for (const text of news.changes) this.events.addWatched(text, this.getWallTime());
    this.showToast(news.text, "held");
    return news;
  }

  /** Updates everything that is derived from the state and the snapshot. Called before every frame. */
  refreshDerivedState(): void {
    const { snapshot } = this.liveView;
    const wall = this.getWallTime();
    const { filter, order } = this.state.tabs[this.state.tab];
    this.table.update(snapshot, wall, { filter, order });
    this.getPanelTable()?.update(snapshot, wall, { filter: "", order: undefined });
    const counts = this.getTabCounts();
    this.tree.update(
      snapshot,
      counts,
      this.state.explorer.open ?? getDefaultUnfolded(counts),
      wall,
      this.theme.signs,
    );
    this.#store.update((state) => clampCursors(state, this));
    this.#detailCache.watchSubject(this.getSubject(), snapshot, wall);
  }

  #handleSnapshot(): void {
    const fault = this.#revisionMonitor.checkRevision(this.liveView.snapshot.revision);
    if (fault !== undefined) {
      this.log.add(fault);
      this.showToast(fault, "problem");
    }
    this.#logConnectionChange();
    this.events.addSnapshot(this.liveView.snapshot, this.getWallTime());
    this.notifyChange();
  }

  /** Logs when the connection to etcd was lost and when it came back. */
  #logConnectionChange(): void {
    const { kind, fault } = this.liveView.connection;
    if (kind === this.#connectionKind) return;
    this.#connectionKind = kind;
    this.log.add(
      kind === "live"
        ? `live at revision ${this.liveView.snapshot.revision}`
        : `etcd: ${kind}${fault === undefined ? "" : `, ${fault}`}`,
    );
  }
}
