import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { everyKind, runs } from "../../../../fixtures/cli/sample-commands.ts";
import { generateText } from "../../../../fixtures/protocol/samples.ts";
import { splitShellWords } from "../../../../fixtures/split-shell-words.ts";
import { declareCommand, declareFlags } from "../../../../src/cli/frame/command.ts";
import {
  parseTime,
  parseWrittenPastTime,
  type WrittenPastTime,
  type WrittenTime,
} from "../../../../src/cli/frame/command-line/instant.ts";
import { parseCall } from "../../../../src/cli/frame/command-line/parse-call.ts";
import { createCountParser } from "../../../../src/cli/frame/command-line/values.ts";
import { UsageError } from "../../../../src/core/base/errors.ts";

const parse = (line: string) => parseCall(everyKind, splitShellWords(line));
const nothing = { flags: {}, settings: {}, args: ["x"], command: [], verbosity: 0 };

describe("a command line", () => {
  test.each([
    ["x", {}],
    ["--name=a=b x", { flags: { name: "a=b" } }],
    ["--name=--json x", { flags: { name: "--json" } }],
    ["--name -x x", { flags: { name: "-x" } }],
    ["-n a x", { flags: { name: "a" } }],
    ["-na x", { flags: { name: "a" } }],
    ["-n=a x", { flags: { name: "=a" } }],
    ["-jana x", { flags: { json: true, all: true, name: "a" } }],
    ["-jan a x", { flags: { json: true, all: true, name: "a" } }],
    ["-jj x --json", { flags: { json: true } }],
    ["--wait=5m x", { flags: { wait: 300_000 } }],
    ["-la -l b --lease=c x --lease a", { flags: { lease: ["a", "b", "c", "a"] } }],
    ["-c f x", { settings: { config: "f" } }],
    ["--ttl 20s -E0 x", { settings: { ttl: "20s", busyExitCode: "0" } }],
    ["--endpoints=a --endpoints b,c x", { settings: { endpoints: ["a", "b,c"] } }],
    ["--no-history x", { settings: { history: "false" } }],
    ["--kill-leftovers x", { settings: { killLeftovers: true } }],
    ["--kill-leftovers=false x", { settings: { killLeftovers: "false" } }],
    ["-v x", { verbosity: 1 }],
    ["-vv x", { verbosity: 2 }],
    ["-v x --verbose -jv", { verbosity: 3, flags: { json: true } }],
    ["-q x", { verbosity: -1 }],
    ["--help", { flags: { help: true }, args: [] }],
    ["- x", { args: ["-", "x"] }],
    ["x '' y", { args: ["x", "", "y"] }],
  ])("%s", (line, expected) => {
    expect(parse(line)).toEqual({ ...nothing, ...expected });
  });

  test.each([
    ["x --nmae a", 'unknown option "--nmae"; did you mean --name?'],
    ["x --endpoint=a", "did you mean --endpoints?"],
    ["x --history", "did you mean --no-history?"],
    ["x -wait", 'unknown option "-w"; did you mean --wait?'],
    ["x -endpoint a", "did you mean --endpoints?"],
    ["x -jx", 'unknown option "-x"; see: signalbox every kind --help'],
    ["x -x", 'unknown option "-x"; see: signalbox every kind --help'],
    ["x --n a", "did you mean -n?"],
    ["x --quite-another", "see: signalbox every kind --help"],
    ["x --name", "--name needs a value; got none"],
    ["x -l", "--lease needs a value"],
    ["x --ttl", "--ttl needs a value"],
    ["x --name --json", '--name needs a value; got the option "--json"; if it is the value: --name=--json'],
    ["x --name --wait=5m", 'got the option "--wait=5m"; if it is the value: --name=--wait=5m'],
    ["x --ttl -n", 'got the option "-n"; if it is the value: --ttl=-n'],
    ["x --json=yes", '--json takes no value; got "yes"'],
    ["x --help=", '--help takes no value; got ""'],
    ["x --no-history=false", '--no-history takes no value; got "false"'],
    ["x --no-history=true", '--no-history takes no value; got "true"'],
    ["x --name=a -nb", "--name was given twice, with different values"],
    ["x --wait --wait=5m", "--wait was given twice, with different values"],
    ["x --ttl=2s --ttl=3s", "--ttl was given twice, with different values"],
    ["x -ca -cb", "--config was given twice, with different values"],
    ["", "FIRST is missing; see: signalbox every kind --help"],
    ["x --\x1b[31m", 'unknown option "--\\u001b[31m"'],
  ])("%s is refused: %s", (line, why) => {
    expect(() => parse(line)).toThrow(UsageError);
    expect(() => parse(line)).toThrow(why);
  });

  test("takes words after -- as arguments, also those that begin with a dash", () => {
    expect(parse("-j x -- -y --json --").args).toEqual(["x", "-y", "--json", "--"]);
    expect(parse("-- --name").args).toEqual(["--name"]);
  });

  test("refuses an unknown value, and names similar ones", () => {
    const choices = ["lock", "resource"];
    const spec = {
      ...everyKind,
      args: [{ name: "KIND", help: "", choices }],
      flags: [{ name: "of", value: "KIND", help: "", choices }],
    };
    expect(parseCall(spec, ["lock", "--of=resource"])).toMatchObject({
      args: ["lock"],
      flags: { of: "resource" },
    });
    expect(() => parseCall(spec, ["lok"])).toThrow(
      'KIND must be one of lock, resource; got "lok"; did you mean "lock"?',
    );
    expect(() => parseCall(spec, ["lock", "--of", "x"])).toThrow(
      '--of must be one of lock, resource; got "x"',
    );
    const named = { ...spec, args: [...spec.args, { name: "NAME", help: "" }] };
    expect(() => parseCall(named, ["invoices"])).toThrow(
      'KIND must be one of lock, resource; got "invoices"',
    );
    expect(() => parseCall(named, ["lock"])).toThrow("NAME is missing");
  });

  test("with too many arguments names the first that is one too many", () => {
    const one = { ...everyKind, args: [{ name: "FIRST", help: "" }] };
    expect(() => parseCall(one, ["a", "b", "c"])).toThrow(
      'unexpected argument "b"; see: signalbox every kind --help',
    );
  });
});

