import { describe, expect, test } from "vitest";
import { UsageError } from "../../src/base/errors.ts";
import { listLeasesToHold, parseSwitchman } from "../../src/syntax/switchman-call.ts";

/** The defaults of a command line. */
const USUAL = { asks: undefined, config: undefined, endpoints: undefined, group: undefined, leases: [] };
const X = { ...USUAL, name: "x", lock: "x", command: ["x"] };

// Each case was parsed by Perl's Getopt::Long with switchman's declaration of options.
describe("the words of a switchman line", () => {
  test.each<[words: string[], meaning: object]>([
    [["--", "x"], X],
    [["x"], X],
    [["/opt/x", "a b"], { ...X, command: ["/opt/x", "a b"] }],
    [["/opt/x/"], { ...X, command: ["/opt/x/"] }],
    [["-c", "f", "--", "x"], { ...X, config: "f" }],
    [["--config=f", "--", "x"], { ...X, config: "f" }],
    [["-c=f", "x"], { ...X, config: "f" }],
    [["-config", "f", "x"], { ...X, config: "f" }],
    [["-c", "a", "-c", "b", "x"], { ...X, config: "b" }],
    [["-c", "0", "x"], X], // Perl takes 0 for nothing
    [["-g", "web", "x"], { ...X, group: "web" }],
    [["--group", "web", "x"], { ...X, group: "web" }],
    [["--GROUP", "web", "x"], { ...X, group: "web" }],
    [["--gr=web", "x"], { ...X, group: "web" }],
    [["+g", "web", "x"], { ...X, group: "web" }],
    [["-g", "", "x"], X],
    [["-g", "--", "x"], { ...X, group: "--" }], // a value may be anything
    [["--lockname", "l", "x"], { ...X, name: "l", lock: "l" }],
    [["--lockn=l", "x"], { ...X, name: "l", lock: "l" }],
    [["--lockname", "", "x"], X],
    [["--lockname", "0", "x"], X],
    [["--lockname", "a=b", "x"], { ...X, name: "a=b", lock: "a=b" }],
    [["--no-lock", "x"], { ...X, lock: undefined }],
    [["--nolock", "x"], { ...X, lock: undefined }],
    [["--no", "x"], { ...X, lock: undefined }],
    [["--no-lock", "--lock", "x"], X], // the last counts
    [["--lock", "--no-lock", "--lockname", "l", "x"], { ...X, name: "l", lock: undefined }],
    [["--lease", "db=1:2", "x"], { ...X, leases: ["db=1:2"] }],
    [["--lease=db=1:2", "--le", "m=1:int(2/1)", "x"], { ...X, leases: ["db=1:2", "m=1:int(2/1)"] }],
    [["--lease", "db=1:2", "--lease", "db=3:4", "x"], { ...X, leases: ["db=3:4"] }], // the last counts
    [["--endpoints", "http://e:2379", "x"], { ...X, endpoints: "http://e:2379" }],
    [["x", "-g", "web", "y"], { ...X, group: "web", command: ["x", "y"] }], // options may stand behind arguments
    [["x", "--", "-g", "web"], { ...X, command: ["x", "-g", "web"] }],
    [["--", "x", "--", "-h"], { ...X, command: ["x", "--", "-h"] }],
    [["x", "-"], { ...X, command: ["x", "-"] }],
  ])("%j", (words, meaning) => {
    expect(parseSwitchman(words)).toEqual(meaning);
  });

  test.each<[words: string[], asks: string]>([
    [["-h"], "help"],
    [["--help", "--", "x"], "help"],
    [["--h"], "help"],
    [["x", "-v"], "version"],
    [["--vers", "--no-such"], "version"],
  ])("%j asks for %s", (words, asks) => {
    expect(parseSwitchman(words)).toMatchObject({ asks });
  });

  test.each<[words: string[], fault: RegExp]>([
    [[], /^switchman: no command is given$/],
    [["--"], /no command is given/],
    [["-g", "web"], /no command is given/],
    [["", "x"], /no command is given/],
    [["-g"], /--group needs a value/],
    [["--group=", "x"], /--group needs a value/],
    [["--lock=1", "x"], /--lock takes no value; got "1"/],
    [["-gweb", "x"], /unknown option "--gweb"/], // no bundling
    [["--groups", "web", "x"], /unknown option "--groups"; did you mean --group\?/],
    [["--lo", "x"], /unknown option "--lo"; it could be --lock, --lockname/],
    [["--lease-timeout", "5", "x"], /unknown option "--lease-timeout"/],
    [["+", "x"], /unknown option/],
    [["--lease", "db", "x"], /"db" is not RESOURCE=COUNT:TOTAL/],
    [["--lease", "db=1", "x"], /"db=1" is not/],
    [["--lease", "=1:2", "x"], /"=1:2" is not/],
    [["--lockname", "a/b", "x"], /a lock's name cannot contain "\/": "a\/b"/],
    [["--no-lock", "--lockname", "a/b", "x"], /cannot contain "\/"/],
    [["/"], /cannot contain "\/": "\/"/],
    [["--lockname", "é".repeat(257), "x"], /too long: 514 bytes, at most 512 are allowed/],
  ])("%j is refused", (words, fault) => {
    expect(() => parseSwitchman(words)).toThrow(UsageError);
    expect(() => parseSwitchman(words)).toThrow(fault);
  });

  test("a name of 512 bytes will do", () => {
    expect(parseSwitchman(["--lockname", "x".repeat(512), "x"]).lock).toHaveLength(512);
  });
});

describe("the leases to hold", () => {
  test.each<[words: string[], leases: string[]]>([
    [["x"], []],
    [["--lease", "db=1:2", "x"], ["db=1:2"]],
    [["--no-lock", "--lease", "db=1:2", "x"], ["db=1:2"]],
    [["--no-lock", "x"], ["no-lock:x=1:1000000"]],
    [["--no-lock", "--lockname", "a=b=c", "x"], ["no-lock:a-b-c=1:1000000"]],
    [["--no-lock", "--lockname", "日".repeat(170), "x"], [`no-lock:${"日".repeat(100)}=1:1000000`]],
  ])("%j", (words, leases) => {
    expect(listLeasesToHold(parseSwitchman(words))).toEqual(leases);
  });
});
