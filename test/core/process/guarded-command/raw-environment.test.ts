import { describe, expect, test } from "vitest";
import {
  type InitialEnvironment,
  splitEnvironment,
} from "../../../../src/core/process/guarded-command/guarded-process.ts";

const block = (...entries: string[]) => Buffer.from(entries.map((entry) => `${entry}\0`).join(""), "latin1");

/** The environment according to Node, and its raw bytes. */
const createInitial = (...entries: string[]): InitialEnvironment => ({
  listNames: () => entries.map((entry) => Buffer.from(entry, "latin1").toString().split("=", 1)[0] ?? ""),
  readBytes: () => block(...entries),
});

describe("splitEnvironment", () => {
  test("reads nothing where every variable is text", () => {
    const unread = {
      ...createInitial("A=\xc3\xbc"),
      readBytes: () => {
        throw new Error("the environment need not be read");
      },
    };
    expect(splitEnvironment({ A: "ü", B: undefined }, unread)).toEqual({
      text: { A: "ü", B: undefined },
      raw: Buffer.alloc(0),
    });
  });

  test("a value as it is; what is text stays out", () => {
    const env = { A: "x\ufffdy", B: "plain", C: "ü" };
    expect(splitEnvironment(env, createInitial("A=x\xffy", "B=plain", "C=\xc3\xbc"))).toEqual({
      text: { B: "plain", C: "ü" },
      raw: block("A=x\xffy"),
    });
  });

  test("names as they are, also those that look alike to Node", () => {
    expect(splitEnvironment({}, createInitial("N\xfe=1", "N\xfd=2")).raw).toEqual(
      block("N\xfe=1", "N\xfd=2"),
    );
  });

  test("what was left out or changed meanwhile is not brought back", () => {
    const all = createInitial("SECRET=\xff", "CHANGED=a\xff", "A=\xff");
    expect(splitEnvironment({ CHANGED: "b", A: "\ufffd" }, all)).toEqual({
      text: { CHANGED: "b" },
      raw: block("A=\xff"),
    });
  });

  test("the character itself in a text is no fault", () => {
    expect(splitEnvironment({ A: "\ufffd" }, createInitial("A=\xef\xbf\xbd"))).toEqual({
      text: { A: "\ufffd" },
      raw: Buffer.alloc(0),
    });
  });
});
