import { open } from "node:fs/promises";
import type { WallTime } from "../../core/base/clock.ts";
import { listSegments, type OutputSegment } from "./output-directory.ts";
import { decodeRecords, HEADER_BYTES, type OutputRecord } from "./output-record.ts";

/** A part of what is kept of a run. */
interface OutputPart {
  records: OutputRecord[];
  /** Position after the records. */
  next: number;
  /** Bytes before the records that are not kept any more. */
  skipped: number;
}

/** Where to begin: a position, and how many bytes of the data of its record to leave out. */
export interface OutputStart {
  position: number;
  cut: number;
}

/**
 * Reads records from a position on.
 * @param most  bytes to read; at least one record is read if there is one
 */
export async function readRecords(
  directory: string,
  run: string,
  position: number,
  most: number,
): Promise<OutputPart> {
  const segments = await listSegments(directory, run);
  for (const [index, segment] of segments.entries()) {
    const next = segments[index + 1];
    if (next !== undefined && next.start <= position) continue;
    const from = Math.max(position, segment.start);
    const { records, length } = await readSegment(segment, from, most);
    if (records.length > 0) return { records, next: from + length, skipped: from - position };
  }
  return { records: [], next: position, skipped: 0 };
}

async function readSegment(
  { path, start }: OutputSegment,
  from: number,
  most: number,
): Promise<ReturnType<typeof decodeRecords>> {
  const handle = await open(path).catch(() => undefined); // removed meanwhile
  if (handle === undefined) return { records: [], length: 0 };
  try {
    const { size } = await handle.stat();
    for (let length = Math.max(most, HEADER_BYTES); ; length *= 4) {
      const wanted = Math.min(length, Math.max(0, size - (from - start)));
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(wanted), 0, wanted, from - start);
      const decoded = decodeRecords(buffer.subarray(0, bytesRead));
      if (decoded.records.length > 0 || wanted < length) return limitRecords(decoded.records, most);
    }
  } finally {
    await handle.close();
  }
}

/** Returns as many records as fit, at least one. */
function limitRecords(records: OutputRecord[], most: number): ReturnType<typeof decodeRecords> {
  let length = 0;
  let count = 0;
  for (const { data } of records) {
    if (count > 0 && length + HEADER_BYTES + data.length > most) break;
    length += HEADER_BYTES + data.length;
    count += 1;
  }
  return { records: records.slice(0, count), length };
}

const READ_BYTES = 256 * 1024;

/**
 * Finds where the wanted part of the kept output begins.
 * @param tail  number of last lines
 */
export async function findOutputStart(
  directory: string,
  run: string,
  { tail, since = 0 }: { tail?: number | undefined; since?: WallTime | undefined },
): Promise<OutputStart> {
  const [first] = await listSegments(directory, run);
  let start: OutputStart | undefined;
  let position = first?.start ?? 0;
  /** The line starts, at most the wanted number. */
  const lines: OutputStart[] = [];
  let isAtLineStart = true;
  for (;;) {
    const part = await readRecords(directory, run, position, READ_BYTES);
    if (part.records.length === 0) break;
    position += part.skipped;
    for (const { kind, time, data } of part.records) {
      if (time >= since) {
        start ??= { position, cut: 0 };
        if (tail !== undefined && kind <= 2)
          isAtLineStart = collectLineStarts(lines, data, position, isAtLineStart);
        if (tail !== undefined && lines.length > 2 * tail + 1_000) lines.splice(0, lines.length - tail);
      }
      position += HEADER_BYTES + data.length;
    }
  }
  if (tail === 0) return { position, cut: 0 };
  return (tail !== undefined ? (lines.at(-tail) ?? lines[0]) : undefined) ?? start ?? { position, cut: 0 };
}

/** @returns whether the next byte begins a line */
function collectLineStarts(
  lines: OutputStart[],
  data: Buffer,
  position: number,
  isAtStart: boolean,
): boolean {
  if (isAtStart && data.length > 0) lines.push({ position, cut: 0 });
  for (let at = data.indexOf(10); at >= 0; at = data.indexOf(10, at + 1))
    if (at + 1 < data.length) lines.push({ position, cut: at + 1 });
  return data.length === 0 ? isAtStart : data.at(-1) === 10;
}
