import { type ParseResult, quoteText } from "./text.ts";

// Times by clock and unit, which are numbers at run time; their texts, and waits (docs/decisions/0102-types-for-time.md).

declare const kind: unique symbol;
declare const monotonic: unique symbol;
declare const boot: unique symbol;

/** A number that names its kind. Plain numbers can be used for it and it for them, but one kind not for another. */
type NumberOf<Kind extends string> = number & { readonly [kind]?: Kind };

/** A duration in milliseconds. */
export type Millis = NumberOf<"ms">;
/** A duration in seconds. */
export type Seconds = NumberOf<"s">;
/** An instant of the wall clock, in ms since the epoch. It may jump, so it is for people and for what they plan. */
export type WallTime = NumberOf<"wall">;
/** What the clocks of a time zone show, in ms since they showed 1970-01-01 00:00. It may be shown twice, or never. */
export type LocalTime = NumberOf<"local">;

/**
 * An instant of the `Clock` of this process: boot time from an arbitrary origin, in ms. It never goes back, and also runs
 * while the machine is suspended. Deadlines are such instants.
 */
export interface MonotonicTime {
  readonly [monotonic]: never;
}

/** An instant of the kernel's boot-time clock, in ms, which is the same for all processes of a time namespace. */
export interface BootTime {
  readonly [boot]: never;
}

/** An instant that nothing can be calculated with but by the functions below. Those of one clock compare with `<`. */
type Instant = MonotonicTime | BootTime;

/** The clock of a process. Pure modules take times as values; modules with input or output use this port. */
export interface Clock {
  now(): MonotonicTime;
  /** For the horizon, a jump of this clock is only a hint. */
  getWallTime(): WallTime;
  /** Resolves after `ms`. Rejects with the signal's reason as soon as the signal is aborted. */
  sleep(ms: Millis, signal?: AbortSignal): Promise<void>;
}

/** For clocks only. */
export function toMonotonicTime(ms: number): MonotonicTime {
  return ms as unknown as MonotonicTime;
}

/** For what the kernel, or another process, says. */
export function toBootTime(ms: number): BootTime {
  return ms as unknown as BootTime;
}

/** Rounds down to whole nanoseconds, as in the frames of guardians. */
export function toBootNanos(at: BootTime): bigint {
  return BigInt(Math.floor((at as unknown as number) * 1e6));
}

/** A deadline that never passes. */
export const NEVER = toMonotonicTime(Number.POSITIVE_INFINITY);
/** An instant before all others. */
export const LONG_AGO = toMonotonicTime(Number.NEGATIVE_INFINITY);

/** Returns the instant `ms` after `at`; before it if `ms` is negative. */
export function addMs<T extends Instant>(at: T, ms: Millis): T {
  return ((at as unknown as number) + ms) as unknown as T;
}

/** Returns the time from `start` to `end`; negative if `end` is earlier. */
export function subtractTime<T extends Instant>(end: T, start: NoInfer<T>): Millis {
  return (end as unknown as number) - (start as unknown as number);
}

export function pickEarlier(a: MonotonicTime, b: MonotonicTime): MonotonicTime {
  return a < b ? a : b;
}

export function pickLater(a: MonotonicTime, b: MonotonicTime): MonotonicTime {
  return a > b ? a : b;
}

/** Returns how far the wall clock is ahead of the other one. Their origins differ, so only its changes mean something. */
export function computeLead(wall: WallTime, at: MonotonicTime): Millis {
  return wall - (at as unknown as number);
}

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

/** Example durations, for messages and help. */
const DURATION_EXAMPLE = "30s, 0.5s, 5m, 1h30m or 2d";

/** Units with their length in ms, largest first. The parts of a duration must be in this order. */
const DURATION_UNITS = [
  ["d", DAY_MS],
  ["h", HOUR_MS],
  ["m", MINUTE_MS],
  ["s", SECOND_MS],
  ["ms", 1],
] as const;

const NUMBER_PATTERN = String.raw`(\d+(?:\.\d+)?)`;
const DURATION_PATTERN = new RegExp(
  `^${DURATION_UNITS.map(([unit]) => `(?:${NUMBER_PATTERN}${unit})?`).join("")}$`,
);
/** Longer texts are refused without parsing. No duration needs more characters. */
const MAX_LENGTH = 40;
/** Ten years. A longer duration is a typing error. */
const MAX_MS = 3_650 * DAY_MS;

/**
 * Parses a duration.
 *
 * The text consists of numbers with units, largest unit first, each unit at most once: `30s`, `1h30m`, `0.5s`. A bare
 * number is refused, because tools disagree on its unit. Only `0` is accepted without a unit.
 * @returns a whole number from 0 to ten years; or an error message that quotes the text. The message does
 *   not name the flag or key: the caller adds it
 */
export function parseDuration(text: string): ParseResult<Millis> {
  if (text === "0") return { value: 0 };
  if (/^\d{1,12}(\.\d{1,12})?$/.test(text))
    return { fault: `${quoteText(text)} has no unit; write ${text}s, ${text}m, ${text}h or ${text}d` };
  const parts = text.length > MAX_LENGTH ? null : DURATION_PATTERN.exec(text);
  if (parts === null || text === "") {
    return { fault: `${quoteText(text)} is not a duration; write it as ${DURATION_EXAMPLE}` };
  }
  const exact = DURATION_UNITS.reduce(
    (sum, [, length], unit) => sum + Number(parts[unit + 1] ?? 0) * length,
    0,
  );
  const value = Math.round(exact);
  if (value === 0 && exact > 0) return { fault: `${quoteText(text)} is shorter than 1ms` };
  if (value > MAX_MS) return { fault: `${quoteText(text)} is longer than ten years` };
  return { value };
}

