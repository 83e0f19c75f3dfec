/** What docs/safety.md, docs/etcd-versions.md and spec/README.md name as proof exists: rules of the models, mutants, tests. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { isEvidence } from "../../scripts/spec/evidence.ts";
import { readModel } from "../../scripts/spec/model.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");

/** Reads the rows of the table whose head begins with a word. @returns the cells of each row */
function readTable(file: string, head: string) {
  const lines = readFileSync(path.join(ROOT, file), "utf8").split("\n");
  const at = lines.findIndex((line) => line.startsWith(`| ${head} |`));
  const end = lines.findIndex((line, index) => index > at && !line.startsWith("|"));
  return lines
    .slice(at + 2, end)
    .map((line) => line.split(" | ").map((cell) => cell.replace(/^\| | \|$/g, "")));
}

async function listRules() {
  const files = readdirSync(path.join(ROOT, "spec")).filter((name) => /^(?!common).*\.pml$/.test(name));
  const models = await Promise.all(files.map((name) => readModel(path.join(ROOT, "spec", name))));
  return models.flatMap(({ rules }) => rules.map(({ id }) => id));
}

/** Expands `V1–V3a, D2` to the rules that are meant. */
function expandRules(text: string, all: readonly string[]) {
  return text.split(", ").flatMap((part) => {
    const [first = "", last = first] = part.split("–");
    const [kind, from, to] = [first.replace(/\d.*/, ""), toNumber(first), toNumber(last)];
    const among = all.filter(
      (id) => id.replace(/\d.*/, "") === kind && toNumber(id) >= from && toNumber(id) <= to,
    );
    return among.includes(first) && among.includes(last) ? among : [`${part}: no rule of spec/`];
  });
}

/** `V5c` is after `V5`, and before `V6`. */
function toNumber(id: string) {
  const [, number = "", letter = ""] = /^[A-Z]+(\d+)([a-z]?)$/.exec(id) ?? [];
  return Number(number) + (letter === "" ? 0 : (letter.charCodeAt(0) - 96) / 100);
}

const listNames = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);

async function listMissing(names: readonly string[]) {
  const found = await Promise.all(names.map(async (name) => ((await isEvidence(name)) ? [] : [name])));
  return found.flat();
}

describe("docs/safety.md", () => {
  const rows = readTable("docs/safety.md", "promise");

  test("names rules, tests and mutants for each promise", async () => {
    expect(rows.length).toBeGreaterThanOrEqual(4);
    for (const [promise = "", rules = "", tests = "", mutants = ""] of rows) {
      expect(await listMissing(listNames(tests)), promise).toEqual([]);
      expect(await listMissing(listNames(mutants)), promise).toEqual([]);
      expect([rules, ...listNames(tests)].length, promise).toBeGreaterThan(1);
      expect(listNames(mutants), promise).not.toEqual([]);
      expect(
        listNames(tests).every((name) => name.startsWith("test/")),
        promise,
      ).toBe(true);
    }
  });

  test("names only rules of the models, and each of them", async () => {
    const all = await listRules();
    const named = rows.flatMap(([, rules = ""]) => expandRules(rules, all));
    expect(all.filter((id) => !named.includes(id))).toEqual([]);
    expect(named.filter((id) => !all.includes(id))).toEqual([]);
  });
});

test("spec/README.md: names what checks the rules that are not modelled", async () => {
  const rows = readTable("spec/README.md", "not modelled");
  expect(rows.length).toBeGreaterThan(0);
  for (const [rule = "", , checked = ""] of rows) {
    expect(listNames(checked), rule).not.toEqual([]);
    expect(await listMissing(listNames(checked)), rule).toEqual([]);
  }
});

test("docs/etcd-versions.md names tests and mutants that exist", async () => {
  const rows = readTable("docs/etcd-versions.md", "etcd's fault");
  const names = rows.flatMap(([, , , , shown = ""]) => listNames(shown));
  expect(names.length).toBeGreaterThan(10);
  expect(await listMissing(names)).toEqual([]);
});

test("a name that does not exist is found", async () => {
  expect(await listMissing(["grant-time", "no-such-mutant", "test/safety/queues", "test/no/such"])).toEqual([
    "no-such-mutant",
    "test/no/such",
  ]);
  expect(expandRules("V1–V3a, V9, X1", ["V1", "V2", "V3", "V3a", "V4", "V9"])).toEqual([
    "V1",
    "V2",
    "V3",
    "V3a",
    "V9",
    "X1: no rule of spec/",
  ]);
});
