import { EXIT } from "../../base/errors.ts";
import { checkedName } from "../../protocol/names.ts";
import { json } from "../table.ts";
import { type Desk, withStore } from "../with-store.ts";
import { detailLines } from "./detail.ts";
import { lookOf } from "./paint.ts";
import { showGroup, showHost } from "./show-host.ts";
import type { Shown } from "./show-json.ts";
import { showQueue } from "./show-queue.ts";
import { showRun } from "./show-run.ts";
import { showSchedule } from "./show-schedule.ts";

export const execute = withStore(async ({ args: [kind = "", name = ""], flags }, world, desk) => {
  const { revision, detail, document } = await shown(desk, kind, name);
  const look = lookOf(world, { ascii: false, wide: false });
  if (flags.json) world.out(json({ revision, kind, ...document }));
  else world.out(`${detailLines(detail, look).join("\n")}\n`);
  return EXIT.ok;
});

function shown(desk: Desk, kind: string, name: string): Promise<Shown> {
  if (kind === "lock" || kind === "resource") return showQueue(desk, kind, checkedName(kind, name));
  if (kind === "host") return showHost(desk, name);
  if (kind === "schedule") return showSchedule(desk, checkedName(kind, name));
  if (kind === "group") return showGroup(desk, name);
  return showRun(desk, name);
}
