/** What all actions have in common: `performAction`. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { type Action, type ActionEnd, performAction } from "../../../../src/cli/frame/action.ts";
import type { PruneResult } from "../../../../src/cli/frame/outcome.ts";
import { listOutcomeLines } from "../../../../src/cli/frame/print-outcome.ts";
import { type ActionContext, InterruptedError } from "../../../../src/cli/frame/store-command.ts";
import { executeAction } from "../../../../src/site/operate/operator-action.ts";
import { OperatorFixture } from "../../../site/operate/operator-fixture.ts";

const PLANNED = {
  kind: "prune",
  revision: 7n,
  target: "x",
  audit: 2,
  hosts: [],
  vanished: [],
  expired: 0,
} as const;
const REPEAT = "do it with --expect-revision 7 --yes instead of --dry-run";

/** Performs an action that writes an audit record. @returns what it did, in order, and its outcome */
async function perform(
  part: Partial<Action<PruneResult>> = {},
  { flags = {}, answer, operator = new OperatorFixture() }: PerformOptions = {},
) {
  const steps: string[] = [];
  const { keys } = operator;
  const context = {
    ...operator.ports,
    flags,
    printMessage: (line: string) => steps.push(line),
    io: {
      terminal: {
        canAsk: () => answer !== undefined,
        ask: async (question: string) => {
          steps.push(question);
          return answer;
        },
      },
    },
  } as unknown as ActionContext;
  const action: Action<PruneResult> = {
    planned: PLANNED,
    describe: (wall) => [wall === undefined ? "deletes it" : "deletes it, 3 s old"],
    question: "Delete?",
    write: async (isAsked) => {
      steps.push(`writes${isAsked ? ", asked" : ""}`);
      const change = { action: "prune", target: "x", seen: 7n, outcome: "written", compare: [] } as const;
      const ops = [{ op: "delete", key: keys.audit("0") } as const];
      return {
        outcome: "done",
        messages: ["written"],
        receipt: await executeAction(context, { ...change, ops }),
      };
    },
    ...part,
  };
  const outcome = await operator.advanceUntilSettled(performAction(context, action));
  return { steps, outcome, lines: listOutcomeLines(outcome), records: await listRecords(operator) };
}

interface PerformOptions {
  flags?: Record<string, unknown>;
  answer?: string;
  operator?: OperatorFixture;
}

async function listRecords(operator: OperatorFixture) {
  return (await operator.listRecords()).map((record) => record?.outcome);
}

const changed: ActionEnd<PruneResult> = { outcome: "changed", messages: ["another has it"] };
const HEADING = "nothing was changed, because something has changed meanwhile:";

describe("an action", () => {
  it("shows what it would do, asks and writes, with its audit record", async () => {
    const { steps, lines, records } = await perform({ listNotes: () => ["it is old"] }, { answer: "y" });
    expect(steps).toEqual(["note: it is old", "deletes it, 3 s old", "Delete? [y/N] ", "writes, asked"]);
    expect({ lines, records }).toEqual({ lines: ["written"], records: ["written"] });
  });

  it("writes without a question with --yes, and if it needs none", async () => {
    expect((await perform({}, { flags: { yes: true } })).steps).toEqual(["writes"]);
    expect((await perform({ question: undefined })).steps).toEqual(["writes"]);
  });

  it("tells in a dry run what it would do, its sum, and how to do it", async () => {
    const { steps, outcome, lines, records } = await perform(
      { sum: "1 thing" },
      { flags: { "dry-run": true } },
    );
    expect({ steps, records }).toEqual({ steps: [], records: [] });
    expect(lines).toEqual(["deletes it, 3 s old", "1 thing", REPEAT]);
    expect(outcome.messageKeys).toEqual(["deletes it", "1 thing"]);
    const other = await perform({ repeat: "--yes" }, { flags: { "dry-run": true } });
    expect(other.lines.at(-1)).toBe("do it with --yes instead of --dry-run");
  });

  it.each([
    ["is declined", {}, { answer: "n" }, 1, ["nothing was changed"]],
    ["has nothing to do", { nothing: ["it is gone"] }, {}, 0, ["it is gone"]],
    [
      "has nothing to do, and must",
      { nothing: ["it is gone"] },
      { flags: { strict: true } },
      1,
      ["it is gone"],
    ],
    ["was not shown so", { compare: () => changed }, {}, 75, [HEADING, "another has it"]],
    [
      "was shown so again",
      { compare: () => ({ ...changed, messages: [] }) },
      {},
      75,
      [HEADING, "it changed and was reverted; run the command again"],
    ],
  ] as const)("that %s writes nothing", async (_, part, options, exitCode, lines) => {
    const end = await perform(part, options);
    expect({ exitCode: end.outcome.exitCode, lines: end.lines, records: end.records }).toEqual({
      exitCode,
      lines,
      records: [],
    });
    expect(end.steps.join()).not.toContain("writes");
  });

  it("without a terminal and --yes is refused", async () => {
    await expect(perform()).rejects.toThrow("nothing was changed: cannot ask for confirmation");
  });

  it("that was changed before it wrote does not wait, and tells what it has not done", async () => {
    const wait = () => Promise.reject(new Error("it waited"));
    const write = async () => ({ ...changed, undone: "these were not done: 3" });
    const { lines } = await perform({ write, wait }, { flags: { yes: true } });
    expect(lines).toEqual([
      "these were not done: 3, because something has changed meanwhile:",
      "another has it",
    ]);
  });

  it("that waits tells first what it has written, and adds the outcome to its audit record", async () => {
    const { steps, lines, records } = await perform(
      {
        wait: async (record) => {
          await record("empty after 3s");
          return { outcome: "done", messages: ["it is over"] };
        },
      },
      { flags: { yes: true } },
    );
    expect({ steps, lines, records }).toEqual({
      steps: ["writes", "written"],
      lines: ["it is over"],
      records: ["empty after 3s"],
    });
  });

  it("that has waited ends also if etcd does not answer any more: the record keeps what it has", async () => {
    const operator = new OperatorFixture();
    const { lines, records } = await perform(
      {
        wait: async (record) => {
          operator.store.fates.push(...Array.from({ length: 1_000 }, () => "refused" as const));
          await record("empty after 3s");
          return { outcome: "done", messages: ["it is over"] };
        },
      },
      { flags: { yes: true }, operator },
    );
    expect({ lines, records }).toEqual({ lines: ["it is over"], records: ["written"] });
  });

  it("whose wait the user ends says what stays", async () => {
    const steps: string[] = [];
    const wait = () => Promise.reject(new InterruptedError("SIGINT"));
    const write = async () => ({ outcome: "done", messages: [] }) as const;
    const context = {
      flags: { yes: true },
      clock: { getWallTime: () => 0 },
      printMessage: (line: string) => steps.push(line),
    };
    const action = {
      planned: PLANNED,
      describe: () => [],
      question: undefined,
      write,
      wait,
      stays: "it stays",
    };
    await expect(performAction(context as unknown as ActionContext, action)).rejects.toThrow(
      InterruptedError,
    );
    expect(steps).toEqual(["no longer waiting; it stays"]);
  });
});

it("a refusal has one wording", () => {
  const folder = resolve(import.meta.dirname, "../../../../src");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    /\.tsx?$/.test(name),
  );
  const odd = files.filter((name) => readFileSync(join(folder, name), "utf8").includes("nothing was done"));
  expect(odd).toEqual([]);
});
