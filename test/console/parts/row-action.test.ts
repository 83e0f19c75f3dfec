/** Commands on rows: accepted rows, the resulting command line, and the text to type. */
import { describe, expect, it } from "vitest";
import { parseSubject } from "../../../fixtures/state/parse-subject.ts";
import { createSnapshot, createTicketKey, toRunId } from "../../../fixtures/state/sample-snapshots.ts";
import { COMMANDS, ROW_COMMANDS, type RowCommandId } from "../../../src/cli/commands/registry.ts";
import { loadCommand } from "../../../src/cli/frame/command-line/execute-command.ts";
import type { CommandPreview } from "../../../src/console/parts/row-actions.ts";
import {
  buildRowAction,
  findConfirmationWord,
  getCommandById,
} from "../../../src/console/parts/row-actions.ts";

const SNAPSHOT = createSnapshot([
  createTicketKey("lock x held", "a", 1),
  createTicketKey("lock x", "b", 2),
  createTicketKey("lock free", "c", 3),
  createTicketKey("lock free", "d", 4),
]);

/** Builds an action. @returns its arguments and flags, or the reason why it is not possible */
function buildWords(id: RowCommandId, subject: string | undefined) {
  const built = buildRowAction(id, parseSubject(subject), SNAPSHOT);
  return "reason" in built ? built.reason : [...built.args, ...Object.values(built.flags ?? {})];
}

describe("a command on a row", () => {
  it.each<[RowCommandId, string, readonly string[]]>([
    ["reset", "lock x", ["lock", "x"]],
    ["reset", "run a of lock x", ["run", toRunId("a")]],
    ["reset", "record 1 of lock x", ["lock", "x"]],
    ["reset", "run b of lock x", ["run", toRunId("b")]],
    ["drain", "ended 1 of lock x", ["lock", "x"]],
    ["drain", "host web1.example.com", ["host", "web1.example.com"]],
    ["drain", "run a of lock x", ["lock", "x"]],
    ["undrain", "group web", ["group", "web"]],
    ["undrain", "drain all all", ["all"]],
    ["schedule pause", "schedule backup", ["backup"]],
    ["schedule trigger", "schedule backup", ["backup"]],
  ])("%s is filled in from it: %s", (id, subject, words) => {
    expect(buildWords(id, subject)).toEqual(words);
  });

  it.each<[RowCommandId, string | undefined, string | RegExp]>([
    ["reset", undefined, "nothing is selected"],
    ["reset", "lock free", "nobody holds lock free"],
    ["reset", "record 1", "only a held lock"],
    ["reset", "ended 1 of lock x", /ended.*lock x in Locks/],
    ["drain", "drain lock x", "already drained"],
    ["drain", "run a", "only locks"],
    ["schedule resume", "schedule backup", "not paused"],
  ])("%s is refused for %s", (id, subject, reason) => {
    expect(buildWords(id, subject)).toMatch(reason);
  });

  it("is refused with the reason in its declaration for rows of other kinds", () => {
    const others = ["schedule backup", "lock x", "drain all all"];
    for (const { id, rows } of ROW_COMMANDS)
      for (const subject of others.filter(
        (text) => !(rows.kinds as readonly string[]).includes(parseSubject(text).kind),
      ))
        expect([id, buildWords(id, subject)]).toEqual([id, rows.refusal]);
  });

  it("returns its outcome as a value", async () => {
    for (const { id } of ROW_COMMANDS)
      expect([id, typeof (await loadCommand(getCommandById(id))).perform]).toEqual([id, "function"]);
  });
});

it("every command with --dry-run but run returns its outcome as a value", async () => {
  const acting = COMMANDS.filter(({ flags = [] }) => flags.some(({ name }) => name === "dry-run"));
  const loaded = await Promise.all(
    acting.map(async (command) => [command.id, (await loadCommand(command)).perform !== undefined] as const),
  );
  expect(loaded.filter(([, hasOutcome]) => !hasOutcome)).toEqual([["run", false]]);
});

describe("the word that confirms", () => {
  const preview: CommandPreview = {
    revision: "7",
    outcome: "dry-run",
    messages: [],
    messageKeys: [],
    isLive: true,
    affectedRuns: "",
  };
  const gone = { ...preview, isLive: false };

  it.each([
    ["reset", [["lock", "x y"]], [preview], "x y"],
    ["reset", [["lock", "x"]], [gone], undefined],
    ["reset", [["lock", "x"]], undefined, undefined],
    [
      "reset",
      [
        ["lock", "x"],
        ["lock", "y"],
      ],
      [gone, preview],
      "2",
    ],
    ["reset", [["run", "9k3w0123456789ab"]], [preview], "9k3w"],
    ["reset", [["run", "8k3wx10000000000"]], [preview], "8k3wx1"],
    ["reset", [["run", "8k3wx0000000"]], [preview], "8k3wx0000000"],
    ["reset", [["lock", "run"]], [preview], "run"],
    ["drain", [["all"]], undefined, "all"],
    ["drain", [["lock", "x"]], [preview], undefined],
    ["group delete", [["web"]], [preview], undefined],
  ] as const)("%s %j", (id, items, previews, word) => {
    const runs = ["8k3wx00000000000", "8k3wx0000000", "8k3wx10000000000"];
    expect(findConfirmationWord(getCommandById(id), items, previews, runs)).toBe(word);
  });
});
