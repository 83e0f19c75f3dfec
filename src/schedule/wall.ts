const names = new Map<string, readonly Intl.DateTimeFormat[]>();

/** "2026-03-29" of a wall-clock time in ms. */
export const dateOf = (wall: number) => new Date(wall).toISOString().slice(0, 10);

/** "02:30" of a wall-clock time in ms. */
export const timeOf = (wall: number) => new Date(wall).toISOString().slice(11, 16);

/** "2026-03-29 03:00 CEST (+02:00)"; without an abbreviation where the zone has none that is written in English. */
export function localTime(zone: string, at: number, offset: number): string {
  const short = abbreviationOf(zone, at);
  const wall = at + offset;
  return `${dateOf(wall)} ${timeOf(wall)}${short === undefined ? "" : ` ${short}`} (${offsetText(offset)})`;
}

/** "+02:00". */
function offsetText(offset: number): string {
  const minutes = Math.round(Math.abs(offset) / 60_000);
  const [hour, minute] = [Math.floor(minutes / 60), minutes % 60].map((part) =>
    String(part).padStart(2, "0"),
  );
  return `${offset < 0 ? "-" : "+"}${hour}:${minute}`;
}

/** Which abbreviations there are depends on the English that is asked: each knows those of its own continent. */
function abbreviationOf(zone: string, at: number): string | undefined {
  let formats = names.get(zone);
  if (formats === undefined) {
    formats = ["en-US", "en-GB", "en-AU", "en-IN", "en-ZA"].map(
      (language) => new Intl.DateTimeFormat(language, { timeZone: zone, timeZoneName: "short" }),
    );
    names.set(zone, formats);
  }
  for (const format of formats) {
    const name = format.formatToParts(at).find(({ type }) => type === "timeZoneName")?.value;
    if (name !== undefined && !/\d/.test(name)) return name;
  }
  return undefined;
}
