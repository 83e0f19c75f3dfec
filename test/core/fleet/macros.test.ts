import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { measureProcessorMs } from "../../../fixtures/steady.ts";
import { ConfigError } from "../../../src/core/base/errors.ts";
import { createMacros, type MacroFacts } from "../../../src/core/fleet/macros.ts";

const facts: MacroFacts = { fqdn: "web1.example.com", host: "web1", cpu: 4, memMb: 7976, macros: {} };
const withOwn = (macros: MacroFacts["macros"]) => createMacros({ ...facts, macros });

describe("names", () => {
  test.each([
    ["FQDN", "web1.example.com"],
    ["webFQDN", "webweb1.example.com"],
    ["HOSTs", "web1s"],
    ["2HOST", "2HOST"],
    ["DB_main", "DB_main"],
    ["fqdn", "fqdn"],
    ["", ""],
  ])("%s becomes %s", (name, expanded) => {
    expect(createMacros(facts).expand(name)).toBe(expanded);
  });

  test("own macros stand in names, texts as well as numbers", () => {
    expect(withOwn({ RACK: "r12", DISKS: 4 }).expand("RACK_DISKS_HOST")).toBe("r12_4_web1");
  });

  test("of two that fit, the longer one wins", () => {
    const macros = withOwn({ HOST_RACK: "long", RACK: "short" });
    expect(macros.expand("HOST_RACK_db")).toBe("long_db");
    expect(macros.expand("HOST_RACKS")).toBe("web1_RACKS");
    expect(macros.expand("FQDN_RACK")).toBe("web1.example.com_short");
  });

  test("what was put in is not expanded again", () => {
    const macros = withOwn({ A: "B_CPU", B: "A", C: "$&$1$$" });
    expect(macros.expand("A_B_C")).toBe("B_CPU_A_$&$1$$");
  });

  test("words between separators are expanded exactly when they are macros", () => {
    const word = fc.constantFrom(
      "FQDN",
      "HOST",
      "CPU",
      "MEMMB",
      "CPUSET",
      "XCPU",
      "CPU1",
      "HOSTFQDN",
      "ab",
      "7",
    );
    const separator = fc.constantFrom("_", "-", ".", ":", "/", " ", "é");
    const meaning = new Map([
      ["FQDN", "web1.example.com"],
      ["HOST", "web1"],
      ["CPU", "4"],
      ["MEMMB", "7976"],
    ]);
    fc.assert(
      fc.property(fc.array(fc.tuple(word, separator)), (parts) => {
        const name = parts.flat().join("");
        const expected = parts.map(([one, between]) => (meaning.get(one) ?? one) + between).join("");
        expect(createMacros(facts).expand(name)).toBe(expected);
      }),
    );
  });

  test("1 MB of macros takes linear time", () => {
    const text = "CPU_".repeat(250_000);
    let expanded = "";
    const ms = measureProcessorMs(() => {
      expanded = createMacros(facts).expand(text);
    });
    expect(expanded === "4_".repeat(250_000)).toBe(true);
    expect(ms).toBeLessThan(1_000);
  });
});

describe("numbers", () => {
  test.each([
    ["CPU", 4],
    ["MEMMB", 7976],
    ["FQDN", "web1.example.com"],
    ["DISKS", 3],
    ["constructor", undefined],
    ["__proto__", undefined],
    ["cpu", undefined],
  ])("%s is %s", (name, value) => {
    expect(withOwn({ DISKS: 3 }).lookup(name)).toBe(value);
  });

  test("facts are looked at only when a macro asks for them", () => {
    const lazy: MacroFacts = {
      ...facts,
      get cpu(): number {
        throw new Error("looked at");
      },
    };
    const macros = createMacros(lazy);
    expect(macros.expand("FQDN_mem")).toBe("web1.example.com_mem");
    expect(() => macros.lookup("CPU")).toThrow("looked at");
  });
});

test.each([
  [{ CPU: 2 }, "CPU is built in"],
  [{ lower: 2 }, '"lower" is not a macro name'],
  [{ "A|B": 2 }, "is not a macro name"],
  [{ X: "a\nb" }, "X cannot be part of a name: it contains a control character"],
])("own macros: %j is refused", (macros, message) => {
  expect(() => withOwn(macros as MacroFacts["macros"])).toThrow(ConfigError);
  expect(() => withOwn(macros as MacroFacts["macros"])).toThrow(message);
});
