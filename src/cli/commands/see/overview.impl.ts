import {
  formatBriefDuration,
  formatInstant,
  HOUR_MS,
  subtractTime,
  type WallTime,
} from "../../../core/base/clock.ts";
import { UsageError } from "../../../core/base/errors.ts";
import type { EtcdHealth } from "../../../site/observe/etcd-cluster.ts";
import type { Snapshot } from "../../../site/state/snapshot.ts";
import { formatJsonDocument } from "../../frame/json-output.ts";
import { createReadCommand, readSnapshot } from "../../frame/read-snapshot.ts";
import type { CommandContext } from "../../frame/store-command.ts";
import { ASCII_DRAWING, countGraphValues, UNICODE_DRAWING } from "../../views/drawing.ts";
import { measureEtcdLoad } from "../../views/etcd-members.ts";
import {
  buildOverview,
  type EtcdSummary,
  OVERVIEW_COLLECTIONS,
  OVERVIEW_JSON,
} from "../../views/overview.ts";
import { drawOverview, type OverviewLook } from "../../views/overview-drawing.ts";
import {
  AnsiScreen,
  addEtcdFaults,
  HealthFollower,
  type LiveSnapshot,
  readEtcdHealth,
  SnapshotFollower,
} from "./live-output.ts";
import type { OverviewFlags } from "./overview.ts";
import { detectOutputStyle, isUtf8, type OutputStyle, paintSpans, trimSpans } from "./paint.ts";

/** Columns where there is no terminal. */
const PIPE_COLUMNS = 80;
/** Time between two pictures, ms. */
const REPAINT_INTERVAL = 1_000;
/** The pause is at least this many times as long as the work: a large site costs no more than a tenth of a processor. */
const MIN_PAUSE_FACTOR = 9;

export const showOverview = createReadCommand<OverviewFlags>(async (context) => {
  const { flags, io } = context;
  if (flags.watch) return await watchOverview(context);
  const reading = readSnapshot(context, OVERVIEW_COLLECTIONS);
  const [read, etcd] = await Promise.all([reading, readEtcdHealth(context, reading)]);
  const snapshot = addEtcdFaults(read, etcd);
  const wall = context.clock.getWallTime();
  if (flags.json) {
    const { revision } = snapshot;
    const document = OVERVIEW_JSON.toJson(buildOverview(snapshot, wall, { etcd, span: HOUR_MS }));
    io.writeOutput(formatJsonDocument({ revision, prefix: context.keys.prefix, ...document }));
    return;
  }
  const style = detectOutputStyle(io, flags);
  const look = createLook(context, style.width ?? PIPE_COLUMNS, wall);
  io.writeOutput(`${renderOverview(snapshot, etcd, look, { style }).join("\n")}\n`);
});

/** Adds how near etcd is to its limits. */
function summarizeEtcd(health: EtcdHealth | undefined): EtcdSummary | undefined {
  return health?.kind === "answer" ? { ...health, load: measureEtcdLoad(health.reading) } : health;
}

function createLook(
  { flags, io }: CommandContext<OverviewFlags>,
  columns: number,
  wall: WallTime,
): OverviewLook {
  const isAscii = flags.ascii || !isUtf8(io.env);
  return { width: flags.width ?? columns, signs: isAscii ? ASCII_DRAWING : UNICODE_DRAWING, wall };
}

function renderOverview(
  snapshot: Snapshot,
  etcd: EtcdHealth | undefined,
  look: OverviewLook,
  { style, rows }: { style: OutputStyle; rows?: number },
): string[] {
  const buckets = countGraphValues(look.width, look.signs);
  const overview = buildOverview(snapshot, look.wall, { buckets, etcd: summarizeEtcd(etcd) });
  const lines = drawOverview(overview, look, rows).map((spans) => paintSpans(trimSpans(spans, style), style));
  return look.signs === ASCII_DRAWING ? lines.map((line) => line.replaceAll("…", "~")) : lines;
}

/** Repaints the picture until the output is closed. @throws UsageError without a terminal */
async function watchOverview(context: CommandContext<OverviewFlags>): Promise<undefined> {
  const { flags, io } = context;
  if (flags.json) throw new UsageError("give --watch or --json, not both; see also: signalbox ls --watch");
  if (!io.terminal.isOutput() || io.env.TERM === "dumb")
    throw new UsageError("--watch needs a terminal; a pipe can follow changes with: signalbox ls --watch");
  const follower = new SnapshotFollower(context, OVERVIEW_COLLECTIONS);
  const health = new HealthFollower(context);
  try {
    await follower.begin();
    return await repaintOverview(context, follower, health);
  } finally {
    follower.end();
    health.end();
  }
}

async function repaintOverview(
  context: CommandContext<OverviewFlags>,
  follower: SnapshotFollower,
  health: HealthFollower,
): Promise<undefined> {
  const { clock, io, signal } = context;
  const screen = new AnsiScreen(io);
  screen.enter();
  try {
    for (;;) {
      const start = clock.now();
      if (!screen.paint(renderLivePicture(context, follower.getLiveSnapshot(), health.last))) return;
      await clock.sleep(
        Math.max(REPAINT_INTERVAL, MIN_PAUSE_FACTOR * subtractTime(clock.now(), start)),
        signal,
      );
    }
  } finally {
    screen.leave();
  }
}

function renderLivePicture(
  context: CommandContext<OverviewFlags>,
  live: LiveSnapshot,
  etcd: EtcdHealth | undefined,
): string[] {
  const { clock, flags, io } = context;
  const style = detectOutputStyle(io, flags);
  const wall = clock.getWallTime();
  const { rows, columns } = io.terminal.getSize();
  const look = createLook(context, columns - 1, wall);
  const { awaySince } = live;
  const snapshot = addEtcdFaults(live.snapshot, etcd);
  const status =
    awaySince === undefined
      ? {
          text: `live  ${formatInstant(wall).slice(11)}  revision ${snapshot.revision}  (Ctrl+C ends)`,
          role: "quiet" as const,
        }
      : {
          text: `etcd unreachable for ${formatBriefDuration(wall - awaySince)}; last known: revision ${snapshot.revision}`,
          role: "problem" as const,
        };
  return [paintSpans([status], style), ...renderOverview(snapshot, etcd, look, { style, rows: rows - 1 })];
}
