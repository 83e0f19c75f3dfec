// Covers src/commands/configure/config-change-command.ts, src/commands/configure/config-snapshot.ts,
// src/commands/configure/group/group-change.ts, src/commands/configure/group/group-list.impl.ts,
// src/commands/configure/resource/resource-change.ts, src/commands/configure/resource/resource-list.impl.ts
/** `signalbox group` and `signalbox resource`: whom a change hits is told before, and exactly those are hit. */
import { describe, expect, it } from "vitest";
import { parseAuditRecord } from "../../src/protocol/audit.ts";
import { type Stage, Theatre, TRANSPORTS } from "./support/theatre.ts";

const theatre = new Theatre();
const W1 = "web1.example.com";
const W2 = "web2.example.com";
const FOR_EVER = [100_000];

async function audits(stage: Stage) {
  const { kvs } = await stage.store.readRange(stage.keys.audits());
  return kvs.map(({ value }) => parseAuditRecord("x", value));
}

const members = async (stage: Stage, name: string): Promise<string[] | undefined> => {
  const { kvs } = await stage.store.readRange({ key: stage.keys.group(name) });
  return kvs[0] && JSON.parse(kvs[0].value);
};

/** Runs a command that must succeed. */
async function done(stage: Stage, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await stage.command(args).ended;
  expect({ args, code, stderr: code === 0 ? "" : stderr }).toEqual({ args, code: 0, stderr: "" });
  return stdout;
}

const onHost = (host: string, ...options: string[]) => ["-g", "web", "--host", host, ...options];

describe.each(TRANSPORTS)("over %s, taking a host out of a group", (transport) => {
  it("names whom it ends, needs a yes, and ends them and nobody else", async () => {
    const stage = await theatre.stage(transport);
    await done(stage, "group", "set", "sub", W1);
    await done(stage, "group", "set", "web", "sub", W2);
    const options = ["--termination-timeout", "1s"];
    const one = await stage.started({
      name: "one",
      options: onHost(W1, "--lock", "a", ...options),
      hold: FOR_EVER,
    });
    const two = await stage.started({ name: "two", options: onHost(W2, "--lock", "b"), hold: FOR_EVER });
    const three = stage.run({ name: "three", options: onHost(W1, "--lock", "b", "--wait") });
    await stage.placed("three", "waiting");
    const before = (await audits(stage)).length;

    const remove = ["group", "remove", "sub", W1];
    const refused = await stage.command(remove).ended;
    expect(refused).toMatchObject({ code: 64, stderr: expect.stringContaining("add --yes to go on") });
    expect(refused.stderr).toContain(`~ group sub: - ${W1}`);
    expect(refused.stderr).toMatch(new RegExp(`ends +${W1}:${one.pid} .*its host leaves group "web"`));
    expect(refused.stderr).toMatch(new RegExp(`evicts +${W1}:${three.pid} `));
    expect(refused.stderr).not.toContain(W2);
    const dry = JSON.parse((await stage.command([...remove, "--dry-run", "--json"]).ended).stdout);
    expect(dry).toMatchObject({
      ...{ version: 1, outcome: "dry-run", target: "group sub" },
      changes: [{ kind: "group", name: "sub", before: [W1], after: [] }],
      hits: [
        { host: W1, pid: one.pid, fate: "ended", exit: 125 },
        { host: W1, pid: three.pid, fate: "leaves", exit: 75 },
      ],
    });
    expect(await members(stage, "sub")).toEqual([W1]);
    expect(await audits(stage)).toHaveLength(before);

    const told = await done(stage, ...remove, "--yes", "--reason", "new disks");
    expect(told).toContain("this ends 1 running command, evicts 1 waiting run");
    expect([(await one.ended).code, (await three.ended).code]).toEqual([125, 75]);
    expect((await stage.tickets()).map(({ ticket }) => ticket?.label)).toEqual(["two"]);
    expect((await audits(stage)).at(-1)).toMatchObject({
      ...{ action: "group", target: "group sub", reason: "new disks" },
      outcome: `~ group sub: - ${W1}; ends 1 running command, evicts 1 waiting run`,
    });
    two.child.kill("SIGTERM");
    await two.ended;
  });
});

