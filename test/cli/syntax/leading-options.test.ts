import { expect, test } from "vitest";
import { ls } from "../../../src/cli/commands/see/ls/ls.ts";
import {
  COMMON_FLAGS,
  CONNECTION_SETTINGS,
  LOGGING_SETTINGS,
  listFlags,
  listSpellings,
} from "../../../src/cli/frame/command.ts";
import { moveLeadingOptions, SWITCHES, VALUED } from "../../../src/cli/syntax/leading-options.ts";

test("they are the options of every command, and those of connection and log", () => {
  const settings = [...CONNECTION_SETTINGS, ...LOGGING_SETTINGS];
  const flags = listFlags({ ...ls, flags: [], settings }).filter(({ name }) => name !== "help");
  const list = (takesValue: boolean) =>
    flags.filter(({ value }) => (value !== undefined) === takesValue).flatMap(listSpellings);
  expect(new Set(VALUED)).toEqual(new Set(list(true)));
  expect(new Set(SWITCHES)).toEqual(new Set(list(false)));
  expect(flags).toHaveLength(COMMON_FLAGS.length - 1 + settings.length);
});

test.each([
  ["--context prod ls", "ls --context prod"],
  ["--context=prod -vv -q ls locks --json", "ls locks --context=prod -vv -q --json"],
  ["-c f run --lock x -- true --context y", "run -c f --lock x -- true --context y"],
  ["--prefix /p/ group list", "group list --prefix /p/"],
  ...[
    "ls --context prod",
    "--lock a -- true",
    "--context prod",
    "--context prod --lock a",
    "--help ls",
    "",
  ].map((line) => [line, line]),
  ["--context prod cronlock ls", "--context prod cronlock ls"],
])("%s", (line, moved) => {
  expect(moveLeadingOptions(line.split(" "), ["cronlock"]).join(" ")).toBe(moved);
});
