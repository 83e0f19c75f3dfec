/** Forms built from commands, and their command lines: typed values reach the command unchanged. */
import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { splitShellWords } from "../../../fixtures/split-shell-words.ts";
import { measureProcessorMs } from "../../../fixtures/steady.ts";
import { COMMANDS } from "../../../src/cli/commands/registry.ts";
import type { Command } from "../../../src/cli/frame/command.ts";
import { parseCall } from "../../../src/cli/frame/command-line/parse-call.ts";
import {
  createForm,
  type Form,
  findFormFault,
  formatFormCommand,
  formatWordList,
  listFormFaults,
  parseWordList,
  selectNextValue,
  setFieldValue,
  toCommandWords,
} from "../../../src/console/overlays/dialog-form.ts";

function command(id: string): Command {
  const found = COMMANDS.find((one) => one.id === id);
  if (found === undefined) throw new Error(`no command ${id}`);
  return found;
}
/** The form of a command, filled in from a line such as `drain host web1`. */
function formOf(line: string, flags: Record<string, string | true> = {}) {
  const words = splitShellWords(line);
  const two = words.slice(0, 2).join(" ");
  const id = COMMANDS.some((one) => one.id === two) ? two : (words[0] ?? "");
  return createForm(command(id), { args: words.slice(id.split(" ").length), flags });
}
const filled = (form: Form, values: Record<string, string | boolean>) =>
  Object.entries(values).reduce((now, [id, value]) => setFieldValue(now, id, value), form);
const valueIn = (form: Form, id: string) => form.fields.find((field) => field.id === id)?.value;

/** What people type, and what they had better not. */
const anyWord = fc.oneof(
  fc.constantFrom(
    "--",
    "-",
    "-x",
    "--yes",
    "=",
    "--a=b",
    "'",
    '"',
    "\\",
    " ",
    "it's",
    "$HOME",
    "a b",
    "~",
    "#",
    "\n",
    "日本",
  ),
  fc.string({ unit: "binary", maxLength: 8 }),
);
const ACTING = COMMANDS.filter(({ topic }) => topic === "Act" || topic === "Configure");

/** A form filled in at random, with the call that it should become. */
function anyForm(spec: Command) {
  const fields = createForm(spec).fields.map((field) => {
    const least = field.isRequired ? 1 : 0;
    if (field.kind === "switch") return fc.boolean();
    const anyItem = field.choices ? fc.constantFrom(...field.choices) : anyWord;
    if (field.kind === "list") return fc.array(anyItem, { minLength: least, maxLength: 4 });
    if (field.kind === "choice") return fc.constantFrom(...(field.choices ?? []), ...(least ? [] : [""]));
    return least ? anyWord.filter((word) => word !== "") : anyWord;
  });
  return fc.tuple(...fields).map((values) => ({ values, form: typed(createForm(spec), values) }));
}

function typed(form: Form, values: readonly (string | boolean | string[])[]): Form {
  const texts = values.map((value) => (Array.isArray(value) ? formatWordList(value) : value));
  return { ...form, fields: form.fields.map((field, at) => ({ ...field, value: texts[at] ?? "" })) };
}

describe.each(ACTING.map((spec) => [spec.id, spec] as const))("the form of %s", (_, spec) => {
  /** The command with flags that take any text. */
  const texts: Command = {
    ...spec,
    args: spec.args ?? [],
    flags: (spec.flags ?? []).map((flag) => (flag.value ? { ...flag, parse: (text) => text } : flag)),
  };

  it("gives the command what was typed", () => {
    fc.assert(
      fc.property(anyForm(spec), ({ form, values }) => {
        const given = form.fields.flatMap(({ id }, at) => {
          const value = values[at];
          const isNone = Array.isArray(value) && value.length === 0;
          return value === undefined || value === "" || value === false || isNone
            ? []
            : [[id, value] as const];
        });
        const args = given.flatMap(([id, value]) => (id.startsWith("arg:") ? value : []));
        const flags = given
          .filter(([id]) => id.startsWith("flag:"))
          .map(([id, value]) => [id.slice(5), value]);
        const call = parseCall(texts, toCommandWords(form));
        expect(call.args).toEqual(args);
        expect(call.flags).toEqual(Object.fromEntries(flags));
      }),
      { numRuns: 60 },
    );
  });

  it("asks for nothing that the console says by itself", () => {
    const own = /^flag:(dry-run|yes|json|expect-revision|strict|no-wait)$/;
    expect(createForm(spec).fields.filter(({ id }) => own.test(id))).toEqual([]);
  });
});

