/** JSON with positions: the same values as JSON.parse, and their positions in the text. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { computeLineColumn, type JsonNode, parseJsonTree } from "../../src/base/json-tree.ts";

function plainOf(node: JsonNode): unknown {
  if (node.kind === "scalar") return node.value;
  if (node.kind === "list") return node.items.map(plainOf);
  return Object.fromEntries(node.entries.map(({ key, node: value }) => [key, plainOf(value)]));
}

function rooted(text: string): JsonNode {
  const tree = parseJsonTree(text);
  if ("fault" in tree) throw new Error(tree.fault.what);
  return tree.root;
}

test("a tree says what JSON.parse says, however it is laid out", () => {
  const layout = fc.constantFrom(undefined, 0, 1, 4, "\t");
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), layout, (value, space) => {
      const text = JSON.stringify(value, undefined, space);
      expect(plainOf(rooted(text))).toEqual(JSON.parse(text));
    }),
  );
});

test("every value knows its line and column, and a key that stands twice is there twice", () => {
  const text = '{\n  "a": [1, "x\\"{"],\n  "a" : {}\n}';
  const root = rooted(text);
  if (root.kind !== "object") throw new Error("no object");
  expect(root.entries.map(({ key, at }) => [key, computeLineColumn(text, at)])).toEqual([
    ["a", { line: 2, column: 3 }],
    ["a", { line: 3, column: 3 }],
  ]);
  const [first, second] = root.entries.map(({ node }) => node);
  expect(first?.kind === "list" && first.items.map(({ at }) => computeLineColumn(text, at).column)).toEqual([
    9, 12,
  ]);
  expect(second && computeLineColumn(text, second.at)).toEqual({ line: 3, column: 9 });
});

test.each([
  ["", 1, 1],
  ["{\n  ]", 2, 3],
  ['{"a": 1,}', 1, 9],
  ["[1 2]", 1, 4],
])("%j has a fault in line %d, column %d", (text, line, column) => {
  expect(parseJsonTree(text)).toMatchObject({ fault: { line, column } });
});

test("brackets without end are refused, not descended into", () => {
  const text = "[".repeat(100_000) + "]".repeat(100_000);
  expect(parseJsonTree(text)).toMatchObject({ fault: { what: "nested more than 100 levels deep" } });
});
