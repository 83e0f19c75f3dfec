/**
 * How a field is represented. `key`: bytes, as a string with one character per byte. `text`: bytes or a string in UTF-8.
 * `integer`, `unsigned`: a varint of 64 bits, signed or not. `flag`: true or false.
 */
export type FieldKind = "key" | "text" | "integer" | "unsigned" | "flag" | MessageType;

export interface Field {
  readonly name: string;
  readonly number: number;
  readonly kind: FieldKind;
  readonly isRepeated: boolean;
}

/** The fields of a protocol buffer that signalbox uses. Others are skipped. */
export class MessageType {
  #fields: readonly Field[] = [];
  #byNumber: readonly (Field | undefined)[] = [];

  /** In the order of their numbers. */
  get fields(): readonly Field[] {
    return this.#fields;
  }

  findField(number: number): Field | undefined {
    return this.#byNumber[number];
  }

  /** Defines the fields, after the creation, because messages contain each other. `kind[]`: repeated. */
  define(fields: Record<string, readonly [number: number, kind: FieldKind | readonly [FieldKind]]>): this {
    const parsed = Object.entries(fields).map(([name, [number, kind]]): Field => {
      const isRepeated = Array.isArray(kind);
      return {
        name,
        number,
        kind: isRepeated ? (kind as readonly [FieldKind])[0] : (kind as FieldKind),
        isRepeated,
      };
    });
    this.#fields = parsed.sort((a, b) => a.number - b.number);
    const byNumber: (Field | undefined)[] = [];
    for (const field of parsed) byNumber[field.number] = field;
    this.#byNumber = byNumber;
    return this;
  }
}