it("is a line that a shell reads as it was meant", () => {
  const isSafe = (form: Form) => form.fields.every(({ value }) => !String(value).includes("\0"));
  const forms = ACTING.flatMap((spec) => fc.sample(anyForm(spec), 12).map(({ form }) => form)).filter(isSafe);
  // Shells end a variable's name where it may end, and words at no other place than people do.
  const script = `signalbox() { printf '%s\\0' "$@"; printf '\\0\\0'; }\n${forms.map((form) => formatFormCommand(form, ["--yes"])).join("\n")}`;
  const said = execFileSync("bash", ["-c", script], {
    encoding: "utf8",
    env: { PATH: process.env.PATH, LC_ALL: "C.UTF-8" },
  });
  const wanted = forms.map(({ spec, ...form }) => {
    const words = toCommandWords({ spec, ...form });
    const end = words[0]?.startsWith("--") && words.includes("--") ? words.indexOf("--") : -1;
    const all = end < 0 ? [...words, "--yes"] : [...words.slice(0, end), "--yes", ...words.slice(end)];
    return [...spec.id.split(" "), ...all].map((word) => `${word}\0`).join("");
  });
  expect(said).toBe(wanted.map((text) => `${text}\0\0`).join(""));
});

describe("a form", () => {
  it("is made from the declaration", () => {
    const fields = createForm(command("drain"), {
      args: ["host", "web1"],
      flags: { wait: true, yes: true },
      fixed: 1,
    }).fields;
    expect(fields.map(({ label, kind, value, isRequired }) => [label, kind, value, isRequired])).toEqual([
      ["scope", "choice", "host", true],
      ["name", "text", "web1", false],
      ["for", "text", "", false],
      ["keep", "switch", false, false],
      ["wait", "switch", true, false],
      ["timeout", "text", "", false],
      ["reset", "switch", false, false],
      ["reason", "text", "", false],
    ]);
    expect(fields.map(({ isFixed }) => isFixed === true).slice(0, 2)).toEqual([true, false]);
    expect(fields[0]?.choices).toContain("group");
    expect(fields[1]?.names).toBe("lock");
  });

  it("is a line to copy", () => {
    const form = filled(formOf("drain host web1"), { "flag:reason": "disk change" });
    expect(formatFormCommand(form)).toBe("signalbox drain host web1 --reason 'disk change'");
    expect(formatFormCommand(form, ["--yes"])).toBe("signalbox drain host web1 --reason 'disk change' --yes");
    expect(formatFormCommand(formOf("apply -"))).toBe("signalbox apply -");
    const odd = formOf("reset lock -f");
    expect(formatFormCommand(odd, ["--yes"])).toBe("signalbox reset --yes -- lock -f");
    expect(formatFormCommand(filled(odd, { "arg:NAME": "x", "flag:reason": "-1" }))).toBe(
      "signalbox reset lock x --reason=-1",
    );
  });

  it("takes away a note that is emptied, and leaves alone what was never there", () => {
    const form = formOf("resource set db 10", { note: "two", order: "3" });
    expect(formatFormCommand(form)).toBe("signalbox resource set db 10 --note two --order 3");
    expect(formatFormCommand(filled(form, { "flag:note": "", "flag:order": "" }))).toBe(
      "signalbox resource set db 10 --note '' --order ''",
    );
    expect(formatFormCommand(filled(formOf("resource set db"), { "flag:note": "" }))).toBe(
      "signalbox resource set db",
    );
    const drain = formOf("drain all", { reason: "x" });
    expect(formatFormCommand(filled(drain, { "flag:reason": "" }))).toBe("signalbox drain all");
  });

  it("takes what is left of the arguments as a list", () => {
    const form = formOf("group set web web1 'odd name'");
    expect(valueIn(form, "arg:MEMBER")).toBe("web1 'odd name'");
    expect(toCommandWords(form)).toEqual(["web", "web1", "odd name"]);
  });

  it("turns switches and choices in a circle", () => {
    const form = formOf("drain all");
    expect(valueIn(selectNextValue(form, "arg:SCOPE"), "arg:SCOPE")).toBe("lock");
    expect(valueIn(selectNextValue(form, "arg:SCOPE", -1), "arg:SCOPE")).toBe("group");
    expect(valueIn(selectNextValue(selectNextValue(form, "flag:keep"), "flag:wait"), "flag:keep")).toBe(true);
    expect(selectNextValue(form, "flag:reason")).toBe(form);
    expect(valueIn(selectNextValue(formOf("drain"), "arg:SCOPE", -1), "arg:SCOPE")).toBe("all");
  });
});

