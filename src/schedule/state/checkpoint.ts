import { parseObject } from "../../core/base/parse-json.ts";
import { isText } from "../json-fields.ts";

/** Maximum size of a checkpoint, bytes of UTF-8. */
export const LARGEST_CHECKPOINT = 16_384;

/** What the next start of an occurrence gets from those before. */
interface Checkpoint {
  /** The start that has saved it. */
  attempt: number;
  /** When the backfill was requested that has started the occurrence: an earlier run of the same occurrence is not its own. */
  backfill?: number | undefined;
  /** A text; JSON, if a function has saved it. */
  data: string;
}

/** Returns the value to store in etcd, for `parseCheckpoint`. */
export function formatCheckpoint(checkpoint: Checkpoint): string {
  return JSON.stringify({ v: 1, ...checkpoint });
}

/**
 * Returns the text of a checkpoint; undefined if the value is not a checkpoint.
 * @param backfill  of an occurrence that a backfill has started: it goes on only with what its own starts have saved
 */
export function parseCheckpoint(value: string, backfill?: number): string | undefined {
  const { data, backfill: saved } = parseObject(value);
  return isText(data) && (backfill === undefined || saved === backfill) ? data : undefined;
}
