/** The preview of a dialog, from the outcome of a dry run. */
import { describe, expect, it } from "vitest";
import { createSnapshot, createTicketKey, NOW, toRunId } from "../../../fixtures/state/sample-snapshots.ts";
import type { EvictionResult, RunnerRecord } from "../../../src/cli/frame/outcome.ts";
import { createFaultyOutcome, createOutcome } from "../../../src/cli/frame/outcome.ts";
import {
  createPreview,
  getCommandById,
  hasPreview,
  runPreview,
} from "../../../src/console/parts/row-actions.ts";
import { previewEviction } from "../../../src/site/state/eviction-preview.ts";

const SNAPSHOT = createSnapshot([createTicketKey("lock x held", "a", 1), createTicketKey("lock x", "b", 2)]);

function createEviction(verdict: RunnerRecord["verdict"]): EvictionResult {
  const runner = { run: toRunId("a"), who: "a.example.com pid 1", verdict, left: 9, ttl: 10 };
  const preview = previewEviction(SNAPSHOT, new Set([toRunId("a")]), NOW);
  const action = { action: "reset", target: "lock x", revision: 100n } as const;
  return { kind: "eviction", outcome: "dry-run", ...action, preview, runners: [runner] };
}

const createDryRun = (verdict: RunnerRecord["verdict"], exitCode = 0) => ({
  ...createOutcome({ flags: {} }, createEviction(verdict), {
    messages: ["ends a"],
    notes: ["a note"],
    repeat: "--expect-revision 100 --yes",
  }),
  exitCode,
});

describe("a preview", () => {
  it("has the revision, the messages and notes, and the runs that end, without the line for a shell", () => {
    expect(createPreview(createDryRun("alive"))).toEqual({
      revision: "100",
      outcome: "dry-run",
      messages: ["ends a", "a note"],
      messageKeys: ["ends a", "a note"],
      isLive: true,
      affectedRuns: toRunId("a"),
    });
  });

  it.each([
    ["alive", true],
    ["quiet", true],
    ["unknown", true],
    ["gone", false],
  ] as const)("of a runner that is %s asks for its name: %s", (verdict, isLive) => {
    expect(createPreview(createDryRun(verdict)).isLive).toBe(isLive);
  });

  it("lists the holders that a drain ends, and none that it leaves", () => {
    const holders = previewEviction(SNAPSHOT, new Set([toRunId("a")]), NOW).evicted;
    const createDrain = (endsHolders: boolean) =>
      createOutcome(
        { flags: {} },
        {
          kind: "drain",
          outcome: "dry-run",
          revision: 100n,
          target: { scope: "lock", name: "x" },
          extent: { holders, waiters: [], hosts: [] },
          drain: undefined,
          before: [],
          holders,
          endsHolders,
        },
        { messages: [] },
      );
    expect(createPreview(createDrain(true)).affectedRuns).toBe(toRunId("a"));
    expect(createPreview(createDrain(false)).affectedRuns).toBe("");
  });

  it("fails if the command cannot be done, with the reasons", () => {
    const failed = { revision: undefined, outcome: "failed", isLive: false, affectedRuns: "" };
    const faulty = createFaultyOutcome(["f:1: bad"], ["f:1: bad"]);
    const { messages } = faulty;
    expect(messages).toEqual(["f:1: bad", "nothing was changed"]);
    expect(createPreview(faulty)).toEqual({ ...failed, messages, messageKeys: messages });
    expect(createPreview(createDryRun("alive", 75))).toEqual({
      ...failed,
      messages: ["ends a"],
      messageKeys: ["ends a"],
    });
  });
});

describe("a dry run", () => {
  const perform = async (
    _: unknown,
    words: readonly string[],
    { writeLine }: { writeLine(text: string, stream: "out" | "err"): void },
  ) => {
    writeLine(`got ${words.join(" ")}\x1b[2J`, "err");
    return { exitCode: 64 };
  };

  it("that fails with a message shows it, without what a terminal would act on", async () => {
    const preview = await runPreview(
      { perform },
      getCommandById("drain"),
      ["lock", "x"],
      new AbortController(),
    );
    expect(preview).toMatchObject({ outcome: "failed", revision: undefined });
    expect(preview.messages.join("")).toMatch(/^got --dry-run lock x/);
    expect(preview.messages.join("")).not.toContain("\x1b");
  });

  it("is not asked of a command that only reads: its text is the preview", async () => {
    const preview = await runPreview({ perform }, getCommandById("why"), ["x"], new AbortController());
    expect(preview.messages.join("")).toMatch(/^got x/);
  });

  it("has the beginning of a long text", async () => {
    const write: typeof perform = async (_, __, { writeLine }) => {
      for (let line = 0; line < 5_000; line += 1) writeLine("x".repeat(9_000), "out");
      return { exitCode: 0 };
    };
    const command = getCommandById("etcd keys");
    const { messages, outcome } = await runPreview({ perform: write }, command, [], new AbortController());
    expect({ outcome, lines: messages.length, first: messages[0]?.length }).toEqual({
      outcome: "dry-run",
      lines: 200,
      first: 2_000,
    });
  });

  it("is all that a dialog may run: commands of other topics, and logs, may send something", () => {
    const ids = ["why", "drain", "hook test", "doctor", "logs"];
    expect(ids.filter((id) => hasPreview(getCommandById(id)))).toEqual(["why", "drain"]);
  });
});
