// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a shell's, not ours
/** User commands: which rows they are for, what they get, and that no name is ever run. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRunningKey } from "../../fixtures/schedule/schedule-keys.ts";
import { parseSubject } from "../../fixtures/state/parse-subject.ts";
import { createSnapshot, createTicketKey, toRunId } from "../../fixtures/state/sample-snapshots.ts";
import { COMMANDS } from "../../src/cli/commands/registry.ts";
import { createKeymap, listKeyActions } from "../../src/console/parts/keymap.ts";
import {
  buildUserCommand,
  listUserCommands,
  listUserKeyActions,
  type UserCommand,
} from "../../src/console/user-commands.ts";
import { COMMAND_VARIABLES, userCommands } from "../../src/core/config/user-commands.ts";

function parse(...given: Partial<UserCommand>[]) {
  const parsed = userCommands.parse(
    given.map((one, at) => ({ title: `c${at}`, rows: "any", command: ":", ...one })),
  );
  if ("fault" in parsed) throw new Error(parsed.fault);
  return parsed.value;
}

const snapshot = createSnapshot([
  createTicketKey("lock backup held", "a", 10),
  createTicketKey("lock backup", "b", 11),
  createTicketKey("resource db held", "c", 12),
  createTicketKey("resource db held", "d", 13),
  createRunningKey("nightly", { run: toRunId("s"), host: "h.example.com", pid: 1 }),
]);
const context = { snapshot, settings: { prefix: "/signalbox/", context: "prod", readOnly: false } };

/** Builds a command that uses all variables, each with a default. */
function build(
  subject: string | undefined,
  command = ":",
  given: Parameters<typeof buildUserCommand>[2] = context,
) {
  const [one] = parse({ command });
  if (one === undefined) throw new Error("no command");
  return buildUserCommand(one, parseSubject(subject), given);
}

describe("the commands of a row", () => {
  const settings = { userCommands: parse({ rows: ["lock", "run"] }, { rows: ["host"] }, { rows: "any" }) };
  it.each<[subject: string | undefined, titles: string[]]>([
    ["lock x", ["c0", "c2"]],
    ["host x", ["c1", "c2"]],
    ["drain host x", ["c2"]],
    ["record x of host y", ["c1", "c2"]],
    ["record x", ["c2"]],
    [undefined, ["c2"]],
  ])("%j", (subject, titles) => {
    expect(listUserCommands(settings, parseSubject(subject)).map(({ title }) => title)).toEqual(titles);
  });
});

describe("what a command gets", () => {
  it.each<[subject: string, host: string, run: string, kind?: string, name?: string]>([
    ["lock backup", "a.example.com", toRunId("a")],
    ["lock free", "", ""],
    ["resource db", "", ""], // two holders
    ["host web1", "web1", ""],
    ["group web", "", ""],
    ["schedule nightly", "h.example.com", toRunId("s")],
    ["run b", "b.example.com", toRunId("b")],
    ["run s", "h.example.com", toRunId("s")],
    ["run gone", "", "gone"],
    ["drain host web1", "web1", "", "host"],
    ["drain all", "", "", "all"],
    ["record p of lock backup", "a.example.com", toRunId("a"), "lock", "backup"],
    // Another run holds the lock by now.
    ["ended p of lock backup", "", "", "lock", "backup"],
  ])("%j", (subject, host, run, kind, name) => {
    const own = parseSubject(subject);
    const context = { PREFIX: "/signalbox/", CONTEXT: "prod", SIGNALBOX_CONTEXT: "prod" };
    const env = { NAME: name ?? own.name, KIND: kind ?? own.kind, HOST: host, RUN: run, ...context };
    expect(build(subject)).toMatchObject({ argv: ["/bin/sh", "-c", ":"], env });
  });

  it("is nothing of a row where there is none", () => {
    expect(build(undefined)).toMatchObject({ env: { NAME: "", KIND: "", HOST: "", RUN: "" } });
  });

  it("is each variable that the configuration knows, and the context for other calls", () => {
    expect(Object.keys("env" in build(undefined) ? (build(undefined) as { env: object }).env : {})).toEqual([
      ...COMMAND_VARIABLES,
      "SIGNALBOX_CONTEXT",
    ]);
  });

  it("is also the setting readOnly, for calls of signalbox in the command", () => {
    const readOnly = build(undefined, ":", { snapshot, settings: { ...context.settings, readOnly: true } });
    expect(readOnly).toMatchObject({ env: { SIGNALBOX_READ_ONLY: "true" } });
    expect(build(undefined)).not.toHaveProperty("env.SIGNALBOX_READ_ONLY");
  });

  it("is shown as a line with what it uses, that a shell can run", () => {
    const built = build("lock it's", 'echo "$NAME"');
    expect(built).toMatchObject({ line: `NAME='it'\\''s' sh -c 'echo "$NAME"'` });
    expect(
      spawnSync("/bin/sh", ["-c", "line" in built ? built.line : "exit 9"], { encoding: "utf8" }).stdout,
    ).toBe("it's\n");
  });
});

