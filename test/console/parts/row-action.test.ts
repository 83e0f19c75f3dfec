/** Commands on rows: accepted rows, the resulting command line, and the text to type. */
import { describe, expect, it } from "vitest";
import { loadCommand } from "../../../src/commands/command-line/execute-command.ts";
import { COMMANDS, ROW_COMMANDS, type RowCommandId } from "../../../src/commands/registry/registry.ts";
import type { CommandPreview } from "../../../src/console/parts/row-actions.ts";
import {
  buildRowAction,
  findConfirmationWord,
  getCommandById,
} from "../../../src/console/parts/row-actions.ts";
import type { Subject } from "../../../src/state/subject.ts";
import { pictureOf, runOf, stand } from "../../state/pictures.ts";

const SNAPSHOT = pictureOf([
  stand("lock x", "a", 1, { state: "held" }),
  stand("lock x", "b", 2, { state: "waiting" }),
  stand("lock free", "c", 3, { state: "waiting" }),
  stand("lock free", "d", 4, { state: "waiting" }),
]);
const QUEUE = { kind: "lock", name: "x" } as const;

/** Builds an action. @returns its arguments and flags, or the reason why it is not possible */
function buildWords(id: RowCommandId, subject: Subject | undefined) {
  const built = buildRowAction(id, subject, SNAPSHOT);
  return "reason" in built ? built.reason : [...built.args, ...Object.values(built.flags ?? {})];
}

describe("a command on a row", () => {
  it.each<[RowCommandId, Subject, readonly string[]]>([
    ["reset", QUEUE, ["lock", "x"]],
    ["reset", { kind: "run", name: runOf("a"), queue: QUEUE }, ["lock", "x", runOf("a")]],
    ["reset", { kind: "record", name: "1", about: QUEUE }, ["lock", "x"]],
    ["release", QUEUE, [runOf("b")]],
    ["release", { kind: "run", name: runOf("b"), queue: QUEUE }, [runOf("b")]],
    ["drain", { kind: "record", name: runOf("z"), about: QUEUE, isEndedRun: true }, ["lock", "x"]],
    ["drain", { kind: "host", name: "web1.example.com" }, ["host", "web1.example.com"]],
    ["drain", { kind: "run", name: runOf("a"), queue: QUEUE }, ["lock", "x"]],
    ["undrain", { kind: "group", name: "web" }, ["group", "web"]],
    ["undrain", { kind: "drain", scope: "all", name: "all" }, ["all"]],
    ["schedule pause", { kind: "schedule", name: "backup" }, ["backup"]],
    ["schedule trigger", { kind: "schedule", name: "backup" }, ["backup"]],
  ])("%s is filled in from it: %j", (id, subject, words) => {
    expect(buildWords(id, subject)).toEqual(words);
  });

  it.each<[RowCommandId, Subject | undefined, RegExp]>([
    ["reset", undefined, /nothing is selected/],
    ["reset", { kind: "lock", name: "free" }, /nobody holds lock free/],
    ["reset", { kind: "run", name: runOf("b"), queue: QUEUE }, /waiting/],
    ["reset", { kind: "record", name: runOf("z"), about: QUEUE, isEndedRun: true }, /ended.*lock x in Locks/],
    [
      "release",
      { kind: "record", name: runOf("z"), about: QUEUE, isEndedRun: true },
      /ended.*lock x in Locks/,
    ],
    ["release", { kind: "lock", name: "free" }, /2 runs wait/],
    ["drain", { kind: "drain", scope: "lock", name: "x" }, /already drained/],
    ["drain", { kind: "run", name: runOf("a") }, /only locks/],
    ["schedule resume", { kind: "schedule", name: "backup" }, /not paused/],
  ])("%s is refused for %j", (id, subject, reason) => {
    expect(buildWords(id, subject)).toMatch(reason);
  });

  it("is refused with the reason in its declaration for rows of other kinds", () => {
    const others: Subject[] = [
      { kind: "schedule", name: "backup" },
      { kind: "lock", name: "x" },
      { kind: "drain", scope: "all", name: "all" },
    ];
    for (const { id, rows } of ROW_COMMANDS)
      for (const subject of others.filter(({ kind }) => !(rows.kinds as readonly string[]).includes(kind)))
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
    ["release", [[runOf("a")]], [preview], runOf("a")],
    ["drain", [["all"]], undefined, "all"],
    ["drain", [["lock", "x"]], [preview], undefined],
    ["group delete", [["web"]], [preview], undefined],
  ] as const)("%s %j", (id, items, previews, word) => {
    expect(findConfirmationWord(getCommandById(id), items, previews)).toBe(word);
  });
});
