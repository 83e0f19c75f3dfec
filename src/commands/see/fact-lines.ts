import { computeDisplayWidth } from "../../base/display-width.ts";
import { clean } from "../../base/text.ts";
import type { Fact } from "../../model/detail/detail.ts";
import type { OutputStyle, TextSpan } from "./paint.ts";
import { wrapText } from "./wrap.ts";

/** Between two facts on a line. */
const BETWEEN: TextSpan = { text: " · ", role: "quiet" };
/** The indent of all lines. */
const INDENT = "  ";

interface FlowingFact {
  spans: readonly TextSpan[];
  width: number;
}

/** Builds facts one after the other on as few lines as possible: `holder web1:3121 · since 12:00, for 3m`. */
export function flowFacts(
  facts: readonly Fact[],
  { width = Number.POSITIVE_INFINITY }: OutputStyle,
): TextSpan[][] {
  const available = Math.max(10, width - INDENT.length);
  const lines: FlowingFact[][] = [];
  for (const fact of facts.flatMap((one) => toFlowingFacts(one, available))) {
    const line = lines.at(-1);
    if (line !== undefined && measureLine([...line, fact]) <= available) line.push(fact);
    else lines.push([fact]);
  }
  return lines.map((line) => [
    { text: INDENT },
    ...line.flatMap(({ spans }, at) => (at === 0 ? spans : [BETWEEN, ...spans])),
  ]);
}

function measureLine(line: readonly FlowingFact[]): number {
  return line.reduce((sum, { width }) => sum + width + BETWEEN.text.length, -BETWEEN.text.length);
}

/** Builds a fact; one that is wider than a line in several pieces. */
function toFlowingFacts({ label, value, tone = "plain" }: Fact, available: number): FlowingFact[] {
  const text = clean(value);
  const start: TextSpan = { text: `${label} `, role: "quiet" };
  const width = computeDisplayWidth(start.text + text);
  if (width <= available) return [{ spans: [start, { text, role: tone }], width }];
  const [first = "", ...more] = wrapText(start.text + text, available);
  const rest = more.map((line) => ({ spans: [{ text: line, role: tone }], width: available }));
  return [
    { spans: [start, { text: first.slice(start.text.length), role: tone }], width: available },
    ...rest,
  ];
}
