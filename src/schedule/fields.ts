/** The values of keys are JSON that may have been written by hand or by a later version: read with care, field by field. */
export type Fields = Readonly<Record<string, unknown>>;

/** The fields of a JSON object; undefined where the text is none. */
export function fieldsOf(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A whole number of ms since the epoch, or of ms, that arithmetic on instants can bear. */
export function isMillis(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= 8.64e15;
}

/** A whole number from 0 on. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

export const isText = (value: unknown): value is string => typeof value === "string";

/** An object without the fields that are undefined: that is how what is not set is written. */
export function set<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const there = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(there) as { [K in keyof T]: Exclude<T[K], undefined> };
}
