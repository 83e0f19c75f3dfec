import { parseObject } from "../../base/parse-json.ts";
import { isText } from "../json-fields.ts";

/** Maximum size of a checkpoint, bytes of UTF-8. */
export const LARGEST_CHECKPOINT = 16_384;

/** What the next start of an occurrence gets from those before. */
interface Checkpoint {
  /** The start that has saved it. */
  attempt: number;
  /** A text; JSON, if a function has saved it. */
  data: string;
}

/** Returns the value to store in etcd, for `parseCheckpoint`. */
export function formatCheckpoint(checkpoint: Checkpoint): string {
  return JSON.stringify({ v: 1, ...checkpoint });
}

/** Returns the text of a checkpoint; undefined if the value is not a checkpoint. */
export function parseCheckpoint(value: string): string | undefined {
  const { data } = parseObject(value);
  return isText(data) ? data : undefined;
}
