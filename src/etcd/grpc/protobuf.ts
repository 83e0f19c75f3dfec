/**
 * How a field is represented. `key`: bytes, as a string with one character per byte. `text`: bytes or a string in UTF-8.
 * `integer`, `unsigned`: a varint of 64 bits, signed or not. `flag`: true or false.
 */
type FieldKind = "key" | "text" | "integer" | "unsigned" | "flag" | MessageType;

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

const TWO_32 = 2 ** 32;

/**
 * Decodes a message. Fields that the sender left out, because they have their default, are undefined. Unknown fields are
 * skipped. 64-bit integers are numbers where these are exact, else bigints.
 * @throws Error for bytes that are no such message
 */
export function decodeMessage(type: MessageType, bytes: Uint8Array): object {
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes);
  return new MessageReader(buffer).readMessage(type, buffer.length);
}

class MessageReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** @param end  index after the message */
  readMessage(type: MessageType, end: number): object {
    const message: Record<string, unknown> = {};
    while (this.#at < end) {
      const tag = this.#readSmall();
      const field = type.findField(tag >>> 3);
      if (field === undefined || (tag & 7) !== getWireType(field.kind)) {
        this.#skip(tag & 7);
        continue;
      }
      const value = this.#readValue(field.kind);
      const { [field.name]: before } = message;
      if (!field.isRepeated) message[field.name] = value;
      else if (before === undefined) message[field.name] = [value];
      else (before as unknown[]).push(value);
    }
    if (this.#at !== end) throw new Error("a message of etcd ends within a field");
    return message;
  }

  #readValue(kind: FieldKind): unknown {
    switch (kind) {
      case "integer":
        return this.#readInteger();
      case "unsigned":
        return toUnsigned(this.#readInteger());
      case "flag":
        return this.#readInteger() !== 0;
      case "key":
        return this.#readString("latin1");
      case "text":
        return this.#readString("utf8");
      default:
        return this.readMessage(kind, this.#readEnd());
    }
  }

  #readString(encoding: "latin1" | "utf8"): string {
    const end = this.#readEnd();
    const text = this.#bytes.toString(encoding, this.#at, end);
    this.#at = end;
    return text;
  }

  /** Reads a length. @returns the index after so many bytes */
  #readEnd(): number {
    const end = this.#readSmall() + this.#at;
    if (end > this.#bytes.length) throw new Error("a message of etcd is incomplete");
    return end;
  }

  #skip(wireType: number): void {
    if (wireType === WIRE.varint) this.#readInteger();
    else if (wireType === WIRE.bytes) this.#at = this.#readEnd();
    else if (wireType === WIRE.fourBytes) this.#at += 4;
    else if (wireType === WIRE.eightBytes) this.#at += 8;
    else throw new Error(`a message of etcd has a field of the unknown type ${wireType}`);
  }

  /** Reads a tag or a length, both below 2^32. */
  #readSmall(): number {
    const value = this.#readInteger();
    if (typeof value === "bigint" || value < 0 || value >= TWO_32)
      throw new Error(`a message of etcd has the length ${value}`);
    return value;
  }

  /** Reads a varint as a signed integer of 64 bits. */
  #readInteger(): number | bigint {
    let value = 0;
    for (let shift = 1, count = 0; count < 7; count += 1, shift *= 128) {
      const byte = this.#readByte();
      value += (byte & 0x7f) * shift;
      if (byte < 0x80) return value; // at most 49 bits
    }
    return this.#readLargeInteger(BigInt(value));
  }

  #readLargeInteger(low: bigint): bigint {
    let value = low;
    for (let shift = 49n; shift < 70n; shift += 7n) {
      const byte = this.#readByte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, value);
    }
    throw new Error("a message of etcd has a number of more than 64 bits");
  }

  #readByte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new Error("a message of etcd is incomplete");
    this.#at += 1;
    return byte;
  }
}

function toUnsigned(value: number | bigint): number | bigint {
  return value < 0 ? BigInt.asUintN(64, BigInt(value)) : value;
}

/** Bytes at first. Most batches of transactions fit. */
const SIZE = 16 * 1024;

/**
 * Encodes a message. Fields that are undefined are left out, all others are written, also zeros.
 * @param message  64-bit integers are numbers, bigints or decimal strings
 */
