import { formatDuration } from "../base/duration.ts";
import { EXIT } from "../base/errors.ts";
import { listing, type Occupant, type QueueRow } from "../model/listing.ts";
import { readAll } from "../work/observe/read.ts";
import { json, table } from "./table.ts";
import { withStore } from "./with-store.ts";

const HEAD = ["KIND", "NAME", "STATE", "HOLDER", "SINCE", "UNITS", "WAITING"];

export const execute = withStore(async ({ flags }, world, connection) => {
  const { keys, clock } = connection;
  const kvs = [
    ...(await readAll(connection, keys.locks())),
    ...(await readAll(connection, keys.resources())),
  ];
  const rows = listing(keys, kvs);
  if (flags.json) world.out(json({ rows }));
  else if (rows.length === 0)
    world.out("Nothing is held or waited for. Try: signalbox run --lock demo -- sleep 60\n");
  else
    world.out(
      table(
        HEAD,
        rows.map((row) => cells(row, clock.wall())),
      ),
    );
  return EXIT.ok;
});

function cells({ kind, name, state, holders, waiters, used, total }: QueueRow, wall: number): string[] {
  const [first, ...others] = holders;
  const more = others.length === 0 ? "" : ` +${others.length}`;
  const units = kind === "lock" ? "" : `${used}/${total ?? "?"}`;
  return [
    kind,
    name,
    state,
    first === undefined ? "" : who(first) + more,
    age(first, wall),
    units,
    waiting(waiters),
  ];
}

function who({ host, pid, run }: Occupant): string {
  return host === undefined ? `malformed ${run}` : `${host}:${pid}`;
}

function age(holder: Occupant | undefined, wall: number): string {
  if (holder?.since === undefined) return "";
  return formatDuration(Math.max(0, Math.floor((wall - holder.since) / 1000) * 1000));
}

function waiting(waiters: readonly Occupant[]): string {
  const malformed = waiters.filter(({ isMalformed }) => isMalformed).length;
  return `${waiters.length}${malformed === 0 ? "" : ` (${malformed} malformed)`}`;
}
