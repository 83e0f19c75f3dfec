import { describe, expect, test } from "vitest";
import { everyKind, runs } from "../../../../fixtures/cli/sample-commands.ts";
import { splitShellWords } from "../../../../fixtures/split-shell-words.ts";
import { ALL_COMMANDS } from "../../../../src/bin/commands.ts";
import { COMMON_FLAGS, CONNECTION_SETTINGS } from "../../../../src/cli/frame/command.ts";
import { loadCommand } from "../../../../src/cli/frame/command-line/execute-command.ts";
import {
  computeHelpWidth,
  renderCommandHelp,
  renderUsage,
} from "../../../../src/cli/frame/command-line/help.ts";
import {
  EXIT_CODES,
  formatExitCodesJson,
  renderAllCommandsHelp,
  renderConnectionHelp,
  renderExitCodesHelp,
  renderProgramHelp,
  renderSubcommandsHelp,
} from "../../../../src/cli/frame/command-line/help-topics.ts";
import { parseCall } from "../../../../src/cli/frame/command-line/parse-call.ts";
import { EXIT } from "../../../../src/core/base/errors.ts";
import { findNearest } from "../../../../src/core/base/text.ts";
import { resolveConfig } from "../../../../src/core/config/config.ts";
import { getFlagName, getSetting } from "../../../../src/core/config/settings.ts";
import { parseLeases } from "../../../../src/core/fleet/lease-spec.ts";
import { createMacros } from "../../../../src/core/fleet/macros.ts";

const COLUMNS = 100;

/** What can be broken fits; lines to copy stay whole. */
function expectFits(text: string, columns: number) {
  for (const line of text.split("\n")) {
    expect(line).toBe(line.trimEnd());
    if (!/^(Usage:|signalbox[^.]*: | {2}\S*signalbox| {2}\* \* )/.test(line))
      expect(line.length, line).toBeLessThanOrEqual(columns);
    else expect(line.length, line).toBeLessThanOrEqual(COLUMNS);
  }
}
const macros = createMacros({ fqdn: "web1.example.com", host: "web1", cpu: 4, memMb: 7976, macros: {} });