export function encodeMessage(type: MessageType, message: object): Buffer {
  const writer = new MessageWriter();
  writer.writeMessage(type, message as Record<string, unknown>);
  return writer.getBytes();
}

/** Writes from the end to the start: the length of a part is known when it is written before it. */
class MessageWriter {
  #buffer = Buffer.allocUnsafe(SIZE);
  #at = SIZE;

  getBytes(): Buffer {
    return this.#buffer.subarray(this.#at);
  }

  writeMessage({ fields }: MessageType, message: Record<string, unknown>): void {
    for (let index = fields.length - 1; index >= 0; index -= 1) {
      const field = fields[index] as Field;
      const value = message[field.name];
      if (value === undefined) continue;
      if (field.isRepeated) this.#writeAll(field, value as unknown[]);
      else this.#writeField(field, value);
    }
  }

  #writeAll(field: Field, values: readonly unknown[]): void {
    for (let index = values.length - 1; index >= 0; index -= 1) this.#writeField(field, values[index]);
  }

  #writeField({ number, kind }: Field, value: unknown): void {
    this.#writeValue(kind, value);
    this.#writeSmall(number * 8 + getWireType(kind));
  }

  #writeValue(kind: FieldKind, value: unknown): void {
    switch (kind) {
      case "key":
        return this.#writeString(value as string, (value as string).length, "latin1");
      case "text":
        return this.#writeString(value as string, Buffer.byteLength(value as string), "utf8");
      case "integer":
      case "unsigned":
        return this.#writeInteger(value as number | bigint | string);
      case "flag":
        return this.#writeSmall(value ? 1 : 0);
      default:
        return this.#writeNested(kind, value as Record<string, unknown>);
    }
  }

  #writeString(text: string, length: number, encoding: "latin1" | "utf8"): void {
    this.#reserve(length);
    this.#at -= length;
    this.#buffer.write(text, this.#at, length, encoding);
    this.#writeSmall(length);
  }

  #writeNested(type: MessageType, message: Record<string, unknown>): void {
    const left = this.#buffer.length - this.#at;
    this.writeMessage(type, message);
    this.#writeSmall(this.#buffer.length - this.#at - left);
  }

  #writeInteger(value: number | bigint | string): void {
    const number = Number(value);
    if (number >= 0 && number < TWO_32) return this.#writeSmall(number);
    const bits = BigInt.asUintN(64, BigInt(value));
    this.#writeVarint(Number(bits & 0xffffffffn), Number(bits >> 32n));
  }

  /** @param value  below 2^32 */
  #writeSmall(value: number): void {
    this.#writeVarint(value, 0);
  }

  /** Writes a varint: seven bits a byte, the lowest first, each but the last with its highest bit set. */
  #writeVarint(low: number, high: number): void {
    const size = countVarintBytes(low, high);
    this.#reserve(size);
    this.#at -= size;
    let [rest, above] = [low, high];
    for (let at = this.#at; at < this.#at + size; at += 1) {
      const isLast = at === this.#at + size - 1;
      this.#buffer[at] = isLast ? rest & 0x7f : (rest & 0x7f) | 0x80;
      rest = ((rest >>> 7) | (above << 25)) >>> 0;
      above >>>= 7;
    }
  }

  /** Makes room for so many bytes before those that are written. */
  #reserve(size: number): void {
    if (this.#at >= size) return;
    const written = this.#buffer.subarray(this.#at);
    const length = 2 * (this.#buffer.length + size);
    const larger = Buffer.allocUnsafe(length);
    this.#at = length - written.length;
    larger.set(written, this.#at);
    this.#buffer = larger;
  }
}

function countVarintBytes(low: number, high: number): number {
  const bits = high === 0 ? 32 - Math.clz32(low) : 64 - Math.clz32(high);
  return bits === 0 ? 1 : Math.ceil(bits / 7);
}

/** How protocol buffers represent a field. @see https://protobuf.dev/programming-guides/encoding/ */
/** Wire types of fields: a varint, bytes with their length before them, and those that are only skipped. */
const WIRE = { varint: 0, eightBytes: 1, bytes: 2, fourBytes: 5 } as const;

function getWireType(kind: FieldKind): number {
  return kind === "integer" || kind === "unsigned" || kind === "flag" ? WIRE.varint : WIRE.bytes;
}
