import type { RowModel } from "./cells.ts";
import { Row } from "./Row.tsx";

/** Rows, one below the other. A row without a key is identified by its position; no key contains a line break. */
export function Rows({ rows, width }: { rows: readonly RowModel[]; width: number }) {
  return rows.map(({ key, ...row }, at) => <Row key={key ?? `\n${at}`} {...row} width={width} />);
}
