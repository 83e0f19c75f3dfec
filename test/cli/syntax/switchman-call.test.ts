import { describe, expect, test } from "vitest";
import { splitShellWords } from "../../../fixtures/split-shell-words.ts";
import { listLeasesToHold, parseSwitchman } from "../../../src/cli/syntax/switchman-call.ts";
import { UsageError } from "../../../src/core/base/errors.ts";

const parse = (line: string) => parseSwitchman(splitShellWords(line));

/** What a line means that has only the command `x`. */
const USUAL = {
  asks: undefined,
  config: undefined,
  endpoints: undefined,
  group: undefined,
  leases: [],
  name: "x",
  lock: "x",
  command: ["x"],
};

// Each case was parsed by Perl's Getopt::Long with switchman's declaration of options.
describe("the words of a switchman line", () => {
  test.each([
    ["-- x", {}],
    ["x", {}],
    ["/opt/x 'a b'", { command: ["/opt/x", "a b"] }],
    ["/opt/x/", { command: ["/opt/x/"] }],
    ["-c f -- x", { config: "f" }],
    ["--config=f -- x", { config: "f" }],
    ["-c=f x", { config: "f" }],
    ["-config f x", { config: "f" }],
    ["-c a -c b x", { config: "b" }],
    ["-c 0 x", {}], // Perl takes 0 for nothing
    ["-g web x", { group: "web" }],
    ["--group web x", { group: "web" }],
    ["--GROUP web x", { group: "web" }],
    ["--gr=web x", { group: "web" }],
    ["+g web x", { group: "web" }],
    ["-g '' x", {}],
    ["-g -- x", { group: "--" }], // a value may be anything
    ["--lockname l x", { name: "l", lock: "l" }],
    ["--lockn=l x", { name: "l", lock: "l" }],
    ["--lockname '' x", {}],
    ["--lockname 0 x", {}],
    ["--lockname a=b x", { name: "a=b", lock: "a=b" }],
    ["--no-lock x", { lock: undefined }],
    ["--nolock x", { lock: undefined }],
    ["--no x", { lock: undefined }],
    ["--no-lock --lock x", {}], // the last counts
    ["--lock --no-lock --lockname l x", { name: "l", lock: undefined }],
    ["--lease db=1:2 x", { leases: ["db=1:2"] }],
    ["--lease=db=1:2 --le m=1:int(2/1) x", { leases: ["db=1:2", "m=1:int(2/1)"] }],
    ["--lease db=1:2 --lease db=3:4 x", { leases: ["db=3:4"] }], // the last counts
    ["--endpoints http://e:2379 x", { endpoints: "http://e:2379" }],
    ["x -g web y", { group: "web", command: ["x", "y"] }], // options may stand behind arguments
    ["x -- -g web", { command: ["x", "-g", "web"] }],
    ["-- x -- -h", { command: ["x", "--", "-h"] }],
    ["x -", { command: ["x", "-"] }],
  ])("%s", (line, meaning) => {
    expect(parse(line)).toEqual({ ...USUAL, ...meaning });
  });

  test.each([
    ["-h", "help"],
    ["--help -- x", "help"],
    ["--h", "help"],
    ["x -v", "version"],
    ["--vers --no-such", "version"],
  ])("%s asks for %s", (line, asks) => {
    expect(parse(line)).toMatchObject({ asks });
  });

  test.each([
    ["", /^switchman: no command is given$/],
    ["--", "no command is given"],
    ["-g web", "no command is given"],
    ["'' x", "no command is given"],
    ["-g", "--group needs a value"],
    ["--group= x", "--group needs a value"],
    ["--lock=1 x", '--lock takes no value; got "1"'],
    ["-gweb x", 'unknown option "--gweb"'], // no bundling
    ["--groups web x", 'unknown option "--groups"; did you mean --group?'],
    ["--lo x", 'unknown option "--lo"; it could be --lock, --lockname'],
    ["--lease-timeout 5 x", 'unknown option "--lease-timeout"'],
    ["+ x", "unknown option"],
    ["--lease db x", '"db" is not RESOURCE=COUNT:TOTAL'],
    ["--lease db=1 x", '"db=1" is not'],
    ["--lease =1:2 x", '"=1:2" is not'],
    ["--lockname a/b x", 'a lock\'s name cannot contain "/": "a/b"'],
    ["--no-lock --lockname a/b x", 'cannot contain "/"'],
    ["/", 'cannot contain "/": "/"'],
    [`--lockname ${"é".repeat(257)} x`, "too long: 514 bytes, at most 512 are allowed"],
  ])("%s is refused", (line, fault) => {
    expect(() => parse(line)).toThrow(UsageError);
    expect(() => parse(line)).toThrow(fault);
  });

  test("a name of 512 bytes will do", () => {
    expect(parse(`--lockname ${"x".repeat(512)} x`).lock).toHaveLength(512);
  });
});

test.each([
  ["x", ""],
  ["--lease db=1:2 x", "db=1:2"],
  ["--no-lock --lease db=1:2 x", "db=1:2"],
  ["--no-lock x", "no-lock:x=1:1000000"],
  ["--no-lock --lockname a=b=c x", "no-lock:a-b-c=1:1000000"],
  [`--no-lock --lockname ${"日".repeat(170)} x`, `no-lock:${"日".repeat(100)}=1:1000000`],
])("the leases to hold: %s", (line, leases) => {
  expect(listLeasesToHold(parse(line)).join(" ")).toBe(leases);
});
