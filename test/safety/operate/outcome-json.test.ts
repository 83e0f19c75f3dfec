/** What commands that act print with `--json` is as docs/json.md says. */
import { expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { findMismatches } from "../../../fixtures/find-mismatches.ts";
import { OUTCOME_SCHEMA } from "../../../scripts/json-doc.ts";

const { test } = TestCluster.startForFile();

test("each action prints its document: in a dry run, done, and without anything to do", async ({
  namespace,
}) => {
  const holder = await namespace.jobs.startHolder("holder", "--lock x --lease db=1:2 --wait");
  await namespace.jobs.startWaiter("waiter", "--lock x --wait");
  await namespace.expectDone("schedule add nightly '0 3 * * *' -- true");
  const outcomes: string[] = [];
  const run = async (document: string, words: string) => {
    const printed: unknown = JSON.parse((await namespace.execute(`${words} --json`)).stdout);
    const { version, ...rest } = printed as Record<string, unknown>;
    const mismatches = findMismatches(OUTCOME_SCHEMA, { $ref: `#/$defs/${document} document` }, rest);
    expect({ words, version, mismatches }).toEqual({ words, version: 1, mismatches: [] });
    outcomes.push(`${document} ${rest.outcome}`);
  };
  const runThrice = async (document: string, words: string) => {
    await run(document, `${words} --dry-run`);
    await run(document, `${words} --yes`);
    await run(document, `${words} --yes`);
  };
  await runThrice("drain", "drain lock x");
  await runThrice("undrain", "undrain lock x");
  await runThrice("site", "group set web web1.example.com");
  await runThrice("site", "calendar add holidays 2026-12-24");
  await runThrice("schedule", "schedule pause nightly");
  await run("schedule", "schedule trigger nightly");
  await runThrice("prune", "prune --audit 0s");
  await run("site", "resource set db 1");
  await runThrice("reset", "reset lock x");
  await holder.ended;
  expect(outcomes).toEqual([
    ...["dry-run", "drained", "standing"].map((end) => `drain ${end}`),
    ...["dry-run", "lifted", "nothing"].map((end) => `undrain ${end}`),
    ...["dry-run", "done", "nothing", "dry-run", "done", "nothing"].map((end) => `site ${end}`),
    ...["dry-run", "done", "nothing", "done"].map((end) => `schedule ${end}`),
    ...["dry-run", "done", "done"].map((end) => `prune ${end}`),
    expect.stringMatching(/^site /),
    expect.stringMatching(/^reset /),
    expect.stringMatching(/^reset /),
    expect.stringMatching(/^reset /),
  ]);
});
