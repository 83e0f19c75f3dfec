/** Command lines of PerfectSched: all documented options and commands, parsed as Ruby's OptionParser does. */
import { describe, expect, it } from "vitest";
import { splitShellWords } from "../../../fixtures/split-shell-words.ts";
import { formatTableLine } from "../../../src/cli/commands/schedule/perfectsched-list.ts";
import { type PerfectschedLine, parsePerfectschedLine } from "../../../src/compat/perfectsched/options.ts";

const read = (line: string, rails?: string) => parsePerfectschedLine(splitShellWords(line), rails);
const ADD = "add s1 user_task '* * * * *' {}";
const STANDARD = {
  environment: "development",
  config: "config/perfectsched.yml",
  includes: [],
  requires: [],
};
const add = (more: object = {}) => ({
  name: "add",
  key: "s1",
  type: "user_task",
  cron: "* * * * *",
  data: {},
  delay: 0,
  timezone: undefined,
  start: undefined,
  at: undefined,
  ...more,
});

describe("what is understood", () => {
  it.each([
    ["list", "list", { name: "list" }],
    ["init", "init", { name: "init" }],
    ["delete", "delete s1", { name: "delete", key: "s1" }],
    ["run", "run Dispatch", { name: "run", class: "Dispatch" }],
    ["add", ADD, add()],
    ["add without a type, as some versions had it", "add s1 '* * * * *' {}", add({ type: undefined })],
    ["data", "add s1 user_task '* * * * *' '{\"a\":[1]}'", add({ data: { a: [1] } })],
    ["no data", "add s1 user_task '* * * * *' ''", add()],
    ["null for data", "add s1 user_task '* * * * *' null", add()],
    ["-d", `${ADD} -d 30`, add({ delay: 30 })],
    ["-d joined", `${ADD} -d30`, add({ delay: 30 })],
    ["--delay", `${ADD} --delay 30`, add({ delay: 30 })],
    ["--delay=", `--delay=30 ${ADD}`, add({ delay: 30 })],
    ["a shortened name", `--del=30 ${ADD}`, add({ delay: 30 })],
    ["-t", ADD.replace("add", "add -t Asia/Tokyo"), add({ timezone: "Asia/Tokyo" })],
    ["--timezone", `${ADD} --timezone Asia/Tokyo`, add({ timezone: "Asia/Tokyo" })],
    ["-s and -a", `${ADD} -s 1356998400 -a 1356998430`, add({ start: 1356998400, at: 1356998430 })],
    ["--start and --at", `${ADD} --start=0 --at=0`, add({ start: 0, at: 0 })],
    ["numbers as Ruby has them", `${ADD} -d 0x1e -s 1_000 -a 017`, add({ delay: 30, start: 1000, at: 15 })],
    ["a negative number", `${ADD} -d -5`, add({ delay: -5 })],
    ["the last of two", `${ADD} -d 1 -d 2`, add({ delay: 2 })],
    ["words behind --", "delete -- -k", { name: "delete", key: "-k" }],
    ["- is a word", "delete -", { name: "delete", key: "-" }],
  ])("%s", (_, line, command) => {
    expect(read(line)).toEqual({ ...STANDARD, command });
  });

  it("an environment: -e before RAILS_ENV before development", () => {
    const environment = (line: string, rails?: string) => (read(line, rails) as PerfectschedLine).environment;
    expect([undefined, "", "staging"].map((rails) => environment("list", rails))).toEqual([
      "development",
      "development",
      "staging",
    ]);
    for (const option of ["-e production", "-eproduction", "--environment=production", "--env production"])
      expect(environment(`${option} list`, "staging")).toBe("production");
  });

  it("files and folders", () => {
    const line = "run -I. -Ilib --include app -rconfig/boot.rb --require=x.yml X -c my.yml";
    expect(read(line)).toEqual({
      environment: "development",
      config: "my.yml",
      command: { name: "run", class: "X" },
      includes: [".", "lib", "app"],
      requires: ["config/boot.rb", "x.yml"],
    });
    expect(read("list --config=other.yml")).toMatchObject({ config: "other.yml" });
  });

  it.each([
    ["-h", "help"],
    ["list --help", "help"],
    ["--version", "version"],
    ["-v", "version"],
  ])("%s", (line, shows) => {
    expect(read(line)).toEqual({ shows });
  });
});

it.each([
  ["", undefined],
  ["-e production", undefined],
  ["list more", undefined],
  ["init more", undefined],
  ["delete", undefined],
  ["delete a b", undefined],
  ["run", undefined],
  ["run A B", undefined],
  ["add", undefined],
  ["add s1 '* * * * *'", undefined],
  [`${ADD} more`, undefined],
  ["lst", "unknown command: 'lst'"],
  ["list -x", "invalid option: -x"],
  ["list --=x", "ambiguous option: --=x"],
  ["list --nothing", "invalid option: --nothing"],
  ["list -e", "missing argument: -e"],
  ["list --config", "missing argument: --config"],
  [`${ADD} -d soon`, "invalid argument: -d soon"],
  [`${ADD} -dsoon`, "invalid argument: -dsoon"],
  [`${ADD} --start=now`, "invalid argument: --start=now"],
  [`${ADD} --at 1.5`, "invalid argument: --at 1.5"],
  [`${ADD} -s 09`, "invalid argument: -s 09"],
  ["add s1 t '* * * * *' {", "data is not JSON: '{'"],
  ["add s1 t '* * * * *' [1]", "data is not a JSON object: '[1]'"],
  ["add s1 t '* * * * *'", "data is not JSON: '* * * * *'"],
  [
    "add s1 t '* * * * *' '{\"id\":9007199254740993}'",
    'data: the number "9007199254740993" would become 9007199254740992; write it as a string, in quotes',
  ],
])("what gets the usage: %s", (line, why) => {
  expect(read(line)).toEqual({ usage: true, why });
});

it("the table's columns stand where PerfectSched's do", () => {
  const head = ["key", "type", "cron", "delay", "timezone", "next_time", "next_run_time", "data"];
  const row = [
    "s1",
    "user_task",
    "* * * * *",
    "0",
    "UTC",
    "2012-05-18 22:04:00 UTC",
    "2012-05-18 22:04:00 UTC",
    "{}",
  ];
  expect(formatTableLine(head) + formatTableLine(row)).toBe(
    "                           key            type               cron   delay    timezone                    next_time                next_run_time  data\n" +
      "                            s1       user_task          * * * * *       0         UTC      2012-05-18 22:04:00 UTC      2012-05-18 22:04:00 UTC  {}\n",
  );
  expect(formatTableLine(["a key that is longer than its thirty columns", "t"])).toMatch(
    /^a key .* columns {15}t/,
  );
});
