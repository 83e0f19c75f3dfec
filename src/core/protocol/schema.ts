import { ConfigError } from "../base/errors.ts";
import { VERSION } from "../base/version.ts";
import type { Keys } from "./keys.ts";
import type { Compare, KeyRange } from "./txn.ts";

/**
 * Version of the key schema that this program understands. It grows when programs with a lower version must no longer
 * write, because they would misread or destroy what newer programs store.
 */
export const SCHEMA_VERSION = 1;

/**
 * Formats a version as the last part of its key `config/schema/NNNN`. The key states that programs need this version to
 * write. The version is in the name, not in the value, so that a transaction can compare it without a read.
 */
export function formatSchemaVersion(version: number): string {
  return String(version).padStart(4, "0");
}

/** Returns the range of the required versions that this program does not have. */
export function getNewerSchemaRange(keys: Keys): Required<KeyRange> {
  return { ...keys.schemas(), key: keys.schema(formatSchemaVersion(SCHEMA_VERSION + 1)) };
}

/** Succeeds if this program may write: no version above its own is required. */
export function guardSchema(keys: Keys): Compare {
  return { ...getNewerSchemaRange(keys), target: "create", is: "equal", value: 0n };
}

/** Whether a key requires a version that this program does not have. */
export function isNewerSchema(keys: Keys, key: string): boolean {
  const range = getNewerSchemaRange(keys);
  return key >= range.key && key < range.rangeEnd;
}

/** This program is too old to write under its prefix. */
export class OldSchemaError extends ConfigError {}

/** @param newer  the keys of `getNewerSchemaRange` @throws OldSchemaError if there is one */
export function checkSchema(keys: Keys, newer: Iterable<string>): void {
  const fault = describeNewerSchema(keys, newer);
  if (fault !== undefined) throw new OldSchemaError(`${fault}; ${SCHEMA_REMEDY}`);
}

export const SCHEMA_REMEDY = "upgrade signalbox on this host";

/** Says which version is required; undefined if this program may write. */
export function describeNewerSchema(keys: Keys, newer: Iterable<string>): string | undefined {
  const last = [...newer].sort().at(-1);
  if (last === undefined) return undefined;
  const name = last.slice(keys.schemas().key.length);
  const wanted = /^\d{4}$/.test(name) ? `${Number(name)}` : `above ${SCHEMA_VERSION} (${last})`;
  return (
    `keys under ${keys.prefix} may only be written with schema version ${wanted}, ` +
    `but signalbox ${VERSION} has schema version ${SCHEMA_VERSION}`
  );
}
