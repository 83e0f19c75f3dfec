import { createElement, type ReactNode } from "react";
import { COMMANDS } from "../../src/cli/commands/registry.ts";
import type { ConsoleApp } from "../../src/console/console-app.ts";
import { ConsoleContext } from "../../src/console/context.tsx";
import { ConsoleTable } from "../../src/console/data/console-table.ts";
import { ExplorerTree } from "../../src/console/data/explorer-tree.ts";
import { ScreenLog } from "../../src/console/data/screen-log.ts";
import { createKeymap, listKeyActions } from "../../src/console/parts/keymap.ts";
import { Overlays } from "../../src/console/parts/overlays.ts";
import { type ConsoleState, createInitialState } from "../../src/console/state/console-state.ts";
import { computeLayout } from "../../src/console/state/layout.ts";
import { getTheme } from "../../src/console/theme/theme.ts";
import { createKeys } from "../../src/core/protocol/keys.ts";
import { SNAPSHOT_COLLECTIONS } from "../../src/site/state/snapshot.ts";
import { SnapshotBuilder } from "../../src/site/state/snapshot-builder.ts";

/** The state of a console that shows its locks, as a new one shows its overview. */
export function createLocksState(): ConsoleState {
  return { ...createInitialState(), tab: "locks" };
}

/** Creates what components need of a console: it is live, has read an empty cluster, and nothing is open. */
export function createStubConsole(more: object = {}): ConsoleApp {
  const snapshot = new SnapshotBuilder(createKeys("/test/"), SNAPSHOT_COLLECTIONS).getSnapshot();
  const { state = createLocksState() }: { state?: ConsoleState } = more;
  const size = { width: 100, height: 12 };
  const app = {
    state,
    tabState: state.tabs[state.tab],
    theme: getTheme("mono", "16", true),
    keymap: createKeymap(listKeyActions(COMMANDS), {}).keymap,
    context: {
      settings: { endpoints: ["http://etcd1:2379"], prefix: "/test/", context: undefined },
      operator: { user: "ops" },
      facts: { host: "web1" },
    },
    liveView: { snapshot, hasRead: true, connection: { kind: "live", since: 0, fault: undefined } },
    travel: { search: undefined },
    table: new ConsoleTable("locks"),
    tree: new ExplorerTree(),
    jobs: { list: [], running: [] },
    events: [],
    log: new ScreenLog(
      () => 0,
      () => {},
    ),
    overlays: new Overlays(() => {}),
    getScreenSize: () => size,
    getLayout: () => computeLayout(size, state),
    getTabCounts: () => ({ locks: 42, problems: 1 }),
    getPanelTable: () => undefined,
    getSubject: () => undefined,
    getDetail: () => undefined,
    getWallTime: () => 0,
    getShownTime: () => 0,
    getPresentTime: () => 0,
    update: () => {},
    notifyChange: () => {},
    ...more,
  };
  return app as unknown as ConsoleApp;
}

/** Puts components into a console. */
export function withConsole(app: ConsoleApp, node: ReactNode): ReactNode {
  return createElement(ConsoleContext, { value: { app } }, node);
}
