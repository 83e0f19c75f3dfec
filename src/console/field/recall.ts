import { type Field, fieldOf } from "./field.ts";

/** Texts typed before, leafed through from a field. */
export interface Recall {
  /** Newest first. */
  readonly texts: readonly string[];
  /** Which one is shown; -1 for what is being typed. */
  readonly at: number;
  /** What was being typed when the leafing began. */
  readonly draft: string;
}

/** How many texts are kept of a kind. */
const KEPT = 50;

/** @param texts  newest first */
export function recallOf(texts: readonly string[]): Recall {
  return { texts, at: -1, draft: "" };
}

/** One text further back, or forth; at the ends nothing changes. */
export function recalled(
  recall: Recall,
  field: Field,
  way: "older" | "newer",
): { recall: Recall; field: Field } {
  const { texts } = recall;
  const at = Math.max(-1, Math.min(recall.at + (way === "older" ? 1 : -1), texts.length - 1));
  if (at === recall.at) return { recall, field };
  const draft = recall.at < 0 ? field.text : recall.draft;
  return { recall: { texts, at, draft }, field: fieldOf(at < 0 ? draft : texts[at]) };
}

/** The texts of a kind with one more, newest first, none twice. One that is blank is not kept. */
export function remembered(texts: readonly string[], text: string): readonly string[] {
  if (text.trim() === "") return texts;
  return [text, ...texts.filter((one) => one !== text)].slice(0, KEPT);
}
