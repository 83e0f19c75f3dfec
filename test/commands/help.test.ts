import { describe, expect, test } from "vitest";
import { nearest } from "../../src/base/text.ts";
import { commandHelp, overview, usage } from "../../src/commands/help.ts";
import { parseCall } from "../../src/commands/parse.ts";
import { COMMANDS } from "../../src/commands/registry.ts";
import { COMMON } from "../../src/commands/spec.ts";
import { resolveConfig } from "../../src/config/config.ts";
import { flagOf, settingOf } from "../../src/config/settings.ts";
import { parseLeases } from "../../src/fleet/lease-spec.ts";
import { macrosOf } from "../../src/fleet/macros.ts";
import { everyKind, runs, shellWords } from "./samples.ts";

const COLUMNS = 100;
const macros = macrosOf({ fqdn: "web1.example.com", host: "web1", cpu: 4, memMb: 7976, macros: {} });

describe.each(COMMANDS.map((spec) => [spec.id, spec] as const))("signalbox %s", (_, spec) => {
  const help = commandHelp(spec);
  const flags = [...(spec.flags ?? []), ...COMMON];
  const settings = spec.settings ?? [];

  test(`has help that fits in ${COLUMNS} columns, without trailing spaces`, () => {
    for (const line of help.split("\n")) {
      expect(line.length).toBeLessThanOrEqual(COLUMNS);
      expect(line).toBe(line.trimEnd());
    }
  });

  test("has help that names what it is, how it is called, and each of its flags, settings and arguments", () => {
    const rows = help.split("\n").map((line) => line.trim());
    const startsWith = (text: string) => rows.some((row) => row === text || row.startsWith(`${text} `));
    expect(rows[0]).toBe(`signalbox ${spec.id}: ${spec.brief}`);
    expect(help).toContain(`Usage: ${usage(spec)}\n`);
    for (const { name } of spec.args ?? []) expect(startsWith(name)).toBe(true);
    for (const { name, short, value, isOptional } of flags) {
      const shown = value === undefined ? "" : isOptional ? `[=${value}]` : ` ${value}`;
      expect(startsWith(`${short === undefined ? "" : `-${short}, `}--${name}${shown}`)).toBe(true);
    }
    for (const key of settings) {
      const { short } = settingOf(key);
      expect(startsWith(`${short === undefined ? "" : `-${short}, `}${flagOf(key)}`)).toBe(true);
    }
    for (const help of flags.map((flag) => flag.help)) expect(rows.join(" ")).toContain(help);
  });

  test("has no two flags of one name, and every setting of it has a flag", () => {
    const names = [
      ...flags.flatMap(({ name, aliases = [], short }) => [name, ...aliases, ...(short ? [short] : [])]),
      ...settings.flatMap((key) => [(flagOf(key) ?? "").slice(2), ...(settingOf(key).short ?? [])]),
    ];
    expect(names).not.toContain("");
    expect(names).toEqual([...new Set(names)]);
  });

  test("has examples, each with a word about it, that mean something", () => {
    expect(spec.examples.length).toBeGreaterThan(0);
    for (const [line, what] of spec.examples) {
      expect(help).toContain(`  ${line}\n      ${what}\n`);
      // A line may be a pipeline; what it calls of other programs is none of ours.
      const own =
        line.split(/ && | \| | > |; /).find((part) => part.startsWith(`signalbox ${spec.id}`)) ?? "";
      const words = shellWords(own);
      expect(words.slice(0, 1 + spec.id.split(" ").length).join(" "), line).toBe(`signalbox ${spec.id}`);
      const call = parseCall(spec, words.slice(1 + spec.id.split(" ").length));
      const { config: _, ...given } = call.settings;
      resolveConfig({ flags: given, readFile: () => undefined });
      parseLeases((call.flags.lease as string[] | undefined) ?? [], macros);
    }
  });

  test("says what was probably meant when the end of a flag is missing", () => {
    const names = [...flags.map(({ name }) => `--${name}`), ...settings.flatMap((key) => flagOf(key) ?? [])];
    for (const name of names.filter((long) => long.length > 6)) {
      const typed = name.slice(0, -1);
      expect(() => parseCall(spec, [typed])).toThrow(`did you mean ${nearest(typed, names)}?`);
    }
  });

  test("loads what it runs", async () => {
    expect((await spec.load()).execute).toBeTypeOf("function");
  });
});

test("the overview names every command once, in its order, and its line for crontabs is a good one", () => {
  const text = overview(COMMANDS);
  const named = text.split("\n").filter((line) => COMMANDS.some(({ brief }) => line.endsWith(`  ${brief}`)));
  expect(named.map((line) => line.trim().split(/ {2,}/)[0])).toEqual(COMMANDS.map(({ id }) => id));
  for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(COLUMNS);
  const cron = text.split("\n").find((line) => line.includes("* * * * *")) ?? "";
  const [command] = COMMANDS;
  expect(command && parseCall(command, shellWords(cron).slice(7)).command).toEqual(["./invoices.sh"]);
});

describe("help of a command", () => {
  test("shows every kind of flag as it is written", () => {
    const rows = commandHelp(everyKind).split("\n");
    expect(rows).toContain("  -n, --name NAME             takes a value");
    expect(rows).toContain("  -l, --lease LEASE           takes several (repeatable)");
    expect(rows).toContain("  --wait[=DURATION]           may take a value");
    expect(rows).toContain("  -j, --json                  a switch");
    expect(rows).toContain("  -v, --verbose               say more on standard error; -vv says all");
    expect(rows).toContain("  -E, --busy-exit-code 0-255  exit code when nothing was started (default: 75)");
  });

  test("says how it is called", () => {
    expect(usage(everyKind)).toBe("signalbox every kind [options] FIRST [MORE...]");
    expect(usage(runs)).toBe("signalbox runs [options] -- COMMAND [ARG...]");
  });

  test("breaks long texts between words, and puts them below a flag that is long", () => {
    const words = "word ".repeat(60).trim();
    const about = { ...everyKind, about: [words], flags: [{ name: "x".repeat(40), help: words }] };
    const text = commandHelp(about);
    for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(COLUMNS);
    expect(text.match(/\bword\b/g)).toHaveLength(120);
    expect(text).toContain(`  --${"x".repeat(40)}\n${" ".repeat(30)}word`);
    expect(Math.max(...text.split("\n").map((line) => line.length))).toBeGreaterThan(COLUMNS - 6);
  });
});
