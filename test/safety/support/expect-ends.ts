import { expect } from "vitest";
import { splitWords, type Words } from "../../../fixtures/cluster/test-jobs.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";

/** A command, its exit code, and what standard error contains or matches. */
export type EndCase = [words: Words, code: number, stderr: string | RegExp];

/** Runs commands at the same time, and compares how they end. @param topic  the first word of all */
export async function expectEnds(
  namespace: TestNamespace,
  cases: readonly EndCase[],
  ...topic: string[]
): Promise<void> {
  const ends = await Promise.all(cases.map(([words]) => namespace.execute([...topic, ...splitWords(words)])));
  for (const [at, [words, code, stderr]] of cases.entries())
    expect(ends[at], String(words)).toExit(code, { stderr });
}
