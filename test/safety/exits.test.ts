// Covers src/process/guarded-command/exits.ts
/** How runs end: exit codes, what is said, and what is not said. */
import { describe, expect, test } from "vitest";
import { retryAfterStalls } from "../../fixtures/steady.ts";
import { eventually, House, type Room, saying, silently, TRANSPORTS } from "./support/house.ts";

const house = House.onEtcd();

const FOR_EVER = ["sh", "-c", "echo up; exec sleep 1000"];

/** A run that holds the lock `job` until it is told to end. */
async function holder(room: Room, options: string[] = []) {
  const run = room.run(["--lock", "job", ...options], FOR_EVER);
  await run.waitForOutput(/up/);
  return { run, end: () => run.child.kill("SIGTERM") };
}

describe.concurrent.each(TRANSPORTS)("over %s", (transport) => {
  const enter = () => house.room({ transport });

  test("busy: 75 at once and in silence, or what -E says", async () => {
    const room = enter();
    const { run, end } = await holder(room);
    expect(await room.run(["--lock", "job"], ["echo", "ran"]).ended).toEqual(silently(75));
    expect(await room.run(["--lock", "job", "-E", "0"], ["echo", "ran"]).ended).toEqual(silently(0));
    expect(await room.run(["--lock", "job", "--wait=300ms"], ["echo", "ran"]).ended).toEqual(silently(75));
    expect((await room.queue("job")).length, "those who gave up left the queue").toBe(1);
    end();
    expect(await run.ended).toMatchObject({ code: 143, stderr: "" });
  });

  test("a run waits in silence, and runs when the lock is free", async () => {
    const room = enter();
    const { run, end } = await holder(room);
    const next = room.run(["--lock", "job", "--wait"], ["echo", "ran"]);
    await room.standing(next, "waiting", "job");
    end();
    await run.ended;
    expect(await next.ended).toEqual({ ...silently(0), stdout: "ran\n" });
  });

  test("leases that are not granted in time: 75, in silence", async () => {
    const room = enter();
    const all = room.run(["--no-lock", "--lease", "db=2:2"], FOR_EVER);
    await all.waitForOutput(/up/);
    const late = ["--no-lock", "--lease", "db=1:2", "--lease-timeout", "300ms"];
    expect(await room.run(late, ["echo", "ran"]).ended).toEqual(silently(75));
    expect((await room.queue("db", "resource")).length).toBe(1);
    all.child.kill("SIGTERM");
    await all.ended;
  });

  test("--grace: busy on after the runner is gone, a waiter starts when it has passed", async () => {
    const room = enter();
    const since = Date.now();
    const run = room.run(["--lock", "job", "--grace", "20s"], ["date", "+%s%3N"]);
    // Long enough for a slow machine to see it before it has passed.
    const ticket = await eventually("a ticket in grace", async () => {
      const found = (await room.queue("job"))[0]?.ticket;
      return found?.state === "grace" && found;
    });
    const { code, stdout, stderr } = await run.ended;
    expect({ code, stderr, pid: ticket.pid }).toEqual({ code: 0, stderr: "", pid: run.pid });
    const until = ticket.until ?? 0;
    expect(until - since, "ms from before the grant").toBeGreaterThanOrEqual(20_000);
    expect(
      until - Number(stdout),
      "ms from the command's start: it counts from the grant",
    ).toBeLessThanOrEqual(20_000);
    const busy = await room.run(["--lock", "job"], ["echo", "ran"]).ended;
    if (Date.now() < until) expect(busy).toEqual(silently(75));
    const waiter = await room.run(["--lock", "job", "--wait"], ["date", "+%s%3N"]).ended;
    expect(waiter).toMatchObject({ code: 0, stderr: "" });
    expect(Number(waiter.stdout), "when the waiter's command ran").toBeGreaterThanOrEqual(until);
  });

  test("the host is not in the group: 75 in silence; taken out of it while running: 125", async () => {
    const room = enter();
    const group = room.keys.group("web");
    const options = ["--lock", "job", "-g", "web", "--host", "web1.example.com"];
    expect(await room.run(options, ["echo", "ran"]).ended).toEqual(saying(78, /there is no group "web"/));
    await room.put(group, JSON.stringify(["web2.example.com"]));
    expect(await room.run(options, ["echo", "ran"]).ended, "others in it").toEqual(silently(75));
    await room.ended(["group", "set", "web", "web1.example.com", "web2.example.com"]);
    const run = room.run(options, FOR_EVER);
    await run.waitForOutput(/up/);
    await room.ended(["group", "set", "web", "web2.example.com", "--yes"]);
    expect(await run.ended).toMatchObject({ code: 125, stdout: "up\n" });
    expect(run.output.stderr).toMatch(/the claim was lost.*the host is no longer in group .*web/);
    expect(await room.queue("job"), "the lock is free").toEqual([]);
  });

  test.each([
    ["--timeout", "its timeout has passed"],
    ["--max-hold", "it has held its claim too long"],
  ])("%s: the command is terminated, 124", async (flag, why) => {
    await retryAfterStalls(async () => {
      const room = enter();
      const run = room.run(["--lock", "job", flag, "1s"], FOR_EVER);
      expect(await run.ended).toMatchObject({ code: 124, stdout: "up\n" });
      expect(run.output.stderr).toContain(why);
      expect(await room.queue("job"), "the lock is free").toEqual([]);
    });
  });
});

