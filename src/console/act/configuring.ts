import type { Picture } from "../../model/picture.ts";
import type { Subject } from "../../model/tables/view.ts";
import type { TabId } from "../state/state.ts";
import { commandOf, nameOf, type Possible } from "./deed.ts";

/** Changes what operators keep about a group or a resource, beginning with what it is now. */
export function editOf(subject: Subject | undefined, picture: Picture): Possible {
  if (subject?.kind === "record") return editOf(subject.about, picture);
  if (subject?.kind === "group") {
    const members = picture.groups.get(subject.name)?.value ?? [];
    return {
      command: commandOf("group set"),
      args: [subject.name, ...members],
      fixed: 1,
      target: nameOf(subject),
    };
  }
  if (subject?.kind === "resource") {
    const { total, note, order } = picture.resources.get(subject.name)?.value ?? {};
    const flags = {
      ...(note !== undefined && { note }),
      ...(order !== undefined && { order: String(order) }),
    };
    const args = [subject.name, ...(total === undefined ? [] : [total])];
    return { command: commandOf("resource set"), args, flags, fixed: 1, target: nameOf(subject) };
  }
  if (subject?.kind === "schedule") {
    const { cron = "", timezone } = picture.schedules.get(subject.name)?.value ?? {};
    const flags = { cron, ...(timezone !== undefined && { timezone }) };
    return { command: commandOf("schedule edit"), args: [subject.name], flags, target: subject.name };
  }
  return { reason: "groups, resources and schedules can be edited" };
}

/** A new one of what the tab shows. */
export function createOf(tab: TabId): Possible {
  if (tab === "groups" || tab === "hosts")
    return { command: commandOf("group set"), args: [], fixed: 0, target: "a new group" };
  if (tab === "resources")
    return { command: commandOf("resource set"), args: [], fixed: 0, target: "a new resource" };
  if (tab === "drains") return { command: commandOf("drain"), args: [], fixed: 0, target: "a new drain" };
  if (tab === "schedules")
    return { command: commandOf("schedule add"), args: [], fixed: 0, target: "a new schedule" };
  return { reason: "groups, resources, drains and schedules can be made, each in its own tab" };
}

export function deleteOf(subject: Subject | undefined): Possible {
  if (subject?.kind === "group" || subject?.kind === "resource" || subject?.kind === "schedule")
    return {
      ...{ command: commandOf(`${subject.kind} delete`), args: [subject.name] },
      target: subject.kind === "schedule" ? subject.name : nameOf(subject),
    };
  return { reason: "groups, schedules and the configuration of resources can be deleted" };
}
