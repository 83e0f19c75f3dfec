import { describe, expect, test } from "vitest";
import { CONNECTION_SETTINGS, declareCommand, toFlags } from "../../../src/cli/frame/command.ts";

describe("flags", () => {
  test.each([
    ["--keep", { name: "keep" }],
    ["-w, --wait", { name: "wait", short: "w" }],
    ["--timeout DURATION", { name: "timeout", value: "DURATION" }],
    ["-g, --group GROUP", { name: "group", short: "g", value: "GROUP" }],
    ["--wait[=DURATION]", { name: "wait", value: "DURATION", isOptional: true }],
    ["--accept ID[=CHECK]", { name: "accept", value: "ID[=CHECK]" }],
  ])("are read from their spelling: %s", (spelling, expected) => {
    expect(toFlags({ [spelling]: "what it does" })).toEqual([{ ...expected, help: "what it does" }]);
  });

  test("keep their details and their order", () => {
    const table = { "--sort ORDER": { choices: ["name", "age"], help: "the order" }, "--json": "as JSON" };
    expect(toFlags(table)).toEqual([
      { name: "sort", value: "ORDER", choices: ["name", "age"], help: "the order" },
      { name: "json", help: "as JSON" },
    ]);
  });
});

describe("settings", () => {
  const plain = { id: "x", topic: "See", brief: "b", examples: { "signalbox x": "e" } } as const;

  test("are those of the connection by default", () => {
    expect(declareCommand(plain).settings).toEqual(CONNECTION_SETTINGS);
    expect(declareCommand({ ...plain, settings: ["ttl"] }).settings).toEqual(["ttl"]);
  });

  test("are none of a front end", () => {
    expect(declareCommand({ ...plain, takesWords: true }).settings).toEqual([]);
  });
});

describe("arguments", () => {
  const plain = { id: "x", topic: "See", brief: "b", examples: { "signalbox x": "e" } } as const;

  test.each([
    ["NAME", { name: "NAME" }],
    ["[NAME]", { name: "NAME", isOptional: true }],
    ["FILE...", { name: "FILE", isRest: true }],
    ["[KEY|CRON...]", { name: "KEY|CRON", isOptional: true, isRest: true }],
  ])("are read from their spelling: %s", (spelling, expected) => {
    const { args } = declareCommand({ ...plain, args: { [spelling]: { names: "lock", help: "which" } } });
    expect(args).toEqual([{ ...expected, names: "lock", help: "which" }]);
  });
});
