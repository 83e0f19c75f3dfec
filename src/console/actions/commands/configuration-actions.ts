import { toEditFlags } from "../../../commands/schedule/change/edit-flags.ts";
import type { Snapshot } from "../../../model/snapshot/snapshot.ts";
import type { Subject } from "../../../model/views/view.ts";
import type { TabId } from "../../state/console-state.ts";
import { formatSubjectName, getCommandById, type RowActionResult } from "./row-action.ts";

/**
 * Builds the action that edits the configuration of a group, a resource or a schedule, starting with its present
 * values.
 */
export function buildEditAction(subject: Subject | undefined, snapshot: Snapshot): RowActionResult {
  if (subject?.kind === "record") return buildEditAction(subject.about, snapshot);
  if (subject?.kind === "group") {
    const members = snapshot.groups.get(subject.name)?.value ?? [];
    const args = [subject.name, ...members];
    return { command: getCommandById("group set"), args, fixed: 1, target: formatSubjectName(subject) };
  }
  if (subject?.kind === "resource") {
    const { total, note, order } = snapshot.resources.get(subject.name)?.value ?? {};
    const flags = {
      ...(note !== undefined && { note }),
      ...(order !== undefined && { order: String(order) }),
    };
    const args = [subject.name, ...(total === undefined ? [] : [total])];
    const target = formatSubjectName(subject);
    return { command: getCommandById("resource set"), args, flags, fixed: 1, target };
  }
  if (subject?.kind === "schedule") {
    const { value } = snapshot.schedules.get(subject.name) ?? {};
    const flags = { cron: value?.cron ?? "", ...(value && { timezone: value.timezone }) };
    const present = value && toEditFlags(value);
    const command = getCommandById("schedule edit");
    return { command, args: [subject.name], flags, target: subject.name, ...(present && { present }) };
  }
  return { reason: "only groups, resources and schedules can be edited" };
}

/** The command that creates an item of the kind that a tab shows, and what it creates. */
const CREATORS: Partial<Record<TabId, { command: string; target: string }>> = {
  groups: { command: "group set", target: "a new group" },
  hosts: { command: "group set", target: "a new group" },
  resources: { command: "resource set", target: "a new resource" },
  drains: { command: "drain", target: "a new drain" },
  schedules: { command: "schedule add", target: "a new schedule" },
};

/** Builds the action that creates an item of the kind that the tab shows. */
export function buildCreateAction(tab: TabId): RowActionResult {
  const creator = CREATORS[tab];
  if (creator === undefined)
    return { reason: "create groups, resources, drains or schedules in their own tabs" };
  return { command: getCommandById(creator.command), args: [], fixed: 0, target: creator.target };
}

export function buildDeleteAction(subject: Subject | undefined): RowActionResult {
  if (subject?.kind === "group" || subject?.kind === "resource" || subject?.kind === "schedule")
    return {
      ...{ command: getCommandById(`${subject.kind} delete`), args: [subject.name] },
      target: subject.kind === "schedule" ? subject.name : formatSubjectName(subject),
    };
  return { reason: "only groups, schedules and configured resources can be deleted" };
}
