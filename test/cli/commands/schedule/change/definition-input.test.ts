/** Flags and arguments of the schedule commands. */
import { describe, expect, it } from "vitest";
import { splitShellWords } from "../../../../../fixtures/split-shell-words.ts";
import { parseCommandWords } from "../../../../../src/cli/commands/run/parse-hook.ts";
import { scheduleEdit } from "../../../../../src/cli/commands/schedule/change.ts";
import {
  applyGivenFields,
  readGivenFields,
} from "../../../../../src/cli/commands/schedule/definition-input.ts";
import { parseInstant } from "../../../../../src/cli/frame/command-line/instant.ts";
import { parseCall } from "../../../../../src/cli/frame/command-line/parse-call.ts";
import type { Definition } from "../../../../../src/schedule/definition.ts";

const NOW = Date.UTC(2026, 10, 21, 12);
const BEFORE: Definition = {
  cron: "0 3 * * *",
  timezone: "UTC",
  type: "a",
  timeout: 1_000,
  leases: ["db=1"],
  note: "x",
  env: { A: "b" },
  hooks: { failure: "https://a.example/", late: ["x"] },
  data: [1],
  end: NOW + 86_400_000,
};

function edited(line: string): Definition {
  const call = parseCall(scheduleEdit, ["key", ...splitShellWords(line)]);
  return applyGivenFields(BEFORE, readGivenFields(call, "UTC", NOW), call.flags);
}

describe("an instant", () => {
  it.each([
    ["now", "UTC", NOW],
    ["+2h", "UTC", NOW + 7_200_000],
    ["1795000000", "UTC", 1_795_000_000_000],
    ["1795264555220", "UTC", 1_795_264_555_220],
    ["2026-11-21 12:35:55.220 UTC", "Europe/Berlin", 1_795_264_555_220],
    ["2026-11-22T05:00Z", "Europe/Berlin", Date.UTC(2026, 10, 22, 5)],
    ["2026-11-22 05:00", "Europe/Berlin", Date.UTC(2026, 10, 22, 4)],
    ["2026-07-22T05:00:30", "Europe/Berlin", Date.UTC(2026, 6, 22, 3, 0, 30)],
    ["2026-11-22", "America/New_York", Date.UTC(2026, 10, 22, 5)],
    ["2026-11-22T05:00:00.250+05:30", "UTC", Date.UTC(2026, 10, 21, 23, 30, 0, 250)],
    ["2026-11-21 12:26:05.987Z", "UTC", Date.UTC(2026, 10, 21, 12, 26, 5, 987)],
  ])("%s in %s", (text, zone, at) => {
    expect(parseInstant(text, zone, NOW)?.at).toBe(at);
  });

  it.each(["", "soon", "30", "2026-02-30", "2026-13-01", "+5", "05:00", "-2h", "2026-11-22T25:00Z"])(
    "not %j",
    (text) => {
      expect(parseInstant(text, "UTC", NOW)).toBeUndefined();
    },
  );
});

describe("edit", () => {
  it("leaves alone what is not given", () => {
    expect(edited("")).toEqual(BEFORE);
  });

  it.each([
    ["durations", "--timeout 2h --delay 1m", { timeout: 7_200_000, delay: 60_000 }],
    ["what the history keeps", "--keep 100 --keep-for 7d", { keep: 100, keepFor: 604_800_000 }],
    ["a pause after failures", "--pause-after-failures 3", { pauseAfterFailures: 3 }],
    ["a command line", "--command 'a \"b c\"'", { command: ["a", "b c"] }],
    ["a command", "-- a --b", { command: ["a", "--b"] }],
    ["leases", "--lease x=1 --lease FQDN_cpu=1:CPU", { leases: ["x=1", "FQDN_cpu=1:CPU"] }],
    ["conditions", "--if 'load < CPU' --if 'RACK != 3'", { if: ["load < CPU", "RACK != 3"] }],
    ["one hook", "--hook-late ''", { hooks: { failure: "https://a.example/" } }],
    ["another hook", "--hook-start 'curl x'", { hooks: { ...BEFORE.hooks, start: ["curl", "x"] } }],
    [
      "the end, in the new zone",
      "--timezone Asia/Tokyo --end 2027-01-01",
      { timezone: "Asia/Tokyo", end: Date.UTC(2026, 11, 31, 15) },
    ],
  ])("sets %s", (_, line, after) => {
    expect(edited(line)).toEqual({ ...BEFORE, ...after });
  });

  it.each([
    ["--timeout ''", "timeout"],
    ["--note ''", "note"],
    ["--lease ''", "leases"],
    ["--env ''", "env"],
    ["--data ''", "data"],
    ["--data null", "data"],
    ["--end ''", "end"],
  ] as const)("takes away with %s", (line, field) => {
    const { [field]: _, ...rest } = BEFORE;
    expect(edited(line)).toEqual(rest);
  });

  it.each([
    ["--timeout 5", "no unit"],
    ["--lease db", "RESOURCE=COUNT"],
    ["--lease db=20:10", "never be granted"],
    ["--lease DB=20:10", "never be granted"],
    ["--lease HOST_db=1:CPU --lease DB=20:10", "never be granted"],
    ["--env =x", "NAME=VALUE"],
    ["--if load", "--if \"load\": a comparison is missing, at character 5; write it as 'load < CPU', with"],
    ["--if 'lod < 3'", '--if "lod < 3": there is no macro "lod", at character 1'],
    ["--retries -1", "whole number"],
    ["--keep 0", '--keep must be a whole number from 1 to 100; got "0"'],
    ["--keep 101", '--keep must be a whole number from 1 to 100; got "101"'],
    ["--command 'a > b'", "shell"],
    ["--command 'a $HOME'", "shell"],
    ["--command a -- b", "twice"],
    ["--timezone Nowhere", "Nowhere"],
    ["--timezone ''", "--timezone must not be empty; write UTC"],
    ["--hook-failure ftp://x", /--hook-failure must be a command line, or https:.*; got "ftp:\/\/x"/],
    ["--on end", "--on needs --after"],
    ["--if-excluded next", "--if-excluded needs --except or --only"],
    ["--end soon", '--end: "soon"'],
    ["--data {", "not JSON"],
    ["--data [12345678901234567890]", "would become 12345678901234567000"],
    ["--overlap maybe", "must be one of forbid"],
  ])("refuses %s", (line, why) => {
    expect(() => edited(line)).toThrow(why);
  });
});

it("a command line is split as a shell would, or refused", () => {
  expect(parseCommandWords(`x "a b" 'c > d' e\\ f`, "--command")).toEqual(["x", "a b", "c > d", "e f"]);
  expect(() => parseCommandWords("a; b", "--command")).toThrow("sh -c");
});
