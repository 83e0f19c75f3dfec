/** The form for editing a schedule: it shows all values, and passes on only the changed ones. */
import { describe, expect, it } from "vitest";
import { createSnapshot } from "../../../fixtures/state/sample-snapshots.ts";
import { applyGivenFields, readGivenFields } from "../../../src/cli/commands/schedule/definition-input.ts";
import { parseCall } from "../../../src/cli/frame/command-line/parse-call.ts";
import {
  createForm,
  findFormFault,
  setFieldValue,
  toCommandWords,
} from "../../../src/console/overlays/dialog-form.ts";
import { buildEditAction } from "../../../src/console/parts/row-actions.ts";
import type { Definition } from "../../../src/schedule/definition.ts";

const FULL: Definition = {
  cron: "30 4 * * *",
  timezone: "Europe/Berlin",
  type: "report",
  delay: 90_000,
  jitter: 5_000,
  end: Date.UTC(2030, 0, 2, 3, 4, 5),
  data: { to: "ann's list", n: 1 },
  command: ["sh", "-c", "echo 'a b'; exit"],
  env: { PATH: "/a b", X: "1" },
  folder: "~/x y",
  input: "a b",
  catchup: "latest",
  deadline: 3_600_000,
  overlap: "replace",
  group: "web",
  place: "least-loaded",
  if: ["load < CPU", "pressure.io < 5"],
  leases: ["db=2:10"],
  timeout: 600_000,
  retries: 3,
  backoff: 60_000,
  note: "by hand",
  keep: 50,
  keepFor: 86_400_000,
  after: ["backup", "sync"],
  on: "failure",
  tags: ["a", "b"],
  except: ["holidays", "freeze"],
  only: ["workdays"],
  ifExcluded: "next",
  priority: -7,
  removeAfter: "end",
  hooks: { failure: "https://example.com/x?y=1", success: ["logger", "all is well"] },
};

function editing(definition: Definition) {
  const snapshot = {
    ...createSnapshot([]),
    schedules: new Map([["mail", { modRevision: 1n, value: definition }]]),
  };
  const action = buildEditAction({ kind: "schedule", name: "mail" }, snapshot);
  if (!("command" in action)) throw new Error("it cannot be edited");
  const { command, args, flags, present } = action;
  return createForm(command, { args, flags, present, fixed: args.length });
}

describe("the form that edits a schedule", () => {
  it("shows several cron texts in one line, and passes each", () => {
    const form = editing({ ...FULL, cron: ["30 4 * * *", "0 5 * * 6"] });
    const field = form.fields.find(({ label }) => label === "cron");
    expect(field?.value).toBe("30 4 * * *; 0 5 * * 6");
    expect(findFormFault(form)).toBeUndefined();
    const words = toCommandWords(form);
    expect(words.filter((_, at) => words[at - 1] === "--cron")).toEqual(["30 4 * * *", "0 5 * * 6"]);
  });

  it("keeps the semicolons of a rule of iCalendar", () => {
    const cron = ["0 5 * * 6", "@rrule FREQ=WEEKLY;INTERVAL=2;BYDAY=MO from 2026-11-30T09:00"];
    const form = editing({ ...FULL, cron });
    expect(findFormFault(form)).toBeUndefined();
    const words = toCommandWords(form);
    expect(words.filter((_, at) => words[at - 1] === "--cron")).toEqual(cron);
  });

  it("shows everything that it has", () => {
    const shown = Object.fromEntries(editing(FULL).fields.map(({ label, value }) => [label, value]));
    expect(shown).toMatchObject({
      cron: "30 4 * * *",
      timezone: "Europe/Berlin",
      type: "report",
      delay: "1m30s",
      jitter: "5s",
      catchup: "latest",
      deadline: "1h",
      overlap: "replace",
      group: "web",
      timeout: "10m",
      retries: "3",
      keep: "50",
      "keep-for": "1d",
      after: "backup,sync",
      on: "failure",
      tag: "a b",
      backoff: "1m",
      note: "by hand",
      place: "least-loaded",
      if: "load < CPU; pressure.io < 5",
      lease: "db=2:10",
      except: "holidays,freeze",
      only: "workdays",
      "if-excluded": "next",
      end: "2030-01-02T03:04:05.000Z",
      data: '{"to":"ann\'s list","n":1}',
      "hook-failure": "https://example.com/x?y=1",
    });
    const empty = Object.entries(shown).flatMap(([label, value]) => (value === "" ? [label] : []));
    expect(empty).toEqual([
      "rrule",
      "after-end",
      "start",
      "at",
      "run-as",
      "secret",
      "secret-file",
      "container",
      "expect",
      "pause-after-failures",
      "hook-start",
      "hook-failed-first",
      "hook-recovered",
      "hook-dead",
      "hook-late",
      "hook-missed",
      "hook-overrun",
      "hook-too-short",
      "reason",
    ]);
  });

  it("says only what is changed, and takes away what is emptied", () => {
    const form = editing(FULL);
    const unchanged = ["mail", "--cron", "30 4 * * *", "--timezone", "Europe/Berlin"];
    expect(toCommandWords(form)).toEqual(unchanged);
    expect(toCommandWords(setFieldValue(form, "flag:retries", "5"))).toEqual([
      ...unchanged,
      "--retries",
      "5",
    ]);
    expect(toCommandWords(setFieldValue(form, "flag:note", ""))).toEqual([...unchanged, "--note", ""]);
  });

  it("means the same where every field is said as it is shown", () => {
    const form = editing(FULL);
    const said = { ...form, fields: form.fields.map(({ unchanged: _, ...field }) => field) };
    const call = parseCall(said.spec, toCommandWords(said));
    const given = readGivenFields(call, "UTC", Date.now());
    expect(applyGivenFields({ cron: FULL.cron, timezone: "UTC", type: "report" }, given, call.flags)).toEqual(
      FULL,
    );
  });
});
