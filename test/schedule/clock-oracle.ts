import { HOUR } from "./cron-texts.ts";

/** What a zone's clocks show, from Intl itself. */
export function readClocks(zone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat("en-CA", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  });
  return (at) => Date.parse(`${format.format(at).replace(", ", "T")}Z`);
}

/** Instants of a zone's clock changes, to the minute, and by how much the wall clock jumps. */
export function listChanges(zone: string, from: number, to: number): { at: number; by: number }[] {
  const wall = readClocks(zone);
  const offset = (at: number) => wall(at) - at;
  const changes: { at: number; by: number }[] = [];
  for (let at = from; at < to; at += 48 * HOUR) {
    let [same, other] = [at, at + 48 * HOUR];
    if (offset(same) === offset(other)) continue;
    while (other - same > 60_000) {
      const middle = Math.round((same + other) / 120_000) * 60_000;
      if (offset(middle) === offset(same)) same = middle;
      else other = middle;
    }
    changes.push({ at: other, by: offset(other) - offset(same) });
  }
  return changes;
}
