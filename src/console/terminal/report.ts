/** An answer of the terminal to a question of the console. It is never a key. */
export type TerminalReport = BackgroundReport | { kind: "report"; of: "attributes" | "status" };

/** The background colour, each part from 0 to 1. */
export interface BackgroundReport {
  kind: "report";
  of: "background";
  red: number;
  green: number;
  blue: number;
}

/** Longest text of an OSC string that is kept, in bytes. Longer ones are no answer to a question of the console. */
export const LONGEST_REPORT = 64;

/** `11;rgb:RRRR/GGGG/BBBB`, with one to four digits for each part; some terminals add an alpha part. */
const BACKGROUND = /^11;rgba?:([0-9a-f]{1,4})\/([0-9a-f]{1,4})\/([0-9a-f]{1,4})(?:\/[0-9a-f]{1,4})?$/i;
/** The beginning of such an answer. */
const STARTED = /^1(?:1(?:;(?:r(?:g(?:b(?:a?(?::[0-9a-f/]*)?)?)?)?)?)?)?$/i;

/** Parses the text of an OSC string. @returns undefined for all but the answer about the background */
export function parseOscReport(text: string): BackgroundReport | undefined {
  const [, ...parts] = BACKGROUND.exec(text) ?? [];
  const [red, green, blue] = parts.map((part) => Number.parseInt(part, 16) / (16 ** part.length - 1));
  if (red === undefined || green === undefined || blue === undefined) return undefined;
  return { kind: "report", of: "background", red, green, blue };
}

/** Whether a text may be the beginning of the answer about the background. */
export function isReportStarted(text: string): boolean {
  return STARTED.test(text);
}

/** Whether dark text is better to read on a background: its perceived brightness is over one half. */
export function isLightBackground({ red, green, blue }: BackgroundReport): boolean {
  return 0.299 * red + 0.587 * green + 0.114 * blue > 0.5;
}
