import { Refusal } from "./refusal.ts";

/** A stretch of a text, and what comes in its place. */
export interface Edit {
  start: number;
  /** Behind it. */
  end: number;
  text: string;
}

/** A crontab's command as the shell gets it, and where each character stands in the line. */
export interface Decoded {
  text: string;
  /** One more than the text has characters. */
  places: readonly number[];
}

/** Up to the first bare `%`; `\%` is a percent sign. @param from  where the command begins in the line */
export function decoded(line: string, from: number): Decoded {
  const places: number[] = [];
  let text = "";
  let at = from;
  for (; at < line.length && line[at] !== "%"; at += 1) {
    places.push(at);
    if (line.startsWith("\\%", at)) at += 1;
    text += line[at] ?? "";
  }
  return { text, places: [...places, at] };
}

/** The line with its edits done. @param edits  places in the decoded text; none runs over another @throws Refusal */
export function edited(line: string, { places }: Decoded, edits: readonly Edit[]): string {
  let result = line;
  for (const { start, end, text } of [...edits].sort((a, b) => b.start - a.start || b.end - a.end)) {
    if (/[\0\n\r]/.test(text))
      throw new Refusal("a value holds a line break, which a crontab's line cannot have");
    const [from, to] = [places[start] ?? line.length, places[end] ?? line.length];
    result = result.slice(0, from) + text.replaceAll("%", "\\%") + result.slice(to);
  }
  return result;
}
