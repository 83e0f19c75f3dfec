/** Outcomes of commands that act: exit codes and output. */
import { describe, expect, it } from "vitest";
import { createIo } from "../../../../fixtures/cli/sample-commands.ts";
import type { Call } from "../../../../src/cli/frame/command.ts";
import type { DrainResult, PruneResult } from "../../../../src/cli/frame/outcome.ts";
import {
  type ActionOutcome,
  addAdvice,
  createAbandonedOutcome,
  createFaultyOutcome,
  createOutcome,
} from "../../../../src/cli/frame/outcome.ts";
import { printOutcome } from "../../../../src/cli/frame/print-outcome.ts";
import { createMessagePrinter } from "../../../../src/cli/frame/store-command.ts";

function createPruneResult(outcome: PruneResult["outcome"]): PruneResult {
  return {
    kind: "prune",
    outcome,
    revision: 7n,
    target: "audit, hosts, vanished, expired",
    audit: 2,
    hosts: ["web1.example.com"],
    vanished: [],
    expired: 0,
  };
}

function createDrainResult(outcome: DrainResult["outcome"]): DrainResult {
  return {
    kind: "drain",
    outcome,
    revision: 7n,
    target: { scope: "lock", name: "x" },
    drain: undefined,
    extent: { holders: [], waiters: [], hosts: [] },
    before: [],
    holders: [],
    endsHolders: false,
  };
}

const create = (
  result: Parameters<typeof createOutcome>[1],
  texts: Parameters<typeof createOutcome>[2],
  flags: Call["flags"] = {},
) => createOutcome({ flags }, result, texts);

/** Prints an outcome. @returns what was written to each stream */
function print(outcome: ActionOutcome, flags: Call["flags"] = {}, verbosity = 0) {
  const { io, written } = createIo();
  const code = printOutcome(outcome, { flags, io, printMessage: createMessagePrinter({ verbosity }, io) });
  return { code, ...written };
}

describe("an exit code", () => {
  it.each([
    ["drained", 0],
    ["replaced", 0],
    ["standing", 0],
    ["dry-run", 0],
    ["declined", 1],
    ["changed", 75],
    ["lifted", 75],
    ["timeout", 124],
  ] as const)("of a drain: %s is %i", (outcome, code) => {
    expect(create(createDrainResult(outcome), { messages: [] }).exitCode).toBe(code);
  });

  it("of an undrain that has lifted a drain is 0", () => {
    const target = { scope: "lock", name: "x" } as const;
    const result = { kind: "undrain", outcome: "lifted", revision: 7n, target } as const;
    const lifted = { ...result, drains: [], others: [], waiters: [] };
    expect(create(lifted, { messages: [] }).exitCode).toBe(0);
  });

  it("with --strict is 1 if there was nothing to do", () => {
    const results = [createDrainResult("standing"), createPruneResult("nothing"), createPruneResult("done")];
    expect(results.map((result) => create(result, { messages: [] }, { strict: true }).exitCode)).toEqual([
      1, 1, 0,
    ]);
  });
});

describe("the text of an outcome", () => {
  it("goes to standard output, with the line that repeats a dry run", () => {
    const texts = { messages: ["2 runs go on"], repeat: "--expect-revision 7 --yes" };
    expect(print(create(createDrainResult("dry-run"), texts))).toEqual({
      code: 0,
      err: "",
      out: "2 runs go on\ndo it with --expect-revision 7 --yes instead of --dry-run\n",
    });
  });

  it("goes to standard error under a heading if something has changed, and nowhere with --quiet", () => {
    const changed = create(createDrainResult("changed"), { messages: ["new: a drain"] });
    expect(print(changed)).toEqual({
      code: 75,
      out: "",
      err: "signalbox: nothing was changed, because something has changed meanwhile:\nsignalbox: new: a drain\n",
    });
    expect(print(changed, {}, -1)).toEqual({ code: 75, out: "", err: "" });
  });

  it("has advice at its end, on standard error", () => {
    const done = create(createPruneResult("done"), { messages: ["gone"] });
    expect(print(addAdvice(done, ["look again"]))).toEqual({
      code: 0,
      out: "gone\n",
      err: "signalbox: look again\n",
    });
  });

  it("shows control characters of others as text", () => {
    const done = create(createPruneResult("done"), { messages: ["a\x1b[2Jb"] });
    expect(print(done).out).not.toContain("\x1b");
  });
});

describe("the JSON of an outcome", () => {
  const printJson = (outcome: ActionOutcome): unknown => JSON.parse(print(outcome, { json: true }).out);

  it("has the result, the messages and the notes", () => {
    const texts = { messages: ["2 runs go on"], notes: ["no lock x is known"], repeat: "--yes" };
    expect(printJson(create(createDrainResult("dry-run"), texts))).toEqual({
      version: 1,
      revision: "7",
      action: "drain",
      target: "lock x",
      outcome: "dry-run",
      messages: ["2 runs go on", "do it with --yes instead of --dry-run"],
      notes: ["no lock x is known"],
      before: [],
      hosts: [],
      holders: [],
      waiters: [],
    });
  });

  it("has the same document if something has changed, without the heading", () => {
    const changed = create(createDrainResult("changed"), { messages: ["new"] });
    expect(printJson(changed)).toMatchObject({ outcome: "changed", messages: ["new"] });
    expect(print(changed, { json: true }).err).toBe("");
  });

  it("of a document with faults lists them", () => {
    const faulty = createFaultyOutcome(["f:1: bad"], ["f:1: bad"]);
    expect(printJson(faulty)).toEqual({ version: 1, outcome: "faulty", faults: ["f:1: bad"] });
    expect(print(faulty)).toEqual({
      code: 78,
      out: "",
      err: "signalbox: f:1: bad\nsignalbox: nothing was changed\n",
    });
  });

  it("is empty if the user gave up in the editor", () => {
    expect(print(createAbandonedOutcome(), { json: true })).toEqual({ code: 78, out: "", err: "" });
  });
});
