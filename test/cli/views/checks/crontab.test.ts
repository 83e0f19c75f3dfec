import { describe, expect, test } from "vitest";
import { keys } from "../../../../fixtures/protocol/samples.ts";
import {
  createGroupKey,
  createHostKey,
  createKeyValue,
  createResourceKey,
  createSnapshot,
} from "../../../../fixtures/state/sample-snapshots.ts";
import type { CrontabJob } from "../../../../src/cli/views/checks/crontab.ts";
import { judgeJobs } from "../../../../src/cli/views/checks/crontab.ts";

const job = (change: Partial<CrontabJob> = {}): CrontabJob => ({
  where: "jobs:1",
  tool: "signalbox",
  locks: [{ name: "x", isNamed: false }],
  isShared: false,
  group: undefined,
  leases: [],
  ttl: 30_000,
  grace: undefined,
  command: ["x"],
  isElsewhere: false,
  here: { fqdn: "here.example.com", host: "here", cpu: 4, memMb: 8000, macros: {} },
  ...change,
});
const host = (name: string, facts: object = {}) =>
  createHostKey(`${name}.example.com`, { cpu: 2, memMb: 4000, seenAt: 1, ...facts });

const configured = createSnapshot([
  createGroupKey("web", "web1.example.com", "web2.example.com"),
  createGroupKey("all", "web", "db1.example.com"),
  createGroupKey("empty"),
  createGroupKey("ring", "ring"),
  createKeyValue(keys.group("broken"), "{"),
  createGroupKey("ghosts", "ghost.example.com"),
  host("web1"),
  host("web2", { cpu: 8 }),
  host("db1", { cpu: undefined, macros: { DISKS: 12 } }),
  createResourceKey("db", { total: "10" }),
  createResourceKey("FQDN_cpu", { total: "CPU" }),
  createResourceKey("disks", { total: "DISKS" }),
  createResourceKey("nowhere", { total: "TAPES" }),
  createResourceKey("noted", { note: "no total" }),
  createKeyValue(keys.resourceConfig("broken"), "[]"),
]);

const told = (
  jobs: readonly CrontabJob[],
  snapshot: typeof configured | "offline" = configured,
  shared: string[] = [],
) =>
  judgeJobs(jobs, snapshot === "offline" ? undefined : snapshot, new Set(shared)).map(
    ({ check, level, detail }) => `${check} ${level}: ${detail}`,
  );

test.each([
  ["web"],
  ["all"],
  ["wbe", /failure: there is no group "wbe"; did you mean "web"\?|see: signalbox ls groups/],
  ["empty", /failure: group "empty" has no hosts: it can run nowhere/],
  ["ring", /failure: group "ring" has no hosts/],
  ["broken", /failure: group "broken" cannot be read, so it has no hosts/],
  ["ghosts"],
])("groups: %s", (group, found?) => {
  expect(told([job({ group })])).toEqual(found ? [expect.stringMatching(found)] : []);
  expect(told([job({ group })], "offline")).toHaveLength(0);
});