describe("a command to run", () => {
  test.each([
    ["-- ls", "ls", {}],
    ["-j -- ls -l --json", "ls -l --json", { json: true }],
    ["-- sh -c 'a -- b' -- '' -n", "sh -c 'a -- b' -- '' -n", {}],
    ["--wait -- ls", "ls", { wait: true }],
    ["-- --help", "--help", {}],
    ["-- --", "--", {}],
    ["--help", "", { help: true }],
    ["stray --help", "", { help: true }],
  ])("%s", (line, command, flags) => {
    expect(parseCall(runs, splitShellWords(line))).toMatchObject({
      command: splitShellWords(command),
      flags,
    });
  });

  test.each([
    ["", "COMMAND is missing: put it after --; see: signalbox runs --help"],
    ["--", "COMMAND is missing"],
    ["ls a", 'unexpected argument "ls"; put -- before the command: -- ls a'],
    [
      "ls -j a",
      'unexpected argument "ls": if -j is for signalbox, write -j -- ls a; if it is for the command',
    ],
    [
      "--name tar tar -j -f x",
      'unknown option "-f": if -j is for signalbox, write -j -- tar -f x; if it is for the command',
    ],
    [
      "-j tar -xf a.tar --name b",
      'unknown option "-xf": if --name is for signalbox, write --name b -- tar -xf a.tar; if it is',
    ],
    [
      "./c.sh --name x",
      'unexpected argument "./c.sh": if --name is for signalbox, write --name x -- ./c.sh; if it is for the command, write -- ./c.sh --name x',
    ],
    [
      "tar -xf a.tar --name=b -jj",
      "if --name=b is for signalbox, write --name=b -j -j -- tar -xf a.tar; if it is for the command, write -- tar -xf a.tar --name=b -jj",
    ],
    [
      "sleep -- 60",
      'unexpected argument "sleep"; put -- before the command, or write --lock sleep if it is the name of a lock',
    ],
    ["5m -- ls", 'unexpected argument "5m"; an optional value is written with =, as in --wait=5m'],
    ["--name -- ls", "--name needs a value; got none"],
  ])("%s is refused: %s", (line, why) => {
    expect(() => parseCall(runs, splitShellWords(line))).toThrow(UsageError);
    expect(() => parseCall(runs, splitShellWords(line))).toThrow(why);
  });
});

