/** Formats local time as the logs of other tools: `2026/11/21 05:31:02`. @param separator  of the parts of the day */
export function formatLogTime(at: Date, separator: "/" | "-"): string {
  const padTwoDigits = (part: number) => String(part).padStart(2, "0");
  const day = [at.getFullYear(), at.getMonth() + 1, at.getDate()].map(padTwoDigits).join(separator);
  return `${day} ${[at.getHours(), at.getMinutes(), at.getSeconds()].map(padTwoDigits).join(":")}`;
}
