import { describe, expect, test } from "vitest";
import { ConfigError, UsageError } from "../../../src/core/base/errors.ts";
import {
  createConditionLookup,
  findConditionFault,
  HostConditions,
} from "../../../src/core/fleet/conditions.ts";

const PRESSURE =
  "some avg10=12.34 avg60=0.50 avg300=0.00 total=21\nfull avg10=99.00 avg60=0.00 avg300=0.00 total=2\n";
const FILES: Record<string, string> = {
  "/proc/loadavg": "5.20 3.05 2.93 2/202 7457\n",
  "/proc/pressure/memory": PRESSURE,
  "/proc/pressure/io": "",
};
const MACROS: Record<string, number | string> = { CPU: 4, FQDN: "web1.example.com", RACK: 7 };
const lookup = createConditionLookup(
  (name) => MACROS[name],
  (path) => FILES[path],
);
const createConditions = (...all: string[]) => new HostConditions(all, lookup);

describe("conditions on a host", () => {
  test("are measured, each with the values that it names", () => {
    expect(createConditions("load < 2 * CPU", "pressure.memory < 10", "1 < 2").read()).toEqual([
      { condition: "load < 2 * CPU", holds: true, values: "load is 5.2, CPU is 4" },
      { condition: "pressure.memory < 10", holds: false, values: "pressure.memory is 12.34" },
      { condition: "1 < 2", holds: true, values: "" },
    ]);
  });

  test.each([
    [[], undefined],
    [["load > CPU", "RACK == 7"], undefined],
    [["load > CPU", "load < CPU"], 'condition "load < CPU" does not hold: load is 5.2, CPU is 4'],
    [["2 < 1"], 'condition "2 < 1" does not hold'],
  ])("%j: what does not hold", (conditions, why) => {
    expect(createConditions(...conditions).findUnmet()).toBe(why);
  });

  test.each([
    ["CPU / (RACK - 7) < 1", 'condition "CPU / (RACK - 7) < 1": division by zero, at character 5'],
    ["DISK < 1", 'there is no macro "DISK"'],
  ])("%s cannot be evaluated", (condition, fault) => {
    const read = () => createConditions(condition).read();
    expect(read).toThrow(UsageError);
    expect(read).toThrow(fault);
  });

  test.each(["cpu", "io"])("pressure.%s is an error where the kernel does not measure it", (resource) => {
    const read = () => createConditions(`pressure.${resource} < 1`).read();
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(`/proc/pressure/${resource} cannot be read`);
  });
});

test.each([
  ["load < CPU", undefined],
  ["pressure.io <= 0.5 * OWN_MACRO", undefined],
  ["1 / (CPU - 1) < load", undefined],
  ["lod < CPU", 'there is no macro "lod"'],
  ["pressure.disk < 3", 'there is no macro "pressure.disk"'],
  ["load < 10%", "a number is missing, at character 11"],
  ["load", "write it as 'load < CPU', with load, pressure.cpu, pressure.memory, pressure.io and macros"],
])("%s is checked without the values of a host", (condition, fault) => {
  expect(findConditionFault(condition)).toEqual(fault && expect.stringContaining(fault));
});
