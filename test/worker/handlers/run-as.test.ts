/** Commands of another user: what they get of root, and what they cannot reach. Needs root. */
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { listRemains } from "../../../fixtures/process/guarded-processes.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { createHandlerFixture, createTask, writeTestFile } from "../../../fixtures/worker/handler-fixture.ts";
import { canBecomeUsers, readUserAccount } from "../../../src/core/process/user-account.ts";
import type { Definition } from "../../../src/schedule/definition.ts";
import { NO_FILE, type WorkerFile } from "../../../src/worker/file/worker-file.ts";
import { createFileHandlers } from "../../../src/worker/handlers/handlers.ts";
import { openTaskFiles } from "../../../src/worker/handlers/task-files.ts";
import type { HandlerPorts } from "../../../src/worker/worker-ports.ts";

/** A user of every Debian, whose home exists. */
const USER = "daemon";
const never = new AbortController().signal;
const FILE: WorkerFile = { ...NO_FILE, users: ["root", USER, "nobody"] };

/** Runs a script of a schedule with a worker of root, until nothing of it is left. */
async function runScript(
  script: string,
  {
    ports: morePorts,
    file = FILE,
    ...more
  }: Partial<Definition> & { ports?: Partial<HandlerPorts>; file?: WorkerFile } = {},
) {
  const { mark, ports, lines } = createHandlerFixture({ user: "root", ...morePorts });
  const env = { TEST_MARK: mark, ...more.env };
  const task = createTask({ command: ["sh", "-c", script], input: "", runAs: USER, ...more, env });
  const handler = createFileHandlers(ports, file).find("a", task.definition);
  const result = await handler?.run(task);
  expect(listRemains(mark)).toEqual([]);
  return { ...result, tail: result?.tail ?? "", lines };
}

