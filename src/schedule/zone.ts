import { UsageError } from "../base/errors.ts";
import { nearest, quoted } from "../base/text.ts";

export { offsetAt } from "./offsets.ts";

/** Abbreviations that stand for a time, not for a place whose clocks change, and what was probably meant. */
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

/** Of the names that are three letters, those that IANA has. Intl knows more, and takes BST for Dhaka's time. */
const SHORT = /^(UTC|GMT|UCT|CET|EET|MET|WET|EST|MST|HST|PRC|ROC|ROK)$/i;

/** Names that were found, for a look-up costs some 60 µs; more than all that there are in a few spellings. */
const KNOWN = new Map<string, string>();
const MOST_KNOWN = 2_000;

/**
 * Checks the name of a time zone.
 * @returns its name, in the letters that IANA gives it where only their case was wrong
 * @throws UsageError with what was probably meant
 */
export function checkZone(name: string): string {
  const before = KNOWN.get(name);
  if (before !== undefined) return before;
  const known = lookUp(name);
  if (KNOWN.size < MOST_KNOWN) KNOWN.set(name, known);
  return known;
}

function lookUp(name: string): string {
  try {
    const known = new Intl.DateTimeFormat("en-US", { timeZone: name }).resolvedOptions().timeZone;
    if (/^[a-z]{3}$/i.test(name) && !SHORT.test(name)) throw unknown(name);
    return known.toLowerCase() === name.toLowerCase() ? known : name;
  } catch {
    throw unknown(name);
  }
}

function unknown(name: string): UsageError {
  const meant = meantBy(name);
  const remedy =
    meant === undefined ? "a name such as Europe/Berlin or UTC is wanted" : `did you mean ${meant}?`;
  return new UsageError(`time zone ${quoted(name)} is not known: ${remedy}`);
}

function meantBy(name: string): string | undefined {
  const short = ABBREVIATIONS[name.toUpperCase()];
  if (short !== undefined) return short;
  // Etc/GMT-2 is two hours EAST of Greenwich: POSIX has the signs the other way round.
  const [, sign, hours] = /^(?:UTC|GMT)([+-])0?(\d{1,2})$/i.exec(name) ?? [];
  if (sign !== undefined) return `Etc/GMT${sign === "+" ? "-" : "+"}${hours}`;
  const names = ["UTC", ...Intl.supportedValuesOf("timeZone")];
  const place = name.toLowerCase().replaceAll(" ", "_");
  return names.find((known) => known.toLowerCase().endsWith(`/${place}`)) ?? nearest(place, names);
}