describe("values of flags", () => {
  const typed = declareCommand({
    id: "typed",
    topic: "See",
    brief: "has values of all kinds",
    flags: declareFlags({
      "--for DURATION": "ms",
      "--expect-revision REVISION": "a bigint",
      "--limit N": { parse: createCountParser(1, 9), help: "a number" },
      "--count N": { parse: createCountParser(0), canClear: true, isRepeatable: true, help: "a list" },
      "--from TIME": { parse: parseTime, help: "a time in a zone" },
      "--since TIME": { parse: parseWrittenPastTime, help: "a past time" },
    }),
    examples: {},
  });
  const flag = (name: string, ...words: string[]) => parseCall(typed, words).flags[name];

  test("are converted as declared", () => {
    expect(flag("for", "--for", "1h30m")).toBe(5_400_000);
    expect(flag("expect-revision", "--expect-revision=88140")).toBe(88140n);
    expect(flag("limit", "--limit", "9")).toBe(9);
    expect(flag("count", "--count", "1", "--count=2")).toEqual([1, 2]);
    expect(flag("count", "--count", "")).toBeNull();
    const from = flag("from", "--from", "2026-11-22 05:00") as WrittenTime;
    expect(from("Europe/Berlin", 0).at).toBe(Date.UTC(2026, 10, 22, 4));
    const since = flag("since", "--since", "2h") as WrittenPastTime;
    expect(since(Date.UTC(2026, 0, 1))).toBe(Date.UTC(2025, 11, 31, 22));
    expect(() => since(0)).toThrow('--since must not be in the future or before 1970; got "2h"');
  });

  test.each([
    ["--for 5", '--for: "5" has no unit; write 5s, 5m, 5h or 5d'],
    ["--expect-revision 0", '--expect-revision must be a revision, such as 88140; got "0"'],
    ["--limit 0", '--limit must be a whole number from 1 to 9; got "0"'],
    ["--count 1 --count ''", '--count must be a whole number from 0 to 999999999; got ""'],
    ["--from soon", '--from: "soon" is not an instant'],
    ["--since soon", "--since must be a time such as"],
    ["--since 30", "--since must be a time such as"],
  ])("%s is refused", (line, why) => {
    expect(() => parseCall(typed, splitShellWords(line))).toThrow(why);
    expect(parseCall(typed, splitShellWords(`${line} --help`)).flags.help).toBe(true);
  });
});

/** Something that can be said on a command line, the words for it, and what must come of it. */
interface Said {
  words: string[];
  flag?: [name: string, value: string | number | true];
  lease?: string;
  arg?: string;
}

const value = generateText({ maxLength: 6 }).filter((text) => text !== "--");
/** A value that is no flag: one that is needs the form with `=`. */
const separate = value.filter((text) => !/^(-[a-z](=|$)|--[a-z])/i.test(text));
const said: fc.Arbitrary<Said> = fc.oneof(
  separate.map((v): Said => ({ words: ["--name", v], flag: ["name", v] })),
  value.map((v): Said => ({ words: [`--name=${v}`], flag: ["name", v] })),
  value.filter((v) => v !== "").map((v): Said => ({ words: [`-jn${v}`], flag: ["name", v] })),
  separate.map((v): Said => ({ words: ["-l", v], lease: v })),
  value.map((v): Said => ({ words: [`--lease=${v}`], lease: v })),
  fc.nat({ max: 1e6 }).map((v): Said => ({ words: [`--wait=${v}ms`], flag: ["wait", v] })),
  fc.constant<Said>({ words: ["--wait"], flag: ["wait", true] }),
  fc.constant<Said>({ words: ["-aj"], flag: ["all", true] }),
  value.filter((v) => !v.startsWith("-")).map((v): Said => ({ words: [v], arg: v })),
);

test("what is said in flags is what is heard, in any order and style", () => {
  const line = fc.uniqueArray(said, { selector: ({ flag, words }) => flag?.[0] ?? words, maxLength: 8 });
  fc.assert(
    fc.property(line, (all) => {
      const call = parseCall(everyKind, [...all.flatMap(({ words }) => words), "x"]);
      const leases = all.flatMap(({ lease }) => lease ?? []);
      const { json: _, ...flags } = call.flags;
      expect(flags).toEqual({
        ...Object.fromEntries(all.flatMap(({ flag }) => (flag ? [flag] : []))),
        ...(leases.length > 0 && { lease: leases }),
      });
      expect(call.args).toEqual([...all.flatMap(({ arg }) => arg ?? []), "x"]);
    }),
    { numRuns: 500 },
  );
});

test("what stands after -- is left untouched, whatever it is", () => {
  fc.assert(
    fc.property(fc.array(generateText(), { minLength: 1 }), (command) => {
      expect(parseCall(runs, ["-j", "--", ...command])).toMatchObject({
        command,
        args: [],
        flags: { json: true },
      });
    }),
  );
});

test("any words give a call or an error of usage", () => {
  const word = fc.oneof(
    fc.constantFrom(
      "--",
      "-",
      "--name",
      "-n",
      "-jan",
      "--wait=",
      "-vvq",
      "--no-history",
      "--__proto__=1",
      "-=",
      "--=",
    ),
    generateText().map((text) => `-${text}`),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.array(word), (argv) => {
      try {
        parseCall(everyKind, argv);
      } catch (error) {
        expect(error).toBeInstanceOf(UsageError);
        expect((error as Error).message).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
      }
    }),
    { numRuns: 500 },
  );
});