describe("a group", () => {
  it("is created and grows without a question; what is so already is no change and no record", async () => {
    const stage = await theatre.stage("http");
    expect(await done(stage, "group", "set", "web", W2, W1)).toBe(`+ group web: ${W1}, ${W2}\n`);
    expect(await done(stage, "group", "set", "web", W1, W2, W1)).toMatch(/is up to date/);
    expect(await done(stage, "group", "add", "web", W1)).toMatch(/is up to date/);
    expect(await done(stage, "group", "remove", "web", "db1")).toMatch(/is up to date/);
    expect(await audits(stage)).toHaveLength(1);
    const strict = await stage.command(["group", "set", "web", W1, W2, "--strict"]).ended;
    expect(strict.code).toBe(1);
    expect(await done(stage, "group", "add", "web", "db1", W1)).toBe("~ group web: + db1\n");
    const typo = await stage.command(["group", "add", "weeb", "db2"]).ended;
    expect(typo).toMatchObject({ code: 78, stderr: expect.stringContaining('did you mean "web"?') });
    expect((await stage.command(["group", "remove", "web"]).ended).code).toBe(64);
  });

  it("is deleted with a yes only, whoever it hits; a second time is no error", async () => {
    const stage = await theatre.stage("http");
    await done(stage, "group", "set", "web", W1);
    await done(stage, "group", "set", "all", "web");
    expect((await stage.command(["group", "delete", "web"]).ended).code).toBe(64);
    const { code, stderr } = await stage.command(["group", "delete", "web", "--yes"]).ended;
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining('group "all" still contains "web", which now counts as a host'),
    });
    expect(await done(stage, "group", "delete", "web", "--yes")).toMatch(/group "web" does not exist/);
    expect((await stage.command(["group", "delete", "web", "--yes", "--strict"]).ended).code).toBe(1);
    expect(JSON.parse(await done(stage, "group", "list", "--json"))).toMatchObject({
      ...{ version: 1, revision: expect.stringMatching(/^\d+$/), groups: { all: ["web"] } },
    });
  });

  it("asks at a terminal, and takes nothing but yes for a yes", async () => {
    const stage = await theatre.stage("http");
    await done(stage, "group", "set", "web", W1);
    const remove = ["group", "delete", "web"];
    for (const [answer, code] of [
      ["n", 1],
      ["y", 0],
    ] as const) {
      const asked = stage.command(remove, { terminal: { columns: 80, rows: 24 } });
      await asked.waitForOutput(/Change group web\? \[y\/N\]/);
      asked.child.stdin?.write(`${answer}\r`);
      expect((await asked.ended).code).toBe(code);
    }
    expect(await members(stage, "web")).toBeUndefined();
  });

  it("that cannot be read can be set, deleted and listed, not added to in ignorance", async () => {
    const stage = await theatre.stage("http");
    const op = { op: "put", key: stage.keys.group("web"), value: "{" } as const;
    await stage.store.commitTxn({ compare: [], success: [op], failure: [] });
    expect(await done(stage, "group", "list")).toMatch(/^web +malformed: /m);
    const add = await stage.command(["group", "add", "web", W1]).ended;
    expect(add).toMatchObject({ code: 78, stderr: expect.stringContaining("group set") });
    const { stderr } = await stage.command(["group", "set", "web", W1]).ended;
    expect(stderr).toContain('group "web" could not be read');
    expect(await members(stage, "web")).toEqual([W1]);
  });

  it("of operators at once: each is done or refused, and told by whom; nothing is lost", async () => {
    const stage = await theatre.stage("http");
    await done(stage, "group", "set", "web");
    const names = Array.from({ length: 6 }, (_, index) => `h${index}.example.com`);
    const ends = await Promise.all(names.map((name) => stage.command(["group", "add", "web", name]).ended));
    expect(ends.every(({ code }) => code === 0 || code === 75)).toBe(true);
    const added = names.filter((_, index) => ends[index]?.code === 0);
    expect(await members(stage, "web")).toEqual(added);
    for (const { stderr } of ends.filter(({ code }) => code === 75)) {
      expect(stderr).toMatch(/the configuration has changed:\n.*~ group web: \+ h/);
      expect(stderr).toMatch(/changed by .*@.*: group, group web: ~ group web: \+ h/);
    }
    expect(await audits(stage)).toHaveLength(1 + added.length);
  });

  it("that moved since --expect-revision is refused; another one's moves are no matter", async () => {
    const stage = await theatre.stage("http");
    await done(stage, "group", "set", "web", W1);
    const { revision } = JSON.parse(await done(stage, "group", "list", "--json"));
    await done(stage, "group", "set", "other", W1);
    await done(stage, "group", "add", "web", W2, "--expect-revision", revision);
    const late = await stage.command(["group", "set", "web", "--expect-revision", revision]).ended;
    expect(late).toMatchObject({ code: 75, stderr: expect.stringContaining(`~ group web: + ${W2}`) });
    expect(await members(stage, "web")).toEqual([W1, W2]);
  });
});