/** A drain, put by hand; and the name under which a run on `web1.example.com` meets it. */
const DRAINS = [
  ["lock", "job"],
  ["resource", "db"],
  ["host", "web1.example.com"],
  ["group", "web"],
  ["all", "all"],
] as const;

describe.concurrent("drained", () => {
  const OPTIONS = ["--lock", "job", "--lease", "db=1:2", "--host", "web1.example.com"];
  const value = (more: object = {}) => JSON.stringify({ v: 1, by: "ops", at: Date.now(), ...more });

  test.each(DRAINS)(
    "%s: 75 in silence; with --wait it starts once the drain is lifted",
    async (scope, name) => {
      const room = house.room();
      await room.put(room.keys.group("web"), JSON.stringify(["web1.example.com"]));
      await room.put(room.keys.drain(scope, name), value());
      expect(await room.run(OPTIONS, ["echo", "ran"]).ended).toEqual(silently(75));
      expect(await room.run([...OPTIONS, "--wait=300ms"], ["echo", "ran"]).ended).toEqual(silently(75));
      const waiter = room.run([...OPTIONS, "--wait", "-v"], ["echo", "ran"]);
      await waiter.waitForOutput(/drained/);
      expect(waiter.output.stdout).toBe("");
      await room.delete(room.keys.drain(scope, name));
      expect(await waiter.ended).toMatchObject({ code: 0, stdout: "ran\n" });
    },
  );

  test.each(DRAINS)(
    "%s: a drain whose time has passed does not count, one of others neither",
    async (scope, name) => {
      const room = house.room();
      await room.put(room.keys.group("web"), JSON.stringify(["web1.example.com"]));
      await room.put(room.keys.drain(scope, name), value({ until: Date.now() - 1 }));
      if (scope !== "all") await room.put(room.keys.drain(scope, "other"), value());
      expect(await room.run(OPTIONS, ["echo", "ran"]).ended).toEqual({ ...silently(0), stdout: "ran\n" });
    },
  );

  test("a drain that says when it ends lets a waiter start then", async () => {
    const room = house.room();
    await room.put(room.keys.drain("all", "all"), value({ until: Date.now() + 1_000 }));
    expect(await room.run([...OPTIONS, "--wait"], ["echo", "ran"]).ended).toEqual({
      ...silently(0),
      stdout: "ran\n",
    });
  });
});

