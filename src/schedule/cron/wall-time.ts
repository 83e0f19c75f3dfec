const names = new Map<string, readonly Intl.DateTimeFormat[]>();

/** Formats the date of a wall-clock time in ms: "2026-03-29". */
export const formatWallDate = (wall: number) => new Date(wall).toISOString().slice(0, 10);

/** Formats the clock of a wall-clock time in ms: "02:30". */
export const formatWallClock = (wall: number) => new Date(wall).toISOString().slice(11, 16);

/** Formats a local time: "2026-03-29 03:00 CEST (+02:00)". Omits the abbreviation if the zone has none in English. */
export function formatLocalTime(zone: string, at: number, offset: number): string {
  const short = findAbbreviation(zone, at);
  const wall = at + offset;
  return `${formatWallDate(wall)} ${formatWallClock(wall)}${short === undefined ? "" : ` ${short}`} (${formatOffset(offset)})`;
}

/** Formats an offset: "+02:00". */
function formatOffset(offset: number): string {
  const minutes = Math.round(Math.abs(offset) / 60_000);
  const [hour, minute] = [Math.floor(minutes / 60), minutes % 60].map((part) =>
    String(part).padStart(2, "0"),
  );
  return `${offset < 0 ? "-" : "+"}${hour}:${minute}`;
}

/**
 * Returns the abbreviation of a zone. Each variant of English only has the abbreviations of its own continent, so
 * several are tried.
 */
function findAbbreviation(zone: string, at: number): string | undefined {
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
