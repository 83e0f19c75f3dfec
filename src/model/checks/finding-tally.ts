import type { Finding, FindingLevel } from "../../base/finding.ts";
import { computeWorstLevel } from "../../base/finding.ts";

/** Number of findings of each kind that are listed one by one. */
const MANY = 5;

/** Collects findings. Keeps only the first few of each kind, and their number. */
export class FindingTally {
  readonly #kinds = new Map<string, { first: Finding[]; count: number; level: FindingLevel }>();

  add(finding: Finding): void {
    const known = this.#kinds.get(finding.kind) ?? { first: [], count: 0, level: "ok" };
    if (known.first.length < MANY) known.first.push(finding);
    this.#kinds.set(finding.kind, {
      first: known.first,
      count: known.count + 1,
      level: computeWorstLevel([known.level, finding.level]),
    });
  }

  /** Lists the first few findings of each kind, and a summary of the others. */
  listFindings(): Finding[] {
    return [...this.#kinds].flatMap(([kind, { first, count, level }]) => {
      const more = count - first.length;
      if (more === 0) return first;
      const remedy = "see: signalbox ls problems";
      return [...first, { kind, check: "and", level, detail: `${more} more of this kind`, remedy }];
    });
  }
}