describe("a resource", () => {
  it("that shrinks: who asks for more or states another leaves, who holds goes on", async () => {
    const stage = await theatre.stage("http");
    await done(stage, "resource", "set", "db", "10", "--note", "x");
    const lease = (wish: string) => ["--no-lock", "--lease", wish];
    const holder = await stage.started({ name: "holder", options: lease("db=4"), hold: FOR_EVER });
    const big = stage.run({ name: "big", options: lease("db=8") });
    await stage.placed("big", "waiting");
    const stating = stage.run({ name: "stating", options: lease("db=1:10") });
    const small = stage.run({ name: "small", options: lease("db=2"), hold: [1] });
    await stage.placed("stating", "waiting");
    await stage.placed("small", "waiting");
    const refused = await stage.command(["resource", "set", "db", "6"]).ended;
    expect(refused.code).toBe(64);
    expect(refused.stderr.match(/evicts.*/g)).toEqual([
      expect.stringContaining(`:${big.pid} `),
      expect.stringContaining(`:${stating.pid} `),
    ]);
    const told = await done(stage, "resource", "set", "db", "6", "--yes");
    expect(told).toBe("~ resource db: total 10 -> 6\nthis evicts 2 waiting runs\n");
    const codes = [await big.ended, await stating.ended, await small.ended].map(({ code }) => code);
    expect(codes).toEqual([78, 78, 0]);
    expect((await stage.tickets()).map(({ ticket }) => ticket?.label)).toEqual(["holder"]);
    expect(await done(stage, "resource", "list")).toMatch(/^db +6 +- +x$/m);
    holder.child.kill("SIGTERM");
    await holder.ended;
  });

  it("keeps what is not given, and asks nobody where nobody is hit", async () => {
    const stage = await theatre.stage("http");
    await done(stage, "resource", "set", "db", "10", "--note", "x", "--order", "3");
    expect(await done(stage, "resource", "set", "db", "12")).toBe("~ resource db: total 10 -> 12\n");
    expect(await done(stage, "resource", "set", "db", "--order", "", "--note", "")).toMatch(
      /order 3 -> none/,
    );
    expect(await done(stage, "resource", "set", "db", "12")).toMatch(/is up to date/);
    expect((await stage.command(["resource", "delete", "db"]).ended).code).toBe(64);
    expect(await done(stage, "resource", "delete", "db", "--yes")).toBe("- resource db (total 12)\n");
    expect(await done(stage, "resource", "delete", "db", "--yes")).toMatch(/is not configured/);
  });

  it("without a total is known by name, and runs state the total", async () => {
    const stage = await theatre.stage("http");
    await done(stage, "resource", "set", "db", "--order", "1");
    const run = (wish: string) =>
      stage.run({ name: wish, options: ["--no-lock", "--lease", wish], hold: [1] });
    expect((await run("db=1:2").ended).code).toBe(0);
    expect(await run("db=1").ended).toMatchObject({ code: 78, stderr: expect.stringContaining("no total") });
  });
});
