import { parseInstant } from "../../src/cli/frame/command-line/instant.ts";
import { listChanges, readClocks } from "./clock-oracle.ts";

const MINUTE = 60_000;
const FROM = Date.UTC(2020, 0);
const TO = Date.UTC(2040, 0);

/**
 * Compares what written times mean with the clocks that Intl shows, minute by minute, around each change of a zone's clocks
 * in 20 years.
 * @returns what differs, in words
 */
export function findWrongTimes(zone: string): string[] {
  return listChanges(zone, FROM, TO).flatMap(({ at, by }) => findWrongTimesAround(zone, at, Math.abs(by)));
}

function findWrongTimesAround(zone: string, change: number, size: number): string[] {
  const clocks = readClocks(zone);
  const count = Math.round((2 * size) / MINUTE) + 10;
  const minutes = Array.from({ length: 2 * count }, (_, index) => change + (index - count) * MINUTE);
  const shown = Map.groupBy(minutes, clocks);
  const walls = [...shown.keys()];
  const [first, last] = [Math.min(...walls) + size, Math.max(...walls) - size];
  const wrong: string[] = [];
  for (let wall = first; wall <= last; wall += 5 * MINUTE) {
    const instants = shown.get(wall) ?? [change];
    const text = new Date(wall).toISOString().slice(0, 16);
    for (const [repeat, expected] of [
      ["first", Math.min(...instants)],
      ["last", Math.max(...instants)],
    ] as const) {
      const read = parseInstant(text, zone, 0, repeat);
      const isNoted = shown.get(wall)?.length !== 1;
      if (read?.at !== expected || read.notes.length !== Number(isNoted))
        wrong.push(
          `${text} in ${zone}, ${repeat}: ${read && new Date(read.at).toISOString()}, Intl has ${new Date(expected).toISOString()}; ${read?.notes}`,
        );
    }
  }
  return wrong;
}
