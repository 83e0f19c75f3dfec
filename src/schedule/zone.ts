import { UsageError } from "../base/errors.ts";
import { nearest, quoted } from "../base/text.ts";

export { offsetAt } from "./offsets.ts";

/** Abbreviations that stand for a time, not for a place whose clocks change, and what was probably meant. */
const ABBREVIATIONS: Readonly<Record<string, string>> = {
  Z: "UTC",
  ZULU: "UTC",
  BST: "Europe/London",
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

/**
 * Checks the name of a time zone.
 * @returns its name, in the letters that IANA gives it where only their case was wrong
 * @throws UsageError with what was probably meant
 */
export function checkZone(name: string): string {
  try {
    const known = new Intl.DateTimeFormat("en-US", { timeZone: name }).resolvedOptions().timeZone;
    return known.toLowerCase() === name.toLowerCase() ? known : name;
  } catch {
    const meant = meantBy(name);
    throw new UsageError(
      `time zone ${quoted(name)} is not known${meant === undefined ? "" : `: did you mean ${meant}?`} A name such as Europe/Berlin or UTC is wanted`,
    );
  }
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
