import type { OverlayPlace } from "../../parts/overlay.ts";
import type {
  DataAccess,
  KeymapAccess,
  LayoutAccess,
  SettingsAccess,
  StateAccess,
  TableAccess,
} from "../../parts/parts.ts";
import { computeTitleHeight } from "../../parts/table-notes.ts";
import type { Pane } from "../../state/console-state.ts";
import type { Layout } from "../../state/layout.ts";

/** A step of the tour: a part of the screen and what it is for. */
export interface TourStep {
  title: string;
  text: string;
  /** The pane that it is about. It has the keyboard during the step, so that its title is highlighted. */
  pane?: Pane;
  /** @param height  lines of the box with its frame: it must not cover what it is about */
  place(layout: Layout, height: number): OverlayPlace;
}

export type TourInputs = DataAccess &
  KeymapAccess &
  LayoutAccess &
  SettingsAccess &
  StateAccess &
  TableAccess;

/** Lists the steps for the present screen, with the keys of the user. */
export function listTourSteps(app: TourInputs): TourStep[] {
  const layout = app.getLayout();
  const key = (id: string) => app.keymap.getKeyLabels(id)[0] ?? `: ${id}`;
  const titles = computeTitleHeight(app);
  return [
    {
      title: "Is this true now?",
      text: "The line at the bottom says whether what you see is live, or since when etcd does not answer. Its right side has the keys for the place where you are.",
      place: ({ screen }, height) => ({ column: 1, row: screen.height - 2 - height }),
    },
    {
      title: "Everything there is",
      text:
        layout?.explorer === undefined
          ? `${key("pane1")} shows the explorer: all locks, resources, hosts and schedules by kind. Enter goes to a row.`
          : "The explorer has all locks, resources, hosts and schedules by kind. Enter goes to a row, ← → fold.",
      ...(layout?.explorer && { pane: "explorer" as const }),
      place: ({ explorer }) => ({ column: (explorer?.width ?? 0) + 1, row: 2 }),
    },
    {
      title: "Who holds what, and who waits",
      text: `Each tab is a table; ${key("previousTab")} ${key("nextTab")} switch tabs. ${key("filter")} keeps only rows with some words: host:web1, state:waiting.`,
      pane: "table",
      place: (_, height) => ({ column: findLeft(layout) + 4, row: 2 + titles + Math.min(3, height) }),
    },
    {
      title: "Why?",
      text: `The detail of the selected row: its holder, the queue, what operators did. ${key("why")} tells why a run waits, ${key("output")} shows what it writes.`,
      ...(layout?.detail && { pane: "detail" as const }),
      place: ({ table, isBeside, screen }, height) =>
        isBeside || table === undefined
          ? { column: 1, row: 4 }
          : { column: findLeft(layout) + 4, row: Math.min(screen.height, 2 + table.height) - height - 1 },
    },
    {
      title: "Change something, safely",
      text: app.isReadOnly
        ? "This console is read-only: it refuses every change. Without --read-only, each change begins with a preview of what would happen."
        : `${key("drain")} drains the selected row before maintenance. First you see what would happen; nothing happens before you confirm. ${key("menu")} shows all that applies to a row.`,
      pane: "table",
      place: (_, height) => ({ column: findLeft(layout) + 4, row: 2 + titles + Math.min(3, height) }),
    },
    {
      title: "When you are lost",
      text: `${key("help")} shows all keys, ${key("palette")} finds every command and every name. ${key("back")} goes one step back. The palette has this tour, too.`,
      place: ({ screen }, height) => ({ column: screen.width, row: screen.height - 2 - height }),
    },
  ];
}

function findLeft(layout: Layout | undefined): number {
  return layout?.explorer === undefined ? 0 : layout.explorer.width + 1;
}