describe("leases", () => {
  test.each([
    ["db=2:10"],
    ["db=10 in web"],
    ["db=2:12", /^jobs:1 failure: resource "db" has a configured total of 10, but the line states 12$/],
    ["db=11", 'failure: 11 units of resource "db" are requested, but there are only 10'],
    ["db=11 in web", /failure: 11 units .*: it can run nowhere/],
    ["other=1", 'failure: resource "other" has no total, neither configured nor in --lease'],
    ["noted=1", 'failure: resource "noted" has no total'],
    ["noted=1:4"],
    ["broken=1", 'failure: resource "broken" cannot be read'],
    // Totals that differ from host to host.
    ["FQDN_cpu=4"],
    ["FQDN_cpu=5", /failure: 5 units of resource "here.example.com_cpu" are requested, but there are only 4/],
    ["FQDN_cpu=4 in web", /warning: it cannot run on web1.example.com: 4 units .* there are only 2/],
    [
      "FQDN_cpu=9 in web",
      /failure: it cannot run on web1.*\n.*failure: it cannot run on web2.*there are only 8/,
    ],
    ["FQDN_cpu=4 in all", /^jobs:1 warning: it cannot run on web1.example.com/], // db1 has not said how many it has
    ["FQDN_x=5:CPU in web", /warning: it cannot run on web1.example.com: --lease asks for 5/],
    ["FQDN_x=CPU-2:CPU in web", /warning: it cannot run on web1.*"CPU-2" is 0/],
    // Macros of a host's own.
    ["disks=1", /failure: the configured total of resource "disks": .*no macro "DISKS"/],
    ["nowhere=1 in web", /failure: the configured total .*no macro "TAPES".*: it can run nowhere/],
    // Nothing is known of its hosts, so this one stands for them, and is no proof.
    ["x=5:CPU in ghosts", /^jobs:1 warning: --lease asks for 5|warning/],
    ["db=1: in ghosts", "warning"],
    ["db=1:2:3", 'failure: --lease "db=1:2:3"'],
  ])("%s", (text, found?) => {
    const [lease = "", group] = text.split(" in ");
    const faults = told([job({ leases: [lease], group })]);
    expect(faults.join("\n")).toMatch(found ?? /^$/);
  });

  test("of this host in a group: its own facts, whatever it said of itself", () => {
    const here = { fqdn: "web1.example.com", host: "web1", cpu: 64, memMb: 1, macros: {} };
    expect(told([job({ group: "web", leases: ["FQDN_cpu=8"], here })])).toEqual([]);
  });

  test("offline: what is configured is not missed", () => {
    expect(told([job({ leases: ["db=2:12", "other=1"] })], "offline")).toEqual([]);
    expect(told([job({ leases: ["db=3:2"] })], "offline")).toHaveLength(1);
  });

  test("of a line for another etcd: a hint, and nothing is held against what is configured here", () => {
    expect(told([job({ leases: ["db=99"], group: "nope", isElsewhere: true })])).toEqual([
      expect.stringContaining("hint: it uses another prefix"),
    ]);
  });

  test("what switchman can reckon and we cannot is a warning", () => {
    expect(told([job({ tool: "switchman", leases: ["db=1:2**3"] })])).toEqual([
      expect.stringContaining("warning"),
    ]);
  });
});

describe("locks", () => {
  const line = (where: string, lock: string, command: string[], change: Partial<CrontabJob> = {}) =>
    job({ where, locks: [{ name: lock, isNamed: true }], command, ...change });

  test("of a lock that both commands share, nothing is reported", () => {
    const lines = (isShared: boolean) => [
      line("c:1", "a", ["/opt/x"], { isShared: true }),
      line("c:2", "a", ["/opt/y"], { isShared }),
    ];
    expect(judgeJobs(lines(true), undefined, new Set())).toEqual([]);
    expect(judgeJobs(lines(false), undefined, new Set())).toMatchObject([{ kind: "shared-lock" }]);
  });

  test("of different commands are told once each, those of the same are not", () => {
    const jobs = [
      line("a:1", "x", ["backup", "db"]),
      line("a:2", "x", ["backup", "db"]),
      line("b:1", "x", ["backup", "files"]),
      line("b:2", "x", ["backup", "files"]),
      line("b:3", "y", ["backup", "db"]),
      job({ where: "c:1", locks: [{ name: "x", isNamed: false }], command: ["/opt/x"] }),
      job({ where: "c:2", locks: [] }),
    ];
    expect(told(jobs)).toEqual([
      'b:1 warning: lock "x" is also used by another command (a:1): while one runs, the other does not',
      `c:1 warning: lock "x", its command's base name, is also used by another command (a:1): while one runs, the other does not`,
    ]);
    expect(told(jobs, configured, ["x"])).toEqual([]);
  });

  test("with other times are hints", () => {
    const jobs = [
      line("a:1", "x", ["b"]),
      line("a:2", "x", ["b"], { ttl: 60_000 }),
      line("a:3", "x", ["b"], { grace: 1 }),
    ];
    expect(told(jobs)).toEqual([
      'a:2 hint: ttl of lock "x" differs from a:1',
      'a:3 hint: grace of lock "x" differs from a:1',
    ]);
  });
});
