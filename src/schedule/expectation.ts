import { type Millis, parseDuration } from "../core/base/clock.ts";
import { type ParseResult, quoteText } from "../core/base/text.ts";

/** How long a run should take, ms. A missing bound limits nothing. */
export interface Expectation {
  least?: number;
  most?: number;
}

export const DEVIATIONS = ["overrun", "too-short"] as const;

/** How a run deviates from what was expected: it takes longer, or has succeeded sooner. */
export type Deviation = (typeof DEVIATIONS)[number];

/** The part of a definition that says how long a run should take. Definitions are not imported: they use what is here. */
interface Expecting {
  expect?: string;
}

/** Parses `5s..20m`, `5s..` or `..20m`. */
function parseExpectation(text: string): ParseResult<Expectation> {
  const [, from = "", to = ""] = /^(.*?)\.\.(.*)$/s.exec(text) ?? [];
  if (from === "" && to === "")
    return {
      fault: `${quoteText(text)} does not say how long a run takes; write 5s..20m, 5s.. (at least), or ..20m (at most)`,
    };
  const least = parseDuration(from === "" ? "0" : from);
  const most = to === "" ? { value: Infinity } : parseDuration(to);
  if ("fault" in least) return least;
  if ("fault" in most) return most;
  if (least.value >= most.value)
    return { fault: `${quoteText(text)} must begin with the shorter duration, such as 5s..20m` };
  return { value: { ...(from !== "" && { least: least.value }), ...(to !== "" && { most: most.value }) } };
}

/** Returns what is wrong with the text of an expectation; undefined if nothing is. */
export function findExpectationFault(text: string): string | undefined {
  const parsed = parseExpectation(text);
  return "fault" in parsed ? parsed.fault : undefined;
}

/** Returns how long a run of a schedule should take. */
export function getExpectation({ expect }: Expecting): Expectation {
  const parsed = expect === undefined ? undefined : parseExpectation(expect);
  return parsed !== undefined && "value" in parsed ? parsed.value : {};
}

/** Judges a run that has ended. Only a success can be too short. @param took  ms */
export function findDeviation(
  { least = 0, most = Infinity }: Expectation,
  result: string,
  took: Millis,
): Deviation | undefined {
  if (took > most) return "overrun";
  return result === "ok" && took < least ? "too-short" : undefined;
}
