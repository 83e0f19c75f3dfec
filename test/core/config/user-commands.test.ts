// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a shell's, not ours
/** The setting `userCommands`: what is taken, and what is refused with the remedy. */
import { describe, expect, it } from "vitest";
import { listUsedVariables } from "../../../src/core/base/shell.ts";
import { userCommands } from "../../../src/core/config/user-commands.ts";

const LOGIN = { title: "log in", rows: ["host"], command: 'ssh "$HOST"', in: "foreground" };

describe("a list of user commands", () => {
  it("is taken from a file, or as a text from a variable", () => {
    const given = [LOGIN, { title: "why", rows: "any", command: "echo", key: "shift-f5", confirm: true }];
    const value = [
      { ...LOGIN, confirm: false },
      { title: "why", rows: "any", command: "echo", in: "job", confirm: true, key: "shift+f5" },
    ];
    expect(userCommands.parse(given)).toEqual({ value });
    expect(userCommands.parse(JSON.stringify(given))).toEqual({ value });
    expect(userCommands.parse([])).toEqual({ value: [] });
  });

  it("is shown as JSON that is taken again", () => {
    const parsed = userCommands.parse([{ ...LOGIN, key: "F6" }]);
    if ("fault" in parsed) throw new Error(parsed.fault);
    expect(userCommands.parse(userCommands.show(parsed.value))).toEqual(parsed);
    expect(userCommands.show([])).toBe("-");
  });

  it.each<[given: unknown, fault: string]>([
    ["ssh", '"ssh" is not a list of commands such as [{"title": "log in"'],
    [{ ssh: LOGIN }, "is not a list of commands such as"],
    [Array.from({ length: 101 }, () => LOGIN), "there are 101 commands; at most 100 are allowed"],
    [["ssh"], 'command 1: "ssh" is not an object with title, rows and command'],
    [[LOGIN, {}], 'command 2: title: "nothing" is not a text of the menu'],
    [[LOGIN, LOGIN], '"log in": title: an earlier command has it; write another one'],
  ])("is refused: %j", (given, fault) => {
    expect(userCommands.parse(given)).toEqual({ fault: expect.stringContaining(fault) });
  });
});

describe("a user command", () => {
  it.each<[changed: Record<string, unknown>, fault: string]>([
    [{ shortCut: "F5" }, 'property: "shortCut" is not one of title, rows, command, key, in, confirm'],
    [{ confrim: true }, 'property: "confrim" is not one of'],
    [{ confrim: true }, 'did you mean "confirm"?'],
    [{ title: "" }, "title: it is empty"],
    [{ title: "a\nb" }, "title: it contains a control character"],
    [{ title: "x".repeat(41) }, "title: it has 41 characters; at most 40 are allowed"],
    [{ rows: undefined }, 'rows: "nothing" is not a list of kinds such as ["lock", "run"]'],
    [{ rows: [] }, 'rows: "[]" is not a list of kinds'],
    [{ rows: "host" }, 'rows: "host" is not a list of kinds'],
    [{ rows: ["pod"] }, 'rows: "pod" is not one of lock, resource, host, group, schedule, run, drain'],
    [
      { rows: ["host", "locks"] },
      '"locks" is not one of lock, resource, host, group, schedule, run, drain; did you mean "lock"?',
    ],
    [{ command: " " }, 'command: " " is not a line for the shell'],
    [{ command: ["ssh"] }, "is not a line for the shell"],
    [{ command: "a\0b" }, "command: it contains a NUL character"],
    [
      { command: "x".repeat(4001) },
      "command: it has 4001 characters; at most 4000 are allowed: call a script",
    ],
    [
      { command: 'ssh "$HOTS"' },
      "command: there is no variable $HOTS; use NAME, KIND, HOST, RUN, PREFIX, CONTEXT, assign it first",
    ],
    [{ command: 'ssh "$HOTS"' }, 'did you mean "HOST"?'],
    [{ command: "echo ${NAMESPACE}" }, "or write ${NAMESPACE:-…} with a default"],
    [{ command: "curl x?$LOK=1" }, "command: there is no variable $LOK"],
    [
      { command: "ssh $HOST" },
      'command: write "$HOST" with double quotes; without, the shell splits its value into words',
    ],
    [{ command: "echo \"$NAME\" '$RUN' ${KIND:-x}" }, 'command: write "$KIND" with double quotes'],
    [{ key: "Ctrl+G" }, "key: a user command cannot be on a key with Ctrl"],
    [{ key: "Ctrl+Shift+G" }, 'key: "Ctrl+Shift+G" is not sent to programs by terminals'],
    [{ key: "hyper" }, 'key: "hyper" is not a key; write it as x, G, Ctrl+P, F5, PgDn, Space or Shift+Tab'],
    [{ key: 5 }, 'key: 5 is not a key such as "F5"'],
    [{ in: "background" }, 'in: "background" is not one of job, foreground'],
    [{ confirm: "yes" }, 'confirm: "yes" is not one of true, false'],
  ])("is refused with %j", (changed, fault) => {
    expect(userCommands.parse([{ ...LOGIN, ...changed }])).toEqual({ fault: expect.stringContaining(fault) });
  });

  it("has a key of its own", () => {
    const other = { ...LOGIN, title: "other", key: "f7" };
    expect(userCommands.parse([{ ...LOGIN, key: "F7" }, other])).toEqual({
      fault: '"other": key: "log in" has it too; write another key for one of them',
    });
  });

  it.each([
    'ssh "$HOST"',
    "echo $HOME ${EDITOR} $SIGNALBOX_PREFIX $SSH_AUTH_SOCK",
    "awk '{print $NF}' \"$NAME\"",
    'echo \\$PRICE "\\$PRICE"',
    "echo ${JUMP_HOST:-gw} ${JUMP_HOST?}",
    "LOG=/var/log; tail $LOG",
    'echo "$(ssh "$HOST" date) $NAME"',
    "for H in a b; do ping $H; done",
    "printf x | while read -r LINE; do echo $LINE; done",
    "echo $1 $? $$ $lower $Mixed",
  ])("may use variables: %s", (command) => {
    expect(userCommands.parse([{ ...LOGIN, command }])).toMatchObject({ value: [{ command }] });
  });
});

it.each<[text: string, used: string[]]>([
  ['ssh "$HOST" ${RUN}', ["HOST", "RUN"]],
  ['echo "it\'s $NAME"', ["NAME"]],
  ["echo 'it is $NAME' \\$RUN", []],
  ["echo ${NAME:-none} ${#HOST}", ["NAME?", "HOST"]],
])("the variables of %s", (text, used) => {
  const found = listUsedVariables(text);
  expect(found.map(({ name, hasDefault }) => `${name}${hasDefault ? "?" : ""}`)).toEqual(used);
});