describe.concurrent("commands that do not run, or end by themselves", () => {
  const UNREACHABLE = ["--endpoints", "http://127.0.0.1:9", "--connect-timeout", "300ms"];
  const cases: [what: string, options: string[], command: string[], ended: object][] = [
    ["its own code", [], ["sh", "-c", "exit 7"], silently(7)],
    ["the largest code", [], ["sh", "-c", "exit 255"], silently(255)],
    ["killed by a signal", [], ["sh", "-c", "kill -KILL $$"], silently(137)],
    ["ended by SIGTERM of its own", [], ["sh", "-c", "kill -TERM $$"], silently(143)],
    ["missing", [], ["/no/such/file"], saying(127, /^signalbox: "\/no\/such\/file" was not found/)],
    ["not on the PATH", [], ["no-such-command"], saying(127, /was not found/)],
    ["a folder", ["--lock", "x"], ["/"], saying(126, /cannot be executed/)],
    ["not executable", [], ["/etc/passwd"], saying(126, /"\/etc\/passwd" cannot be executed/)],
    ["usage", ["--lock", ""], ["true"], saying(64, /lock name "" cannot be used/)],
    ["configuration", ["-c", "/no/such/file"], ["true"], saying(78, /\/no\/such\/file does not exist/)],
    [
      "etcd is out of reach",
      UNREACHABLE,
      ["true"],
      saying(69, /^signalbox: lock "true": the command was not started: cannot reach etcd: /),
    ],
    [
      "etcd is out of reach, leases only",
      ["--no-lock", "--lease", "db=1:2", ...UNREACHABLE],
      ["true"],
      saying(69, /^signalbox: command "true": the command was not started: cannot reach etcd: /),
    ],
    ["quiet", ["-q", ...UNREACHABLE], ["true"], silently(69)],
    [
      "more than there is",
      ["--lease", "db=3:2"],
      ["true"],
      saying(64, /3 units of resource "db", but its total is 2/),
    ],
    ["no total", ["--lease", "db=3"], ["true"], saying(78, /resource "db" has no total/)],
  ];
  test.each(TRANSPORTS)(
    "etcd is out of reach over %s: that takes no longer than --connect-timeout",
    async (transport) => {
      const room = house.room({ transport });
      const away = (timeout: string) =>
        room.run(["--endpoints", "http://127.0.0.1:9", "--connect-timeout", timeout], ["true"]);
      const patient = away("10m");
      // On a slow machine a second may pass before the first refusal is there to be named.
      expect(await away("1s").ended).toEqual(saying(69, /127\.0\.0\.1:9: /));
      expect(await away("8s").ended).toEqual(saying(69, /127\.0\.0\.1:9.*(refused|ECONNREFUSED)/));
      expect(patient.child.exitCode, "one that may take longer still tries").toBeNull();
    },
  );

  test.each(cases)("%s", async (_, options, command, ended) => {
    const room = house.room();
    expect(await room.run(options, command).ended).toEqual(ended);
    const left = (await room.everything()).filter(({ key }) => !key.startsWith(`${room.prefix}history/`));
    expect(left, "the lock is free at once").toEqual([]);
  });
});

describe.concurrent("what a run says", () => {
  test("lines in JSON carry the lock, the run and the host", async () => {
    const room = house.room({ env: { SIGNALBOX_HOST: "web7.example.com" } });
    const run = room.run(["-v", "--log-format", "json", "--lock", "x"], ["sh", "-c", "echo $SIGNALBOX_RUN"]);
    const { stdout, stderr } = await run.ended;
    const lines = stderr
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map(({ message }) => message)).toEqual(["started", "finished"]);
    for (const line of lines)
      expect(line).toMatchObject({ host: "web7.example.com", lock: "x", run: stdout.trim() });
  });

  test("a misspelled variable is told, once, and the command runs", async () => {
    const room = house.room({ env: { SIGNALBOX_TLL: "5s", SIGNALBOX_OF_MY_OWN: "1" } });
    const { code, stderr } = await room.run([], ["true"]).ended;
    expect(code).toBe(0);
    expect(stderr).toBe('signalbox: warn: unknown variable "SIGNALBOX_TLL"; did you mean SIGNALBOX_TTL?\n');
  });
});
