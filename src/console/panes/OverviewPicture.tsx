import { useMemo } from "react";
import { ASCII_DRAWING, countGraphValues, UNICODE_DRAWING } from "../../views/drawing.ts";
import { buildOverview } from "../../views/overview.ts";
import { drawOverview } from "../../views/overview-drawing.ts";
import { useConsole } from "../context.tsx";
import type { Size } from "../state/layout.ts";
import { Rows } from "../theme/Row.tsx";

/** Interval at which the overview is built again while nothing changes, ms. */
const STEP = 5_000;

/** The whole site at a glance: counters, hosts, holders and waiters of the last hour, queues, next runs, failures, etcd. */
export function OverviewPicture({ width, height }: Size) {
  const app = useConsole();
  const { snapshot, clusterHealth } = app.liveView;
  const { problems } = app.getTabCounts();
  const wall = app.getShownTime();
  const signs = app.theme.signs.isAscii ? ASCII_DRAWING : UNICODE_DRAWING;
  const look = { width: width - 2, signs, wall };
  const buckets = countGraphValues(look.width, signs);
  // biome-ignore lint/correctness/useExhaustiveDependencies: time alone changes the picture in steps
  const overview = useMemo(
    () =>
      buildOverview(snapshot, wall, {
        buckets,
        etcd: clusterHealth && { kind: "answer", ...clusterHealth },
        ...(problems !== undefined && { problems }),
      }),
    [snapshot, clusterHealth, problems, buckets, Math.floor(wall / STEP)],
  );
  const lines = drawOverview(overview, look, height);
  const rows = Array.from({ length: height }, (_, at) => ({ cells: [{ text: " " }, ...(lines[at] ?? [])] }));
  return <Rows rows={rows} width={width} />;
}
