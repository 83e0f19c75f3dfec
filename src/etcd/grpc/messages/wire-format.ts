/** How protocol buffers represent a field. @see https://protobuf.dev/programming-guides/encoding/ */
import type { FieldKind } from "./message-type.ts";

/** Wire types of fields: a varint, bytes with their length before them, and those that are only skipped. */
export const WIRE = { varint: 0, eightBytes: 1, bytes: 2, fourBytes: 5 } as const;

export function getWireType(kind: FieldKind): number {
  return kind === "integer" || kind === "unsigned" || kind === "flag" ? WIRE.varint : WIRE.bytes;
}
