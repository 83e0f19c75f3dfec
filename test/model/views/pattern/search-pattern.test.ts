/** Regular expressions that cannot freeze the program. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SearchPattern } from "../../../../src/model/views/pattern/search-pattern.ts";

function create(text: string): SearchPattern {
  const made = SearchPattern.create(text);
  if ("fault" in made) throw new Error(made.fault);
  return made.value;
}

describe("a pattern", () => {
  it.each([
    ["web\\d+", "a web12 b", true],
    ["web\\d+", "web", false],
    ["^web", "a web", false],
    ["web$", "a web", true],
    ["^$", "", true],
    ["a.c", "abc", true],
    ["[a-c]x", "cx", true],
    ["[^a-c]x", "cx", false],
    ["[A-C]x", "bx", true],
    ["[\\d-]+$", "1-2", true],
    ["[]-]", "x", false],
    ["(ab|cd){2}$", "abcd", true],
    ["(?:ab){2,3}c", "abababc", true],
    ["^(ab){2,3}c", "abababababc", false],
    ["x{0}y", "y", true],
    ["\\bweb\\b", "a.web.b", true],
    ["\\bweb\\b", "webs", false],
    ["w\\Bb", "wb", true],
    ["(a*)*b", "aaaab", true],
    ["a+?b", "aab", true],
    ["日本", "日本語", true],
    ["^.$", "😀", true],
    ["a\\.b", "axb", false],
    ["a{b", "a{b", true],
    ["HELLO", "hello", true],
    ["", "x", true],
  ])("%s in %j: %s", (pattern, text, found) => {
    expect(create(pattern).matches(text)).toBe(found);
  });

  it.each([
    ["(", 'pattern "(": "(" without ")"; write \\( for the character'],
    [")", 'pattern ")": ")" without "("; write \\) for the character'],
    ["[a", 'pattern "[a": "[" without "]"; write \\[ for the character'],
    ["*a", 'pattern "*a": nothing to repeat before "*"; write \\* for the character'],
    ["^*", 'pattern "^*": nothing to repeat'],
    ["a**", 'pattern "a**": a repetition of a repetition'],
    ["a{3,2}", 'pattern "a{3,2}": the numbers of a repetition are in the wrong order'],
    ["a{101}", 'pattern "a{101}": at most 100 repetitions can be asked for'],
    ["(a)\\1", 'pattern "(a)\\\\1": \\1 is not supported'],
    ["(?=a)", 'pattern "(?=a)": (?…) is not supported, except for (?:…)'],
    ["\\p{L}", 'pattern "\\\\p{L}": \\p is not supported'],
    ["[z-a]", 'pattern "[z-a]": a range in [] is wrong'],
    ["a\\", 'pattern "a\\\\": it ends with "\\"'],
    ["((a{50}){50}){50}", "the pattern is too large; use fewer repetitions"],
    ["a".repeat(201), "the pattern has 201 characters; the maximum is 200"],
  ])("%s is refused", (pattern, fault) => {
    expect(SearchPattern.create(pattern)).toEqual({ fault });
  });

  it("agrees with the regular expressions of JavaScript", () => {
    const atom = fc.constantFrom("a", "b", ".", "[ab]", "[^a]", "\\b", "^", "$", "(a|b)", "(ab)", "c", "\\w");
    const piece = fc.tuple(atom, fc.constantFrom("", "", "*", "+", "?", "{2}", "{1,2}"));
    const pattern = fc
      .array(piece, { maxLength: 6 })
      .map((pieces) =>
        pieces.map(([one, times]) => (/^(\\b|\^|\$)$/.test(one) ? one : one + times)).join(""),
      );
    const text = fc
      .array(fc.constantFrom("a", "b", "c", " ", "-"), { maxLength: 8 })
      .map((all) => all.join(""));
    fc.assert(
      fc.property(pattern, text, (source, of) => {
        expect(create(source).matches(of)).toBe(new RegExp(source).test(of));
      }),
      { numRuns: 2_000 },
    );
  });

  it("never throws, whatever is typed", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (source, text) => {
        const made = SearchPattern.create(source);
        if ("value" in made) made.value.matches(text.toLowerCase());
      }),
    );
  });

  it("takes linear time where backtracking takes exponential time", () => {
    for (const source of ["(a+)+$", "(a|aa)+$", "(a*)*b", "(.*a){30}"])
      expect(create(source).matches(`${"a".repeat(100_000)}!`)).toBe(source === "(.*a){30}");
  });

  it("gives up where its automaton would have too many states, and says so", () => {
    const pattern = create("(a|b)*a(a|b){60}c");
    let seed = 1;
    const random = Array.from({ length: 200_000 }, () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed > 2 ** 30 ? "a" : "b";
    });
    expect(pattern.isExhausted).toBe(false);
    const start = performance.now();
    expect(pattern.matches(random.join(""))).toBe(false);
    expect(pattern.isExhausted).toBe(true);
    expect(performance.now() - start).toBeLessThan(5_000);
    expect(pattern.matches(`${"a".repeat(61)}c`)).toBe(false);
  });
});
