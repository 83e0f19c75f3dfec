import type { Field, FieldKind, MessageType } from "./message-type.ts";
import { getWireType } from "./wire-format.ts";

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