describe.skipIf(!canBecomeUsers())("a command of another user", () => {
  test("has its ids, groups and home, the environment of cron, and no capability", async () => {
    const script = "id; pwd; env | sort; grep -E '^(Cap(Inh|Prm|Eff|Amb)|Groups)' /proc/self/status";
    const ports = {
      env: { PATH: process.env.PATH, ETCDCTL_PASSWORD: "x", LD_LIBRARY_PATH: "/x", LANG: "C.UTF-8" },
    };
    const { tail, result } = await runScript(script, { ports, env: { A: "b" } });
    expect(result).toBe("ok");
    const { home } = await readUserAccount(USER, process.env, never);
    expect(tail).toMatch("uid=1(daemon) gid=1(daemon) groups=1(daemon)\n");
    expect(tail).toMatch(`\n${home}\n`);
    for (const kind of ["Inh", "Prm", "Eff", "Amb"]) expect(tail).toMatch(new RegExp(`Cap${kind}: 0{16}`));
    const names = [...tail.matchAll(/^(\w+)=(.*)$/gm)].filter(([, name]) => !name?.startsWith("SIGNALBOX_"));
    const expected = {
      A: "b",
      HOME: home,
      LANG: "C.UTF-8",
      LOGNAME: USER,
      PATH: "/usr/bin:/bin",
      SHELL: "/bin/sh",
      USER,
    };
    expect(Object.fromEntries(names.map(([, name, value]) => [name, value]))).toMatchObject(expected);
    expect(tail).not.toMatch(/ETCDCTL|LD_LIBRARY/);
  });

  test("cannot signal or trace guardian and worker, nor read their memory, environment and descriptors", async () => {
    const script = `exec 2>&1
      guardian=$PPID; outer=$(awk '/^PPid/ { print $2 }' /proc/$PPID/status)
      for pid in $guardian $outer ${process.pid}; do
        kill -STOP $pid && echo signalled; kill -KILL $pid && echo killed
        cat /proc/$pid/environ && echo environment; ls /proc/$pid/fd && echo descriptors; head -c1 /proc/$pid/mem && echo memory
      done
      ls /proc/self/fd | tr '\\n' ' '; readlink /proc/$$/fd/*
      echo end`;
    const { tail, result } = await runScript(script);
    expect(result).toBe("ok");
    expect(tail).not.toMatch(/signalled|killed|environment$|descriptors$|memory$/m);
    expect(tail).toMatch("0 1 2 3 "); // 3 is the folder that ls reads
    expect(tail).toMatch(/end$/);
  });

  test("opens its streams by their names", async () => {
    const { tail } = await runScript("cat /dev/stdin > /dev/stdout; echo two > /dev/stderr", {
      input: "one\n",
    });
    expect(tail.split("\n").sort()).toEqual(["one", "two"]);
  });

  test("gives root no library and no shell code", async () => {
    const there = join(writeTestFile("x", ""), "../made");
    const env = {
      LD_PRELOAD: "/no/such.so",
      LD_AUDIT: "/no/such.so",
      GCONV_PATH: "/tmp",
      ENV: "/tmp/x",
      PATH: "/no/where:/bin:/usr/bin",
    };
    const { tail } = await runScript(`touch ${there}; id -u`, { env });
    expect(tail).toMatch(/^1$/m); // beside what the loader says, in the user's processes only
    expect(existsSync(there)).toBe(false);
  });

  test("is killed with all that left its session, when the task ends", async () => {
    const { mark, ports } = createHandlerFixture({ user: "root" });
    const there = join("/tmp", `${mark}-there`);
    const script = `trap '' TERM; setsid sh -c 'trap "" TERM; touch ${there}; exec sleep 600' & sleep 600`;
    const task = createTask({ command: ["sh", "-c", script], runAs: USER, env: { TEST_MARK: mark } });
    const running = createFileHandlers(ports, FILE).find("a", task.definition)?.run(task);
    await waitUntil("it runs", () => existsSync(there));
    task.end("lost");
    expect(await running).toMatchObject({ result: "lost" });
    expect(listRemains(mark)).toEqual([]);
    await waitUntil(
      "the file of the user is removed",
      async () => (await runScript(`rm -f ${there}`)).result === "ok",
    );
  });

  test("tells progress and checkpoint, but only its own files are read", async () => {
    const secret = writeTestFile("secret", "of root");
    for (const [script, saved] of [
      ['echo half > "$SIGNALBOX_CHECKPOINT_FILE"; exit 1', ["half\n"]],
      [`ln -s ${secret} "$SIGNALBOX_CHECKPOINT_FILE"; exit 1`, []],
      ['mv "$(dirname "$SIGNALBOX_CHECKPOINT_FILE")" /tmp/x && echo moved; exit 1', []],
      ['rmdir "$(dirname "$SIGNALBOX_CHECKPOINT_FILE")" && echo moved; exit 1', []],
    ] as const) {
      const { ports } = createHandlerFixture({ user: "root" });
      const texts: string[] = [];
      const saveCheckpoint = async (text: string) => void texts.push(text);
      const task = { ...createTask({ command: ["sh", "-c", script], runAs: USER }), saveCheckpoint };
      const result = await createFileHandlers(ports, FILE).find("a", task.definition)?.run(task);
      expect([texts, result?.tail ?? ""]).toEqual([saved, expect.not.stringContaining("moved")]);
    }
  });

  test("a hard link to a file of root is not read, and what a link leads to is not removed", async () => {
    const { ports } = createHandlerFixture();
    const user = await readUserAccount(USER, process.env, never);
    const saved: string[] = [];
    const task = { ...createTask(), saveCheckpoint: async (text: string) => void saved.push(text) };
    const files = await openTaskFiles(ports, task, { user });
    const { SIGNALBOX_CHECKPOINT_FILE: path = "" } = files?.env ?? {};
    const kept = join(dirname(dirname(path)), "../kept-by-run-as-test");
    writeFileSync(kept, "of root");
    linkSync(kept, path);
    mkdirSync(`${path}.d`);
    symlinkSync(dirname(kept), `${path}.d/link`);
    await files?.readLast();
    await files?.close();
    expect(saved).toEqual([]);
    expect(readFileSync(kept, "utf8")).toBe("of root");
    await runScript("true");
    expect(existsSync(dirname(dirname(path)))).toBe(false);
  });

  test("gets secrets in files that only it can read, and in variables; output does not show them", async () => {
    const db = writeTestFile("db", "hunter2-of-db\n");
    const tls = writeTestFile("tls", "line-one-of-tls\nline-two-of-tls\n");
    for (const path of [db, tls]) chmodSync(path, 0o600);
    const secrets = { db: { file: db, prefix: "" }, tls: { file: tls, prefix: "" } };
    const script = `exec 2>&1
      case $PASSWORD in hunter?-of-db) echo value; esac; [ "$(cat $KEY)" = "$(printf 'line-one-of-tls\\nline-two-of-tls')" ] && echo same
      stat -c '%U %a' $KEY; ls $(dirname $KEY) && echo listed; (: > $KEY) && echo changed
      cat /proc/$PPID/cmdline | tr '\\0' ' '; cat $KEY; echo "$PASSWORD"; ps -ef | grep -c "[h]unter2"`;
    const given = { file: { ...FILE, secrets }, secrets: { PASSWORD: "db" }, secretFiles: { KEY: "tls" } };
    const { tail, lines } = await runScript(script, given);
    expect(tail).toMatch(/^value\nsame\ndaemon 400\n/m);
    expect(tail).not.toMatch(/listed|changed/);
    expect(tail).toMatch(/\*\*\*\n\*\*\*\n\*\*\*\n0$/);
    expect(`${tail}${lines.join("\n")}`).not.toMatch(/hunter2|of-tls/);
    chmodSync(db, 0o644);
    expect(await runScript("true", given).catch(String)).toMatch("other users have access to it");
  });

  test("a user that the host does not have is a failure, and nothing runs", async () => {
    const there = join("/tmp", "run-as-test-no-user");
    const file = { ...FILE, users: ["no-such-user", "DAEMON"] };
    for (const runAs of ["no-such-user", "DAEMON"]) {
      const { result, code, reason } = await runScript(`touch ${there}`, { runAs, file });
      expect({ result, code, reason }).toEqual({
        result: "failed",
        code: 78,
        reason: expect.stringMatching(`user "${runAs}" cannot be found on this host`),
      });
    }
    expect(existsSync(there)).toBe(false);
  });

  test("root's own commands keep root's groups, also by name", async () => {
    const { tail } = await runScript("id -u; stat -c %U /proc/self", { runAs: "root" });
    expect(tail).toBe("0\nroot");
    expect(statSync("/proc/self").uid).toBe(0);
  });
});

