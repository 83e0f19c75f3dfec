import type { WallTime } from "../../core/base/clock.ts";
/**
 * A piece of output in the files and in chunks. `1`, `2`: bytes written to standard output and error. `3`: output is
 * missing here; the data is the number of bytes as text. `4`: the run has ended.
 */
export interface OutputRecord {
  kind: 1 | 2 | 3 | 4;
  /** Wall clock, ms since the epoch. */
  time: WallTime;
  data: Buffer;
}

/** The first byte of each record, so that a reader does not take other bytes for one. */
const RECORD_MARK = 0x9c;
export const HEADER_BYTES = 16;

export function encodeRecord({ kind, time, data }: OutputRecord): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header[0] = RECORD_MARK;
  header[1] = kind;
  header.writeUInt32LE(data.length, 4);
  header.writeDoubleLE(time, 8);
  return Buffer.concat([header, data]);
}

/** The record that says how many bytes are missing. */
export function buildLostRecord(bytes: number, time: WallTime): OutputRecord {
  return { kind: 3, time, data: Buffer.from(String(bytes)) };
}

/** Returns how many bytes are missing; 0 for other records. */
export function getLostBytes({ kind, data }: OutputRecord): number {
  const count = kind === 3 ? Number(data.toString("latin1")) : 0;
  return Number.isSafeInteger(count) && count > 0 ? count : 0;
}

/** Decodes the complete records at the start of the bytes. The first byte that does not belong to one ends them. */
export function decodeRecords(bytes: Buffer): { records: OutputRecord[]; length: number } {
  const records: OutputRecord[] = [];
  let at = 0;
  while (at + HEADER_BYTES <= bytes.length) {
    const kind = bytes[at + 1] ?? 0;
    const end = at + HEADER_BYTES + bytes.readUInt32LE(at + 4);
    if (bytes[at] !== RECORD_MARK || !isKind(kind) || end > bytes.length) break;
    records.push({ kind, time: bytes.readDoubleLE(at + 8), data: bytes.subarray(at + HEADER_BYTES, end) });
    at = end;
  }
  return { records, length: at };
}

/** Leaves out the first bytes of the first record. */
export function cutFirst([first, ...others]: readonly OutputRecord[], cut: number): OutputRecord[] {
  if (first === undefined) return [];
  return [cut > 0 ? { ...first, data: first.data.subarray(cut) } : first, ...others];
}

function isKind(kind: number): kind is OutputRecord["kind"] {
  return kind >= 1 && kind <= 4;
}
