import type { WallTime } from "../base/clock.ts";
import { isCount, isJsonObject, parseObject } from "../base/parse-json.ts";

/** Maximum number of bytes of output that are stored in etcd when a run ends. */
export const TAIL_BYTES = 4_096;

/** A viewer's request for the output of a run, stored under `output/requests/…` on the viewer's session. */
export interface OutputRequest {
  /** Only this many last lines. */
  tail?: number;
  /** Only output that was written at or after this instant, ms since the epoch. */
  since?: WallTime;
  /** Also output that is written later. */
  follow: boolean;
  /** Number of the last chunk that the viewer has read; 0 for none. */
  read: number;
}

/** A piece of output for one viewer, under `output/chunks/<viewer>` on the viewer's session. */
export interface OutputChunk {
  /** From 1. */
  number: number;
  /** Id of the process that answers. */
  server: string;
  /** Records as they are in the files, base64. */
  records: string;
  /** Number of bytes before the records that were skipped or are no longer kept. */
  skipped: number;
  /** Nothing follows. */
  isEnd: boolean;
}

export function formatOutputRequest(request: OutputRequest): string {
  return JSON.stringify({ v: 1, ...request });
}

/** Parses a request. @returns undefined if it cannot be read */
export function parseOutputRequest(text: string): OutputRequest | undefined {
  const { tail, since, follow, read } = parseObject(text);
  if (typeof follow !== "boolean" || !isCount(read)) return undefined;
  if ((tail !== undefined && !isCount(tail)) || (since !== undefined && !isCount(since))) return undefined;
  return { follow, read, ...(tail !== undefined && { tail }), ...(since !== undefined && { since }) };
}

export function formatOutputChunk(chunk: OutputChunk): string {
  return JSON.stringify({ v: 1, ...chunk });
}

/** Parses a chunk. @returns undefined if it cannot be read */
export function parseOutputChunk(text: string | undefined): OutputChunk | undefined {
  const value = parseObject(text ?? "");
  const { number, server, records, skipped, isEnd } = value;
  if (!isJsonObject(value) || !isCount(number) || !isCount(skipped)) return undefined;
  if (typeof server !== "string" || typeof records !== "string" || typeof isEnd !== "boolean")
    return undefined;
  return { number, server, records, skipped, isEnd };
}
