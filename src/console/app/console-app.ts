import type { Call, Surroundings } from "../../commands/spec.ts";
import type { Desk } from "../../commands/with-store.ts";
import type { Detail } from "../../model/detail/detail.ts";
import { EventLog } from "../../model/events/index.ts";
import type { Subject } from "../../model/tables/view.ts";
import { Jobs } from "../act/jobs.ts";
import { Watched } from "../detail/watched.ts";
import { Counter } from "../explorer/counts.ts";
import { type Counts, unfoldedFor } from "../explorer/tree.ts";
import { Tree } from "../explorer/tree-rows.ts";
import { type Layout, layoutOf, type Size } from "../frame/layout.ts";
import type { Keymap } from "../keys/keymap.ts";
import { type Hint, Overlays } from "../overlay/overlay.ts";
import { Course } from "../sight/course.ts";
import { Sight } from "../sight/sight.ts";
import { isLive } from "../sight/standing.ts";
import { type State, TOAST } from "../state/state.ts";
import { Store } from "../state/store.ts";
import type { Table } from "../table/table.ts";
import { Tables } from "../table/tables.ts";
import { dimmed } from "../theme/dimmed.ts";
import type { Theme } from "../theme/theme.ts";
import type { App } from "./app.ts";
import { hintsOf } from "./hints.ts";
import { ScreenLog } from "./log.ts";
import { settledState } from "./settle.ts";

/** What the console needs of the process it lives in. */
export interface ConsolePorts {
  desk: Desk;
  world: Surroundings;
  call: Call;
  isReadOnly: boolean;
  keymap: Keymap;
  /** What is done, by the id of an action. */
  handlers: Readonly<Record<string, (app: App) => void>>;
  themeOf(name: string): Theme;
  /** Paints soon; several wishes are one. */
  repaint(): void;
  suspend(): void;
  /** Forgets what is on the screen, which something else may have written on. */
  redraw(): void;
  quit(code: number): void;
}

/** The console's parts, put together. Knows no terminal: what it shows is a frame, what it hears are events. */
export class ConsoleApp implements App {
  readonly #ports: ConsolePorts;
  readonly store: Store<State>;
  readonly sight: Sight;
  readonly jobs: Jobs;
  readonly overlays: Overlays;
  readonly log: ScreenLog;
  readonly events = new EventLog();
  readonly tree = new Tree();
  readonly #course = new Course();
  readonly #watched: Watched;
  readonly #counter: Counter;
  readonly #tables = new Tables();
  #turn = "opening";
  #dimmed: { of: Theme; theme: Theme } | undefined;

  constructor(ports: ConsolePorts, state: State) {
    this.#ports = ports;
    const { desk, world, call } = ports;
    const changed = () => this.changed();
    this.store = new Store(state);
    this.store.subscribe(changed);
    this.log = new ScreenLog(
      () => desk.clock.wall(),
      (text) => desk.log.info(text),
    );
    this.sight = new Sight(desk, () => this.#seen());
    this.overlays = new Overlays(changed);
    const picture = () => (isLive(this.sight.standing) ? this.sight.picture : undefined);
    this.jobs = new Jobs({ world, clock: desk.clock, settings: call.settings, onChange: changed, picture });
    this.#watched = new Watched(desk, changed);
    this.#counter = new Counter(() => desk.clock.now());
  }

  get desk(): Desk {
    return this.#ports.desk;
  }
  get world(): Surroundings {
    return this.#ports.world;
  }
  get call(): Call {
    return this.#ports.call;
  }
  get state(): State {
    return this.store.state;
  }
  get keymap(): Keymap {
    return this.#ports.keymap;
  }
  get isReadOnly(): boolean {
    return this.#ports.isReadOnly;
  }
  /** Pale as long as what is shown may not be what is. */
  get theme(): Theme {
    const theme = this.#ports.themeOf(this.state.theme);
    if (isLive(this.sight.standing) || this.sight.standing.kind === "opening") return theme;
    if (this.#dimmed?.of !== theme) this.#dimmed = { of: theme, theme: dimmed(theme) };
    return this.#dimmed.theme;
  }
  get table(): Table {
    return this.#tables.tab(this.state.tab);
  }

  wall(): number {
    return this.desk.clock.wall();
  }

  screen(): Size {
    const { columns: width, rows: height } = this.world.terminal.size();
    return { width, height };
  }

  layout(): Layout | undefined {
    return layoutOf(this.screen(), this.state);
  }

  counts(): Counts {
    return this.#counter.of(this.sight.picture, this.wall());
  }

  panelTable(): Table | undefined {
    return this.#tables.panel(this.state.panel.id);
  }

  subject(): Subject | undefined {
    return this.table.subjectAt(this.state.tabs[this.state.tab].cursor.index);
  }

  detail(): Detail | undefined {
    const { index } = this.state.tabs[this.state.tab].cursor;
    return this.#watched.of(this.subject(), this.sight.picture, this.table, index, this.wall());
  }

  hints(): readonly Hint[] {
    return hintsOf(this);
  }

  act(id: string): void {
    this.#ports.handlers[id]?.(this);
  }

  update(change: (state: State) => State): void {
    this.store.update(change);
  }

  changed(): void {
    this.#ports.repaint();
  }

  toast(text: string, tone: "held" | "problem" | "quiet" = "quiet"): void {
    const until = this.wall() + TOAST;
    this.update((state) => ({ ...state, toast: { text, tone, until } }));
  }

  copy(text: string, what: string): void {
    this.world.out(`\x1b]52;c;${Buffer.from(text).toString("base64")}\x07`);
    this.toast(`copied ${what}`);
  }

  suspend(): void {
    this.#ports.suspend();
  }

  redraw(): void {
    this.#ports.redraw();
    this.changed();
  }

  quit(code = 0): void {
    this.#ports.quit(code);
  }

  begin(): void {
    this.sight.begin();
  }

  end(): void {
    this.sight.end();
    this.#watched.end();
  }

  /** Brings everything that is derived up to date. Called before every frame. */
  settle(): void {
    const { picture } = this.sight;
    const wall = this.wall();
    const { filter, order } = this.state.tabs[this.state.tab];
    this.table.update(picture, wall, { filter, order });
    this.panelTable()?.update(picture, wall, { filter: "", order: undefined });
    const counts = this.counts();
    this.tree.update(
      picture,
      counts,
      this.state.explorer.open ?? unfoldedFor(counts),
      wall,
      this.theme.signs,
    );
    this.store.update((state) => settledState(state, this));
    this.#watched.look(this.subject(), picture, wall);
  }

  #seen(): void {
    const fault = this.#course.see(this.sight.picture.revision);
    if (fault !== undefined) {
      this.log.add(fault);
      this.toast(fault, "problem");
    }
    this.#logTurn();
    this.events.see(this.sight.picture, this.wall());
    this.changed();
  }

  /** When etcd went, and when it came back: what one asks in the morning. */
  #logTurn(): void {
    const { kind, fault } = this.sight.standing;
    if (kind === this.#turn) return;
    this.#turn = kind;
    this.log.add(
      kind === "live"
        ? `live at revision ${this.sight.picture.revision}`
        : `etcd: ${kind}${fault === undefined ? "" : `, ${fault}`}`,
    );
  }
}
