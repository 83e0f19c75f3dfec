// Type tests: this file must compile (`npm run check`), with the expected errors.
import {
  addMs,
  type BootTime,
  computeLead,
  type Millis,
  type MonotonicTime,
  type Seconds,
  subtractTime,
  toMonotonicTime,
  type WallTime,
} from "../../../src/core/base/clock.ts";

/** Two instants of each clock, and durations. */
interface Times {
  wall: WallTime;
  now: MonotonicTime;
  boot: BootTime;
  ms: Millis;
  seconds: Seconds;
}

export function calculateAsAllowed({ wall, now, boot, ms, seconds }: Times): unknown[] {
  const left: Millis = subtractTime(addMs(now, seconds * 1_000), now);
  const delay: Millis = subtractTime(boot, addMs(boot, -ms)) + 2 * left;
  const later: WallTime = wall + delay;
  const age: Millis = later - wall;
  const written: WallTime = 1_700_000_000_000;
  const date = new Date(written).getTime() === JSON.parse(String(wall));
  return [now < addMs(now, age), boot >= addMs(boot, ms), computeLead(wall, now), toMonotonicTime(5), date];
}

export function mixTwoClocks({ wall, now, boot }: Times): unknown[] {
  // @ts-expect-error: subtraction
  const differences = [wall - now];
  // @ts-expect-error: subtraction, the other way round
  differences.push(now - wall);
  // @ts-expect-error: subtraction by the function
  differences.push(subtractTime(now, boot));
  // @ts-expect-error: subtraction by the function
  differences.push(subtractTime(wall, now));
  // @ts-expect-error: comparison
  const comparisons = [now < wall];
  // @ts-expect-error: comparison
  comparisons.push(wall >= now);
  // @ts-expect-error: comparison
  comparisons.push(now < boot);
  // @ts-expect-error: comparison
  comparisons.push(now === wall);
  // @ts-expect-error: one passed for the other
  const passed: MonotonicTime[] = [wall];
  // @ts-expect-error: one passed for the other
  passed.push(boot);
  // @ts-expect-error: one passed for the other
  const asWall: WallTime = now;
  // @ts-expect-error: one passed for the other
  const asBoot: BootTime = now;
  // @ts-expect-error: a clock that reads another one
  const read: () => MonotonicTime = () => wall;
  // @ts-expect-error: the earlier of both
  const earlier = Math.min(now, wall);
  return [differences, comparisons, passed, asWall, asBoot, read, earlier];
}

export function takeNumbersForInstants({ now, wall, ms, seconds }: Times): unknown[] {
  // @ts-expect-error: a deadline is not a number
  const deadlines: MonotonicTime[] = [5_000];
  // @ts-expect-error: nor a duration
  deadlines.push(ms);
  // @ts-expect-error: a sum without a clock
  deadlines.push(now + ms);
  // @ts-expect-error: compared with a number
  const isOver = now > 5_000;
  // @ts-expect-error: seconds for ms
  const shifted = addMs(now, seconds);
  // @ts-expect-error: an instant for a duration
  const late = addMs(now, wall);
  // @ts-expect-error: a duration for an instant
  const planned: WallTime = ms;
  // @ts-expect-error: seconds for ms
  const timeout: Millis = seconds;
  return [deadlines, isOver, shifted, late, planned, timeout];
}
