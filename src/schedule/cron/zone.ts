import { UsageError } from "../../base/errors.ts";
import { memoize } from "../../base/memoize.ts";
import { findNearest, quoteText } from "../../base/text.ts";

/** Abbreviations that name a time, not a zone with clock changes, and the zone that was probably meant. */
const ABBREVIATIONS: Readonly<Record<string, string>> = {
  Z: "UTC",
  BST: "Europe/London",
  PST: "America/Los_Angeles",
  CST: "America/Chicago",
  AST: "America/Halifax",
  IST: "Asia/Kolkata",
  JST: "Asia/Tokyo",
  CEST: "Europe/Berlin",
  EEST: "Europe/Athens",
  WEST: "Europe/Lisbon",
  MSK: "Europe/Moscow",
  EDT: "America/New_York",
  CDT: "America/Chicago",
  MDT: "America/Denver",
  PDT: "America/Los_Angeles",
  AEST: "Australia/Sydney",
  AEDT: "Australia/Sydney",
};

/** Three-letter names of IANA zones. Intl accepts more, and treats BST as the time of Dhaka. */
const SHORT = /^(UTC|GMT|UCT|CET|EET|MET|WET|EST|MST|HST|PRC|ROC|ROK)$/i;

/** Number of cached names: a lookup costs about 60 µs. It exceeds the number of zones in a few spellings each. */
const CACHED = 2_000;

/**
 * Checks the name of a time zone.
 * @returns the name, in the spelling of IANA if only the case differs
 * @throws UsageError with the name that was probably meant
 */
export const checkZone = memoize(findZoneName, CACHED);

function findZoneName(name: string): string {
  try {
    const known = new Intl.DateTimeFormat("en-US", { timeZone: name }).resolvedOptions().timeZone;
    if (/^[a-z]{3}$/i.test(name) && !SHORT.test(name)) throw createUnknownZoneError(name);
    return known.toLowerCase() === name.toLowerCase() ? known : name;
  } catch {
    throw createUnknownZoneError(name);
  }
}

function createUnknownZoneError(name: string): UsageError {
  const meant = suggestZone(name);
  const remedy = meant === undefined ? "use a name such as Europe/Berlin or UTC" : `did you mean ${meant}?`;
  return new UsageError(`unknown time zone ${quoteText(name)}; ${remedy}`);
}

function suggestZone(name: string): string | undefined {
  const short = ABBREVIATIONS[name.toUpperCase()];
  if (short !== undefined) return short;
  // Etc/GMT-2 is two hours EAST of Greenwich: POSIX inverts the sign.
  const [, sign, hours] = /^(?:UTC|GMT)([+-])0?(\d{1,2})$/i.exec(name) ?? [];
  if (sign !== undefined) return `Etc/GMT${sign === "+" ? "-" : "+"}${hours}`;
  const names = ["UTC", ...Intl.supportedValuesOf("timeZone")];
  const place = name.toLowerCase().replaceAll(" ", "_");
  return names.find((known) => known.toLowerCase().endsWith(`/${place}`)) ?? findNearest(place, names);
}
