import { expect, it } from "vitest";
import { replaceAliases } from "../../../src/cli/commands/registry.ts";

it.each([
  ["import site.json --replace --yes", "apply site.json --prune --yes"],
  ["import switchman - --prune", "import switchman - --prune"],
  ["import perfectsched x.tsv", "import perfectsched x.tsv"],
  ["schedule import json x.json --source git --prune", "apply x.json --owner=git --prune"],
  ["schedule import crontab x --source git", "schedule import crontab x --source git"],
  ["schedule diff json - --source=git", "diff - --owner=git"],
  ["schedule export", "export --only calendars --only schedules --format json"],
  ["schedule export --format crontab x", "export --only calendars --only schedules --format crontab x"],
  ["schedule list --tag a", "ls schedules tag:a"],
  ["apply x --replace", "apply x --replace"],
])("%s is %s", (old, current) => {
  expect(replaceAliases(old.split(" ")).join(" ")).toBe(current);
});
