/** Writes recordings of terminals in the format asciicast 2: https://docs.asciinema.org/manual/asciicast/v2/ */

/** Output of a program, `at` ms after its start. */
export interface RecordedOutput {
  at: number;
  text: string;
}

/** A place in a recording where a player can pause, and its title. */
export interface RecordedMarker {
  at: number;
  title: string;
}

export interface Recording {
  title: string;
  columns: number;
  rows: number;
  outputs: readonly RecordedOutput[];
  markers: readonly RecordedMarker[];
}

/** Returns the lines of a recording, a JSON document each: the header, then events in the order of their times. */
export function formatAsciicast({ title, columns, rows, outputs, markers }: Recording): string {
  const events = [
    ...outputs.map(({ at, text }) => [toSeconds(at), "o", text] as const),
    ...markers.map(({ at, title }) => [toSeconds(at), "m", title] as const),
  ].sort(([a], [b]) => a - b);
  const header = { version: 2, width: columns, height: rows, title, env: { TERM: "xterm-256color" } };
  return `${[header, ...events].map((line) => JSON.stringify(line)).join("\n")}\n`;
}

function toSeconds(ms: number): number {
  return Math.round(ms) / 1_000;
}
