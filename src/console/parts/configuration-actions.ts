import { toEditFlags } from "../../commands/schedule/change/edit-flags.ts";
import type { Snapshot } from "../../model/snapshot/snapshot.ts";
import type { Subject } from "../../model/views/view.ts";
import type { TabId } from "../state/console-state.ts";
import { formatSubjectName, getCommandById, type RowActionResult } from "./row-action.ts";

/**
 * Builds the action that edits the configuration of a group, a resource or a schedule, starting with its present
 * values.
 */
export function buildEditAction(subject: Subject | undefined, snapshot: Snapshot): RowActionResult {
  if (subject?.kind === "record") return buildEditAction(subject.about, snapshot);
  if (subject?.kind === "group") {
    const members = snapshot.groups.get(subject.name)?.value ?? [];
    return {
      command: getCommandById("group set"),
      args: [subject.name, ...members],
      fixed: 1,
      target: formatSubjectName(subject),
    };
  }
  if (subject?.kind === "resource") {
    const { total, note, order } = snapshot.resources.get(subject.name)?.value ?? {};
    const flags = {
      ...(note !== undefined && { note }),
      ...(order !== undefined && { order: String(order) }),
    };
    const args = [subject.name, ...(total === undefined ? [] : [total])];
    return {
      command: getCommandById("resource set"),
      args,
      flags,
      fixed: 1,
      target: formatSubjectName(subject),
    };
  }
  if (subject?.kind === "schedule") {
    const { value } = snapshot.schedules.get(subject.name) ?? {};
    const flags = { cron: value?.cron ?? "", ...(value && { timezone: value.timezone }) };
    const present = value && toEditFlags(value);
    const action = {
      command: getCommandById("schedule edit"),
      args: [subject.name],
      flags,
      target: subject.name,
    };
    return { ...action, ...(present && { present }) };
  }
  return { reason: "only groups, resources and schedules can be edited" };
}

/** Builds the action that creates an item of the kind that the tab shows. */
export function buildCreateAction(tab: TabId): RowActionResult {
  if (tab === "groups" || tab === "hosts")
    return { command: getCommandById("group set"), args: [], fixed: 0, target: "a new group" };
  if (tab === "resources")
    return { command: getCommandById("resource set"), args: [], fixed: 0, target: "a new resource" };
  if (tab === "drains")
    return { command: getCommandById("drain"), args: [], fixed: 0, target: "a new drain" };
  if (tab === "schedules")
    return { command: getCommandById("schedule add"), args: [], fixed: 0, target: "a new schedule" };
  return { reason: "create groups, resources, drains or schedules in their own tabs" };
}

export function buildDeleteAction(subject: Subject | undefined): RowActionResult {
  if (subject?.kind === "record") return buildDeleteAction(subject.about);
  if (subject?.kind === "group" || subject?.kind === "resource" || subject?.kind === "schedule")
    return {
      command: getCommandById(`${subject.kind} delete`),
      args: [subject.name],
      target: subject.kind === "schedule" ? subject.name : formatSubjectName(subject),
    };
  return { reason: "only groups, schedules and configured resources can be deleted" };
}
