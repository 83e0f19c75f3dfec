/** Parses a JSON text. @returns undefined if the text is not JSON */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Parses a JSON object. @returns an object without fields if the text is neither an object nor a list */
export function parseObject(text: string): Record<string, unknown> {
  return Object(parseJson(text));
}

/** Returns whether a value is a whole number of at least 0. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a value has a number of units for each name, for example of a resource. */
export function isUnits(value: unknown): value is Readonly<Record<string, number>> {
  return isJsonObject(value) && Object.values(value).every((units) => Number.isSafeInteger(units));
}
