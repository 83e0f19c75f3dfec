import type { Call, Surroundings } from "../../commands/spec.ts";
import type { Desk } from "../../commands/with-store.ts";
import type { Detail } from "../../model/detail/detail.ts";
import type { EventLog } from "../../model/events/index.ts";
import type { Subject } from "../../model/tables/view.ts";
import type { Jobs } from "../act/jobs.ts";
import type { Counts } from "../explorer/tree.ts";
import type { Tree } from "../explorer/tree-rows.ts";
import type { Layout, Size } from "../frame/layout.ts";
import type { Keymap } from "../keys/keymap.ts";
import type { Hint, Overlays } from "../overlay/overlay.ts";
import type { Sight } from "../sight/sight.ts";
import type { State } from "../state/state.ts";
import type { Store } from "../state/store.ts";
import type { Table } from "../table/table.ts";
import type { Theme } from "../theme/theme.ts";
import type { ScreenLog } from "./log.ts";

/** Everything that the parts of the console work with. */
export interface App {
  readonly desk: Desk;
  readonly world: Surroundings;
  /** The console's own command line: how it was told to reach etcd. */
  readonly call: Call;
  readonly store: Store<State>;
  readonly state: State;
  readonly sight: Sight;
  readonly jobs: Jobs;
  readonly overlays: Overlays;
  readonly events: EventLog;
  readonly log: ScreenLog;
  readonly keymap: Keymap;
  readonly theme: Theme;
  readonly isReadOnly: boolean;
  /** The table of the active tab. */
  readonly table: Table;
  readonly tree: Tree;
  /** Wall clock, ms since the epoch. */
  wall(): number;
  screen(): Size;
  /** Undefined where the screen is too small. */
  layout(): Layout | undefined;
  counts(): Counts;
  /** What the detail shows, and what actions are done to. */
  subject(): Subject | undefined;
  detail(): Detail | undefined;
  /** The table that the panel shows, if it does. */
  panelTable(): Table | undefined;
  hints(): readonly Hint[];
  /** Does what a key does, by the id of its action. */
  act(id: string): void;
  /** Changes how it is arranged; the screen follows. */
  update(change: (state: State) => State): void;
  /** Something else has changed that is on the screen. */
  changed(): void;
  toast(text: string, tone?: "held" | "problem" | "quiet"): void;
  /** Puts a text into the clipboard of the user's terminal. */
  copy(text: string, what: string): void;
  suspend(): void;
  /** Paints everything anew, whatever is on the screen. */
  redraw(): void;
  quit(code?: number): void;
}
