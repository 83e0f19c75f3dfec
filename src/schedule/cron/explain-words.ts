/** Formats a list: "a", "a and b", "a, b and c". */
export function formatList(words: readonly string[], last = "and"): string {
  return words.length < 2 ? (words[0] ?? "") : `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)}`;
}

/**
 * Groups three or more consecutive values into ranges.
 * @returns first and last value of each range, in order
 */
export function groupRanges(values: readonly number[]): [number, number][] {
  const runs: [number, number][] = [];
  for (const value of values) {
    const run = runs.at(-1);
    if (run !== undefined && run[1] === value - 1) run[1] = value;
    else runs.push([value, value]);
  }
  return runs.flatMap(([from, to]): [number, number][] =>
    to === from + 1
      ? [
          [from, from],
          [to, to],
        ]
      : [[from, to]],
  );
}

/** Formats values as ranges: "Monday to Friday and Sunday". */
export function formatRanges(values: readonly number[], formatValue: (value: number) => string): string {
  return formatList(
    groupRanges(values).map(([from, to]) =>
      from === to ? formatValue(from) : `${formatValue(from)} to ${formatValue(to)}`,
    ),
  );
}

/** Returns the step of three or more values that are evenly spaced by two or more. */
export function findStep(values: readonly number[]): number | undefined {
  const [first = 0, second = 0] = values;
  const step = second - first;
  const isEven = values.every((value, at) => value === first + at * step);
  return values.length > 2 && step > 1 && isEven ? step : undefined;
}

/** Formats an ordinal: "1st", "22nd". */
export function formatOrdinal(value: number): string {
  const tens = value % 100;
  const ending = tens > 10 && tens < 14 ? "th" : (["th", "st", "nd", "rd"][value % 10] ?? "th");
  return `${value}${ending}`;
}

/** Formats a time of the day: "02:30". */
export function formatClockTime(hour: number, minute: number): string {
  return [hour, minute].map((part) => String(part).padStart(2, "0")).join(":");
}
