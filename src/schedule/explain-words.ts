/** "a", "a and b", "a, b and c". */
export function listOf(words: readonly string[], last = "and"): string {
  return words.length < 2 ? (words[0] ?? "") : `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)}`;
}

/** Three or more that follow one another are said as a range. Both ends of each, in order. */
export function runsOf(values: readonly number[]): [number, number][] {
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

/** "Monday to Friday and Sunday". */
export function spans(values: readonly number[], word: (value: number) => string): string {
  return listOf(
    runsOf(values).map(([from, to]) => (from === to ? word(from) : `${word(from)} to ${word(to)}`)),
  );
}

/** The step between values, where there are three or more, evenly spaced by two or more. */
export function stepOf(values: readonly number[]): number | undefined {
  const [first = 0, second = 0] = values;
  const step = second - first;
  const isEven = values.every((value, at) => value === first + at * step);
  return values.length > 2 && step > 1 && isEven ? step : undefined;
}

/** "1st", "22nd". */
export function ordinal(value: number): string {
  const tens = value % 100;
  const ending = tens > 10 && tens < 14 ? "th" : (["th", "st", "nd", "rd"][value % 10] ?? "th");
  return `${value}${ending}`;
}

/** "02:30". */
export function clock(hour: number, minute: number): string {
  return [hour, minute].map((part) => String(part).padStart(2, "0")).join(":");
}
