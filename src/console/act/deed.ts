import { COMMANDS } from "../../commands/registry.ts";
import type { Command } from "../../commands/spec.ts";
import type { Picture } from "../../model/picture.ts";
import { queueIn } from "../../model/picture.ts";
import type { Subject } from "../../model/tables/view.ts";
import { holds } from "../../protocol/admission.ts";

/** A command with what it is to be done to. */
export interface Deed {
  command: Command;
  args: readonly string[];
  /** How many of them are settled; undefined: all. */
  fixed?: number;
  /** Values of flags that it begins with. */
  flags?: Readonly<Record<string, string | true>>;
  /** What it is done to, for people: `lock invoices`. */
  target: string;
}

/** A deed, or why there is none. */
export type Possible = Deed | { reason: string };

/** @throws Error for a command that there is not: a defect */
export function commandOf(id: string): Command {
  const command = COMMANDS.find((one) => one.id === id);
  if (command === undefined) throw new Error(`there is no command ${id}`);
  return command;
}

/** What a command would do to a row. @param id  a command that acts on rows */
export function deedOf(id: string, subject: Subject | undefined, picture: Picture): Possible {
  if (subject === undefined) return { reason: "nothing is selected" };
  if (subject.kind === "record") return deedOf(id, subject.about, picture);
  switch (id) {
    case "reset":
      return resetOf(subject, picture);
    case "release":
      return releaseOf(subject, picture);
    case "drain":
      return drainOf(subject);
    case "undrain":
      return undrainOf(subject);
    case "schedule pause":
    case "schedule resume":
    case "schedule trigger":
      return scheduleDeed(id, subject, picture);
    default:
      return { reason: `${id} is not done to a row` };
  }
}

/** What a subject is called. */
export function nameOf(subject: Subject): string {
  if (subject.kind === "drain")
    return subject.scope === "all" ? "everything" : `${subject.scope} ${subject.name}`;
  return `${subject.kind} ${subject.name}`;
}

function resetOf(subject: Subject, picture: Picture): Possible {
  const command = commandOf("reset");
  if (subject.kind === "lock" || subject.kind === "resource") {
    const { kind, name } = subject;
    const isHeld = queueIn(picture, kind, name)?.places.some(holds) === true;
    return isHeld
      ? { command, args: [kind, name], target: nameOf(subject) }
      : { reason: `nobody holds ${nameOf(subject)}` };
  }
  if (subject.kind === "run") return { reason: "it waits: K releases it" };
  return { reason: "only what is held can be reset: a lock or a resource" };
}

/** A pause is ended where there is one; what is paused can be triggered all the same. */
function scheduleDeed(id: string, subject: Subject, { schedules }: Picture): Possible {
  if (subject.kind !== "schedule") return { reason: `${id} is for schedules` };
  const { name } = subject;
  const hasPause = schedules.get(name)?.value?.pause !== undefined;
  if (id === "schedule resume" && !hasPause) return { reason: `${nameOf(subject)} is not paused` };
  return { command: commandOf(id), args: [name], target: name };
}

function releaseOf(subject: Subject, picture: Picture): Possible {
  const command = commandOf("release");
  if (subject.kind === "run") return { command, args: [subject.name], target: nameOf(subject) };
  if (subject.kind !== "lock" && subject.kind !== "resource")
    return { reason: "only who waits can be released: see Queues" };
  const waiters = queueIn(picture, subject.kind, subject.name)?.places.filter((place) => !holds(place)) ?? [];
  const [only] = waiters;
  if (only === undefined) return { reason: `nobody waits for ${nameOf(subject)}` };
  if (waiters.length > 1) return { reason: `${waiters.length} wait: choose one in Queues` };
  return { command, args: [only.run], target: `run ${only.run}` };
}

function drainOf(subject: Subject): Possible {
  const command = commandOf("drain");
  switch (subject.kind) {
    case "lock":
    case "resource":
    case "host":
    case "group":
      return { command, args: [subject.kind, subject.name], target: nameOf(subject) };
    case "drain":
      return { reason: "it is drained already: U lifts it" };
    default:
      return subject.kind === "run" && subject.queue !== undefined
        ? drainOf(subject.queue)
        : { reason: "locks, resources, hosts and groups can be drained" };
  }
}

function undrainOf(subject: Subject): Possible {
  const command = commandOf("undrain");
  switch (subject.kind) {
    case "drain": {
      const { scope, name } = subject;
      return { command, args: scope === "all" ? [scope] : [scope, name], target: nameOf(subject) };
    }
    case "lock":
    case "resource":
    case "host":
    case "group":
      return { command, args: [subject.kind, subject.name], target: nameOf(subject) };
    default:
      return { reason: "locks, resources, hosts and groups can be undrained" };
  }
}
