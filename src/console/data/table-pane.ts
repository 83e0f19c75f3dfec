import type { CommandContext } from "../../cli/frame/store-command.ts";
import type { WallTime } from "../../core/base/clock.ts";
import type { Snapshot } from "../../site/state/snapshot.ts";
import {
  type ConsoleState,
  isEtcdTab,
  type TabId,
  type TabState,
  type VisibleList,
} from "../state/console-state.ts";
import { clamp } from "../state/cursor.ts";
import type { Layout, Size } from "../state/layout.ts";
import { type ConsoleTable, listTableNotes, ShownTable } from "./console-table.ts";
import { EtcdReader } from "./etcd-reader.ts";
import type { ShownData } from "./live-view.ts";
import { OverviewPicture, type PicturePart } from "./overview-picture.ts";
import type { TabCounts } from "./tab-counter.ts";

/** What a table needs of the console. */
interface TablePorts {
  context: CommandContext;
  readonly state: ConsoleState;
  readonly liveView: Pick<ShownData, "hasRead">;
  getLayout(): Layout | undefined;
  getTabCounts(): TabCounts;
  getWallTime(): WallTime;
  notifyChange(): void;
}

/** The place of a table: the left one, or the only one, and the right one. */
export class TablePane {
  readonly isRight: boolean;
  readonly etcd: EtcdReader;
  /** Of the overview. */
  readonly overview = new OverviewPicture();
  readonly #app: TablePorts;
  readonly #tables = new ShownTable();

  constructor(app: TablePorts, isRight: boolean) {
    this.#app = app;
    this.isRight = isRight;
    this.etcd = new EtcdReader(app.context, () => app.notifyChange());
  }

  /** Whether actions apply to its rows. */
  get isActive(): boolean {
    return this.#app.state.split?.isRight !== this.isRight;
  }
  get tab(): TabId {
    return this.#getState().tab;
  }
  get tabState(): TabState {
    const { tab, tabs } = this.#getState();
    return tabs[tab];
  }
  /** The table of its tab. */
  get table(): ConsoleTable {
    return this.#tables.show(this.tab);
  }
  /** Undefined if it is not on the screen. */
  get size(): Size | undefined {
    return this.#app.getLayout()?.[this.isActive ? "table" : "beside"];
  }
  /** Height of the overview above its table. The table has few rows, so the overview takes most of the lines. */
  get pictureHeight(): number {
    const height = this.tab === "overview" && this.#app.liveView.hasRead ? this.size?.height : undefined;
    if (height === undefined) return 0;
    const rows = clamp(Math.max(3, Math.floor(height / 4)), 1, this.table.length);
    return Math.max(0, height - rows - 1 - this.notes.length);
  }
  /** The selected part of the picture; undefined if the cursor is in the table below, or elsewhere. */
  get picturePart(): PicturePart | undefined {
    return this.pictureHeight > 0 ? this.overview.findPart(this.tabState.cell) : undefined;
  }
  /** The lines above the titles of the table's columns. */
  get notes(): ReturnType<typeof listTableNotes> {
    return listTableNotes(this.table, this.tabState, this.#app.getTabCounts()[this.tab]);
  }
  /** The number of lines above the rows of the table. */
  get titleHeight(): number {
    return 1 + this.notes.length + this.pictureHeight + (isEtcdTab(this.tab) ? 1 : 0);
  }
  /** The rows, and the number of those that fit. */
  get list(): VisibleList {
    return { rows: this.table, height: Math.max(1, (this.size?.height ?? 1) - this.titleHeight) };
  }

  /** Computes the rows. Call it for every frame. @param obstacle  what is missing in the history */
  update(snapshot: Snapshot, obstacle: string | undefined): void {
    const { table, tab } = this;
    this.etcd.show(tab);
    table.update(snapshot, this.#app.getWallTime(), this.tabState, this.etcd.rows);
    if (obstacle !== undefined && tab === "history") table.remarks = [obstacle, ...table.remarks];
  }

  /** Ends its reads, and releases its rows. */
  hide(): void {
    this.etcd.show(undefined);
    this.#tables.hide();
  }

  #getState(): { tab: TabId; tabs: Readonly<Record<TabId, TabState>> } {
    const { state } = this.#app;
    return (this.isActive ? undefined : state.split) ?? state;
  }
}
