/** Texts that differ between two runs although clock, runs and revisions are fixed, and their replacements. */
const RULES: readonly (readonly [pattern: RegExp, text: string])[] = [
  [/127\.0\.0\.1:\d+/g, "etcd1.test:2379"],
  [/renewed \d+s ago, \d+s left/g, "renewed 1s ago, 29s left"],
  [/(?<=[·-]) (?:< )?\d+ ms/g, " < 10 ms"],
];

/** Replaces varying texts in a row by constants. Text behind a wide gap keeps its column. */
export function scrubRow(row: string): string {
  return RULES.reduce((text, [pattern, constant]) => replaceInPlace(text, pattern, constant), row);
}

function replaceInPlace(row: string, pattern: RegExp, constant: string): string {
  let result = row;
  for (const match of [...row.matchAll(pattern)].reverse()) {
    const rest = result.slice(match.index + match[0].length);
    const gap = /^(.*?)( {2,})(\S.*)$/s.exec(rest); // text up to the next gap moves, and the gap becomes wider or narrower
    const change = match[0].length - constant.length;
    const [, near = rest, blanks = "", far = ""] = gap ?? [];
    const filled = gap === null ? "" : " ".repeat(Math.max(1, blanks.length + change));
    result = result.slice(0, match.index) + constant + near + filled + far;
  }
  return result;
}
