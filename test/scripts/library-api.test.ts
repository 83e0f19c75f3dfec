/** docs/library-api.md: what is refused, and what the library itself has no example of. `npm run check` compares the page with the library. */
import { expect, test } from "vitest";
import { findDocstring, parseDocstring } from "../../scripts/docs/api/docstring.ts";
import { readLibraryApi } from "../../scripts/docs/api/library-api.ts";

/** Reads declarations from texts by path; the entry is `a/index.d.ts`. */
function readFiles(files: Record<string, string>) {
  return readLibraryApi("a/index.d.ts", (path) => files[path] ?? "");
}

/** Reads the exports of a library of one file. */
function readEntry(text: string) {
  return readFiles({ "a/index.d.ts": text });
}

test("a tag that the page does not show is refused", () => {
  expect(() => parseDocstring("/** Text. @see Other */")).toThrow("unknown tag @see");
});

test.each([
  ["/** a */\n", "/** a */"],
  ["/** a */ /** b */\n  ", "/** b */"],
  ["/** a */ type A = 1;\n", undefined],
  ["/* no docstring */\n", undefined],
  ["// é\n/** é */", "/** é */"],
  ["", undefined],
])("the docstring that ends %j", (before, comment) => {
  expect(findDocstring(before)).toBe(comment);
});

test("exports are followed through files, under folders and with `export *`", () => {
  const exports = readFiles({
    "a/index.d.ts": 'export { f, type T } from "./part.ts";\nexport type * from "../b/all.ts";\n',
    "a/part.d.ts":
      'export { f } from "../b/f.ts";\n/** A type. */\nexport type T = string;\n/** Hidden. */\nexport type H = 1;\n',
    "b/f.d.ts":
      "// é: spans count bytes\n/** A function: é. */\nexport declare function f(a: string): void;\n",
    "b/all.d.ts":
      "/** First. */\nexport interface One {}\n/** Second. */\ninterface Two {}\nexport type { Two };\n",
  });
  expect(exports.map(({ name, kind, doc }) => [name, kind, doc.text])).toEqual([
    ["f", "function", "A function: é."],
    ["T", "type", "A type."],
    ["One", "interface", "First."],
    ["Two", "interface", "Second."],
  ]);
});

test("members have their types, overloads and docstrings; what is private is left out", () => {
  const [example] = readEntry(`
    /** A class. */
    export declare class Example {
      #private;
      private hidden;
      /** A literal. */
      readonly code = "X";
      /** Maybe. */
      name?: {
        cause?: unknown;
      };
      /** A getter. */
      get id(): string | undefined;
      /** Two ways. */
      call<T>(one: T): void;
      call(one: string, two: number): void;
      constructor(message: string);
      /** For \`await using\`. */
      [Symbol.asyncDispose](): Promise<void>;
    }`);
  expect(
    example?.members.map(({ name, kind, signature, isOptional }) => [name, kind, signature, isOptional]),
  ).toEqual([
    ["code", "property", '"X"', false],
    ["name", "property", "{ cause?: unknown }", true],
    ["id", "property", "string | undefined", false],
    ["call", "method", "call<T>(one: T): void\ncall(one: string, two: number): void", false],
    ["[Symbol.asyncDispose]", "method", "[Symbol.asyncDispose](): Promise<void>", false],
  ]);
});

test("a member without a docstring has that of its nearest parent", () => {
  const exports = readEntry(`
    /** Top. */
    export declare class Top extends Error { /** The kind. */ readonly code: string; }
    /** Middle. */
    export declare class Middle extends Top {}
    /** Low. */
    export declare class Low extends Middle { readonly code = "LOW"; }`);
  expect(exports.at(-1)?.members[0]).toMatchObject({ signature: '"LOW"', doc: { text: "The kind." } });
});

test("all missing docstrings are named at once", () => {
  const text = "export interface A { a: string; b(): void }\nexport declare function f(): void;";
  expect(() => readEntry(text)).toThrow(
    "A.a has no docstring\nA.b has no docstring\nA has no docstring\nf has no docstring",
  );
});

test.each([
  ["a property", "/** A. */\nexport interface A { /** B. */ b: readonly Hidden[] }"],
  ["a parameter", "/** A. */\nexport interface A { /** B. */ b(one: Hidden): void }"],
  ["a parent", "/** A. */\nexport interface A extends Hidden {}"],
  ["a base class", "/** A. */\nexport declare class A extends Hidden {}"],
  ["an argument of a parent", "/** A. */\nexport declare class A extends Map<string, Hidden> {}"],
  ["a function", "/** A. */\nexport declare function f(): Promise<Hidden>;"],
  ["a type", "/** A. */\nexport type A = { [K in keyof Hidden]: 1 };"],
])("%s of a type that is not exported is refused", (_what, text) => {
  const fault = /uses Hidden, which the library does not export/;
  expect(() => readEntry(`import type { Hidden } from "./hidden.ts";\n${text}`)).toThrow(fault);
  expect(() => readEntry(`interface Hidden {}\n${text}`)).toThrow(fault);
  expect(() => readEntry(text)).not.toThrow(); // then it is a type of the language
});

test("an export that does not exist is refused", () => {
  expect(() => readEntry('export { f } from "./none.ts";')).toThrow(
    "a/index.d.ts: ./none.ts does not export f",
  );
});
