import { CRON_MACROS } from "../../schedule/cron/cron.ts";

/**
 * Returns a cron text whose times are so many minutes later; undefined if another minute cannot be written in its form:
 * then several fields would have to change.
 * @param minutes  1 to 59
 */
export function shiftCron(text: string, minutes: number): string | undefined {
  const plain = Object.hasOwn(CRON_MACROS, text) ? CRON_MACROS[text] : text;
  const fields = plain?.trim().split(/\s+/) ?? [];
  const [minute = "", hour = "", ...days] = fields;
  if (fields.length !== 5) return undefined;
  const [, step] = /^\*\/([1-9]\d?)$/.exec(minute) ?? [];
  if (step !== undefined)
    return minutes < Number(step) && 60 % Number(step) === 0
      ? [`${minutes}-59/${step}`, hour, ...days].join(" ")
      : undefined;
  if (!/^\d+(,\d+)*$/.test(minute)) return undefined;
  const moved = minute.split(",").map((one) => Number(one) + minutes);
  const isSameHour = moved.every((one) => one < 60);
  if (hour === "*")
    return [
      moved
        .map((one) => one % 60)
        .sort((a, b) => a - b)
        .join(","),
      hour,
      ...days,
    ].join(" ");
  if (isSameHour) return [moved.join(","), hour, ...days].join(" ");
  const isNextHour = moved.every((one) => one >= 60) && /^\d+$/.test(hour) && Number(hour) < 23;
  return isNextHour
    ? [moved.map((one) => one - 60).join(","), String(Number(hour) + 1), ...days].join(" ")
    : undefined;
}
