// Types for time, by clock and unit; numbers at run time (docs/decisions/0102-types-for-time.md).

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