describe("a command does not run", () => {
  it.each<[subject: string | undefined, command: string, reason: string]>([
    ["lock free", 'ssh "$HOST"', "c0: this row has no HOST"],
    [undefined, 'echo "$NAME"', "c0: this row has no NAME"],
    [
      "host -oProxyCommand=touch x",
      'ssh "$HOST"',
      'c0: NAME "-oProxyCommand=touch x" begins with "-": programs would take it for an option',
    ],
    ["lock a\0b", 'echo "$NAME"', "c0: NAME contains a NUL character"],
    [
      "lock -x",
      'echo "${NAME:-none}"',
      'c0: NAME "-x" begins with "-": programs would take it for an option',
    ],
  ])("%j with %s", (subject, command, reason) => {
    expect(build(subject, command)).toEqual({ reason });
  });

  it("for a value that it does not use, or has a default for, it does", () => {
    expect(build("lock free", "date")).toHaveProperty("argv");
    expect(build("lock free", 'echo "${HOST:-nobody}"')).toHaveProperty("argv");
    expect(
      build("lock x", 'echo "$CONTEXT"', {
        snapshot,
        settings: { prefix: "/", context: undefined, readOnly: false },
      }),
    ).toEqual({
      reason: "c0: this row has no CONTEXT",
    });
  });
});

describe("a hostile name", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "user-commands-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each([
    "$(touch x)",
    "`touch x`",
    "'; touch x; '",
    '"; touch x; "',
    '" ; touch x #',
    "a\ntouch x\n",
    "$NAME ${IFS} $((1+1))",
    "a;touch x|touch x&touch x",
    "\\$(touch x)\\",
    "!! * ? [a-z] ~ {a,b}",
    "\u202etouch x\u202c",
  ])("%j runs nothing, and reaches the command as it is", (name) => {
    const built = build(`lock ${name}`, 'printf %s "$NAME"');
    if ("reason" in built) throw new Error(built.reason);
    const [program, ...args] = built.argv;
    const env = { ...process.env, NAME: "another", ...built.env };
    const { stdout, stderr } = spawnSync(program, args, { cwd: folder, env, encoding: "utf8" });
    expect({ stdout, stderr }).toEqual({ stdout: name, stderr: "" });
    // In a substitution without quotes it is split into words, but still not run.
    const loose = build(`lock ${name}`, "printf %s `printf %s $NAME`");
    if ("reason" in loose) throw new Error(loose.reason);
    spawnSync("/bin/sh", loose.argv.slice(1), { cwd: folder, env: { ...process.env, ...loose.env } });
    // The line to copy, in an interactive shell.
    const line = spawnSync("bash", ["-c", built.line], { cwd: folder, encoding: "utf8" });
    expect(line.stdout).toBe(name);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("the keys of user commands", () => {
  const [mine, plainOne] = listUserKeyActions(
    parse({ title: "mine", key: "s", rows: ["host"] }, { title: "plain" }),
  );
  it("come before those of the console, which says what it has lost", () => {
    expect(mine).toEqual({ id: "user:mine", brief: "mine", keys: ["s"], context: "list", rows: ["host"] });
    expect(plainOne).toMatchObject({ keys: [], rows: "any" });
    const { keymap, findings } = createKeymap([...(mine ? [mine] : []), ...listKeyActions(COMMANDS)], {});
    expect(keymap.findAction("s", "list")).toBe("user:mine");
    expect(keymap.findAction("s", "global")).toBeUndefined();
    expect(findings).toEqual(["keyBindings: s: this key runs user:mine now, no longer sort"]);
  });
});