describe("which commands a worker takes", () => {
  const find = (file: WorkerFile, runAs?: string, user = "root") => {
    const { ports } = createHandlerFixture({ user });
    const definition = {
      ...createTask().definition,
      command: ["true"],
      ...(runAs !== undefined && { runAs }),
    };
    return createFileHandlers(ports, file).find("a", definition) !== undefined;
  };

  test("without users in its file, those of its own user", () => {
    expect([find(NO_FILE), find(NO_FILE, "root"), find(NO_FILE, USER)]).toEqual([true, true, false]);
    expect([
      find(NO_FILE, undefined, "ann"),
      find(NO_FILE, "ann", "ann"),
      find(NO_FILE, "root", "ann"),
    ]).toEqual([true, true, false]);
  });

  test.skipIf(!canBecomeUsers())("with users, only theirs: not root's, if it is not among them", () => {
    const file = { ...NO_FILE, users: [USER] };
    const tricks = [
      "root",
      "nobody",
      "Daemon",
      "daemon ",
      "daemon\n",
      "dаemon",
      "1",
      "0",
      "#0",
      "+0",
      "",
      "daemon:root",
      "*",
      "toString",
      "__proto__",
    ];
    expect(find(file, USER)).toBe(true);
    expect([find(file), ...tricks.map((name) => find(file, name))]).toEqual(
      Array(tricks.length + 1).fill(false),
    );
    const { ports } = createHandlerFixture({ user: "root" });
    const { types, hooks } = createFileHandlers(ports, file);
    expect({ types, hooks }).toEqual({ types: ["$command:daemon"], hooks: "addresses" });
  });

  test("with secrets, only if it has them", () => {
    const { ports } = createHandlerFixture();
    const command = { ...createTask().definition, command: ["true"] };
    const secret = writeTestFile("db", "x\n");
    chmodSync(secret, 0o600);
    const handlers = createFileHandlers(ports, { ...NO_FILE, secrets: { db: { file: secret, prefix: "" } } });
    for (const [name, isFound] of [
      ["db", true],
      ["other", false],
      ["toString", false],
      ["__proto__", false],
    ] as const) {
      for (const field of ["secrets", "secretFiles"])
        expect(handlers.find("a", { ...command, [field]: { A: name } }) !== undefined).toBe(isFound);
    }
  });
});
