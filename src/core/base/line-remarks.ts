import { formatShortList } from "./text.ts";

/** A remark about a line of a file, counted from 1. */
export interface LineRemark {
  line: number;
  detail: string;
}

/**
 * Formats remarks, one for each kind, with all lines that it is about: `crontab:3: it takes a lock (and in lines 4, 7)`.
 * @param getKind  default: remarks of a kind are equal
 */
export function formatLineRemarks(
  file: string,
  remarks: readonly LineRemark[],
  getKind = (detail: string) => detail,
): string[] {
  return [...Map.groupBy(remarks, ({ detail }) => getKind(detail)).values()].map(
    ([first, ...others]) => `${file}:${first?.line}: ${first?.detail}${formatOtherLines(others)}`,
  );
}

/** Lists the other lines with a remark: ` (and in lines 4, 7)`. */
function formatOtherLines(others: readonly LineRemark[]): string {
  if (others.length === 0) return "";
  const lines = others.map(({ line }) => String(line));
  return ` (and in line${others.length === 1 ? "" : "s"} ${formatShortList(lines, 10)})`;
}
