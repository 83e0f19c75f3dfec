/** Words of tools, parsed in each of the ways that tools parse them. */
import { describe, expect, test } from "vitest";
import { type OptionSyntax, parseToolWords } from "../../../src/cli/syntax/getopt.ts";

const OPTIONS = ["-n --nonblock --nb", "-w --timeout --wait SECONDS", "--wide", "-x"];

/** The options and arguments of a line: `timeout=5 x= job`. */
const parse = (line: string, syntax: Partial<OptionSyntax> = {}) =>
  [...parseToolWords(line.split(" "), { tool: "tool", options: OPTIONS, ...syntax })]
    .map(({ name, value }) => (name === undefined ? value : `${name}=${value}`))
    .join(" ");

describe("getopt", () => {
  test.each([
    ["-nxw5 job -n", "nonblock= x= timeout=5 job -n"],
    ["-w 5 --nb job", "timeout=5 nonblock= job"],
    ["--wait=5 --non -- -x", "timeout=5 nonblock= -x"],
    ["--time 5 - -x", "timeout=5 - -x"],
    ["-w -5 job", "timeout=-5 job"],
  ])("%s", (line, expected) => {
    expect(parse(line)).toBe(expected);
  });

  test.each([
    ["-nq job", 'tool: unknown option "-q"'],
    ["--w job", 'tool: unknown option "--w"'],
    ["--what=5", 'tool: unknown option "--what"'],
    ["--nb=1", "tool: --nb takes no value"],
    ["-nw", "tool: -w needs a value"],
  ])("%s is refused", (line, message) => {
    expect(() => parse(line)).toThrow(message);
  });
});

test("options behind arguments, up to --", () => {
  expect(parse("job -n a --wait 5 -- -x", { isInterspersed: true })).toBe("job nonblock= a timeout=5 -x");
});

test("Go: names behind one dash or two, a value for a switch, no abbreviations", () => {
  expect(parse("-nonblock=false --wait 5 job -x", { style: "go" })).toBe("nonblock=false timeout=5 job -x");
  expect(() => parse("-time 5", { style: "go" })).toThrow('tool: unknown option "-time"');
  expect(() => parse("--wait", { style: "go" })).toThrow("tool: -wait needs a value");
});

test("Perl: a plus, any case, abbreviations behind one dash", () => {
  expect(parse("+NB -TIME=5 job", { style: "perl" })).toBe("nonblock= timeout=5 job");
});

test("stops where the caller stops, before a fault", () => {
  const [first] = parseToolWords(["-n", "--what"], { tool: "tool", options: OPTIONS });
  expect(first).toMatchObject({ name: "nonblock" });
});
