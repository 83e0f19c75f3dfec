import type { KeyValue } from "../../protocol/txn.ts";
import { type Definition, parseDefinition } from "../../schedule/definition.ts";
import { type Due, parseDue } from "../../schedule/due.ts";
import { parseRunning, type Running } from "../../schedule/running.ts";
import type { Timing } from "../../schedule/timing.ts";

/** A schedule as a worker knows it. */
export interface Entry {
  readonly id: string;
  definition?: Definition;
  definitionMod: bigint;
  /** Why it cannot be fired: what stands in etcd is malformed. */
  fault?: string;
  due?: Due;
  dueMod: bigint;
  /** What runs, by key. One that cannot be read blocks as well: somebody put it there. */
  readonly running: Map<string, RunningKey>;
  /** Since when it may be waited for, by this host's wall clock: whatever ran has ended, or it was read anew. */
  freeSince: number;
  timing?: Timing;
  /** A random number from 0 up to 1, for a worker that waits for others to take it. */
  turn?: number;
}

export interface RunningKey {
  readonly createRevision: bigint;
  readonly running?: Running;
}

export function newEntry(id: string, freeSince: number): Entry {
  return { id, definitionMod: 0n, dueMod: 0n, running: new Map(), freeSince };
}

/** Takes over one of its keys. */
export function noteIn(entry: Entry, kind: "schedule" | "due" | "running", kv: KeyValue): void {
  if (kind === "schedule") define(entry, kv);
  else if (kind === "due") plan(entry, kv);
  else {
    const parsed = parseRunning(kv.value);
    const { key, createRevision } = kv;
    entry.running.set(key, { createRevision, ...("value" in parsed && { running: parsed.value }) });
  }
}

function define(entry: Entry, { value, modRevision }: KeyValue): void {
  undefine(entry);
  const parsed = parseDefinition(value);
  entry.definitionMod = modRevision;
  if ("fault" in parsed) entry.fault = parsed.fault;
  else entry.definition = parsed.value;
}

function undefine(entry: Entry): void {
  delete entry.definition;
  delete entry.timing;
  delete entry.fault;
  entry.definitionMod = 0n;
}

function plan(entry: Entry, { value, modRevision }: KeyValue): void {
  const parsed = parseDue(value);
  entry.dueMod = modRevision;
  delete entry.due;
  if ("value" in parsed) entry.due = parsed.value;
}

/** One of its keys is gone. @param now  wall clock, ms since the epoch */
export function forgetIn(entry: Entry, kind: string, key: string, now: number): void {
  if (kind === "schedule") undefine(entry);
  else if (kind === "due") {
    delete entry.due;
    entry.dueMod = 0n;
  } else if (entry.running.delete(key)) entry.freeSince = now;
}

/** Nothing of it is left. */
export function isEmpty({ definitionMod, dueMod, running }: Entry): boolean {
  return definitionMod === 0n && dueMod === 0n && running.size === 0;
}