describe("what is wrong with a form", () => {
  test.each([
    ["drain host web1", {}, undefined],
    ["drain", {}, "scope is missing"],
    [
      "drain hosts web1",
      {},
      'SCOPE must be one of lock, resource, host, group, all; got "hosts"; did you mean "host"?',
    ],
    ["drain all", { "flag:for": "5" }, 'for: "5" has no unit; write 5s, 5m, 5h or 5d'],
    ["drain all", { "flag:reason": " " }, "--reason must not be empty; give a reason, or leave --reason out"],
    [`drain lock ${"x".repeat(600)}`, {}, "name: it has 600 bytes; at most 512 are allowed"],
    ["prune", { "flag:hosts": "x" }, 'hosts: "x" is not a duration; write it as 30s, 0.5s, 5m, 1h30m or 2d'],
    ["group add web", {}, "member is missing"],
    ["group add web web1", {}, undefined],
    ["group add web", { "arg:MEMBER": "web1 ''" }, "member: it is empty"],
  ])("%s with %j: %s", (line, values, fault) => {
    expect(findFormFault(filled(formOf(line), values))).toBe(fault);
  });

  it("is said of each field", () => {
    const form = filled(formOf("reset"), { "flag:timeout": "soon" });
    expect(listFormFaults(form).map(({ id }) => id)).toEqual(["arg:KIND", "arg:NAME", "flag:timeout"]);
  });

  it("is found in any form without failing", () => {
    for (const spec of ACTING)
      fc.assert(
        fc.property(
          fc.array(anyWord, { maxLength: 4 }),
          (args) => void listFormFaults(createForm(spec, { args })),
        ),
        { numRuns: 20 },
      );
  });
});

describe("a list", () => {
  it("is read as it was written", () => {
    fc.assert(
      fc.property(fc.array(anyWord), (words) => {
        expect(parseWordList(formatWordList(words))).toEqual(words);
      }),
    );
  });

  test.each([
    ["", []],
    ["  web1   web2 ", ["web1", "web2"]],
    ["'odd name' b", ["odd name", "b"]],
    [`"it's" 'say "x"'`, ["it's", 'say "x"']],
    ["a'b c'd", ["ab cd"]],
    [`"a\\"b" c\\ d`, ['a"b', "c d"]],
    // still being typed
    ["web1 'odd na", ["web1", "odd na"]],
    ['"odd\\', ["odd"]],
    ["a\\", ["a"]],
    ["'", [""]],
  ])("%j is %j", (line, words) => {
    expect(parseWordList(line)).toEqual(words);
  });

  it("is read whatever it is, in time that grows with its length only", () => {
    fc.assert(fc.property(fc.string(), (line) => void parseWordList(line)));
    const ms = measureProcessorMs(() => {
      parseWordList(`"${"\\".repeat(100_001)}`.repeat(3));
      parseWordList("'\"".repeat(100_000));
    });
    expect(ms).toBeLessThan(1_000);
  });
});