/**
 * Formats a duration as `parseDuration` reads it, with the fewest parts: `1h30m`, `0s`.
 * @param ms  rounded to whole milliseconds; negative values get a sign
 */
export function formatDuration(ms: Millis): string {
  if (!Number.isFinite(ms)) return "forever";
  let rest = Math.round(Math.abs(ms));
  if (rest === 0) return "0s";
  let text = ms < 0 ? "-" : "";
  for (const [unit, length] of DURATION_UNITS) {
    const whole = Math.floor(rest / length);
    if (whole > 0) text += `${whole}${unit}`;
    rest -= whole * length;
  }
  return text;
}

/**
 * Formats a duration for listings: whole seconds, only the two largest units, such as `12m4s` or `3d4h`. Less than a
 * second is `0s`.
 * @param ms  negative values, caused by clock differences, count as 0
 */
export function formatBriefDuration(ms: Millis): string {
  if (!Number.isFinite(ms)) return "forever";
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const largest = DURATION_UNITS.findIndex(([, length]) => seconds * 1000 >= length);
  const [, finest] = DURATION_UNITS[Math.min(3, largest + 1)] ?? DURATION_UNITS[3];
  return formatDuration(largest < 0 ? 0 : Math.floor((seconds * 1000) / finest) * finest);
}

/** Formats a time for machines and messages: `2026-11-21T05:31:02.000Z`. */
export function formatIso(wall: WallTime): string {
  return new Date(wall).toISOString();
}

/** Formats a time for listings, in UTC: `2026-11-21 05:31:02Z`. */
export function formatInstant(wall: WallTime): string {
  if (!Number.isFinite(wall) || Math.abs(wall) > 8.64e15) return "?";
  return `${new Date(wall).toISOString().slice(0, 19).replace("T", " ")}Z`;
}

export function waitForAbort(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => listenForAbort(signal, resolve));
}

/**
 * Calls a function when a signal is aborted, at once if it is already.
 * @returns a function that removes the listener, which otherwise stays in memory as long as the signal
 */
export function listenForAbort(signal: AbortSignal | undefined, act: () => void): () => void {
  if (signal?.aborted) act();
  else signal?.addEventListener("abort", act, { once: true });
  return () => signal?.removeEventListener("abort", act);
}

/** Returns a signal that aborts with the first of the signals. */
export function mergeSignals(signal: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  return other === undefined ? signal : AbortSignal.any([signal, other]);
}

/**
 * Aborts a controller when a signal is aborted, with its reason. A signal of `AbortSignal.any` would stay in memory as
 * long as it has a listener and a source that may still be aborted; here nothing stays when the signal is gone.
 * @returns a function that stops forwarding, for a signal that outlives the work
 */
export function forwardAbort(from: AbortSignal | undefined, to: AbortController): () => void {
  return listenForAbort(from, () => to.abort(from?.reason));
}

/** A timer that fires this late, ms, shows that this process did not run. */
const NOT_RUN = 50;

/**
 * Sleeps until an answer counts as late. After a process was stopped, or got no processor time, its timers fire before it
 * has read the answers that arrived meanwhile. So if the timer fires late, this sleeps again for the length of the delay,
 * but at most for `ms`. Rejects as `Clock.sleep`.
 */
export async function sleepUntilLate(clock: Clock, ms: Millis, signal: AbortSignal): Promise<void> {
  const due = addMs(clock.now(), ms);
  await clock.sleep(ms, signal);
  const delay = subtractTime(clock.now(), due);
  if (delay > NOT_RUN) await clock.sleep(Math.min(delay, ms), signal);
}

/** Waits until a promise is settled, at most `ms`. Never rejects. @returns whether it is settled */
export async function waitAtMost(clock: Clock, ms: Millis, promise: Promise<unknown>): Promise<boolean> {
  const over = new AbortController();
  const timer = clock.sleep(ms, over.signal).then(
    () => false,
    () => false,
  );
  const settled = promise.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([timer, settled]);
  } finally {
    over.abort(NO_LONGER_NEEDED);
  }
}

/** Waits for work until a signal is aborted. The work itself continues. @throws the signal's reason */
export async function raceAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const stopListening = listenForAbort(signal, () => aborted.reject(signal.reason));
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    stopListening();
  }
}

/** Maps items with at most `most` calls at the same time. The results are in the order of the items. */
export async function mapAtMost<T, R>(
  items: readonly T[],
  most: number,
  map: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const next = items.entries();
  const mapNext = async () => {
    for (const [at, item] of next) results[at] = await map(item);
  };
  await Promise.all(Array.from({ length: most }, mapNext));
  return results;
}

/**
 * The reason with which code aborts its own timers and listeners when they are no longer needed. `abort()` without a reason
 * creates a DOMException with a stack each time, which costs a busy worker more than the timer itself.
 */
export const NO_LONGER_NEEDED = new Error("no longer needed");
