import { SignalboxError } from "../../../base/errors.ts";
import { inexactNumber } from "../../../base/json-numbers.ts";
import { nameFault, type Parsed, quoted } from "../../../base/text.ts";
import { parseCron } from "../../../schedule/cron.ts";
import { checkedDefinition, type Definition } from "../../../schedule/definition.ts";
import { isFields } from "../../../schedule/fields.ts";
import type { Position } from "../../../work/schedule/importing.ts";
import { shownInstant } from "../instant.ts";
import { unescaped } from "./delimited.ts";
import { type Column, type Remark, type Row, readRows } from "./rows.ts";

/** What the line of the import says beside the file. */
export interface Terms {
  /** Of schedules whose data name no type. */
  type: string | undefined;
  /** What their ids begin with. */
  prefix: string;
  /** The word by which the schedules are known as the table's. */
  source: string;
  /** Wall clock, ms since the epoch. */
  now: number;
}

/** A table as schedules, each where it stands there. */
export interface Converted {
  definitions: ReadonlyMap<string, Definition>;
  positions: ReadonlyMap<string, Position>;
  faults: readonly Remark[];
  /** Where something means something else here. */
  notes: readonly Remark[];
}

/** Every row of an export; all that is wrong is told with its line. */
export function convertTable(text: string, terms: Terms): Converted {
  const { rows, faults: broken, notes: stray } = readRows(text);
  const definitions = new Map<string, Definition>();
  const positions = new Map<string, Position>();
  const faults = [...broken];
  const notes = [...stray];
  for (const row of rows) {
    const read = readRow(row, terms);
    if ("faults" in read) faults.push(...read.faults.map((detail) => ({ line: row.line, detail })));
    else if (definitions.has(read.id))
      faults.push({ line: row.line, detail: `${quoted(read.id)} stands above already` });
    else {
      definitions.set(read.id, read.definition);
      positions.set(read.id, read.position);
      const told = [...daysNotes(read.definition.cron), ...heldNotes(read, terms.now)];
      notes.push(...told.map((detail) => ({ line: row.line, detail: `${quoted(read.id)}: ${detail}` })));
    }
  }
  return { definitions, positions, faults, notes };
}

interface Schedule {
  id: string;
  definition: Definition;
  position: Position;
}

function readRow(row: Row, { type, source, prefix }: Terms): Schedule | { faults: string[] } {
  const faults: string[] = [];
  const settled = <T>(parsed: Parsed<T>, otherwise: T): T => {
    if ("value" in parsed) return parsed.value;
    faults.push(parsed.fault);
    return otherwise;
  };
  const id = prefix + settled(textOf(row, "id"), "");
  const next = settled(secondsOf(row, "next_time"), 0);
  const delay = settled(secondsOf(row, "delay", 0), 0);
  const runAt = settled(secondsOf(row, "timeout", next / 1000 + delay / 1000), 0);
  const { type: ownType, ...data } = settled(dataOf(row), {});
  const chosen = typeof ownType === "string" && ownType !== "" ? ownType : type;
  const definition: Definition = {
    cron: settled(textOf(row, "cron"), "* * * * *"),
    timezone: settled(textOf(row, "timezone", "UTC"), "UTC"),
    ...(chosen !== undefined && { type: chosen }),
    ...(delay > 0 && { delay }),
    ...{ data, source },
  };
  if (ownType !== undefined && ownType !== null && typeof ownType !== "string")
    faults.push(`type ${shown(ownType)} in data is not a text`);
  const name = nameFault(id);
  if (name !== undefined) faults.push(`id: ${name}`);
  const fault = definitionFault(definition);
  if (fault !== undefined) faults.push(fault);
  return faults.length > 0 ? { faults } : { id, definition, position: { next, runAt } };
}

function textOf({ values, isTabbed }: Row, column: Column, otherwise?: string): Parsed<string> {
  const value = values[column] ?? undefined;
  if ((value === undefined || value === "") && otherwise !== undefined) return { value: otherwise };
  if (typeof value !== "string") return { fault: `${column} ${shown(value)} is not a text` };
  return { value: isTabbed ? unescaped(value) : value };
}

/** @returns ms */
function secondsOf({ values }: Row, column: Column, otherwise?: number): Parsed<number> {
  const value = values[column] ?? undefined;
  if ((value === undefined || value === "") && otherwise !== undefined) return { value: otherwise * 1000 };
  const seconds = typeof value === "string" && /^\d{1,11}$/.test(value) ? Number(value) : value;
  if (typeof seconds === "number" && Number.isInteger(seconds) && seconds >= 0 && seconds < 1e11)
    return { value: seconds * 1000 };
  const what = column === "delay" ? "a number of seconds" : "a time in seconds since 1970";
  return { fault: `${column} ${shown(value)} is not ${what}` };
}

/** Data as the table has them: JSON text, or as some clients print it, in hexadecimal; JSON exports may have taken it apart. */
function dataOf({ values, isTabbed }: Row): Parsed<Readonly<Record<string, unknown>>> {
  const given = values.data ?? undefined;
  if (given === undefined || given === "") return { value: {} };
  if (isFields(given)) return { value: given };
  if (typeof given !== "string") return { fault: `data ${shown(given)} is not a JSON object` };
  const text = /^0x(?:[\da-f]{2})*$/i.test(given) ? Buffer.from(given.slice(2), "hex").toString() : given;
  const plain = isTabbed && jsonOf(unescaped(text)) !== undefined ? unescaped(text) : text;
  const value = jsonOf(plain);
  const inexact = isFields(value) ? inexactNumber(plain) : undefined;
  if (inexact !== undefined) return { fault: `data: ${inexact.detail}` };
  if (isFields(value)) return { value };
  const why = value === undefined ? "JSON" : "a JSON object";
  return {
    fault: `data ${quoted(text)} is not ${why}; PerfectSched takes it for {}: write that if it may be`,
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function definitionFault(definition: Definition): string | undefined {
  try {
    checkedDefinition(definition);
    return undefined;
  } catch (error) {
    if (error instanceof SignalboxError) return error.message;
    throw error;
  }
}

/** PerfectSched wants both days of a cron text to hold, cron and we one of them. @throws CronError */
export function daysNotes(cron: string): string[] {
  const { day, weekday } = parseCron(cron).fields;
  const isOpen = (text: string) => /^[*?]/.test(text);
  if (isOpen(day.text) || isOpen(weekday.text)) return [];
  return [
    `${quoted(cron)} names days of the month and of the week: PerfectSched fires where both hold, signalbox, like cron, where` +
      " one does",
  ];
}

/** An occurrence whose timeout was moved on is a worker's, or was put off by one. */
function heldNotes(
  { definition: { delay = 0 }, position: { next, runAt } }: Schedule,
  now: number,
): string[] {
  if (runAt <= next + delay || next + delay > now) return [];
  return [
    `its occurrence of ${shownInstant(next)} was taken by a worker, or put off; it starts here` +
      ` ${runAt <= now ? "at once" : `at ${shownInstant(runAt)}`}. If that worker still runs, stop it first and export again`,
  ];
}

function shown(value: unknown): string {
  return typeof value === "string" ? quoted(value) : (JSON.stringify(value) ?? "nothing");
}