describe.each(ALL_COMMANDS.map((spec) => [spec.id, spec] as const))("signalbox %s", (_, spec) => {
  const help = renderCommandHelp(spec, COLUMNS);
  const flags = [...(spec.flags ?? []), ...(spec.takesWords ? [] : COMMON_FLAGS)];
  const settings = spec.settings ?? [];

  test.each([80, 93, COLUMNS])("has help that fits in %i columns, without trailing spaces", (columns) => {
    expectFits(renderCommandHelp(spec, columns), columns);
  });

  test("has help that names what it is, how it is called, and each of its flags, settings and arguments", () => {
    const rows = help.split("\n").map((line) => line.trim());
    const startsWith = (text: string) => rows.some((row) => row === text || row.startsWith(`${text} `));
    expect(rows[0]).toBe(`signalbox ${spec.id}: ${spec.brief}`);
    expect(help).toContain(`Usage: ${renderUsage(spec)}\n`);
    for (const { name } of spec.args ?? []) expect(startsWith(name)).toBe(true);
    for (const { name, short, value, isOptional } of flags) {
      const shown = value === undefined ? "" : isOptional ? `[=${value}]` : ` ${value}`;
      expect(startsWith(`${short === undefined ? "" : `-${short}, `}--${name}${shown}`)).toBe(true);
    }
    const connection = settings.filter((key) => CONNECTION_SETTINGS.includes(key));
    expect(help.includes("signalbox help connection\n")).toBe(connection.length > 0);
    for (const key of connection) expect(renderConnectionHelp(80)).toContain(`  ${getFlagName(key)}`);
    for (const key of settings.filter((setting) => !connection.includes(setting))) {
      const { short } = getSetting(key);
      expect(startsWith(`${short === undefined ? "" : `-${short}, `}${getFlagName(key)}`)).toBe(true);
    }
    for (const help of flags.map((flag) => flag.help)) expect(rows.join(" ")).toContain(help);
  });

  test("has no two flags of one name, and every setting of it has a flag", () => {
    const names = [
      ...flags.flatMap(({ name, short }) => [name, ...(short ? [short] : [])]),
      ...settings.flatMap((key) => [(getFlagName(key) ?? "").slice(2), ...(getSetting(key).short ?? [])]),
    ];
    expect(names).not.toContain("");
    expect(names).toEqual([...new Set(names)]);
  });

  test("has examples, each with a word about it, that mean something", () => {
    expect(spec.examples.length).toBeGreaterThan(0);
    expect(help).toContain(`Usage: ${renderUsage(spec)}\n\nExamples:\n`);
    for (const [line, what] of spec.examples) {
      expect(help).toContain(`  ${line}\n      ${what}\n`);
      // A front end may be called by a link, and its words are another tool's.
      if (spec.takesWords) continue;
      // A line may be a pipeline; what it calls of other programs is none of ours.
      const own =
        line.split(/ && | \| | > |; /).find((part) => part.startsWith(`signalbox ${spec.id}`)) ?? "";
      const words = splitShellWords(own);
      expect(words.slice(0, 1 + spec.id.split(" ").length).join(" "), line).toBe(`signalbox ${spec.id}`);
      const call = parseCall(spec, words.slice(1 + spec.id.split(" ").length));
      const { config: _, ...given } = call.settings;
      resolveConfig({ flags: given, readFile: () => undefined });
      parseLeases((call.flags.lease as string[] | undefined) ?? [], macros);
    }
  });

  test.skipIf(spec.takesWords)("says what was probably meant when the end of a flag is missing", () => {
    const names = [
      ...flags.map(({ name }) => `--${name}`),
      ...settings.flatMap((key) => getFlagName(key) ?? []),
    ];
    for (const name of names.filter((long) => long.length > 6)) {
      const typed = name.slice(0, -1);
      expect(() => parseCall(spec, [typed])).toThrow(`did you mean ${findNearest(typed, names)}?`);
    }
  });

  test.skipIf(spec.load === undefined)("loads what it runs", async () => {
    expect((await loadCommand(spec)).execute).toBeTypeOf("function");
  });
});

describe("the overview", () => {
  const text = renderProgramHelp(ALL_COMMANDS, COLUMNS);

  test("has at most 20 commands, and examples first; all others are in its topics", () => {
    const [head = "", ...topics] = text.split(/^(?=[A-Z][a-z ]+:$)/m);
    expect(head).toMatch(/\n\nUsage: .*\n\n$/);
    expect(topics[0]).toMatch(/^Examples:\n/);
    const rows = topics.slice(1, -1).flatMap((topic) => [...topic.matchAll(/^ {2}([a-z]+)\b/gm)]);
    const words = rows.map(([, word]) => word);
    expect(words.length).toBeLessThanOrEqual(20);
    for (const word of words) expect(ALL_COMMANDS.some(({ id }) => id.split(" ")[0] === word)).toBe(true);
    expect(topics.at(-1)).toMatch(/^More help:\n(.*\n)* {2}help all /);
  });

  test("`help all` names every command once, in its order", () => {
    const named = renderAllCommandsHelp(ALL_COMMANDS, COLUMNS)
      .split("\n")
      .filter((line) => ALL_COMMANDS.some(({ brief }) => line.endsWith(`  ${brief}`)));
    expect(named.map((line) => line.trim().split(/ {2,}/)[0])).toEqual(ALL_COMMANDS.map(({ id }) => id));
  });

  test.each([80, COLUMNS])("fits in %i columns, and says as much in each", (columns) => {
    const words = (shown: string) => shown.split(/\s+/);
    for (const render of [renderProgramHelp, renderAllCommandsHelp]) {
      expectFits(render(ALL_COMMANDS, columns), columns);
      expect(words(render(ALL_COMMANDS, columns))).toEqual(words(render(ALL_COMMANDS, COLUMNS)));
    }
    expectFits(renderConnectionHelp(columns), columns);
  });

  test("has a line for crontabs that is a good one", () => {
    const cron = text.split("\n").find((line) => line.includes("* * * * *")) ?? "";
    const [command] = ALL_COMMANDS;
    expect(command && parseCall(command, splitShellWords(cron).slice(7)).command).toEqual(["./invoices.sh"]);
  });
});

