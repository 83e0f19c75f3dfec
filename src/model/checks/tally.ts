import type { Finding, Level } from "../../base/finding.ts";
import { worst } from "../../base/finding.ts";

/** Findings of a kind that are told one by one. */
const MANY = 5;

/** Collects findings without keeping them all: of each kind the first few, and how many there were. */
export class Tally {
  readonly #kinds = new Map<string, { first: Finding[]; count: number; level: Level }>();

  add(finding: Finding): void {
    const known = this.#kinds.get(finding.kind) ?? { first: [], count: 0, level: "ok" };
    if (known.first.length < MANY) known.first.push(finding);
    this.#kinds.set(finding.kind, {
      ...{ first: known.first, count: known.count + 1 },
      level: worst([known.level, finding.level]),
    });
  }

  /** The first few of each kind, and a finding for those that were left out. */
  findings(): Finding[] {
    return [...this.#kinds].flatMap(([kind, { first, count, level }]) => {
      const more = count - first.length;
      if (more === 0) return first;
      const remedy = "see: signalbox ls problems";
      return [...first, { kind, check: "and", level, detail: `${more} more of this kind`, remedy }];
    });
  }
}
