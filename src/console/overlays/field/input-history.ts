import { createField, type TextField } from "./field.ts";

/** Earlier texts of a field, which the user can browse. */
export interface InputHistory {
  /** Newest first. */
  readonly texts: readonly string[];
  /** Index of the text shown; -1 for the text being typed. */
  readonly at: number;
  /** The text being typed when browsing started. */
  readonly draft: string;
}

/** Maximum number of texts kept for one kind of field. */
const KEPT = 50;

/** @param texts  newest first */
export function createInputHistory(texts: readonly string[]): InputHistory {
  return { texts, at: -1, draft: "" };
}

/** Moves to the next older or newer text. At the ends nothing changes. */
export function browseInputHistory(
  history: InputHistory,
  field: TextField,
  way: "older" | "newer",
): { recall: InputHistory; field: TextField } {
  const { texts } = history;
  const at = Math.max(-1, Math.min(history.at + (way === "older" ? 1 : -1), texts.length - 1));
  if (at === history.at) return { recall: history, field };
  const draft = history.at < 0 ? field.text : history.draft;
  return { recall: { texts, at, draft }, field: createField(at < 0 ? draft : texts[at]) };
}

/** Adds a text, newest first, without duplicates. Blank texts are not kept. */
export function addToInputHistory(texts: readonly string[], text: string): readonly string[] {
  if (text.trim() === "") return texts;
  return [text, ...texts.filter((one) => one !== text)].slice(0, KEPT);
}
