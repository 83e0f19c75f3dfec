import { STATUS_CODES } from "node:http";
import type { StatusRange } from "../file/http-schema.ts";
import type { TaskResult } from "../handler.ts";
import { findRedirectTarget, type ResponseHead } from "./find-redirect.ts";

/** Limits of the wait that a server may ask for, ms. */
const SHORTEST_WAIT = 1_000;
const LONGEST_WAIT = 86_400_000;

/** Returns whether a status is among the expected ones. */
export function isExpected(status: number, expected: readonly StatusRange[]): boolean {
  return expected.some(({ from, to }) => status >= from && status <= to);
}

/**
 * Returns the result of a task from the response of its server.
 * @param url  the address that answered
 * @param now  ms since the epoch, for a Retry-After with a date
 */
export function judgeResponse(
  response: ResponseHead,
  expected: readonly StatusRange[],
  url: URL,
  now: number,
): TaskResult {
  const { status: code, headers } = response;
  if (isExpected(code, expected)) return { result: "ok", code };
  const answer = `it answered ${[code, STATUS_CODES[code]].join(" ").trim()}`;
  const wait = code === 429 || code === 503 ? parseRetryAfter(headers["retry-after"], now) : undefined;
  if (wait !== undefined) return { result: "retry", wait, code, reason: answer };
  const target = findRedirectTarget(response, url);
  if (target === undefined) return { result: "failed", code, reason: answer };
  const where = target.host === "" ? target.protocol : target.origin;
  return { result: "failed", code, reason: `${answer}, a redirect to ${where}` };
}

/**
 * Parses the header Retry-After: seconds, or a date.
 * @param now  ms since the epoch
 * @returns ms, from a second to a day; undefined if it is neither
 */
export function parseRetryAfter(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const isDate = /^[A-Z][a-z]+, .* GMT$/.test(text);
  const wait = /^\d+$/.test(text) ? Number(text) * 1_000 : isDate ? Date.parse(text) - now : Number.NaN;
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, SHORTEST_WAIT), LONGEST_WAIT);
}
