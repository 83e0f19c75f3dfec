import type { RowModel } from "./cells.ts";
import { Row } from "./Row.tsx";

/** Rows, one below the other. */
export function Rows({ rows, width }: { rows: readonly RowModel[]; width: number }) {
  return rows.map((row, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a row is identified by its position
    <Row key={at} {...row} width={width} />
  ));
}
