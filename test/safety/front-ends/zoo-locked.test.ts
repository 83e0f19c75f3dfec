/** `signalbox zoo-locked` against a real etcd: commands, output and exit codes. */

import { describe, expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";

const cluster = TestCluster.startForFile();

const FOR_EVER = "echo up; exec sleep 1000";
const W1 = "web1.example.com";

function enter() {
  const namespace = cluster.createNamespace();
  const hosts = cluster.endpoints.join();
  const start = (words: readonly string[], env: Record<string, string> = {}) =>
    namespace.start(["zoo-locked", ...words], {
      env: { SIGNALBOX_ENDPOINTS: "", SIGNALBOX_HOST: W1, ...env },
    });
  return { namespace, hosts, start, ended: (...words: string[]) => start([hosts, ...words]).ended };
}

describe.concurrent("the command", () => {
  test.each([
    ["ends with 0", ["echo ran"], 0, "ran\n", ""],
    ["ends with 3", ["exit 3"], 3, "", ""],
    ["is killed: 0", ["kill -KILL $$"], 0, "", ""],
    ["was not found: 127, as the shell has it", ["no-such-command"], 127, "", /no-such-command.*not found/],
    ["cannot be executed: 126", ["/etc/passwd"], 126, "", "ermission denied"],
    ["is a text for a shell", ["x=ran; echo $x >&1"], 0, "ran\n", ""],
    [
      "is the first word; those behind it were never run, and that is said",
      ["echo ran", "&& echo more", "--help"],
      0,
      "ran\n",
      /^zoo-locked: only "echo ran" is run: .* \("&& echo more" "--help"\); put the whole command in quotes/,
    ],
    [
      "leaves something in the background, which the lock does not cover: that is said",
      ["sleep 0 & echo ran"],
      0,
      "ran\n",
      /^zoo-locked: sleep 0 & continues in the background; unlike with zoo-locked, the lock is free/,
    ],
  ])("%s", async (_, words, code, stdout, stderr) => {
    const { namespace, ended } = enter();
    const end = await ended("/locks/a", ...words);
    expect(end).toExit(code, { stderr });
    expect(end.stdout).toBe(stdout);
    expect(await namespace.readQueue("locks/a"), "the lock is free").toEqual([]);
  });

  test("is ended by a signal to the runner, which ends as if by it", async () => {
    const { hosts, start } = enter();
    const run = start([hosts, "/a", FOR_EVER]);
    await run.waitForOutput("up");
    expect(await run.end()).toPrint("up\n", 143);
  });

  test("is terminated when its lock is gone: 125", async () => {
    const { namespace, hosts, start } = enter();
    const run = start([hosts, "/a", FOR_EVER]);
    await run.waitForOutput("up");
    await namespace.delete((await namespace.readQueue("a"))[0]?.key ?? "");
    expect(await run.ended).toExit(125, { stderr: "the claim was lost" });
  });
});

describe.concurrent("the lock", () => {
  test("is taken: LOCKED by whom, and 0; the same lock as that of signalbox run and of switchman", async () => {
    const { namespace, hosts, start, ended } = enter();
    const run = start([hosts, "/job", FOR_EVER]);
    await run.waitForOutput("up");
    const ticket = (await namespace.readQueue("job"))[0];
    expect(await ended("/job", "echo ran")).toPrint(`LOCKED by ${W1} pid ${run.pid} (run ${ticket?.run})\n`);
    expect(await namespace.run("--lock job", "echo ran")).toExitSilently(75);
    const conf = cluster.createPath('{"prefix":"/p","zkhosts":"zk1:2181"}');
    expect(
      await namespace.execute(["switchman", "-c", conf, "--lockname", "job", "--", "echo", "ran"]),
    ).toExitSilently(0);
    expect(await ended("/jobs/job", "echo ran"), "another path").toPrint("ran\n");
    await run.end();
    expect(await ended("/job", "echo ran")).toPrint("ran\n");
  });

  test("whose holder nobody can read, or with words for the terminal in it", async () => {
    const { namespace, ended } = enter();
    await namespace.put(namespace.keys.lock("job", "aaaaaaaaaaaaaaaa"), "?");
    expect(await ended("/job", "echo ran")).toPrint("LOCKED by run aaaaaaaaaaaaaaaa\n");
    const ticket = {
      v: 1,
      run: "b",
      host: "a\u001b[2J\nb",
      pid: 1,
      user: "u",
      count: 1,
      total: 1,
      state: "held",
      command: "c",
      enqueuedAt: 1,
    };
    await namespace.put(namespace.keys.lock("other", "bbbbbbbbbbbbbbbb"), JSON.stringify(ticket));
    expect((await ended("/other", "echo ran")).stdout).toBe("LOCKED by a b pid 1 (run bbbbbbbbbbbbbbbb)\n");
  });

  test("is drained, or the host is outside of the group that our configuration names: the same", async () => {
    const { namespace, hosts, start, ended } = enter();
    await namespace.put(namespace.keys.group("web"), '["web2.example.com"]');
    expect(await start([hosts, "/a", "echo ran"], { SIGNALBOX_GROUP: "web" }).ended).toPrint(
      "LOCKED by group web, which does not hold this host\n",
    );
    await namespace.put(
      namespace.keys.drain("all", "all"),
      JSON.stringify({ v: 1, by: "ops", at: Date.now() }),
    );
    expect(await ended("/a", "echo ran")).toPrint("LOCKED by a drain of all all (by ops)\n");
  });
});

describe.concurrent("hosts", () => {
  test("that are ZooKeeper's: 22 and what to do; where signalbox itself is configured, that etcd is taken", async () => {
    const { start } = enter();
    const words = ["zk1:2181,zk2:2181", "/a", "echo ran"];
    expect(await start(words).ended).toFail(
      22,
      /^zoo-locked: HOSTS .* are those of ZooKeeper \(port 2181\); give those of etcd/,
    );
    expect(await start(words, { SIGNALBOX_ENDPOINTS: cluster.endpoints.join() }).ended).toPrint("ran\n");
  });

  test("nobody there: 0, as in the source, but not in silence", async () => {
    const { namespace, start } = enter();
    const end = await start(["127.0.0.1:9", "/a", "echo ran"], { SIGNALBOX_CONNECT_TIMEOUT: "200ms" }).ended;
    expect(end).toFail(0, /^zoo-locked: lock "a": the command was not started: cannot reach etcd: /);
    expect(await namespace.listKeys()).toEqual([]);
  });

  test("that do not resolve: 2, as the source has it, and not in silence", async () => {
    const { start, hosts } = enter();
    const env = { SIGNALBOX_CONNECT_TIMEOUT: "200ms" };
    const end = await start(["no-such-host.invalid:2379", "/a", "echo ran"], env).ended;
    expect(end).toFail(2, /^zoo-locked: .*cannot reach etcd: .*no-such-host.invalid/);
    const both = await start(["127.0.0.1:9,no-such-host.invalid:2379", "/a", "echo ran"], env).ended;
    expect(both).toExit(2);
    expect(await start([`no-such-host.invalid:2379,${hosts}`, "/a", "echo ran"]).ended).toPrint("ran\n");
  });

  test.each([
    [[], /^zoo-locked: too few arguments: 0, at least 3 are needed/],
    [["e:2379", "/a"], /^zoo-locked: too few arguments: 2/],
    [["e:2379/chroot", "/a", "x"], 'HOSTS "e:2379/chroot" end in a path'],
    [["e", "/a", "x"], 'HOSTS: "e" is not an address with a port'],
    [["e:70000", "/a", "x"], 'HOSTS: "e:70000" is not an address'],
    [["e:2379", "a", "x"], 'PATH "a" cannot be used: it must begin with a slash'],
    [["e:2379", "/a/", "x"], 'PATH "/a/" cannot be used'],
    [["e:2379", `/${"a".repeat(513)}`, "x"], /lock name .* cannot be used: it has 513 bytes/],
  ])("%j: 22", async (words, fault) => {
    expect(await enter().start(words).ended).toFail(22, fault);
  });
});

test("the same crontab line on two hosts: one runs, the other is told", async () => {
  const { hosts, start } = enter();
  const runs = ["web1", "web2"].map((host) =>
    start([hosts, "/nightly", FOR_EVER], { SIGNALBOX_HOST: `${host}.example.com` }),
  );
  const loser = await Promise.race(runs.map(async (run) => ({ run, end: await run.ended })));
  expect(loser.end).toExit(0, { stdout: /^LOCKED by web\d\.example\.com pid \d+ / });
  const [winner] = runs.filter((run) => run !== loser.run);
  await winner?.waitForOutput("up");
});
