import { expect, test } from "vitest";
import { ConfigError } from "../../../src/core/base/errors.ts";
import { createMacros } from "../../../src/core/fleet/macros.ts";
import {
  evaluateConfiguredTotal,
  parseResourceConfig,
  serializeResourceConfig,
} from "../../../src/core/fleet/resources.ts";

const macros = createMacros({ fqdn: "web1.example.com", host: "web1", cpu: 4, memMb: 7976, macros: {} });

test.each([
  [" 10\n", 10],
  ['"CPU*2"', 8],
  ["int(MEMMB/1024)", 7],
  ['{"v": 1, "total": 10}', 10],
  ['{"v": 9, "total": "CPU", "later": true}', 4],
])("%j is a total of %d", (text, total) => {
  expect(evaluateConfiguredTotal(text, macros)).toBe(total);
});

test.each([
  ["0", "is 0, it must be 1 or more"],
  ["null", "has no total"],
  ["[]", "has no total"],
  ['{"total": true}', "has no total"],
  ["{", 'expected a number, got "{"'],
])("%j is none: %s", (text, why) => {
  expect(() => evaluateConfiguredTotal(text, macros)).toThrow(ConfigError);
  expect(() => evaluateConfiguredTotal(text, macros)).toThrow(why);
});

test.each(['{"v":1}', '{"order":3,"note":"x"}'])("%j states no total", (text) => {
  expect(evaluateConfiguredTotal(text, macros)).toBeUndefined();
});

test.each([{ total: "10" }, {}, { order: 2 }, { total: "CPU*2", order: 3, note: 'a "note"' }])(
  "what is kept: %j is read back",
  (config) => {
    expect(parseResourceConfig(serializeResourceConfig(config))).toEqual({ value: config });
  },
);