test("a family's help names what belongs to it, and nothing else", () => {
  const family = ALL_COMMANDS.filter(({ id }) => id.startsWith("check "));
  const text = renderSubcommandsHelp("check", family, 80);
  expectFits(text, 80);
  expect(text).toContain("Usage: signalbox check crontab|hosts|lock|schedule|token [options] [arguments]\n");
  for (const { id } of family) expect(text).toMatch(new RegExp(`^ {2}${id} {2}`, "m"));
});

test("exit codes are told to people and to programs, each once, with the same words", () => {
  const text = renderExitCodesHelp(80);
  expectFits(text, 80);
  expect(JSON.parse(formatExitCodesJson())).toEqual({
    version: 1,
    exitCodes: EXIT_CODES.map(([code, meaning]) => ({ code: code.replace("–", "-"), meaning })),
  });
  for (const [code] of EXIT_CODES) expect(text).toContain(`\n  ${code}  `);
  const told = EXIT_CODES.flatMap(([code]) => code.split(", "));
  for (const code of Object.values(EXIT)) expect(told).toContain(String(code));
  expect(new Set(told).size).toBe(told.length);
});

test("help is as wide as the terminal, within reason; where there is none, as a pager on a small one wants it", () => {
  const within = (columns: number, isOutput = true) =>
    computeHelpWidth({ isOutput: () => isOutput, getSize: () => ({ columns, rows: 24 }) });
  expect([20, 80, 93, 100, 300].map((columns) => within(columns))).toEqual([80, 80, 93, 100, 100]);
  expect([80, 300].map((columns) => within(columns, false))).toEqual([80, 80]);
});

describe("help of a command", () => {
  test("shows every kind of flag as it is written", () => {
    const rows = renderCommandHelp(everyKind, COLUMNS).split("\n");
    const shown = [
      "  -n, --name NAME             takes a value",
      "  -l, --lease LEASE           takes several (repeatable)",
      "  --wait[=DURATION]           may take a value",
      "  -j, --json                  a switch",
      "  -v, --verbose               print more on standard error; -vv prints everything",
      "  -E, --busy-exit-code 0-255  exit code when nothing was started (default: 75)",
    ];
    expect(rows).toEqual(expect.arrayContaining(shown));
  });

  test("says how it is called", () => {
    expect(renderUsage(everyKind)).toBe("signalbox every kind [options] FIRST [MORE...]");
    expect(renderUsage(runs)).toBe("signalbox runs [options] -- COMMAND [ARG...]");
  });

  test("says what may be given, where the help does not say so itself", () => {
    const choices = ["red", "green", "blue"];
    const spec = {
      ...everyKind,
      args: [{ name: "COLOUR", choices, help: "its colour" }],
      flags: [
        { name: "back", value: "COLOUR", choices, help: "red, green or blue behind it" },
        { name: "only", value: "COLOUR", choices: ["red"], isRepeatable: true as const, help: "only this" },
      ],
    };
    const text = renderCommandHelp(spec, COLUMNS);
    expect(text).toMatch(/ COLOUR +its colour: red, green or blue\n/);
    expect(text).toMatch(/ --back COLOUR +red, green or blue behind it\n/);
    expect(text).toMatch(/ --only COLOUR +only this: red \(repeatable\)\n/);
  });

  test("breaks long texts between words, and puts them below a flag that is long", () => {
    const words = "word ".repeat(60).trim();
    const about = { ...everyKind, about: [words], flags: [{ name: "x".repeat(40), help: words }] };
    const text = renderCommandHelp(about, COLUMNS);
    for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(COLUMNS);
    expect(text.match(/\bword\b/g)).toHaveLength(120);
    expect(text).toContain(`  --${"x".repeat(40)}\n${" ".repeat(30)}word`);
    expect(Math.max(...text.split("\n").map((line) => line.length))).toBeGreaterThan(COLUMNS - 6);
  });
});
