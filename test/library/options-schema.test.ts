import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { ConfigError } from "../../src/core/base/errors.ts";
import { CLAIM_OPTIONS } from "../../src/library/claims.ts";
import { INSTANT, parseArgument, parseOptions } from "../../src/library/options-schema.ts";

const parse = (options: unknown) => parseOptions("withLock", options as object, CLAIM_OPTIONS);

describe("parseOptions", () => {
  test("converts durations to ms, and leaves out what was not given", () => {
    expect(parse({ wait: "1m", ttl: 5_000, maxHold: undefined })).toEqual({ wait: 60_000, ttl: 5_000 });
    expect(parse({ wait: false, history: true, label: "a" })).toEqual({
      wait: false,
      history: true,
      label: "a",
    });
  });

  test.each<[unknown, string]>([
    [null, "withLock: the options must be an object; got null"],
    [{ waitt: 1 }, 'unknown option "waitt" of withLock; did you mean "wait"?'],
    [{ quick: 1 }, 'unknown option "quick" of withLock; the options are wait, shared, signal, group, '],
    [{ wait: -1 }, 'wait: -1 is neither whole ms of 0 or more nor a string such as "30s"'],
    [{ wait: "soon" }, 'wait: "soon" is not a duration'],
    [{ ttl: "1500ms" }, 'ttl: "1500ms" is not a number of whole seconds, at least 2 s'],
    [{ maxHold: 1n }, "maxHold: 1 is neither whole ms"],
    [{ group: 5 }, "group: 5 is not a string"],
    [{ history: "no" }, 'history: "no" is neither true nor false'],
    [{ signal: {} }, "signal: [object Object] is not an AbortSignal"],
  ])("refuses %o", (options, message) => {
    expect(() => parse(options)).toThrow(ConfigError);
    expect(() => parse(options)).toThrow(message);
  });

  test("names a required option that is missing", () => {
    expect(() => parseOptions("Worker", {}, { handlers: v.unknown() })).toThrow(
      'Worker needs the option "handlers"',
    );
  });
});

test.each<[unknown, number]>([
  [new Date(5), 5],
  [7, 7],
  ["2026-11-22T05:00Z", Date.UTC(2026, 10, 22, 5)],
  ["2026-11-22", Date.UTC(2026, 10, 22)],
])("%o is an instant", (given, at) => {
  expect(parseArgument("until", given, INSTANT)).toBe(at);
});

test.each([-1, 1.5, "soon", "2026-11-22T05:00", new Date(Number.NaN), undefined])(
  "%o is no instant",
  (given) => {
    expect(() => parseArgument("until", given, INSTANT)).toThrow(/^until: .* is not an instant; use a Date/);
  },
);
