/** As much of JSON Schema (2020-12) as our documents need. */
export interface Schema {
  type?: string | readonly string[];
  description?: string;
  const?: string | number | boolean;
  enum?: readonly string[];
  pattern?: string;
  minimum?: number;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  /** False: nothing else. */
  additionalProperties?: false | Schema;
  items?: Schema;
  /** `#/$defs/NAME`. */
  $ref?: string;
  oneOf?: readonly Schema[];
}

export interface Root extends Schema {
  $schema: string;
  title: string;
  $defs: Readonly<Record<string, Schema>>;
}

// How properties are written: what they are, in a word each.

export const text = (description: string): Schema => ({ type: "string", description });
export const texts = (description: string): Schema => ({
  ...{ type: "array", items: { type: "string" }, description },
});
export const count = (description: string): Schema => ({ type: "integer", minimum: 0, description });
export const number = (description: string): Schema => ({ type: "number", description });
/** Wall clocks of other hosts may stand anywhere, so there is no least one. */
export const wall = (description: string): Schema => number(`${description}; wall clock, ms since the epoch`);
export const revision = (description: string): Schema => ({
  ...{ type: "string", pattern: "^[0-9]+$", description },
});
export const choice = (values: readonly string[], description: string): Schema => ({
  ...{ enum: values, description },
});
export const ref = (name: string): Schema => ({ $ref: `#/$defs/${name}` });
export const list = (name: string, description: string): Schema => ({
  ...{ type: "array", items: ref(name), description },
});

/** @param properties  those with a `?` behind their name may be missing */
export function object(description: string, properties: Record<string, Schema>): Schema {
  const names = Object.keys(properties);
  return {
    ...{ type: "object", description, additionalProperties: false },
    required: names.filter((name) => !name.endsWith("?")),
    properties: Object.fromEntries(names.map((name) => [name.replace("?", ""), properties[name] ?? {}])),
  };
}
